#include "plans/pass_flow_internal.h"

/* --- values of assignments --- */

/* It must be there; it may be a set without members. */
static bool value_of(const struct flow *flow, const struct assignment *assignment,
                     struct value *out)
{
    const struct template *template = assignment->template;
    if (!template_eval(template, &flow->scope, flow->arena, out, flow->err)) {
        return error_wrap(flow->err, "%.*s", STR_ARG(assignment->spelled));
    }
    if (value_is_missing(*out)) {
        struct str what = template_missing(template, &flow->scope, flow->arena);
        return error_set(flow->err, ERROR_ITEM, "%.*s: %.*s", STR_ARG(assignment->spelled),
                         STR_ARG(what));
    }
    return true;
}

/* --- edits --- */

/* An edit that changes nothing is none; but a path whose parent is not there stays in, so that
 * edit_apply() refuses it. */
static bool changes(struct value item, struct path path, struct value after)
{
    if (!value_equal(path_value(path, item), after)) {
        return true;
    }
    if (path.count == 1 || !value_is_missing(after)) {
        return false;
    }
    struct value parent = path_value((struct path){path.steps, path.count - 1}, item);
    bool in_list = path.steps[path.count - 1].is_place;
    return value_type(parent) != (in_list ? VALUE_L : VALUE_M);
}

static void add_edit(const struct flow *flow, struct edits *edits, struct path path,
                     struct value after)
{
    if (changes(flow->scope.item, path, after)) {
        edits->list[edits->count++] = (struct edit){path, after};
    }
}

static bool add_sets(const struct flow *flow, const struct assignments *set, struct edits *edits)
{
    for (size_t i = 0; i < set->count; i++) {
        struct value v;
        struct path path = set->list[i].path;
        if (!value_of(flow, &set->list[i], &v)) {
            return false;
        }
        if (template_is_nothing(v) && path.steps[path.count - 1].is_place) {
            return error_set(flow->err, ERROR_ITEM,
                             "%.*s: expected a value in a list, found an empty set",
                             STR_ARG(set->list[i].spelled));
        }
        add_edit(flow, edits, path, template_is_nothing(v) ? (struct value){NULL, 0} : v);
    }
    return true;
}

static bool add_renamings(const struct flow *flow, const struct step *step, struct edits *edits)
{
    for (size_t i = 0; i < step->renaming_count; i++) {
        const struct renaming *renaming = &step->renamings[i];
        struct value moved = path_value(renaming->from, flow->scope.item);
        if (value_is_missing(moved)) {
            continue;
        }
        if (!value_is_missing(path_value(renaming->to, flow->scope.item))) {
            struct str from = path_print(renaming->from, flow->arena);
            struct str to = path_print(renaming->to, flow->arena);
            return error_set(flow->err, ERROR_ITEM, "rename of %.*s: %.*s stands already",
                             STR_ARG(from), STR_ARG(to));
        }
        add_edit(flow, edits, renaming->from, (struct value){NULL, 0});
        add_edit(flow, edits, renaming->to, moved);
    }
    return true;
}

static void add_removals(const struct flow *flow, const struct step *step, struct edits *edits)
{
    for (size_t i = 0; i < step->removal_count; i++) {
        add_edit(flow, edits, step->removals[i].path, (struct value){NULL, 0});
    }
}

/* --- the steps --- */

/* The verdict leaves out what the step moves or puts. */
static bool is_skipped(const struct flow *flow)
{
    return flow->skip != NULL && flow->skip[flow->step];
}

/* All edits of the step; *others tells how many are not the rekey's, which stand last. */
static bool list_edits(const struct flow *flow, const struct step *step, struct edits *edits,
                       size_t *others)
{
    if (!add_sets(flow, &step->set, edits) || !add_renamings(flow, step, edits)) {
        return false;
    }
    add_removals(flow, step, edits);
    *others = edits->count;
    return add_sets(flow, &step->rekey, edits);
}

bool flow_edit(struct flow *flow, const struct compiled_step *compiled)
{
    struct edits edits = {arena_alloc(flow->arena, compiled->write_count * sizeof *edits.list), 0};
    size_t others = 0;
    if (!list_edits(flow, &compiled->step, &edits, &others)) {
        return false;
    }
    flow->outcomes[flow->step] = edits.count > 0 ? STEP_WRITTEN : STEP_UNCHANGED;
    if (edits.count > others && is_skipped(flow)) {
        flow->outcomes[flow->step] = STEP_SKIPPED;
        edits.count = others;
    }
    if (edits.count == 0) {
        return true;
    }
    flow->write_step = flow->step;
    if (edits.count > others) {
        flow->rekey_step = flow->step;
        flow->rekeyed = true;
    }
    return edit_apply(flow->item, &edits, flow->arena, &flow->item, flow->err);
}

static bool make_item(const struct flow *flow, const struct assignments *put, struct value *out)
{
    struct attribute *members = arena_alloc(flow->arena, put->count * sizeof *members);
    for (size_t i = 0; i < put->count; i++) {
        struct value v;
        if (!value_of(flow, &put->list[i], &v)) {
            return false;
        }
        members[i].name = put->list[i].spelled;
        members[i].value = template_is_nothing(v) ? (struct value){NULL, 0} : v;
    }
    return value_map(flow->arena, members, put->count, out, flow->err);
}

static const struct pass_put *find_put(const struct flow *flow, const struct key *key)
{
    for (size_t i = 0; i < flow->put_count; i++) {
        if (key_equal(&flow->puts[i].key, key)) {
            return &flow->puts[i];
        }
    }
    return NULL;
}

static void keep_put(struct flow *flow, const struct pass_put *put)
{
    if (flow->puts == NULL) {
        flow->puts = arena_alloc(flow->arena, flow->pass->step_count * sizeof *flow->puts);
    }
    flow->puts[flow->put_count++] = *put;
}

bool flow_put(struct flow *flow, const struct compiled_step *compiled)
{
    struct pass_put put = {.step = flow->step, .left_out = is_skipped(flow)};
    if (!make_item(flow, &compiled->step.put, &put.item) ||
        !flow_check(flow, put.item, true, &put.key)) {
        return false;
    }
    const struct pass_put *other = find_put(flow, &put.key);
    if (other != NULL && !value_equal(other->item, put.item)) {
        return error_set(flow->err, ERROR_ITEM, "puts a second item under the key of another put");
    }
    bool left_out = put.left_out || (other != NULL && other->left_out);
    flow->outcomes[flow->step] = left_out        ? STEP_SKIPPED
                                 : other == NULL ? STEP_WRITTEN
                                                 : STEP_UNCHANGED;
    if (other == NULL) {
        keep_put(flow, &put);
    }
    return true;
}
