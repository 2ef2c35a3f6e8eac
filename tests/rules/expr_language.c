#include "tests/rules/expr_language.h"

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "tests/rules/expr_answer.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- drawing expressions --- */

/* Templates of expressions: c stands for a condition, v for a value, in them. */
static const char *const conditions[] = {
    "true",
    "v = v",
    "v <> v",
    "v < v",
    "v >= v",
    "c AND c",
    "c OR c",
    "(c) AND (c OR c)",
    "NOT (c)",
    "NOT c",
    "v BETWEEN v AND v",
    "v IN (v, c)",
    "attribute_exists(S)",
    "attribute_type(L, 'L')",
    "begins_with(S, PK)",
    "contains(v, v)",
    "if(c, c, c)",
};

static const char *const values[] = {
    "N",
    "S",
    "gone",
    "L[0]",
    "M.\"in\"[1]",
    "-7",
    "12.50",
    "'it''s'",
    "null",
    "b64'AAE='",
    "<<'b', 'a'>>",
    "[v, v]",
    "{'z': v, 'a': v}",
    "<<N, 2>>",
    "S || (S || string(N))",
    "N + N * (N - 1)",
    "N - (N - -N)",
    "(c)",
    "coalesce(v, v, v)",
    "if(c, v, v)",
    "if_not_exists(gone, v)",
    "size(v)",
    "list(v)",
    "json(v)",
    "(N - N) * -(N + 1)",
};

enum { DRAWN_MAX_BYTES = 4000, DRAWN_MAX_DEPTH = 5 };

struct drawn {
    struct draw *draw;
    char text[DRAWN_MAX_BYTES];
    size_t len;
};

static void add_condition(struct drawn *drawn, int depth);

static void add_value(struct drawn *drawn, int depth);

/* A 'c' or 'v' with nothing of a word or a call beside it. */
static bool is_place(const char *template, const char *at)
{
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    bool begins = at == template || strchr(others, at[-1]) == NULL;
    bool ends = at[1] == '\0' || strchr(others, at[1]) == NULL;
    return (*at == 'c' || *at == 'v') && begins && ends && at[1] != '(';
}

static void add_template(struct drawn *drawn, const char *template, int depth)
{
    for (const char *c = template; *c != '\0' && drawn->len < DRAWN_MAX_BYTES; c++) {
        if (!is_place(template, c)) {
            drawn->text[drawn->len++] = *c;
        } else if (*c == 'c') {
            add_condition(drawn, depth + 1);
        } else {
            add_value(drawn, depth + 1);
        }
    }
}

/* Deep down the first of a table, which has nothing in it. */
static void add_condition(struct drawn *drawn, int depth)
{
    uint32_t limit = depth > DRAWN_MAX_DEPTH ? 1 : sizeof conditions / sizeof *conditions;
    add_template(drawn, conditions[draw_below(drawn->draw, limit)], depth);
}

static void add_value(struct drawn *drawn, int depth)
{
    uint32_t limit = depth > DRAWN_MAX_DEPTH ? 5 : sizeof values / sizeof *values;
    add_template(drawn, values[draw_below(drawn->draw, limit)], depth);
}

/* --- the rules --- */

static bool prints_as_itself(struct arena *arena, const struct expr *expr, struct value item)
{
    struct str printed = expr_print(expr, arena);
    struct expr_parsed parsed = {0};
    struct error err = {0};
    if (!expr_parse(printed, NULL, arena, &parsed, &err)) {
        printf("printed as %.*s: %s at %zu\n", STR_ARG(printed), err.text, parsed.fault);
        return false;
    }
    const struct expr *again = parsed.expr;
    struct expr_scope scope = {.item = item};
    return str_equal(expr_print(again, arena), printed) && expr_kind(again) == expr_kind(expr) &&
           expr_is_condition(again) == expr_is_condition(expr) &&
           strcmp(answer_in_scope(arena, again, &scope), answer_in_scope(arena, expr, &scope)) == 0;
}

static bool taken_or_refused(struct str text, struct value item, struct arena *arena)
{
    struct expr_parsed parsed = {.fault = text.len + 1};
    struct error err = {0};
    if (!expr_parse(text, NULL, arena, &parsed, &err)) {
        return err.code == ERROR_PLAN && parsed.fault <= text.len && err.text[0] != '\0';
    }
    return prints_as_itself(arena, parsed.expr, item);
}

bool rule_any_text_is_taken_or_refused(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct value item = value_of_expr(arena, ANSWER_ITEM);
    struct str text = {(const char *)draw->next, draw->left};
    bool holds = taken_or_refused(text, item, arena);
    arena_free(arena);
    return holds;
}

/* ANSWER_ITEM with drawn values under the names that the templates read. */
static struct value draw_item(struct draw *draw, struct arena *arena)
{
    static const struct str names[] = {STR_INIT("S"), STR_INIT("N"), STR_INIT("L"), STR_INIT("M"),
                                       STR_INIT("PK")};
    enum { NAME_COUNT = sizeof names / sizeof *names };
    struct value item = value_of_expr(arena, ANSWER_ITEM);
    struct expr_scope scope = {.item = item};
    struct attribute members[NAME_COUNT];
    for (size_t i = 0; i < NAME_COUNT; i++) {
        struct drawn drawn = {.draw = draw};
        add_value(&drawn, DRAWN_MAX_DEPTH - 1);
        struct expr_parsed parsed = {0};
        struct error err = {0};
        members[i] = (struct attribute){names[i], value_member(item, names[i])};
        struct value v;
        if (expr_parse((struct str){drawn.text, drawn.len}, NULL, arena, &parsed, &err) &&
            expr_eval(parsed.expr, &scope, arena, &v, &err)) {
            members[i].value = v;
        }
    }
    struct error err = {0};
    return value_map(arena, members, NAME_COUNT, &item, &err) ? item : scope.item;
}

bool rule_expressions_print_as_themselves(struct draw *draw)
{
    struct drawn drawn = {.draw = draw};
    add_value(&drawn, 0);
    struct arena *arena = arena_new();
    struct value item = draw_item(draw, arena);
    bool holds = taken_or_refused((struct str){drawn.text, drawn.len}, item, arena);
    arena_free(arena);
    return holds;
}

static const char *answer_with(struct arena *arena, struct value item, const char *format,
                               const struct drawn *a, const struct drawn *b)
{
    const char *text = format;
    struct str out = STR("");
    for (; *text != '\0'; text++) {
        struct str piece = {text, 1};
        if (*text == '$') {
            piece = (struct str){a->text, a->len};
        } else if (*text == '@') {
            piece = (struct str){b->text, b->len};
        }
        out = arena_format(arena, "%.*s%.*s", STR_ARG(out), STR_ARG(piece));
    }
    return answer_of(arena, out, item);
}

bool rule_conditions_obey_logic(struct draw *draw)
{
    static const struct {
        bool values;
        const char *left;
        const char *right;
    } laws[] = {
        {false, "NOT (($) AND (@))", "NOT ($) OR NOT (@)"},
        {false, "NOT (($) OR (@))", "NOT ($) AND NOT (@)"},
        {true, "$ <> @", "NOT $ = @"},
        {true, "$ BETWEEN @ AND N", "$ >= @ AND $ <= N"},
        {true, "$ IN (@, S)", "$ = @ OR $ = S"},
        {true, "$ < @", "@ > $"},
        {true, "$ <= @ OR @ <= $", "$ >= @ OR @ >= $"},
    };
    size_t law = draw_below(draw, sizeof laws / sizeof *laws);
    struct drawn a = {.draw = draw};
    struct drawn b = {.draw = draw};
    if (laws[law].values) {
        add_value(&a, DRAWN_MAX_DEPTH + 1);
        add_value(&b, DRAWN_MAX_DEPTH + 1);
    } else {
        add_condition(&a, DRAWN_MAX_DEPTH - 1);
        add_condition(&b, DRAWN_MAX_DEPTH - 1);
    }
    struct arena *arena = arena_new();
    struct value item = value_of_expr(arena, ANSWER_ITEM);
    const char *left = answer_with(arena, item, laws[law].left, &a, &b);
    const char *right = answer_with(arena, item, laws[law].right, &a, &b);
    bool holds = strcmp(left, right) == 0 || left[0] != '{';
    arena_free(arena);
    return holds;
}
