#include "plans/pass_flow_internal.h"

#include "engine/item/item.h"

/* --- lookups --- */

static bool look_up(struct flow *flow, const struct lookup *lookup, struct value *out)
{
    struct key key = {.count = lookup->key.count};
    *out = (struct value){NULL, 0};
    for (size_t i = 0; i < key.count; i++) {
        if (!template_eval(lookup->key.list[i].template, &flow->scope, flow->arena, &key.parts[i],
                           flow->err)) {
            return error_wrap(flow->err, "lookup %.*s", STR_ARG(lookup->alias));
        }
        if (value_is_missing(key.parts[i])) {
            return true;
        }
    }
    if (!flow->input->lookup(flow->input->context, &key, flow->arena, out, flow->err)) {
        flow->broken = true;
        return false;
    }
    return true;
}

static bool look_up_all(struct flow *flow, const struct step *step)
{
    struct value *slots = arena_alloc(flow->arena, step->lookup_count * sizeof *slots);
    for (size_t i = 0; i < step->lookup_count; i++) {
        if (!look_up(flow, &step->lookups[i], &slots[i])) {
            return false;
        }
    }
    flow->scope.slots = slots;
    flow->scope.slot_count = step->lookup_count;
    return true;
}

/* --- steps --- */

static bool matches(struct flow *flow, const struct compiled_step *compiled, bool *out)
{
    const struct step *step = &compiled->step;
    *out = true;
    if (compiled->looks_up_first && !look_up_all(flow, step)) {
        return false;
    }
    if (step->where != NULL && !expr_test(step->where, &flow->scope, flow->arena, out, flow->err)) {
        return error_wrap(flow->err, "where");
    }
    bool looks_up = *out && step->lookup_count > 0 && !compiled->looks_up_first;
    return !looks_up || look_up_all(flow, step);
}

static bool run_step(struct flow *flow, const struct compiled_step *compiled)
{
    bool met = false;
    flow->scope = (struct expr_scope){.item = flow->item};
    if (!matches(flow, compiled, &met)) {
        return false;
    }
    if (!met) {
        return true;
    }
    if (compiled->step.deletes) {
        flow->deleted = true;
        flow->outcomes[flow->step] = STEP_WRITTEN;
        return true;
    }
    return compiled->step.put.count > 0 ? flow_put(flow, compiled) : flow_edit(flow, compiled);
}

bool flow_run(struct flow *flow)
{
    const struct pass *pass = flow->pass;
    flow->outcomes = arena_zero(flow->arena, pass->step_count);
    for (flow->step = 0; flow->step < pass->step_count && !flow->deleted; flow->step++) {
        if (!run_step(flow, &pass->steps[flow->step])) {
            return false;
        }
    }
    return true;
}

/* --- what comes out --- */

bool flow_check(const struct flow *flow, struct value item, bool is_put, struct key *key)
{
    const struct pass_table *table = flow->pass->table;
    if (!item_check_limits(item, flow->err)) {
        return false;
    }
    if ((is_put || flow->rekeyed) && !key_of_item(table->keys, item, key, flow->err)) {
        return false;
    }
    for (size_t i = 0; i < table->index_count; i++) {
        struct key index_key;
        bool present = false;
        const struct key_schema *index = &table->indexes[i];
        bool binds = is_put || (flow->pass->checks_index[i] &&
                                !key_attributes_equal(index, item, flow->input->item));
        if (binds && !key_of_index(index, item, &index_key, &present, flow->err)) {
            return error_wrap(flow->err, "index");
        }
    }
    return true;
}
