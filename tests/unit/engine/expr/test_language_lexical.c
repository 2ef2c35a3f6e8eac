/* docs/language.md, what expressions are written with: names, paths, literals, precedence. */
#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>

#define YES "{\"BOOL\":true}"
#define NO  "{\"BOOL\":false}"

static const struct answer_item_row names[] = {
    {"_a9", "{\"_a9\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"A", "{\"a\":{\"N\":\"1\"}}", "missing"},
    {"\"say \"\"hi\"\"\"", "{\"say \\\"hi\\\"\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"\"\"\"\"", "{\"\\\"\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"\"Größe\"", "{\"Größe\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"\"it's\"", "{\"it's\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"\"a\nb\"", "{\"a\\nb\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"\"a.b\"", "{\"a.b\":{\"N\":\"1\"},\"a\":{\"M\":{\"b\":{\"N\":\"2\"}}}}", "{\"N\":\"1\"}"},
    {"a.b", "{\"a.b\":{\"N\":\"1\"},\"a\":{\"M\":{\"b\":{\"N\":\"2\"}}}}", "{\"N\":\"2\"}"},
    {"\"a\".\"b\"", "{\"a\":{\"M\":{\"b\":{\"N\":\"2\"}}}}", "{\"N\":\"2\"}"},
    {"\"a[0]\"", "{\"a[0]\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"a [ 0 ] . b [1]", "{\"a\":{\"L\":[{\"M\":{\"b\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}}]}}",
     "{\"N\":\"2\"}"},
    {"a[0][1]", "{\"a\":{\"L\":[{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}]}}", "{\"N\":\"2\"}"},
    {"a[00]", "{\"a\":{\"L\":[{\"N\":\"1\"}]}}", "{\"N\":\"1\"}"},
    {"a.0", "{}", "plan: expected a name"},
    {"a[-1]", "{}", "plan: expected a place in a list, from 0, found -"},
    {"a[1e0]", "{}", "plan: expected a place in a list, from 0, found 1e0"},
    {"a['b']", "{}", "plan: expected a place in a list, from 0, found 'b'"},
    {"a['b", "{}", "plan: no closing '"},
    {"1a", "{}", "plan: malformed number"},
    {"a-b", "{\"a\":{\"N\":\"3\"},\"b\":{\"N\":\"1\"}}", "{\"N\":\"2\"}"},
    {"#n", "{}", "plan: unexpected '#'"},
    {":v", "{}", "plan: expected a value, found :"},
    {"a\xc2\xa0", "{}", "plan: unexpected character"},
    /* keywords in any case, as names in quotes; functions in lower case, only before ( */
    {"\"and\" = 1 aNd \"In\" iN (2)", "{\"and\":{\"N\":\"1\"},\"In\":{\"N\":\"2\"}}", YES},
    {"and = 1", "{}", "plan: expected a value, found and"},
    {"a.null", "{}", "plan: expected a name (keywords need double quotes), found null"},
    {"\"true\"", "{\"true\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
    {"size + lower", "{\"size\":{\"N\":\"1\"},\"lower\":{\"N\":\"2\"}}", "{\"N\":\"3\"}"},
    {"size (size)", "{\"size\":{\"S\":\"ab\"}}", "{\"N\":\"2\"}"},
    {"Size(a)", "{}", "plan: unknown function Size(); did you mean size()?"},
    {"\"size\"(a)", "{}", "plan: expected an operator or the end, found ("},
    {"a.size(a)", "{}", "plan: expected an operator or the end, found ("},
    {"b64", "{\"b64\":{\"N\":\"1\"}}", "{\"N\":\"1\"}"},
};

static const struct answer_item_row literals[] = {
    {"''''", "{}", "{\"S\":\"'\"}"},
    {"''", "{}", "{\"S\":\"\"}"},
    {"'\"'", "{}", "{\"S\":\"\\\"\"}"},
    {"'\\n'", "{}", "{\"S\":\"\\\\n\"}"}, /* no escapes but '' */
    {"'a\nb'", "{}", "{\"S\":\"a\\nb\"}"},
    {"'\xf0\x9f\x98\x80'", "{}", "{\"S\":\"\xf0\x9f\x98\x80\"}"},
    {"'\xed\xa0\x80'", "{}", "plan: not UTF-8"},
    {"'\xc0\x80'", "{}", "plan: not UTF-8"},
    {"'\xf4\x90\x80\x80'", "{}", "plan: not UTF-8"},
    {"'\xc3", "{}", "plan: no closing '"},
    {"-0", "{}", "{\"N\":\"0\"}"},
    {"-0.5", "{}", "{\"N\":\"-0.5\"}"},
    {"1E+3", "{}", "{\"N\":\"1000\"}"},
    {"007", "{}", "{\"N\":\"7\"}"},
    {"1.000000000000000000000000000000000000000000000000000", "{}", "{\"N\":\"1\"}"},
    {"99999999999999999999999999999999999999", "{}",
     "{\"N\":\"99999999999999999999999999999999999999\"}"},
    {"-9.9999999999999999999999999999999999999e125 < -1e125", "{}", YES},
    {"1e-130 > 0", "{}", YES},
    {"100000000000000000000000000000000000001", "{}", "plan: has over 38 significant digits"},
    {"1e126", "{}", "plan: 1e126 is out of the range of numbers"},
    {"1e-131", "{}", "plan: 1e-131 is out of the range of numbers"},
    {"0e9999999999999999999", "{}", "{\"N\":\"0\"}"},
    {"1e9999999999999999999", "{}", "plan: is out of the range of numbers"},
    {".5", "{}", "plan: expected a value, found ."},
    {"1.", "{}", "plan: expected an operator or the end, found ."},
    {"0x10", "{}", "plan: malformed number"},
    {"TRUE", "{}", YES},
    {"Null", "{}", "{\"NULL\":true}"},
    {"b64''", "{}", "{\"B\":\"\"}"},
    {"b64'AB=='", "{}", "plan: not base64 with its padding"}, /* bits left over */
    {"b64'AA'", "{}", "plan: not base64 with its padding"},
    {"B64'AA=='", "{}", "plan: expected an operator or the end, found 'AA=='"},
    {"<<'b', 'a', 'b'>> = <<'a', 'b'>>", "{}", YES},
    {"<<1, 1.0, 1e0>>", "{}", "{\"NS\":[\"1\"]}"},
    {"<<b64'AA==', b64'AA=='>>", "{}", "{\"BS\":[\"AA==\"]}"},
    {"<<null>>", "{}", "plan: a member: expected S, N or B, found NULL"},
    {"{'k': {'k': [{}]}}", "{}", "{\"M\":{\"k\":{\"M\":{\"k\":{\"L\":[{\"M\":{}}]}}}}}"},
    {"{'S': 'x'}", "{}", "{\"M\":{\"S\":{\"S\":\"x\"}}}"}, /* no DynamoDB JSON here */
    {"{'a': 1, \"b\": 2}", "{}", "plan: expected a member's name in single quotes, found \"b\""},
    {"[1, 2,]", "{}", "plan: expected a value, found ]"},
    /* what is found is shown in whole characters */
    {"1 'ééééééééééééééé'", "{}", "plan: expected an operator or the end, found 'ééééééééééé..."},
    {"number('a' || 'éééééééééééééééééééééééééééééééé')", "{}",
     "plan: number(): 'aééééééééééééééééééééééééééééé...' is not a number"},
};

/* Loosest first: OR, AND, NOT, comparisons, ||, + -, *, unary -. */
static const struct answer_item_row precedence[] = {
    {"true OR true AND false", "{}", YES},
    {"NOT true OR true", "{}", YES},
    {"NOT false AND false", "{}", NO},
    {"NOT 1 = 2", "{}", YES},
    {"NOT 1 BETWEEN 2 AND 3 AND true", "{}", YES},
    {"NOT 1 IN (2)", "{}", YES},
    {"1 NOT IN (2)", "{}", "plan: expected an operator or the end, found NOT"},
    {"true = NOT false", "{}", "plan: expected a value, found NOT"},
    {"true = (NOT false)", "{}", YES},
    {"1 = 1 = true", "{}", "plan: expected an operator or the end, found ="},
    {"'a' || 'b' = 'ab'", "{}", YES},
    {"string(1 + 1) || 'x'", "{}", "{\"S\":\"2x\"}"},
    {"'x' || 1 + 1", "{}", "plan: an operand of ||: expected S, found N 2"},
    {"2 + 3 * 4 - 5", "{}", "{\"N\":\"9\"}"},
    {"2 - 3 - 4", "{}", "{\"N\":\"-5\"}"},
    {"-2 * -3", "{}", "{\"N\":\"6\"}"},
    {"- - 2", "{}", "{\"N\":\"2\"}"},
    {"2 - -2", "{}", "{\"N\":\"4\"}"},
    {"3<-1", "{}", NO},
    {"size(<<1>>)>0", "{}", YES},
    {"a<<1", "{}", "plan: expected an operator or the end, found <<"},
};

/* where, AND, OR, NOT and if() take conditions only; a condition is a BOOL like any other. */
static const struct answer_item_row conditions[] = {
    {"a AND true", "{\"a\":{\"BOOL\":true}}", "plan: of a BOOL attribute write A = true"},
    {"a = true AND true", "{\"a\":{\"BOOL\":true}}", YES},
    {"NOT a", "{\"a\":{\"BOOL\":true}}", "plan: of a BOOL attribute write A = true"},
    {"if(a, 1, 2)", "{\"a\":{\"BOOL\":true}}", "plan: of a BOOL attribute write A = true"},
    {"coalesce(a, true) OR true", "{}", "plan: expected a condition as an operand of OR"},
    {"coalesce(a = 1, true) OR false", "{}", NO},
    {"if(a = 1, true, coalesce(null, null)) AND true", "{}", "plan: found nothing"},
    {"attribute_exists(a) = attribute_exists(b)", "{}", YES},
    {"[attribute_exists(a)]", "{}", "{\"L\":[{\"BOOL\":false}]}"},
    {"list(a = 1, a <> 1)", "{}", "{\"L\":[{\"BOOL\":false},{\"BOOL\":true}]}"},
};

START_TEST(names_and_paths_lead_where_they_say)
{
    answer_item_check(&names[_i]);
}
END_TEST

START_TEST(literals_are_exact)
{
    answer_item_check(&literals[_i]);
}
END_TEST

START_TEST(operators_bind_in_their_order)
{
    answer_item_check(&precedence[_i]);
}
END_TEST

START_TEST(conditions_are_told_from_values)
{
    answer_item_check(&conditions[_i]);
}
END_TEST

int main(void)
{
    TCase *lexical = tcase_create("lexical");
    tcase_add_loop_test(lexical, names_and_paths_lead_where_they_say, 0, ROWS(names));
    tcase_add_loop_test(lexical, literals_are_exact, 0, ROWS(literals));
    tcase_add_loop_test(lexical, operators_bind_in_their_order, 0, ROWS(precedence));
    tcase_add_loop_test(lexical, conditions_are_told_from_values, 0, ROWS(conditions));
    Suite *suite = suite_create("engine/expr/language_lexical");
    suite_add_tcase(suite, lexical);
    return suite_run(suite);
}
