#include "tests/rules/expr_answer.h"

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/item/item_json.h"
#include "tests/rules/item_value.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct str str_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

struct value value_of_expr(struct arena *arena, const char *text)
{
    struct expr_parsed parsed = {0};
    struct error err = {0};
    if (!expr_parse(str_of(text), NULL, arena, &parsed, &err)) {
        (void)fprintf(stderr, "%s: %s at %zu\n", text, err.text, parsed.fault);
        abort();
    }
    return expr_constant(parsed.expr, arena);
}

const char *answer_in_scope(struct arena *arena, const struct expr *expr,
                            const struct expr_scope *scope)
{
    struct value v;
    struct error err = {0};
    if (!expr_eval(expr, scope, arena, &v, &err)) {
        const char *kind = err.code == ERROR_ITEM ? "item" : "another error";
        return arena_format(arena, "%s: %s", kind, err.text).ptr;
    }
    if (value_is_missing(v)) {
        return "missing";
    }
    struct buffer json = {0};
    item_json_write_value(v, &json);
    struct str text = arena_copy(arena, buffer_str(&json));
    buffer_free(&json);
    return text.ptr;
}

const char *answer_of(struct arena *arena, struct str text, struct value item)
{
    struct expr_parsed parsed = {0};
    struct error err = {0};
    if (!expr_parse(text, NULL, arena, &parsed, &err)) {
        const char *kind = err.code == ERROR_PLAN ? "plan" : "another error";
        return arena_format(arena, "%s: %s", kind, err.text).ptr;
    }
    struct expr_scope scope = {.item = item};
    return answer_in_scope(arena, parsed.expr, &scope);
}

void answer_check(const struct answer_row *row)
{
    struct arena *arena = arena_new();
    struct value item = value_of_expr(arena, ANSWER_ITEM);
    const char *answer = answer_of(arena, str_of(row->text), item);
    ck_assert_msg(strcmp(answer, row->answer) == 0, "%s\n    expected %s\n    found    %s",
                  row->text, row->answer, answer);
    arena_free(arena);
}

bool answer_fits(const char *answer, const char *expected)
{
    static const char *const kinds[] = {"item: ", "plan: "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i]);
        if (strncmp(expected, kinds[i], len) == 0) {
            return strncmp(answer, kinds[i], len) == 0 &&
                   strstr(answer + len, expected + len) != NULL;
        }
    }
    return strcmp(answer, expected) == 0;
}

void answer_item_check(const struct answer_item_row *row)
{
    struct arena *arena = arena_new();
    const char *answer = answer_of(arena, str_of(row->text), item_of_json(arena, row->item));
    ck_assert_msg(answer_fits(answer, row->answer),
                  "%s\n    on       %s\n    expected %s\n"
                  "    found    %s",
                  row->text, row->item, row->answer, answer);
    arena_free(arena);
}
