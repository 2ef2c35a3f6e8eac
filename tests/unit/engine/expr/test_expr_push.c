#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/expr/expr.h"
#include "tests/rules/expr_pushed.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* With names and literals where placeholders would stand; NULL: it is not pushable. */
static const struct {
    const char *text;
    const char *pushed;
} pushes[] = {
    {"A = 'x'", "\"A\" = 'x'"},
    {"1.50 <= A", "1.5 <= \"A\""},
    {"A.b[2].\"c d\" <> null", "\"A\".\"b\"[2].\"c d\" <> null"},
    {"A = b64'AAE='", "\"A\" = b64'AAE='"},
    {"A IN (1, 2)", "\"A\" IN (1,2)"},
    {"A BETWEEN 'a' AND 'b' AND B = true", "\"A\" BETWEEN 'a' AND 'b' AND \"B\" = true"},
    {"attribute_exists(A) AND attribute_type(B, 'NS')",
     "attribute_exists(\"A\") AND attribute_type(\"B\",'NS')"},
    {"begins_with(SK, 'ORDER#') OR contains(Tags, 'x')",
     "(begins_with(\"SK\",'ORDER#') OR contains(\"Tags\",'x'))"},
    {"A = 1 AND (B = 2 OR NOT (C = 3 AND D = 4))",
     "\"A\" = 1 AND (\"B\" = 2 OR (NOT (\"C\" = 3 AND \"D\" = 4)))"},
    {"NOT A = 1", "NOT (\"A\" = 1)"},
    {"NOT NOT A = 1", "NOT (NOT (\"A\" = 1))"},
    {"A = B", NULL},
    {"A = ''", NULL},
    {"A = [1]", NULL},
    {"A <> <<1>>", NULL},
    {"A < b64'AAE='", NULL},
    {"A < B + 1", NULL},
    {"A IN (1, 'x')", NULL},
    {"A IN (1, B)", NULL},
    {"A BETWEEN B AND 2", NULL},
    {"size(A) > 1", NULL},
    {"lower(A) = 'x'", NULL},
    {"contains(A, 1)", NULL},
    {"begins_with('x', A)", NULL},
    {"A = 1 AND size(B) = 2", NULL},
    {"if(A = 1, B = 1, C = 1)", NULL},
    {"(A = 1) = true", NULL},
    {"true", NULL},
    {"'a' = 'a'", NULL},
    {"A[20000] = 1", NULL},
};

static const struct expr *parse(struct str text, struct arena *arena)
{
    struct expr_parsed parsed = {0};
    struct error err = {0};
    ck_assert_msg(expr_parse(text, NULL, arena, &parsed, &err), "%.*s: %s", STR_ARG(text),
                  err.text);
    return parsed.expr;
}

START_TEST(a_condition_is_pushed_as_the_table_says)
{
    struct arena *arena = arena_new();
    const struct expr *expr = parse((struct str){pushes[_i].text, strlen(pushes[_i].text)}, arena);
    bool pushable = expr_is_pushable(expr);
    ck_assert_msg(pushable == (pushes[_i].pushed != NULL), "%s", pushes[_i].text);
    if (pushable) {
        struct str pushed = push_in_place(expr, arena);
        ck_assert_msg(str_equal(pushed, (struct str){pushes[_i].pushed, strlen(pushes[_i].pushed)}),
                      "%s: %.*s", pushes[_i].text, STR_ARG(pushed));
    }
    arena_free(arena);
}
END_TEST

/* An expression holds 4 KB and 300 operators, and other terms must find room. */
START_TEST(a_long_condition_is_not_pushed)
{
    struct arena *arena = arena_new();
    struct str text = STR("A = 1");
    size_t terms = 1;
    for (; expr_is_pushable(parse(text, arena)); terms++) {
        text = arena_format(arena, "%.*s OR A = %zu", STR_ARG(text), terms);
    }
    ck_assert_uint_gt(terms, 20);
    ck_assert_uint_lt(terms, 100);
    arena_free(arena);
}
END_TEST

START_TEST(pushed_conditions_mean_the_same)
{
    property_check("pushed_conditions_mean_the_same", rule_pushed_conditions_mean_the_same);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/expr/expr_push");
    TCase *tables = tcase_create("tables");
    tcase_add_loop_test(tables, a_condition_is_pushed_as_the_table_says, 0,
                        sizeof pushes / sizeof *pushes);
    tcase_add_test(tables, a_long_condition_is_not_pushed);
    tcase_add_test(tables, pushed_conditions_mean_the_same);
    suite_add_tcase(suite, tables);
    return suite_run(suite);
}
