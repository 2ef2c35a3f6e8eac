#include "plans/pass_internal.h"

/* --- claims --- */

static void note_slot(void *context, int slot, struct path path)
{
    (void)path;
    *(int *)context = slot;
}

static bool pattern_path(const struct expr *expr, struct path *path)
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

/* `constant = path` is `path = constant`. */
static bool is_turned(const struct expr *expr)
{
    struct str name = expr_name(expr);
    bool turns = str_equal(name, STR("=")) || str_equal(name, STR("<>"));
    return turns && expr_kind(expr_argument(expr, 0)) == EXPR_CONSTANT;
}

static bool constant_claim(const struct expr *expr, struct arena *arena, struct claim *out)
{
    bool takes_two = expr_kind(expr) == EXPR_COMPARE || expr_kind(expr) == EXPR_CALL;
    if (!takes_two || expr_argument_count(expr) != 2) {
        return false;
    }
    size_t place = is_turned(expr) ? 1 : 0;
    out->name = expr_name(expr);
    out->constant = expr_constant(expr_argument(expr, 1 - place), arena);
    return pattern_path(expr_argument(expr, place), &out->path) && !value_is_missing(out->constant);
}

static bool claim_of(const struct expr *conjunct, struct arena *arena, struct claim *out)
{
    *out = (struct claim){0};
    if (expr_kind(conjunct) == EXPR_NOT) {
        return existence_claim(expr_argument(conjunct, 0), true, out);
    }
    return existence_claim(conjunct, false, out) || constant_claim(conjunct, arena, out);
}

size_t claims_of(const struct expr *where, struct arena *arena, struct claim **out)
{
    const struct expr *conjuncts[CONJUNCTS_MAX];
    size_t count = where == NULL ? 0 : expr_conjuncts(where, conjuncts, CONJUNCTS_MAX);
    struct claim *claims = arena_alloc(arena, CONJUNCTS_MAX * sizeof *claims);
    size_t found = 0;
    for (size_t i = 0; i < count && i < CONJUNCTS_MAX; i++) {
        bool is_claim = claim_of(conjuncts[i], arena, &claims[found]);
        claims[found].conjunct = i;
        found += is_claim ? 1 : 0;
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
