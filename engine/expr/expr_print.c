#include "engine/expr/expr.h"

#include "engine/base/buffer.h"
#include "engine/expr/expr_internal.h"
#include "engine/expr/expr_literal_internal.h"

#include <string.h>

struct printer {
    struct buffer out;
    struct arena *arena;
};

static void print(struct printer *printer, const struct expr *expr, enum precedence least);

static void add(struct printer *printer, const char *text)
{
    buffer_add(&printer->out, (struct str){text, strlen(text)});
}

/* Arguments from `first` on with `joint` between them. */
static void print_arguments(struct printer *printer, const struct expr *expr, size_t first,
                            const char *joint, enum precedence least)
{
    for (size_t i = first; i < expr->argument_count; i++) {
        add(printer, i > first ? joint : "");
        if (expr->keys != NULL) {
            expr_literal_write_string(expr->keys[i], &printer->out);
            add(printer, ": ");
        }
        print(printer, expr->arguments[i], least);
    }
}

static void print_enclosed(struct printer *printer, const struct expr *expr, const char *open,
                           const char *close)
{
    add(printer, open);
    print_arguments(printer, expr, 0, ", ", BINDS_OR);
    add(printer, close);
}

/* A comparison does not chain, so both sides bind tighter; a sum or product does from the left. */
static void print_pair(struct printer *printer, const struct expr *expr)
{
    bool chains = expr->precedence != BINDS_COMPARISON;
    print(printer, expr->arguments[0], expr->precedence + (chains ? 0 : 1));
    add(printer, " ");
    add(printer, expr->operation->name);
    add(printer, " ");
    print(printer, expr->arguments[1], expr->precedence + 1);
}

static void print_chain(struct printer *printer, const struct expr *expr)
{
    const char *joint = expr->kind == EXPR_OR ? " OR " : expr->kind == EXPR_AND ? " AND " : " || ";
    print_arguments(printer, expr, 0, joint, expr->precedence + 1);
}

static void print_between(struct printer *printer, const struct expr *expr)
{
    print(printer, expr->arguments[0], BINDS_CONCAT);
    add(printer, " BETWEEN ");
    print_arguments(printer, expr, 1, " AND ", BINDS_CONCAT);
}

static void print_in(struct printer *printer, const struct expr *expr)
{
    print(printer, expr->arguments[0], BINDS_CONCAT);
    add(printer, " IN (");
    print_arguments(printer, expr, 1, ", ", BINDS_OR);
    add(printer, ")");
}

static void print_call(struct printer *printer, const struct expr *expr)
{
    add(printer, expr->operation->name);
    print_enclosed(printer, expr, "(", ")");
}

static const char *closing(const char *open)
{
    return open[0] == '[' ? "]" : open[0] == '{' ? "}" : ">>";
}

static void print_other(struct printer *printer, const struct expr *expr)
{
    const char *name = expr->operation->name;
    if (expr->precedence == BINDS_PRIMARY) {
        print_enclosed(printer, expr, name, closing(name));
    } else if (expr->precedence == BINDS_SIGN) {
        add(printer, name);
        print(printer, expr->arguments[0], BINDS_SIGN);
    } else {
        print_pair(printer, expr);
    }
}

static void print_node(struct printer *printer, const struct expr *expr)
{
    switch (expr->kind) {
    case EXPR_PATH:
        buffer_add(&printer->out, path_print(expr->path, printer->arena));
        break;
    case EXPR_CONSTANT:
        expr_literal_write(expr->constant, &printer->out);
        break;
    case EXPR_CALL:
        print_call(printer, expr);
        break;
    case EXPR_COMPARE:
        print_pair(printer, expr);
        break;
    case EXPR_BETWEEN:
        print_between(printer, expr);
        break;
    case EXPR_IN:
        print_in(printer, expr);
        break;
    case EXPR_NOT:
        add(printer, "NOT ");
        print(printer, expr->arguments[0], BINDS_NOT);
        break;
    case EXPR_OTHER:
        print_other(printer, expr);
        break;
    default:
        print_chain(printer, expr);
    }
}

/* In parentheses if it binds looser than its place asks for. */
static void print(struct printer *printer, const struct expr *expr, enum precedence least)
{
    bool enclosed = expr->precedence < least;
    add(printer, enclosed ? "(" : "");
    print_node(printer, expr);
    add(printer, enclosed ? ")" : "");
}

struct str expr_print(const struct expr *expr, struct arena *arena)
{
    struct printer printer = {.arena = arena};
    print(&printer, expr, BINDS_OR);
    struct str text = arena_copy(arena, buffer_str(&printer.out));
    buffer_free(&printer.out);
    return text;
}
