#include "engine/expr/expr_build_internal.h"

#include "engine/expr/expr_functions_internal.h"
#include "engine/expr/expr_literal_internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void expr_list_add(struct expr_list *list, struct arena *arena, const struct expr *expr)
{
    if (list->count == list->capacity) {
        list->items = arena_grow(arena, list->items, sizeof *list->items, &list->capacity);
    }
    list->items[list->count++] = expr;
}

const struct expr *expr_build_fault(struct builder *builder, size_t at, const char *format, ...)
{
    char text[sizeof builder->err->text];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)error_set(builder->err, ERROR_PLAN, "%s", text);
    builder->fault = at;
    return NULL;
}

/* Makes a plan error of what a callee said. */
static const struct expr *fault_as_said(struct builder *builder, size_t at)
{
    builder->err->code = ERROR_PLAN;
    builder->fault = at;
    return NULL;
}

/* --- leaves --- */

const struct expr *expr_build_constant(struct builder *builder, size_t at, struct value value)
{
    struct expr *node = arena_zero(builder->arena, sizeof *node);
    node->kind = EXPR_CONSTANT;
    node->precedence = BINDS_PRIMARY;
    node->types = 1U << value_type(value);
    node->depth = 1;
    node->at = at;
    node->constant = value;
    return node;
}

const struct expr *expr_build_path(struct builder *builder, size_t at, struct path path)
{
    struct expr *node = arena_zero(builder->arena, sizeof *node);
    node->kind = EXPR_PATH;
    node->precedence = BINDS_PRIMARY;
    node->types = TYPE_ANY;
    node->reads = true;
    node->depth = 1;
    node->at = at;
    node->evaluate = expr_evaluate_path;
    node->path = path;
    node->slot = EXPR_ITEM;
    size_t used = 0;
    const struct expr_options *options = builder->options;
    if (options != NULL && options->resolve != NULL) {
        node->slot = options->resolve(options->context, path, &used, builder->err);
    }
    if (node->slot == EXPR_UNKNOWN) {
        return fault_as_said(builder, at);
    }
    assert(used <= path.count);
    node->rest = (struct path){path.steps + used, path.count - used};
    return node;
}

/* --- checks --- */

struct label {
    char text[64];
};

/* "argument 2 of split()", "an operand of ||". */
static struct label argument_label(const struct expr *node, size_t index)
{
    struct label label;
    if (node->kind == EXPR_CALL) {
        (void)snprintf(label.text, sizeof label.text, "argument %zu of %s()", index + 1,
                       node->operation->name);
    } else if (node->precedence == BINDS_PRIMARY) {
        (void)snprintf(label.text, sizeof label.text, "a member");
    } else {
        (void)snprintf(label.text, sizeof label.text, "an operand of %s", node->operation->name);
    }
    return label;
}

/* The checks return the node, or NULL if it can never be right. */

static const struct expr *check_type(struct builder *builder, const struct expr *node, size_t index)
{
    const struct parameter *parameter = expr_parameter(node->operation, index);
    const struct expr *argument = node->arguments[index];
    struct label label = argument_label(node, index);
    if (value_is_missing(argument->constant)) {
        return (parameter->types & argument->types) != 0
                   ? node
                   : expr_build_fault(builder, argument->at, "expected %s as %s, found %s",
                                      expr_literal_types(parameter->types).text, label.text,
                                      expr_literal_types(argument->types).text);
    }
    if (!expr_parameter_accepts(parameter, argument->constant, builder->err)) {
        (void)error_wrap(builder->err, "%s", label.text);
        return fault_as_said(builder, argument->at);
    }
    return node;
}

static const struct expr *check_argument(struct builder *builder, const struct expr *node,
                                         size_t index)
{
    const struct expr *argument = node->arguments[index];
    struct label label = argument_label(node, index);
    switch (expr_parameter(node->operation, index)->form) {
    case PARAMETER_CONDITION:
        if (!expr_is_condition(argument)) {
            return expr_build_fault(builder, argument->at,
                                    "expected a condition as %s; of a BOOL attribute write "
                                    "A = true",
                                    label.text);
        }
        return node;
    case PARAMETER_PATH:
        return argument->kind == EXPR_PATH
                   ? node
                   : expr_build_fault(builder, argument->at, "expected a path as %s", label.text);
    case PARAMETER_LITERAL:
        if (value_is_missing(argument->constant)) {
            return expr_build_fault(builder, argument->at, "expected a literal as %s", label.text);
        }
        return check_type(builder, node, index);
    default:
        return check_type(builder, node, index);
    }
}

/* DynamoDB refuses bounds that nothing lies between. */
static const struct expr *check_bounds(struct builder *builder, const struct expr *node)
{
    assert(node->arguments != NULL && node->argument_count == 3);
    struct value low = node->arguments[1]->constant;
    struct value high = node->arguments[2]->constant;
    if (value_is_missing(low) || value_is_missing(high)) {
        return node;
    }
    if (value_type(low) != value_type(high) || value_compare(low, high) > 0) {
        return expr_build_fault(builder, node->arguments[2]->at, "nothing lies between %s and %s",
                                expr_literal_shown(low).text, expr_literal_shown(high).text);
    }
    return node;
}

static const struct expr *check_arguments(struct builder *builder, const struct expr *node)
{
    if (node->depth > EXPR_MAX_DEPTH) {
        return expr_build_fault(builder, node->at, "nested over %d levels", EXPR_MAX_DEPTH);
    }
    for (size_t i = 0; i < node->argument_count; i++) {
        if (check_argument(builder, node, i) == NULL) {
            return NULL;
        }
    }
    return node->kind == EXPR_BETWEEN ? check_bounds(builder, node) : node;
}

/* --- operations --- */

static void set_arguments(struct expr *node, const struct expr_list *arguments)
{
    node->arguments = arguments->items;
    node->argument_count = arguments->count;
    node->depth = 1;
    for (size_t i = 0; i < arguments->count; i++) {
        const struct expr *argument = arguments->items[i];
        node->reads = node->reads || argument->reads;
        node->depth = node->depth > argument->depth ? node->depth : argument->depth + 1;
    }
}

static void set_operation(struct expr *node, const struct operation *operation)
{
    node->operation = operation;
    node->evaluate = operation->evaluate != NULL ? operation->evaluate : expr_evaluate_call;
}

static bool all_literal(const struct expr *node)
{
    for (size_t i = 0; i < node->argument_count; i++) {
        if (node->arguments[i]->kind != EXPR_CONSTANT) {
            return false;
        }
    }
    return true;
}

/* Checks the node; one that reads nothing is computed now, and brackets and signs around literals
 * are literals themselves. */
static const struct expr *finish(struct builder *builder, struct expr *node)
{
    if (check_arguments(builder, node) == NULL) {
        return NULL;
    }
    const struct operation *operation = node->operation;
    node->types = operation->result_of != NULL ? operation->result_of(node) : operation->result;
    if (node->reads) {
        return node;
    }
    struct expr_scope nothing = {0};
    if (!expr_eval(node, &nothing, builder->arena, &node->constant, builder->err)) {
        return fault_as_said(builder, node->at);
    }
    bool is_literal = node->kind == EXPR_OTHER && node->precedence >= BINDS_SIGN;
    if (is_literal && all_literal(node)) {
        return expr_build_constant(builder, node->at, node->constant);
    }
    return node;
}

const struct expr *expr_build_operator(struct builder *builder, size_t at,
                                       const struct expr_operator *op,
                                       const struct expr_list *arguments, const struct str *keys)
{
    struct expr *node = arena_zero(builder->arena, sizeof *node);
    node->kind = op->kind;
    node->precedence = op->precedence;
    node->at = at;
    node->keys = keys;
    set_operation(node, &op->operation);
    set_arguments(node, arguments);
    if (arguments->count > op->operation.max) {
        return expr_build_fault(builder, at, "%s takes at most %zu values", op->operation.name,
                                op->operation.max - 1);
    }
    return finish(builder, node);
}

const struct expr *expr_build_call(struct builder *builder, size_t at, struct str name,
                                   const struct expr_list *arguments)
{
    const struct operation *function = NULL;
    if (!expr_function_find(name, arguments->count, &function, builder->err)) {
        return fault_as_said(builder, at);
    }
    struct expr *node = arena_zero(builder->arena, sizeof *node);
    node->kind = EXPR_CALL;
    node->precedence = BINDS_PRIMARY;
    node->at = at;
    set_operation(node, function);
    set_arguments(node, arguments);
    return finish(builder, node);
}

struct member {
    struct str key;
    const struct expr *value;
};

static int compare_members(const void *a, const void *b)
{
    return str_compare(((const struct member *)a)->key, ((const struct member *)b)->key);
}

/* In the order in which they print, so that equal sets print alike. */
const struct expr *expr_build_set(struct builder *builder, size_t at,
                                  const struct expr_list *values)
{
    struct member *members = arena_alloc(builder->arena, values->count * sizeof *members);
    for (size_t i = 0; i < values->count; i++) {
        struct str text = expr_print(values->items[i], builder->arena);
        members[i] = (struct member){text, values->items[i]};
    }
    qsort(members, values->count, sizeof *members, compare_members);
    struct expr_list sorted = {0};
    for (size_t i = 0; i < values->count; i++) {
        expr_list_add(&sorted, builder->arena, members[i].value);
    }
    return expr_build_operator(builder, at, expr_operator_find(TOKEN_SET_OPEN, BINDS_PRIMARY),
                               &sorted, NULL);
}

/* In the order of names, so that equal maps print alike. */
const struct expr *expr_build_map(struct builder *builder, size_t at, const struct expr_list *keys,
                                  const struct expr_list *values)
{
    size_t count = keys->count;
    struct member *members = arena_alloc(builder->arena, count * sizeof *members);
    for (size_t i = 0; i < count; i++) {
        members[i] = (struct member){value_bytes(keys->items[i]->constant), values->items[i]};
    }
    qsort(members, count, sizeof *members, compare_members);
    struct str *names = arena_alloc(builder->arena, count * sizeof *names);
    struct expr_list sorted = {0};
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && str_equal(members[i - 1].key, members[i].key)) {
            return expr_build_fault(builder, at, "the map has '%.*s' twice",
                                    STR_ARG(members[i].key));
        }
        names[i] = members[i].key;
        expr_list_add(&sorted, builder->arena, members[i].value);
    }
    return expr_build_operator(builder, at, expr_operator_find(TOKEN_MAP_OPEN, BINDS_PRIMARY),
                               &sorted, names);
}
