#include "plans/pass.h"

#include "plans/pass_flow_internal.h"

/* A put onto the item's own key is no write where both are equal, and else has no meaning. */
static bool settle_puts(struct flow *flow)
{
    struct key own;
    if (flow->deleted) {
        return true;
    }
    if (!key_of_item(flow->pass->table->keys, flow->item, &own, flow->err)) {
        return false;
    }
    size_t kept = 0;
    for (size_t i = 0; i < flow->put_count; i++) {
        const struct pass_put *put = &flow->puts[i];
        if (!key_equal(&put->key, &own)) {
            flow->puts[kept++] = *put;
            continue;
        }
        flow->step = put->step;
        if (!value_equal(put->item, flow->item)) {
            return error_set(flow->err, ERROR_ITEM,
                             "puts another item under the key of the item itself");
        }
        flow->outcomes[put->step] = STEP_UNCHANGED;
    }
    flow->put_count = kept;
    return true;
}

/* Steps whose changes came to nothing in the end have written nothing. */
static void take_back_writes(struct flow *flow)
{
    for (size_t i = 0; i < flow->pass->step_count; i++) {
        if (flow->outcomes[i] == STEP_WRITTEN && !flow->pass->facts.steps[i].puts) {
            flow->outcomes[i] = STEP_UNCHANGED;
        }
    }
}

static bool settle_item(struct flow *flow, struct pass_result *out)
{
    if (flow->deleted) {
        out->fate = PASS_DELETE;
        return true;
    }
    if (value_equal(flow->item, flow->input->item)) {
        take_back_writes(flow);
        out->fate = PASS_UNCHANGED;
        return true;
    }
    flow->step = flow->write_step;
    out->fate = PASS_UPDATE;
    out->item = flow->item;
    if (!flow_check(flow, flow->item, false, &out->key)) {
        return false;
    }
    struct key before;
    if (flow->rekeyed) {
        if (!key_of_item(flow->pass->table->keys, flow->input->item, &before, flow->err)) {
            return false;
        }
        out->fate = key_equal(&before, &out->key) ? PASS_UPDATE : PASS_MOVE;
        out->rekey_step = flow->rekey_step;
    }
    return true;
}

static void fail(const struct flow *flow, struct pass_result *out)
{
    unsigned char *outcomes = arena_zero(flow->arena, flow->pass->step_count);
    outcomes[flow->step] = STEP_FAILED;
    *out = (struct pass_result){
        .fate = PASS_FAILED,
        .outcomes = outcomes,
        .failed_step = flow->step,
        .reason = arena_copy(flow->arena, (struct str){flow->err->text, strlen(flow->err->text)}),
    };
}

/* They have stood in for what later steps put under their keys, and for what converges. */
static size_t drop_left_out(struct pass_put *puts, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!puts[i].left_out) {
            puts[kept++] = puts[i];
        }
    }
    return kept;
}

bool pass_apply(const struct pass *pass, const struct pass_input *input, struct arena *arena,
                struct pass_result *out, struct error *err)
{
    struct flow flow = {.pass = pass,
                        .input = input,
                        .skip = input->skip,
                        .arena = arena,
                        .err = err,
                        .item = input->item};
    struct pass_result result = {0};
    bool ok = flow_run(&flow) && settle_item(&flow, &result) &&
              (flow.put_count == 0 || settle_puts(&flow)) && flow_converges(&flow);
    if (flow.broken) {
        return false;
    }
    if (ok) {
        result.puts = flow.puts;
        result.put_count = drop_left_out(flow.puts, flow.put_count);
        result.outcomes = flow.outcomes;
    } else {
        fail(&flow, &result);
    }
    *out = result;
    return true;
}
