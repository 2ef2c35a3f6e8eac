#include "plans/pass_internal.h"

enum { CONJUNCTS_MAX = 32 }; /* those behind only make the answer less sharp */

/* --- claims --- */

static void note_slot(void *context, int slot, struct path path)
{
    (void)path;
    *(int *)context = slot;
}

bool pattern_path(const struct expr *expr, struct path *path)
{
    int slot = EXPR_UNKNOWN;
    expr_paths(expr, note_slot, &slot);
    return slot == EXPR_ITEM && expr_is_path(expr, path);
}

static bool existence_claim(const struct expr *expr, bool negated, struct claim *out)
{
    struct str name = expr_name(expr);
    bool exists = str_equal(name, STR("attribute_exists"));
    if (expr_kind(expr) != EXPR_CALL || !(exists || str_equal(name, STR("attribute_not_exists")))) {
        return false;
    }
    out->name = exists != negated ? STR("exists") : STR("not exists");
    return pattern_path(expr_argument(expr, 0), &out->path);
}

bool claim_of(const struct expr *conjunct, struct arena *arena, struct claim *out)
{
    *out = (struct claim){.name = expr_name(conjunct)};
    if (expr_kind(conjunct) == EXPR_NOT) {
        return existence_claim(expr_argument(conjunct, 0), true, out);
    }
    if (existence_claim(conjunct, false, out)) {
        return true;
    }
    bool compares = expr_kind(conjunct) == EXPR_COMPARE;
    if ((!compares && expr_kind(conjunct) != EXPR_CALL) || expr_argument_count(conjunct) != 2) {
        return false;
    }
    const struct expr *left = expr_argument(conjunct, 0);
    const struct expr *right = expr_argument(conjunct, 1);
    bool turns = compares && (str_equal(out->name, STR("=")) || str_equal(out->name, STR("<>")));
    if (turns && expr_kind(left) == EXPR_CONSTANT) {
        const struct expr *swapped = left;
        left = right;
        right = swapped;
    }
    out->constant = expr_constant(right, arena);
    return pattern_path(left, &out->path) && !value_is_missing(out->constant);
}

size_t claims_of(const struct expr *where, struct arena *arena, struct claim **out)
{
    const struct expr *conjuncts[CONJUNCTS_MAX];
    size_t count = where == NULL ? 0 : expr_conjuncts(where, conjuncts, CONJUNCTS_MAX);
    struct claim *claims = arena_alloc(arena, CONJUNCTS_MAX * sizeof *claims);
    size_t found = 0;
    for (size_t i = 0; i < count && i < CONJUNCTS_MAX; i++) {
        found += claim_of(conjuncts[i], arena, &claims[found]) ? 1 : 0;
    }
    *out = claims;
    return found;
}

/* --- patterns --- */

struct pattern pattern_of_template(const struct template *template)
{
    return (struct pattern){template_constant(template), template_literal_prefix(template)};
}

struct pattern pattern_of_claims(const struct claim *claims, size_t count, struct str attribute)
{
    struct pattern pattern = {{NULL, 0}, {"", 0}};
    for (size_t i = 0; i < count; i++) {
        const struct claim *claim = &claims[i];
        if (claim->path.count != 1 || !str_equal(claim->path.steps[0].name, attribute)) {
            continue;
        }
        bool is_string = value_type(claim->constant) == VALUE_S;
        if (str_equal(claim->name, STR("="))) {
            pattern.exact = claim->constant;
            pattern.prefix = is_string ? value_bytes(claim->constant) : pattern.prefix;
            return pattern;
        }
        if (str_equal(claim->name, STR("begins_with")) && is_string) {
            pattern.prefix = value_bytes(claim->constant);
        }
    }
    return pattern;
}

bool pattern_disjoint(const struct pattern *a, const struct pattern *b)
{
    if (!value_is_missing(a->exact) && !value_is_missing(b->exact)) {
        return !value_equal(a->exact, b->exact);
    }
    size_t common = a->prefix.len < b->prefix.len ? a->prefix.len : b->prefix.len;
    bool conflict =
        !str_equal((struct str){a->prefix.ptr, common}, (struct str){b->prefix.ptr, common});
    bool a_ends = value_type(a->exact) == VALUE_S && a->prefix.len < b->prefix.len;
    bool b_ends = value_type(b->exact) == VALUE_S && b->prefix.len < a->prefix.len;
    return conflict || a_ends || b_ends;
}
