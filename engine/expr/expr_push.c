/* Conditions that a server of the DynamoDB API evaluates as we do, and how they are written there.
 * Amazon DynamoDB Developer Guide, "Condition and filter expressions, operators, and functions". */
#include "engine/expr/expr.h"

#include "engine/expr/expr_internal.h"

#include <string.h>

enum {
    /* Ours: half of what an expression may hold (4 KB), so that there is room for other terms. */
    PUSH_MAX_OPERATORS = 50,
    PUSH_MAX_OPERANDS = 150,
    PUSH_MAX_PLACE = 10000,
    PUSH_MAX_NAME_BYTES = 255
};

enum {
    TYPES_ORDERED = TYPE_S | TYPE_N, /* B is compared by its base64 on some servers */
    TYPES_EQUAL = TYPES_ORDERED | TYPE_B | TYPE_BOOL | TYPE_NULL
};

/* --- which --- */

struct push_size {
    size_t operators;
    size_t operands;
};

/* A constant of one of the types; the empty text is refused by some servers. */
static bool is_constant(const struct expr *expr, unsigned types)
{
    enum value_type type = value_type(expr->constant);
    bool is_bytes = type == VALUE_S || type == VALUE_B;
    return type != VALUE_MISSING && (1U << type & types) != 0 &&
           !(is_bytes && value_bytes(expr->constant).len == 0);
}

static bool is_item_path(const struct expr *expr)
{
    if (expr->kind != EXPR_PATH || expr->slot != EXPR_ITEM || expr->path.count > VALUE_MAX_DEPTH) {
        return false;
    }
    for (size_t i = 0; i < expr->path.count; i++) {
        const struct path_step *step = &expr->path.steps[i];
        if (step->is_place ? step->place > PUSH_MAX_PLACE
                           : step->name.len == 0 || step->name.len > PUSH_MAX_NAME_BYTES) {
            return false;
        }
    }
    return true;
}

static bool compares(const struct expr *expr)
{
    bool orders = expr->operation->name[0] != '=' && strcmp(expr->operation->name, "<>") != 0;
    unsigned types = orders ? TYPES_ORDERED : TYPES_EQUAL;
    const struct expr *left = expr->arguments[0];
    const struct expr *right = expr->arguments[1];
    return (is_item_path(left) && is_constant(right, types)) ||
           (is_item_path(right) && is_constant(left, types));
}

/* BETWEEN and IN: constants behind a path, all of one type. */
static bool is_among(const struct expr *expr)
{
    enum value_type type = value_type(expr->arguments[1]->constant);
    for (size_t i = 1; i < expr->argument_count; i++) {
        if (!is_constant(expr->arguments[i], TYPES_ORDERED) ||
            value_type(expr->arguments[i]->constant) != type) {
            return false;
        }
    }
    return is_item_path(expr->arguments[0]);
}

static bool calls(const struct expr *expr)
{
    static const struct {
        const char *name;
        bool takes_text; /* besides the path */
    } functions[] = {{"attribute_exists", false},
                     {"attribute_not_exists", false},
                     {"attribute_type", true},
                     {"begins_with", true},
                     {"contains", true}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, expr->operation->name) == 0) {
            return is_item_path(expr->arguments[0]) &&
                   (!functions[i].takes_text || is_constant(expr->arguments[1], TYPE_S));
        }
    }
    return false;
}

static bool is_pushable(const struct expr *expr, struct push_size *size);

static bool all_pushable(const struct expr *expr, struct push_size *size)
{
    for (size_t i = 0; i < expr->argument_count; i++) {
        if (!is_pushable(expr->arguments[i], size)) {
            return false;
        }
    }
    return true;
}

static bool is_pushable(const struct expr *expr, struct push_size *size)
{
    bool joins = expr->kind == EXPR_AND || expr->kind == EXPR_OR;
    size->operators += joins ? expr->argument_count - 1 : 1;
    size->operands += expr->argument_count;
    switch (expr->kind) {
    case EXPR_AND:
    case EXPR_OR:
    case EXPR_NOT:
        return all_pushable(expr, size);
    case EXPR_COMPARE:
        return compares(expr);
    case EXPR_BETWEEN:
    case EXPR_IN:
        return is_among(expr);
    case EXPR_CALL:
        return calls(expr);
    default:
        return false;
    }
}

bool expr_is_pushable(const struct expr *expr)
{
    struct push_size size = {0};
    return is_pushable(expr, &size) && size.operators <= PUSH_MAX_OPERATORS &&
           size.operands <= PUSH_MAX_OPERANDS;
}

/* --- how --- */

struct pushing {
    const struct expr_sink *sink;
    struct buffer *out;
    size_t operators;
};

static void push_path(struct pushing *pushing, struct path path)
{
    for (size_t i = 0; i < path.count; i++) {
        const struct path_step *step = &path.steps[i];
        if (step->is_place) {
            buffer_format(pushing->out, "[%zu]", step->place);
            continue;
        }
        buffer_add(pushing->out, i > 0 ? STR(".") : STR(""));
        pushing->sink->name(pushing->sink->context, step->name, pushing->out);
    }
}

static void push_operand(struct pushing *pushing, const struct expr *expr)
{
    if (expr->kind == EXPR_PATH) {
        push_path(pushing, expr->path);
    } else {
        pushing->sink->value(pushing->sink->context, expr->constant, pushing->out);
    }
}

static void push_operands(struct pushing *pushing, const struct expr *expr, size_t first,
                          const char *joint)
{
    for (size_t i = first; i < expr->argument_count; i++) {
        buffer_format(pushing->out, "%s", i > first ? joint : "");
        push_operand(pushing, expr->arguments[i]);
    }
}

static void push_leaf(struct pushing *pushing, const struct expr *expr)
{
    const char *name = expr->operation->name;
    pushing->operators++;
    if (expr->kind == EXPR_COMPARE) {
        push_operand(pushing, expr->arguments[0]);
        buffer_format(pushing->out, " %s ", name);
        push_operand(pushing, expr->arguments[1]);
    } else if (expr->kind == EXPR_CALL) {
        buffer_format(pushing->out, "%s(", name);
        push_operands(pushing, expr, 0, ",");
        buffer_add_char(pushing->out, ')');
    } else {
        bool lists = expr->kind == EXPR_IN;
        push_operand(pushing, expr->arguments[0]);
        buffer_format(pushing->out, " %s %s", name, lists ? "(" : "");
        push_operands(pushing, expr, 1, lists ? "," : " AND ");
        buffer_format(pushing->out, "%s", lists ? ")" : "");
    }
}

static void push_enclosed(struct pushing *pushing, const struct expr *expr);

static void push_joined(struct pushing *pushing, const struct expr *expr)
{
    const char *joint = expr->kind == EXPR_AND ? " AND " : " OR ";
    for (size_t i = 0; i < expr->argument_count; i++) {
        const struct expr *part = expr->arguments[i];
        buffer_format(pushing->out, "%s", i > 0 ? joint : "");
        if (part->kind == EXPR_AND || part->kind == EXPR_OR || part->kind == EXPR_NOT) {
            push_enclosed(pushing, part);
        } else {
            push_leaf(pushing, part);
        }
    }
    pushing->operators += expr->argument_count - 1;
}

static void push_node(struct pushing *pushing, const struct expr *expr)
{
    if (expr->kind == EXPR_AND || expr->kind == EXPR_OR) {
        push_joined(pushing, expr);
    } else if (expr->kind == EXPR_NOT) {
        buffer_add(pushing->out, STR("NOT "));
        push_enclosed(pushing, expr->arguments[0]);
        pushing->operators++;
    } else {
        push_leaf(pushing, expr);
    }
}

/* Never twice: servers refuse redundant parentheses. */
static void push_enclosed(struct pushing *pushing, const struct expr *expr)
{
    buffer_add_char(pushing->out, '(');
    push_node(pushing, expr);
    buffer_add_char(pushing->out, ')');
}

size_t expr_push(const struct expr *expr, const struct expr_sink *sink, struct buffer *out)
{
    struct pushing pushing = {sink, out, 0};
    if (expr->kind == EXPR_OR) {
        push_enclosed(&pushing, expr);
    } else {
        push_node(&pushing, expr);
    }
    return pushing.operators;
}
