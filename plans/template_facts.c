#include "plans/template.h"

#include "plans/template_internal.h"

/* Calls visit for each expression; stops where it returns true, and returns that. */
typedef bool visit_expr(void *context, const struct expr *expr);

static bool each_expr(const struct template *template, visit_expr *visit, void *context)
{
    if (template->kind == TEMPLATE_EXPR) {
        return visit(context, template->expr);
    }
    bool is_text = template->kind == TEMPLATE_TEXT;
    for (size_t i = 0; i < template->count; i++) {
        bool stops =
            is_text ? template->parts[i].expr != NULL && visit(context, template->parts[i].expr)
                    : each_expr(template->members[i].template, visit, context);
        if (stops) {
            return true;
        }
    }
    return false;
}

struct visit {
    expr_visit *visit;
    void *context;
};

static bool visit_paths(void *context, const struct expr *expr)
{
    const struct visit *inner = context;
    expr_paths(expr, inner->visit, inner->context);
    return false;
}

void template_paths(const struct template *template, expr_visit *visit, void *context)
{
    struct visit inner = {visit, context};
    (void)each_expr(template, visit_paths, &inner);
}

/* Looks for what is missing, as template_missing() tells it. */
struct search {
    const struct expr_scope *scope;
    struct arena *arena;
    const struct expr *expr; /* the first that is missing */
    struct path path;        /* the first path in it that leads nowhere; count 0: none is known */
};

static bool is_missing(void *context, const struct expr *expr)
{
    struct search *search = context;
    struct value v;
    struct error ignored;
    if (!expr_eval(expr, search->scope, search->arena, &v, &ignored) || !value_is_missing(v)) {
        return false;
    }
    search->expr = expr;
    return true;
}

static void find_missing_path(void *context, int slot, struct path path)
{
    struct search *search = context;
    struct value v =
        slot == EXPR_ITEM ? path_value(path, search->scope->item) : search->scope->slots[slot];
    if (search->path.count == 0 && value_is_missing(v)) {
        search->path = path;
    }
}

struct str template_missing(const struct template *template, const struct expr_scope *scope,
                            struct arena *arena)
{
    struct search search = {.scope = scope, .arena = arena};
    if (!each_expr(template, is_missing, &search)) {
        return STR("the value is missing");
    }
    expr_paths(search.expr, find_missing_path, &search);
    struct str what =
        search.path.count > 0 ? path_print(search.path, arena) : expr_print(search.expr, arena);
    return arena_format(arena, "%.*s is missing", STR_ARG(what));
}

struct value template_constant(const struct template *template)
{
    return template->constant;
}

struct str template_literal_prefix(const struct template *template)
{
    if (value_type(template->constant) == VALUE_S) {
        return value_bytes(template->constant);
    }
    return template->prefix;
}

enum value_type template_type(const struct template *template)
{
    return template->type;
}

bool template_always_stores(const struct template *template)
{
    static const struct str calls[] = {STR_INIT("to_set"), STR_INIT("if"), STR_INIT("coalesce"),
                                       STR_INIT("if_not_exists")};
    if (!value_is_missing(template->constant)) {
        return !template_is_nothing(template->constant);
    }
    if (template->kind != TEMPLATE_EXPR) {
        return template->type < VALUE_SS || template->type > VALUE_BS;
    }
    if (expr_kind(template->expr) != EXPR_CALL) {
        return true;
    }
    struct str name = expr_name(template->expr);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (str_equal(name, calls[i])) {
            return false;
        }
    }
    return true;
}
