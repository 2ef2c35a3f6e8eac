/* Functions that decide or choose: they see to their arguments themselves, missing ones too. */
#include "engine/expr/expr_functions_internal.h"

#include "engine/base/utf8.h"

#include <string.h>

static bool evaluate_two(const struct expr *expr, struct evaluation *in, struct value two[2])
{
    return expr_evaluate_node(expr->arguments[0], in, &two[0]) &&
           expr_evaluate_node(expr->arguments[1], in, &two[1]);
}

bool expr_function_attribute_exists(const struct expr *expr, struct evaluation *in,
                                    struct value *out)
{
    struct value found;
    if (!expr_evaluate_node(expr->arguments[0], in, &found)) {
        return false;
    }
    *out = value_from_bool(!value_is_missing(found));
    return true;
}

bool expr_function_attribute_not_exists(const struct expr *expr, struct evaluation *in,
                                        struct value *out)
{
    struct value found;
    if (!expr_evaluate_node(expr->arguments[0], in, &found)) {
        return false;
    }
    *out = value_from_bool(value_is_missing(found));
    return true;
}

bool expr_function_attribute_type(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value two[2];
    if (!evaluate_two(expr, in, two)) {
        return false;
    }
    const char *name = value_type_name(value_type(two[0]));
    *out = value_from_bool(str_equal((struct str){name, strlen(name)}, value_bytes(two[1])));
    return true;
}

static bool is_bytes(struct value v)
{
    return value_type(v) == VALUE_S || value_type(v) == VALUE_B;
}

bool expr_function_begins_with(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value two[2];
    if (!evaluate_two(expr, in, two)) {
        return false;
    }
    bool comparable = is_bytes(two[0]) && value_type(two[0]) == value_type(two[1]);
    *out = value_from_bool(comparable && str_begins(value_bytes(two[0]), value_bytes(two[1])));
    return true;
}

static bool bytes_contain(struct value v, struct value part)
{
    struct str whole = value_bytes(v);
    struct str wanted = value_bytes(part);
    return memmem(whole.ptr, whole.len, wanted.ptr, wanted.len) != NULL;
}

static bool list_contains(struct value list, struct value wanted)
{
    struct value_iter iter = value_members(list);
    struct attribute element;
    while (value_next(&iter, &element)) {
        if (value_equal(element.value, wanted)) {
            return true;
        }
    }
    return false;
}

static bool set_contains(struct value set, struct value wanted)
{
    struct value_iter iter = value_members(set);
    if (iter.member != value_type(wanted)) {
        return false;
    }
    struct str member;
    while (value_next_member(&iter, &member)) {
        if (str_equal(member, value_bytes(wanted))) {
            return true;
        }
    }
    return false;
}

static bool value_contains(struct value v, struct value wanted)
{
    switch (value_type(v)) {
    case VALUE_S:
    case VALUE_B:
        return value_type(wanted) == value_type(v) && bytes_contain(v, wanted);
    case VALUE_L:
        return list_contains(v, wanted);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return set_contains(v, wanted);
    default:
        return false;
    }
}

bool expr_function_contains(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value two[2];
    if (!evaluate_two(expr, in, two)) {
        return false;
    }
    *out = value_from_bool(!value_is_missing(two[1]) && value_contains(two[0], two[1]));
    return true;
}

/* DynamoDB's: UTF-16 units of S, bytes of B, members of the rest; N, BOOL and NULL have none. */
bool expr_function_size(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value v;
    if (!expr_evaluate_node(expr->arguments[0], in, &v)) {
        return false;
    }
    size_t size = 0;
    switch (value_type(v)) {
    case VALUE_S:
        size = utf8_utf16_units(value_bytes(v));
        break;
    case VALUE_B:
        size = value_bytes(v).len;
        break;
    case VALUE_MISSING:
    case VALUE_N:
    case VALUE_BOOL:
    case VALUE_NULL:
        *out = expr_missing();
        return true;
    default:
        size = value_count(v);
    }
    struct number n = number_from_int((int64_t)size);
    *out = value_from_number(in->scratch, &n);
    return true;
}

bool expr_function_if_not_exists(const struct expr *expr, struct evaluation *in, struct value *out)
{
    if (!expr_evaluate_node(expr->arguments[0], in, out)) {
        return false;
    }
    return !value_is_missing(*out) || expr_evaluate_node(expr->arguments[1], in, out);
}

bool expr_function_coalesce(const struct expr *expr, struct evaluation *in, struct value *out)
{
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (!expr_evaluate_node(expr->arguments[i], in, out)) {
            return false;
        }
        if (!value_is_missing(*out) && value_type(*out) != VALUE_NULL) {
            return true;
        }
    }
    *out = expr_missing();
    return true;
}

bool expr_function_if(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value decides;
    if (!expr_evaluate_node(expr->arguments[0], in, &decides)) {
        return false;
    }
    return expr_evaluate_node(expr->arguments[value_bool(decides) ? 1 : 2], in, out);
}
