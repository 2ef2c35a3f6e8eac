#include "engine/expr/expr_operators_internal.h"

#include <stdint.h>
#include <string.h>

/* --- AND, OR, NOT: operands are conditions, which are never missing --- */

static bool evaluate_until(const struct expr *expr, struct evaluation *in, bool wanted,
                           struct value *out)
{
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (!expr_evaluate_node(expr->arguments[i], in, out)) {
            return false;
        }
        if (value_bool(*out) == wanted) {
            return true;
        }
    }
    return true;
}

static bool evaluate_or(const struct expr *expr, struct evaluation *in, struct value *out)
{
    return evaluate_until(expr, in, true, out);
}

static bool evaluate_and(const struct expr *expr, struct evaluation *in, struct value *out)
{
    return evaluate_until(expr, in, false, out);
}

static bool evaluate_not(const struct expr *expr, struct evaluation *in, struct value *out)
{
    if (!expr_evaluate_node(expr->arguments[0], in, out)) {
        return false;
    }
    *out = value_from_bool(!value_bool(*out));
    return true;
}

/* --- comparisons --- */

static bool evaluate_two(const struct expr *expr, struct evaluation *in, struct value two[2])
{
    return expr_evaluate_node(expr->arguments[0], in, &two[0]) &&
           expr_evaluate_node(expr->arguments[1], in, &two[1]);
}

static bool is_equal(struct value a, struct value b)
{
    return !value_is_missing(a) && value_equal(a, b);
}

static bool is_ordered(struct value a, struct value b)
{
    return value_type(a) == value_type(b) && (1U << value_type(a) & TYPE_ORDERED) != 0;
}

static bool is_less(struct value a, struct value b)
{
    return is_ordered(a, b) && value_compare(a, b) < 0;
}

static bool is_less_or_equal(struct value a, struct value b)
{
    return is_ordered(a, b) && value_compare(a, b) <= 0;
}

static bool is_unequal(struct value a, struct value b)
{
    return !is_equal(a, b);
}

static bool is_greater(struct value a, struct value b)
{
    return is_less(b, a);
}

static bool is_greater_or_equal(struct value a, struct value b)
{
    return is_less_or_equal(b, a);
}

typedef bool comparison(struct value a, struct value b);

static bool compare(const struct expr *expr, struct evaluation *in, comparison *holds,
                    struct value *out)
{
    struct value two[2];
    if (!evaluate_two(expr, in, two)) {
        return false;
    }
    *out = value_from_bool(holds(two[0], two[1]));
    return true;
}

static bool evaluate_equal(const struct expr *expr, struct evaluation *in, struct value *out)
{
    return compare(expr, in, is_equal, out);
}

static bool evaluate_unequal(const struct expr *expr, struct evaluation *in, struct value *out)
{
    return compare(expr, in, is_unequal, out);
}

static bool evaluate_less(const struct expr *expr, struct evaluation *in, struct value *out)
{
    return compare(expr, in, is_less, out);
}

static bool evaluate_less_or_equal(const struct expr *expr, struct evaluation *in,
                                   struct value *out)
{
    return compare(expr, in, is_less_or_equal, out);
}

static bool evaluate_greater(const struct expr *expr, struct evaluation *in, struct value *out)
{
    return compare(expr, in, is_greater, out);
}

static bool evaluate_greater_or_equal(const struct expr *expr, struct evaluation *in,
                                      struct value *out)
{
    return compare(expr, in, is_greater_or_equal, out);
}

static bool evaluate_between(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value two[2];
    struct value high;
    if (!evaluate_two(expr, in, two) || !expr_evaluate_node(expr->arguments[2], in, &high)) {
        return false;
    }
    *out = value_from_bool(is_less_or_equal(two[1], two[0]) && is_less_or_equal(two[0], high));
    return true;
}

static bool evaluate_in(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value wanted;
    if (!expr_evaluate_node(expr->arguments[0], in, &wanted)) {
        return false;
    }
    bool found = false;
    for (size_t i = 1; i < expr->argument_count && !found; i++) {
        struct value member;
        if (!expr_evaluate_node(expr->arguments[i], in, &member)) {
            return false;
        }
        found = is_equal(wanted, member);
    }
    *out = value_from_bool(found);
    return true;
}

/* --- text and numbers --- */

static bool evaluate_concat(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value *values = NULL;
    bool missing = false;
    if (!expr_evaluate_all(expr, in, &values, &missing)) {
        return false;
    }
    *out = expr_missing();
    if (missing) {
        return true;
    }
    size_t len = 0;
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (!expr_parameter_accepts(expr_parameter(expr->operation, i), values[i], in->err)) {
            return error_wrap(in->err, "||");
        }
        len += value_bytes(values[i]).len;
    }
    if (!expr_check_room(len, in->err)) {
        return error_wrap(in->err, "||");
    }
    char *bytes = arena_bytes(in->scratch, len);
    char *at = bytes;
    for (size_t i = 0; i < expr->argument_count; i++) {
        struct str part = value_bytes(values[i]);
        memcpy(at, part.ptr, part.len);
        at += part.len;
    }
    *out = value_string(in->scratch, (struct str){bytes, len});
    return true;
}

typedef bool arithmetic(const struct number *a, const struct number *b, struct number *out,
                        struct error *err);

static bool compute(struct evaluation *in, arithmetic *operation, const struct value *arguments,
                    struct value *out)
{
    struct number a = value_number(arguments[0]);
    struct number b = value_number(arguments[1]);
    struct number result;
    if (!operation(&a, &b, &result, in->err)) {
        return false;
    }
    *out = value_from_number(in->scratch, &result);
    return true;
}

static bool call_add(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return compute(in, number_add, arguments, out);
}

static bool call_subtract(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return compute(in, number_subtract, arguments, out);
}

static bool call_multiply(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return compute(in, number_multiply, arguments, out);
}

static bool call_negate(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct number n = value_number(arguments[0]);
    n = number_negate(&n);
    *out = value_from_number(in->scratch, &n);
    return true;
}

/* --- brackets --- */

bool expr_evaluate_list(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value *values = NULL;
    bool missing = false;
    if (!expr_evaluate_all(expr, in, &values, &missing)) {
        return false;
    }
    *out = expr_missing();
    if (missing) {
        return true;
    }
    size_t size = 0;
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (expr_is_empty_set(values[i])) {
            return error_set(in->err, ERROR_ITEM, "a list cannot hold an empty set");
        }
        size += values[i].len;
    }
    if (!expr_check_room(size, in->err)) {
        return false;
    }
    *out = value_list(in->scratch, values, expr->argument_count);
    return true;
}

bool expr_evaluate_set(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value *values = NULL;
    bool missing = false;
    if (!expr_evaluate_all(expr, in, &values, &missing)) {
        return false;
    }
    *out = missing ? expr_missing() : expr_empty_set();
    if (missing || expr->argument_count == 0) {
        return true;
    }
    size_t size = 0;
    for (size_t i = 0; i < expr->argument_count; i++) {
        size += values[i].len;
    }
    return expr_check_room(size, in->err) &&
           value_set_merged(in->scratch, values, expr->argument_count, out, in->err);
}

/* A member that is an empty set is left out, as an attribute would be. */
static bool evaluate_map(const struct expr *expr, struct evaluation *in, struct value *out)
{
    struct value *values = NULL;
    bool missing = false;
    if (!expr_evaluate_all(expr, in, &values, &missing)) {
        return false;
    }
    *out = expr_missing();
    if (missing) {
        return true;
    }
    struct attribute *members = arena_alloc(in->scratch, expr->argument_count * sizeof *members);
    size_t size = 0;
    for (size_t i = 0; i < expr->argument_count; i++) {
        bool empty = expr_is_empty_set(values[i]);
        members[i] = (struct attribute){expr->keys[i], empty ? expr_missing() : values[i]};
        size += expr->keys[i].len + values[i].len;
    }
    return expr_check_room(size, in->err) &&
           value_map(in->scratch, members, expr->argument_count, out, in->err);
}

/* --- the table --- */

static const struct parameter any = {.types = TYPE_ANY};
static const struct parameter condition = {.form = PARAMETER_CONDITION, .types = TYPE_BOOL};
static const struct parameter ordered = {.types = TYPE_ORDERED};
static const struct parameter text = {.types = TYPE_S};
static const struct parameter number = {.types = TYPE_N};
static const struct parameter member = {.types = TYPE_ORDERED};

/* clang-format off */
static const struct expr_operator operators[] = {
    {TOKEN_OR, EXPR_OR, BINDS_OR,
     {"OR", 2, SIZE_MAX, {&condition}, TYPE_BOOL, .evaluate = evaluate_or}},
    {TOKEN_AND, EXPR_AND, BINDS_AND,
     {"AND", 2, SIZE_MAX, {&condition}, TYPE_BOOL, .evaluate = evaluate_and}},
    {TOKEN_NOT, EXPR_NOT, BINDS_NOT,
     {"NOT", 1, 1, {&condition}, TYPE_BOOL, .evaluate = evaluate_not}},
    {TOKEN_EQUAL, EXPR_COMPARE, BINDS_COMPARISON,
     {"=", 2, 2, {&any}, TYPE_BOOL, .evaluate = evaluate_equal}},
    {TOKEN_UNEQUAL, EXPR_COMPARE, BINDS_COMPARISON,
     {"<>", 2, 2, {&any}, TYPE_BOOL, .evaluate = evaluate_unequal}},
    {TOKEN_LESS, EXPR_COMPARE, BINDS_COMPARISON,
     {"<", 2, 2, {&ordered}, TYPE_BOOL, .evaluate = evaluate_less}},
    {TOKEN_LESS_EQUAL, EXPR_COMPARE, BINDS_COMPARISON,
     {"<=", 2, 2, {&ordered}, TYPE_BOOL, .evaluate = evaluate_less_or_equal}},
    {TOKEN_GREATER, EXPR_COMPARE, BINDS_COMPARISON,
     {">", 2, 2, {&ordered}, TYPE_BOOL, .evaluate = evaluate_greater}},
    {TOKEN_GREATER_EQUAL, EXPR_COMPARE, BINDS_COMPARISON,
     {">=", 2, 2, {&ordered}, TYPE_BOOL, .evaluate = evaluate_greater_or_equal}},
    {TOKEN_BETWEEN, EXPR_BETWEEN, BINDS_COMPARISON,
     {"BETWEEN", 3, 3, {&ordered}, TYPE_BOOL, .evaluate = evaluate_between}},
    {TOKEN_IN, EXPR_IN, BINDS_COMPARISON,
     {"IN", 2, 1 + EXPR_IN_MAX, {&any}, TYPE_BOOL, .evaluate = evaluate_in}},
    {TOKEN_CONCAT, EXPR_CONCAT, BINDS_CONCAT,
     {"||", 2, SIZE_MAX, {&text}, TYPE_S, .evaluate = evaluate_concat}},
    {TOKEN_PLUS, EXPR_OTHER, BINDS_SUM, {"+", 2, 2, {&number}, TYPE_N, .call = call_add}},
    {TOKEN_MINUS, EXPR_OTHER, BINDS_SUM, {"-", 2, 2, {&number}, TYPE_N, .call = call_subtract}},
    {TOKEN_TIMES, EXPR_OTHER, BINDS_PRODUCT,
     {"*", 2, 2, {&number}, TYPE_N, .call = call_multiply}},
    {TOKEN_MINUS, EXPR_OTHER, BINDS_SIGN, {"-", 1, 1, {&number}, TYPE_N, .call = call_negate}},
    {TOKEN_LIST_OPEN, EXPR_OTHER, BINDS_PRIMARY,
     {"[", 0, SIZE_MAX, {&any}, TYPE_L, .evaluate = expr_evaluate_list}},
    {TOKEN_SET_OPEN, EXPR_OTHER, BINDS_PRIMARY,
     {"<<", 0, SIZE_MAX, {&member}, TYPE_SET, .evaluate = expr_evaluate_set}},
    {TOKEN_MAP_OPEN, EXPR_OTHER, BINDS_PRIMARY,
     {"{", 0, SIZE_MAX, {&any}, TYPE_M, .evaluate = evaluate_map}},
};
/* clang-format on */

const struct expr_operator *expr_operator_find(enum token_kind token, enum precedence precedence)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (operators[i].token == token && operators[i].precedence == precedence) {
            return &operators[i];
        }
    }
    return NULL;
}
