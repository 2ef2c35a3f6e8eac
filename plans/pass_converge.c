#include "plans/pass_flow_internal.h"

/* The first attribute in which two items differ. */
static struct str first_difference(struct value a, struct value b)
{
    struct value_iter left = value_members(a);
    struct value_iter right = value_members(b);
    struct attribute one = {{"", 0}, {NULL, 0}};
    struct attribute other = one;
    bool has_one = value_next(&left, &one);
    bool has_other = value_next(&right, &other);
    while (has_one && has_other && str_equal(one.name, other.name) &&
           value_equal(one.value, other.value)) {
        has_one = value_next(&left, &one);
        has_other = value_next(&right, &other);
    }
    if (!has_one || (has_other && str_compare(other.name, one.name) < 0)) {
        return other.name;
    }
    return one.name;
}

static size_t first_written(const struct flow *flow)
{
    size_t step = 0;
    while (step + 1 < flow->pass->step_count && flow->outcomes[step] != STEP_WRITTEN) {
        step++;
    }
    return step;
}

/* A put that comes out again must be the item itself or one of its puts. */
static bool is_known(const struct flow *flow, struct value put)
{
    if (!flow->deleted && value_equal(put, flow->item)) {
        return true;
    }
    for (size_t i = 0; i < flow->put_count; i++) {
        if (value_equal(put, flow->puts[i].item)) {
            return true;
        }
    }
    return false;
}

static bool refuse(struct flow *flow, size_t step, const char *what, struct str which)
{
    flow->step = step;
    return error_set(flow->err, ERROR_ITEM,
                     "does not converge: applied to its own result, the pass would %s%.*s", what,
                     STR_ARG(which));
}

/* Puts what came out through the pass again. */
static bool try_again(struct flow *flow, struct value item, const bool *skip)
{
    struct flow again = {.pass = flow->pass,
                         .input = flow->input,
                         .skip = skip,
                         .arena = flow->arena,
                         .err = flow->err,
                         .item = item};
    if (!flow_run(&again)) {
        flow->step = again.step;
        flow->broken = again.broken;
        return error_wrap(flow->err, "does not converge: applied to its own result");
    }
    if (again.deleted) {
        return refuse(flow, first_written(&again), "delete it", STR(""));
    }
    if (!value_equal(again.item, item)) {
        return refuse(flow, again.write_step, "change ", first_difference(item, again.item));
    }
    for (size_t i = 0; i < again.put_count; i++) {
        if (!is_known(flow, again.puts[i].item)) {
            return refuse(flow, again.puts[i].step, "put another item", STR(""));
        }
    }
    return true;
}

bool flow_converges(struct flow *flow)
{
    bool changed = !flow->deleted && !value_equal(flow->item, flow->input->item);
    if (changed && !flow->pass->item_proved && !try_again(flow, flow->item, flow->skip)) {
        return false;
    }
    for (size_t i = 0; i < flow->put_count; i++) {
        if (!try_again(flow, flow->puts[i].item, NULL)) {
            return false;
        }
    }
    return true;
}
