/* What an expression is, for those who take it apart. */
#include "engine/expr/expr.h"

#include "engine/expr/expr_internal.h"

#include <assert.h>
#include <string.h>

bool expr_is_condition(const struct expr *expr)
{
    return expr->types == TYPE_BOOL;
}

void expr_paths(const struct expr *expr, expr_visit *visit, void *context)
{
    if (expr->kind == EXPR_PATH) {
        visit(context, expr->slot, expr->path);
    }
    for (size_t i = 0; i < expr->argument_count; i++) {
        expr_paths(expr->arguments[i], visit, context);
    }
}

struct value expr_constant(const struct expr *expr, struct arena *arena)
{
    return value_copy(arena, expr->constant);
}

bool expr_is_path(const struct expr *expr, struct path *path)
{
    if (expr->kind != EXPR_PATH) {
        return false;
    }
    *path = expr->path;
    return true;
}

enum expr_kind expr_kind(const struct expr *expr)
{
    return expr->kind;
}

struct str expr_name(const struct expr *expr)
{
    if (expr->operation == NULL) {
        return STR("");
    }
    return (struct str){expr->operation->name, strlen(expr->operation->name)};
}

size_t expr_argument_count(const struct expr *expr)
{
    return expr->argument_count;
}

const struct expr *expr_argument(const struct expr *expr, size_t index)
{
    assert(index < expr->argument_count);
    return expr->arguments[index];
}

size_t expr_conjuncts(const struct expr *expr, const struct expr **out, size_t max)
{
    bool many = expr->kind == EXPR_AND;
    size_t count = many ? expr->argument_count : 1;
    for (size_t i = 0; i < count && i < max; i++) {
        out[i] = many ? expr->arguments[i] : expr;
    }
    return count;
}
