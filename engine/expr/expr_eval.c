#include "engine/expr/expr_internal.h"
#include "engine/expr/expr_literal_internal.h"

#include <assert.h>
#include <string.h>

bool expr_check_room(size_t bytes, struct error *err)
{
    if (bytes > ITEM_MAX_BYTES) {
        return error_set(err, ERROR_ITEM, "the result has %zu bytes, more than an item may (%d)",
                         bytes, ITEM_MAX_BYTES);
    }
    return true;
}

static const unsigned char empty_set[] = {VALUE_SS, 1, 0};

struct value expr_empty_set(void)
{
    return (struct value){empty_set, sizeof empty_set};
}

bool expr_is_empty_set(struct value v)
{
    return value_equal(v, expr_empty_set());
}

const struct parameter *expr_parameter(const struct operation *operation, size_t index)
{
    size_t last = index < EXPR_PARAMETERS_MAX ? index : EXPR_PARAMETERS_MAX - 1;
    while (operation->parameters[last] == NULL) {
        last--;
    }
    return operation->parameters[last];
}

bool expr_parameter_accepts(const struct parameter *parameter, struct value argument,
                            struct error *err)
{
    if ((parameter->types & 1U << value_type(argument)) == 0) {
        return error_set(err, ERROR_ITEM, "expected %s, found %s",
                         expr_literal_types(parameter->types).text,
                         expr_literal_shown(argument).text);
    }
    return parameter->valid == NULL || parameter->valid(argument, err);
}

bool expr_evaluate_path(const struct expr *expr, struct evaluation *in, struct value *out)
{
    const struct expr_scope *scope = in->scope;
    assert(expr->slot == EXPR_ITEM || (size_t)expr->slot < scope->slot_count);
    struct value root = expr->slot == EXPR_ITEM ? scope->item : scope->slots[expr->slot];
    *out = path_value(expr->rest, root);
    return true;
}

bool expr_evaluate_all(const struct expr *expr, struct evaluation *in, struct value **values,
                       bool *missing)
{
    *values = arena_alloc(in->scratch, expr->argument_count * sizeof **values);
    *missing = false;
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (!expr_evaluate_node(expr->arguments[i], in, &(*values)[i])) {
            return false;
        }
        *missing = *missing || value_is_missing((*values)[i]);
    }
    return true;
}

/* Constants were checked when the expression was built. */
static bool accepts(const struct expr *expr, const struct value *values, struct error *err)
{
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (value_is_missing(expr->arguments[i]->constant) &&
            !expr_parameter_accepts(expr_parameter(expr->operation, i), values[i], err)) {
            return false;
        }
    }
    return true;
}

bool expr_evaluate_call(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value values[EXPR_PARAMETERS_MAX] = {{NULL, 0}};
    assert(expr->argument_count <= EXPR_PARAMETERS_MAX);
    bool missing = false;
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (!expr_evaluate_node(expr->arguments[i], in, &values[i])) {
            return false;
        }
        missing = missing || value_is_missing(values[i]);
    }
    if (missing) {
        *out = expr_missing();
        return true;
    }
    if (accepts(expr, values, in->err) && expr->operation->call(in, values, out)) {
        return true;
    }
    in->err->code = ERROR_ITEM;
    return error_wrap(in->err, expr->kind == EXPR_CALL ? "%s()" : "%s", expr->operation->name);
}

bool expr_eval(const struct expr *expr, const struct expr_scope *scope, struct arena *scratch,
               struct value *out, struct error *err)
{
    struct evaluation in = {scope, scratch, err};
    struct value result;
    if (!expr_evaluate_node(expr, &in, &result)) {
        return false;
    }
    *out = result;
    return true;
}

bool expr_test(const struct expr *expr, const struct expr_scope *scope, struct arena *scratch,
               bool *out, struct error *err)
{
    assert(expr_is_condition(expr));
    struct value result;
    if (!expr_eval(expr, scope, scratch, &result, err)) {
        return false;
    }
    *out = !value_is_missing(result) && value_bool(result);
    return true;
}
