#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "tests/rules/expr_language.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *text;
    const char *printed; /* NULL: as it is */
} prints[] = {
    {"A = 1", NULL},
    {"  A=1\n", "A = 1"},
    {"not a = 1 and B between 1 and 2", "NOT a = 1 AND B BETWEEN 1 AND 2"},
    {"A = TRUE or a = Null", "A = true OR a = null"},
    {"A = 1.50e2", "A = 150"},
    {"A = 0.10", "A = 0.1"},
    {"A = - 5", "A = -5"},
    {"A = -(-5)", "A = 5"},
    {"A - -5", NULL},
    {"-A", NULL},
    {"- - A", "--A"},
    {"-(A + B)", NULL},
    {"(A) + ((B))", "A + B"},
    {"A + (B + C)", NULL},
    {"(A + B) + C", "A + B + C"},
    {"A - (B - C)", NULL},
    {"(A * B) + C * (D + E)", "A * B + C * (D + E)"},
    {"A * (B * C)", NULL},
    {"(A || B) || (C || 'x')", "A || B || C || 'x'"},
    {"A || string(B + 1)", NULL},
    {"(A = 1 AND B = 1) AND C = 1", "A = 1 AND B = 1 AND C = 1"},
    {"A = 1 AND (B = 1 AND C = 1)", "A = 1 AND B = 1 AND C = 1"},
    {"(A = 1 AND B = 1) OR C = 1", "A = 1 AND B = 1 OR C = 1"},
    {"A = 1 AND (B = 1 OR C = 1)", NULL},
    {"NOT (A = 1 AND B = 1)", NULL},
    {"NOT (A = 1)", "NOT A = 1"},
    {"(NOT A = 1) AND B = 1", "NOT A = 1 AND B = 1"},
    {"(NOT A = 1) = B", NULL},
    {"(A = B) = C", NULL},
    {"A = (B = C)", NULL},
    {"(A BETWEEN B AND C) = true", NULL},
    {"A BETWEEN B || 'x' AND C", NULL},
    {"A IN (1, B, C = 1)", NULL},
    {"(A IN (1)) IN (true)", NULL},
    {"A.B[0].C", NULL},
    {"\"A\".\"b c\".\"d.e\"[12]", "A.\"b c\".\"d.e\"[12]"},
    {"\"say \"\"hi\"\"\" = 1", NULL},
    {"\"and\" = 1 AND M.\"In\" = 2", NULL},
    {"\"lower\" = lower(\"upper\")", "lower = lower(upper)"},
    {"'it''s' || A", NULL},
    {"b64'AAE=' = A", NULL},
    {"[1, 'a', A]", NULL},
    {"[ 1 , [ ] , { } ]", "[1, [], {}]"},
    {"{'b': 1, 'a''s': A}", "{'a''s': A, 'b': 1}"},
    {"{'b': 1, 'a': [<<2, 1, 2.0>>]}", "{'a': [<<1, 2>>], 'b': 1}"},
    {"<<A, 'b'>>", "<<'b', A>>"},
    {"<<B, A, lower(A)>>", "<<A, B, lower(A)>>"},
    {"<<b64'AQ==', b64'AA=='>>", "<<b64'AA==', b64'AQ=='>>"},
    {"<<>>", NULL},
    {"[1 + 1]", NULL},
    {"if(A = 1, lower( B ), coalesce(C,'x'))", "if(A = 1, lower(B), coalesce(C, 'x'))"},
    {"split(A, '#', -1)", NULL},
};

START_TEST(expressions_print_canonically)
{
    struct arena *arena = arena_new();
    const char *text = prints[_i].text;
    const char *wanted = prints[_i].printed == NULL ? text : prints[_i].printed;
    struct expr_parsed parsed = {0};
    struct error err = {0};
    struct str all = {text, strlen(text)};
    ck_assert_msg(expr_parse(all, NULL, arena, &parsed, &err), "%s: %s", text, err.text);
    struct str printed = expr_print(parsed.expr, arena);
    ck_assert_msg(strcmp(printed.ptr, wanted) == 0, "%s: printed as %s", text, printed.ptr);
    arena_free(arena);
}
END_TEST

START_TEST(expressions_print_as_themselves)
{
    property_check("expressions_print_as_themselves", rule_expressions_print_as_themselves);
}
END_TEST

START_TEST(conditions_obey_logic)
{
    property_check("conditions_obey_logic", rule_conditions_obey_logic);
}
END_TEST

int main(void)
{
    TCase *print = tcase_create("print");
    tcase_add_loop_test(print, expressions_print_canonically, 0, ROWS(prints));
    tcase_add_test(print, expressions_print_as_themselves);
    tcase_add_test(print, conditions_obey_logic);
    Suite *suite = suite_create("engine/expr/expr_print");
    suite_add_tcase(suite, print);
    return suite_run(suite);
}
