#include "tests/rules/expr_pushed.h"

#include "engine/base/error.h"
#include "engine/expr/expr_literal_internal.h"
#include "tests/rules/expr_answer.h"

#include <stdio.h>
#include <string.h>

static void write_name(void *context, struct str name, struct buffer *out)
{
    (void)context;
    buffer_add_quoted(out, name, '"');
}

static void write_value(void *context, struct value value, struct buffer *out)
{
    (void)context;
    expr_literal_write(value, out);
}

struct str push_in_place(const struct expr *expr, struct arena *arena)
{
    struct expr_sink sink = {write_name, write_value, NULL};
    struct buffer out = {0};
    (void)expr_push(expr, &sink, &out);
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

/* --- drawing: c stands for a condition, p for a path, k for a constant --- */

static const char *const conditions[] = {
    "p = k",
    "k <> p",
    "p < k",
    "k >= p",
    "c AND c",
    "c OR c",
    "(c OR c) AND c AND (c AND c)",
    "NOT (c)",
    "NOT c",
    "p BETWEEN 1 AND 12.5",
    "p IN ('a', 'text', 'v')",
    "attribute_exists(p)",
    "attribute_not_exists(p)",
    "attribute_type(p, 'SS')",
    "begins_with(p, 'te')",
    "contains(p, 'a')",
    "size(p) > 1",
    "lower(p) = k",
};
static const char *const paths[] = {"S",  "N",           "L[1]", "M.k", "gone",
                                    "SS", "NS",          "L",    "M",   "T",
                                    "Z",  "\"my attr\"", "B",    "E",   "M.\"in\"[0]"};
static const char *const constants[] = {"'text'", "12.5", "7",       "true",   "null", "b64'AAEC'",
                                        "'a'",    "''",   "<<'a'>>", "[1, 2]", "N"};

enum { DRAWN_MAX_DEPTH = 5 };
#define COUNT(table) (sizeof(table) / sizeof *(table))

static void add_condition(struct draw *draw, struct buffer *out, int depth)
{
    const char *text =
        conditions[draw_below(draw, depth > DRAWN_MAX_DEPTH ? 4 : COUNT(conditions))];
    for (const char *at = text; *at != '\0'; at++) {
        bool begins = at == text || strchr(" (", at[-1]) != NULL;
        bool ends = at[1] == '\0' || strchr(" ),", at[1]) != NULL;
        char place = begins && ends ? *at : '\0';
        if (place == 'c') {
            add_condition(draw, out, depth + 1);
        } else if (place == 'p') {
            buffer_format(out, "%s", paths[draw_below(draw, COUNT(paths))]);
        } else if (place == 'k') {
            buffer_format(out, "%s", constants[draw_below(draw, COUNT(constants))]);
        } else {
            buffer_add_char(out, *at);
        }
    }
}

static bool means_the_same(const struct expr *expr, struct value item, struct arena *arena)
{
    struct str pushed = push_in_place(expr, arena);
    struct expr_scope scope = {.item = item};
    const char *answer = answer_in_scope(arena, expr, &scope);
    const char *again = answer_of(arena, pushed, item);
    bool holds = strncmp(answer, "{\"BOOL\"", 7) == 0 && strcmp(answer, again) == 0;
    if (!holds) {
        printf("pushed as %.*s: %s, not %s\n", STR_ARG(pushed), again, answer);
    }
    return holds;
}

bool rule_pushed_conditions_mean_the_same(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct buffer text = {0};
    struct expr_parsed parsed = {0};
    struct error err = {0};
    add_condition(draw, &text, 0);
    bool holds = true;
    if (expr_parse(buffer_str(&text), NULL, arena, &parsed, &err) &&
        expr_is_condition(parsed.expr) && expr_is_pushable(parsed.expr)) {
        holds = means_the_same(parsed.expr, value_of_expr(arena, ANSWER_ITEM), arena) &&
                means_the_same(parsed.expr, value_of_expr(arena, "{'PK': 'x', 'S': 1, 'L': 'a'}"),
                               arena);
    }
    buffer_free(&text);
    arena_free(arena);
    return holds;
}
