/* Convergence, shown by the text alone: what a pass has made of an item, it leaves alone.
 *
 * A step is steady if nothing that it reads is written by any step of the pass: whenever it runs
 * again it does the same again. A step runs once if its where holds a claim that its own writes
 * make false, and so do all steps that write what decides it: after the pass it no longer matches,
 * and comes to that without an error. A pass of such steps converges if no attribute is written by
 * a step of each kind, since a steady step could undo in its second run what the other did after
 * it. */
#include "plans/pass_internal.h"

enum manner { MANNER_UNKNOWN, MANNER_STEADY, MANNER_ONCE };

/* --- steady --- */

struct reads {
    const struct pass *pass;
    bool written;
};

static void note_written(void *context, int slot, struct path path)
{
    struct reads *reads = context;
    for (size_t i = 0; slot == EXPR_ITEM && !reads->written && i < reads->pass->step_count; i++) {
        reads->written = step_writes(&reads->pass->steps[i], path.steps[0].name);
    }
}

static bool has_place(struct path path)
{
    for (size_t i = 0; i < path.count; i++) {
        if (path.steps[i].is_place) {
            return true;
        }
    }
    return false;
}

static bool others_write(const struct pass *pass, const struct compiled_step *step,
                         struct str attribute)
{
    for (size_t i = 0; i < pass->step_count; i++) {
        if (&pass->steps[i] != step && step_writes(&pass->steps[i], attribute)) {
            return true;
        }
    }
    return false;
}

/* A second run must find places, parents and the two ends of a rename as the first run left them.
 */
static bool writes_alike(const struct pass *pass, const struct compiled_step *step)
{
    for (size_t i = 0; i < step->write_count; i++) {
        struct path path = step->writes[i];
        bool alone = path.count > 1 || step->step.renaming_count > 0;
        if (has_place(path) || (alone && others_write(pass, step, path.steps[0].name))) {
            return false;
        }
    }
    return true;
}

static bool is_steady(const struct pass *pass, const struct compiled_step *step)
{
    struct reads reads = {pass, false};
    step_reads(step, note_written, &reads);
    return !reads.written && writes_alike(pass, step);
}

/* --- once --- */

/* `a` begins with `b`, or is `b`; names only. */
static bool leads_into(struct path a, struct path b)
{
    if (a.count < b.count || has_place(a)) {
        return false;
    }
    for (size_t i = 0; i < b.count; i++) {
        if (!str_equal(a.steps[i].name, b.steps[i].name)) {
            return false;
        }
    }
    return true;
}

static bool takes_away(const struct step *step, struct path path)
{
    for (size_t i = 0; i < step->removal_count; i++) {
        if (leads_into(path, step->removals[i].path)) {
            return true;
        }
    }
    for (size_t i = 0; i < step->renaming_count; i++) {
        if (leads_into(path, step->renamings[i].from)) {
            return true;
        }
    }
    return false;
}

static bool makes_present(const struct step *step, struct path path)
{
    for (size_t i = 0; i < step->set.count; i++) {
        const struct assignment *assignment = &step->set.list[i];
        if (leads_into(assignment->path, path) && template_always_stores(assignment->template)) {
            return true;
        }
    }
    return false;
}

static const struct template *find_given(const struct assignments *assignments, struct path path)
{
    for (size_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->list[i];
        if (assignment->path.count == path.count && leads_into(assignment->path, path)) {
            return assignment->template;
        }
    }
    return NULL;
}

/* What the step gives the path, by set or by a rekey that no verdict leaves out; else NULL. */
static const struct template *given(const struct step *step, struct path path)
{
    bool moves = step->collision == COLLISION_FAIL || step->collision == COLLISION_OVERWRITE;
    const struct template *template = find_given(&step->set, path);
    return template == NULL && moves ? find_given(&step->rekey, path) : template;
}

static bool has_other_type(const struct template *template, struct value type_name)
{
    enum value_type type = template_type(template);
    return type != VALUE_MISSING && value_type(type_name) == VALUE_S &&
           type != value_type_named(value_bytes(type_name));
}

static bool refutes_by_value(const struct template *template, const struct claim *claim)
{
    struct pattern made = pattern_of_template(template);
    if (str_equal(claim->name, STR("attribute_type"))) {
        return has_other_type(template, claim->constant);
    }
    bool is_string = value_type(claim->constant) == VALUE_S;
    struct str text = is_string ? value_bytes(claim->constant) : (struct str){"", 0};
    if (str_equal(claim->name, STR("="))) {
        struct pattern wanted = {claim->constant, text};
        return pattern_disjoint(&made, &wanted);
    }
    if (str_equal(claim->name, STR("begins_with"))) {
        struct pattern wanted = {{NULL, 0}, text};
        return pattern_disjoint(&made, &wanted);
    }
    return str_equal(claim->name, STR("<>")) && template_always_stores(template) &&
           value_equal(made.exact, claim->constant);
}

/* After the step has run, the claim is false. */
static bool refutes(const struct step *step, const struct claim *claim)
{
    if (has_place(claim->path)) {
        return false;
    }
    if (str_equal(claim->name, STR("not exists"))) {
        return makes_present(step, claim->path);
    }
    if (takes_away(step, claim->path)) {
        return !str_equal(claim->name, STR("<>"));
    }
    const struct template *template = given(step, claim->path);
    return template != NULL && refutes_by_value(template, claim);
}

struct where_reads {
    const struct compiled_step *writer;
    bool written;
};

static void note_writer(void *context, int slot, struct path path)
{
    struct where_reads *reads = context;
    reads->written =
        reads->written || (slot == EXPR_ITEM && step_writes(reads->writer, path.steps[0].name));
}

/* The writer may change whether the step matches: through its where, or by another key for a lookup
 * that the where reads. */
static bool decides(const struct compiled_step *writer, const struct compiled_step *step)
{
    struct where_reads reads = {writer, false};
    expr_paths(step->step.where, note_writer, &reads);
    for (size_t i = 0; step->looks_up_first && i < step->step.lookup_count; i++) {
        assignments_reads(&step->step.lookups[i].key, note_writer, &reads);
    }
    return reads.written;
}

static bool all_refute(const struct pass *pass, const struct compiled_step *step,
                       const struct claim *claim)
{
    for (size_t i = 0; i < pass->step_count; i++) {
        if (decides(&pass->steps[i], step) && !refutes(&pass->steps[i].step, claim)) {
            return false;
        }
    }
    return refutes(&step->step, claim);
}

static bool can_fail(const struct expr *expr)
{
    static const struct str safe[] = {
        STR_INIT("attribute_exists"), STR_INIT("attribute_not_exists"),
        STR_INIT("attribute_type"),   STR_INIT("begins_with"),
        STR_INIT("contains"),         STR_INIT("size")};
    bool fails = expr_kind(expr) == EXPR_OTHER || expr_kind(expr) == EXPR_CONCAT;
    if (expr_kind(expr) == EXPR_CALL) {
        fails = true;
        for (size_t i = 0; i < sizeof safe / sizeof *safe; i++) {
            fails = fails && !str_equal(expr_name(expr), safe[i]);
        }
    }
    for (size_t i = 0; !fails && i < expr_argument_count(expr); i++) {
        fails = can_fail(expr_argument(expr, i));
    }
    return fails;
}

/* The leading conjuncts that a second run comes to without an error: as in the first run, unless
 * something was written that leads to another answer. */
static size_t safe_conjuncts(const struct pass *pass, const struct compiled_step *step)
{
    const struct expr *conjuncts[CONJUNCTS_MAX];
    struct reads reads = {pass, false};
    for (size_t i = 0; step->looks_up_first && i < step->step.lookup_count; i++) {
        assignments_reads(&step->step.lookups[i].key, note_written, &reads);
    }
    if (reads.written || step->step.where == NULL) {
        return 0;
    }
    size_t count = expr_conjuncts(step->step.where, conjuncts, CONJUNCTS_MAX);
    for (size_t i = 0; i < count && i < CONJUNCTS_MAX; i++) {
        expr_paths(conjuncts[i], note_written, &reads);
        if (reads.written && can_fail(conjuncts[i])) {
            return i;
        }
    }
    return count;
}

static bool runs_once(const struct pass *pass, const struct compiled_step *step,
                      struct arena *arena)
{
    struct claim *claims = NULL;
    size_t count = claims_of(step->step.where, arena, &claims);
    size_t safe = safe_conjuncts(pass, step);
    for (size_t i = 0; i < count && claims[i].conjunct < safe; i++) {
        if (all_refute(pass, step, &claims[i])) {
            return true;
        }
    }
    return false;
}

/* --- the pass --- */

static bool share_attribute(const struct compiled_step *a, const struct compiled_step *b)
{
    for (size_t i = 0; i < a->write_count; i++) {
        if (step_writes(b, a->writes[i].steps[0].name)) {
            return true;
        }
    }
    return false;
}

static enum manner manner_of(const struct pass *pass, const struct compiled_step *step,
                             struct arena *arena)
{
    if (is_steady(pass, step)) {
        return MANNER_STEADY;
    }
    return runs_once(pass, step, arena) ? MANNER_ONCE : MANNER_UNKNOWN;
}

/* No attribute is written by the step and by one of another manner before it. */
static bool keeps_apart(const struct pass *pass, const enum manner *manners, size_t step)
{
    for (size_t i = 0; i < step; i++) {
        if (manners[i] != manners[step] && share_attribute(&pass->steps[step], &pass->steps[i])) {
            return false;
        }
    }
    return true;
}

const bool *pass_prove(const struct pass *pass, struct arena *arena)
{
    bool *proved = arena_alloc(arena, pass->step_count * sizeof *proved);
    enum manner *manners = arena_alloc(arena, pass->step_count * sizeof *manners);
    for (size_t i = 0; i < pass->step_count; i++) {
        manners[i] = manner_of(pass, &pass->steps[i], arena);
        proved[i] = manners[i] != MANNER_UNKNOWN && keeps_apart(pass, manners, i);
    }
    return proved;
}
