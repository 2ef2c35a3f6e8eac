#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>

#define YES "{\"BOOL\":true}"
#define NO  "{\"BOOL\":false}"

static const struct answer_row comparisons[] = {
    {"S = 'text'", YES},
    {"S = 'Text'", NO},
    {"S <> 'Text'", YES},
    {"N = 12.50", YES},
    {"N = 1.25e1", YES},
    {"N = '12.5'", NO}, /* unequal types are unequal, not an error */
    {"N <> '12.5'", YES},
    {"N < 100", YES}, /* by value, not by text */
    {"N < 12.5", NO},
    {"N <= 12.5", YES},
    {"N > 9", YES},
    {"N >= 12.5", YES},
    {"N > 12.5", NO},
    {"N < S", NO},
    {"NOT N < S", YES},
    {"S < 'texts'", YES}, /* the shorter first */
    {"S > 'TEXT'", YES},
    {"B < b64'gA=='", YES}, /* bytes are unsigned */
    {"T = true", YES},
    {"T < T", NO}, /* only S, N and B have an order */
    {"Z = null", YES},
    {"SS = <<'b', 'a'>>", YES},
    {"NS = <<2.0, 1>>", YES},
    {"NS = <<'1', '2'>>", NO},
    {"L = [1, 'a', [2]]", YES},
    {"L = ['a', 1, [2]]", NO},
    {"M = {'in': [10, 20], 'k': 'v'}", YES},
    {"M.k = 'v' AND M.\"in\"[1] = 20", YES},
    {"\"my attr\" = 1", YES},
    {"gone = 1", NO},
    {"gone <> 1", YES},
    {"gone = gone", NO},
    {"gone <> gone", YES},
    {"gone < 1", NO},
    {"NOT gone < 1", YES},
    {"gone >= 1", NO},
    {"N BETWEEN 12.5 AND 13", YES},
    {"N BETWEEN 12.6 AND 13", NO},
    {"N BETWEEN 1 AND 12.4", NO},
    {"N BETWEEN 1 AND I", NO},
    {"N BETWEEN S AND 13", NO},
    {"gone BETWEEN 1 AND 2", NO},
    {"NOT gone BETWEEN 1 AND 2", YES},
    {"N BETWEEN 1 AND 13 AND S = 'text'", YES},
    {"N IN (1, 12.5)", YES},
    {"N IN (1, '12.5')", NO},
    {"S IN (gone, S)", YES},
    {"gone IN (gone)", NO},
    {"(N = 1) = false", YES},
    {"attribute_exists(S) = true", YES},
};

static const struct answer_row logic[] = {
    {"true AND false", NO},
    {"true OR false", YES},
    {"NOT true", NO},
    {"not TRUE or True", YES}, /* keywords in any case */
    {"NOT NOT true", YES},
    {"false AND true OR true", YES},
    {"false AND (true OR true)", NO},
    {"NOT false AND false", NO}, /* NOT binds tighter than AND */
    {"NOT S = 'x'", YES},        /* and looser than = */
    {"S = 'x' AND number(S) = 1", NO},
    {"S = 'text' OR number(S) = 1", YES},
    {"number(S) = 1 OR S = 'text'", "item: number(): 'text' is not a number"},
    {"N IN (12.5, number(S))", YES},
};

static const struct answer_row values[] = {
    {"S || '#' || PK", "{\"S\":\"text#CUSTOMER#1\"}"},
    {"S || (S || S)", "{\"S\":\"texttexttext\"}"},
    {"S || gone", "missing"},
    {"S || N", "item: ||: expected S, found N 12.5"},
    {"N + 0.5", "{\"N\":\"13\"}"},
    {"N - 13", "{\"N\":\"-0.5\"}"},
    {"N * 2 + 1", "{\"N\":\"26\"}"},
    {"1 + N * 2", "{\"N\":\"26\"}"},
    {"(1 + N) * 2", "{\"N\":\"27\"}"},
    {"10 - 4 - 3", "{\"N\":\"3\"}"},
    {"10 - (4 - 3)", "{\"N\":\"9\"}"},
    {"-N", "{\"N\":\"-12.5\"}"},
    {"--N", "{\"N\":\"12.5\"}"},
    {"-0", "{\"N\":\"0\"}"},
    {"I -1", "{\"N\":\"6\"}"},
    {"0.1 + 0.2", "{\"N\":\"0.3\"}"},
    {"gone + 1", "missing"},
    {"gone + S", "missing"},
    {"S + 1", "item: +: expected N, found S 'text'"},
    {"I * 99999999999999999999999999999999999999",
     "item: *: the result has over 38 significant digits"},
    {"I * 1e125 * 10", "item: *: the result is out of the range of numbers"},
    {"1e3", "{\"N\":\"1000\"}"},
    {"1E-2", "{\"N\":\"0.01\"}"},
    {"12345678901234567890123456789012345678",
     "{\"N\":\"12345678901234567890123456789012345678\"}"},
    {"'it''s'", "{\"S\":\"it's\"}"},
    {"b64'AAEC'", "{\"B\":\"AAEC\"}"},
    {"null", "{\"NULL\":true}"},
    {"[]", "{\"L\":[]}"},
    {"[S, [N]]", "{\"L\":[{\"S\":\"text\"},{\"L\":[{\"N\":\"12.5\"}]}]}"},
    {"[gone]", "missing"},
    {"{}", "{\"M\":{}}"},
    {"{'b': S, 'a': {'}': 1}}",
     "{\"M\":{\"a\":{\"M\":{\"}\":{\"N\":\"1\"}}},\"b\":{\"S\":\"text\"}}}"},
    {"{'a': gone}", "missing"},
    {"<<'b', S, 'b'>>", "{\"SS\":[\"b\",\"text\"]}"},
    {"<<1, 1.0, N>>", "{\"NS\":[\"1\",\"12.5\"]}"},
    {"<<S, N>>", "item: a set of N holds a member of type S"},
    {"[to_set(list_append([], if(true, [], L)))]", "item: a list cannot hold an empty set"},
    {"{'a': to_set(if(T = true, [], L)), 'b': 1}", "{\"M\":{\"b\":{\"N\":\"1\"}}}"},
    {"S", "{\"S\":\"text\"}"},
    {"M.\"in\"[0]", "{\"N\":\"10\"}"},
    {"L[2][0]", "{\"N\":\"2\"}"},
    {"L[3]", "missing"},
    {"L.k", "missing"},
    {"M[0]", "missing"},
    {"S.k", "missing"},
};

START_TEST(comparisons_are_those_of_dynamodb)
{
    answer_check(&comparisons[_i]);
}
END_TEST

START_TEST(logic_stops_as_soon_as_it_knows)
{
    answer_check(&logic[_i]);
}
END_TEST

START_TEST(values_are_exact_and_missing_passes_on)
{
    answer_check(&values[_i]);
}
END_TEST

int main(void)
{
    TCase *operators = tcase_create("operators");
    tcase_add_loop_test(operators, comparisons_are_those_of_dynamodb, 0, ROWS(comparisons));
    tcase_add_loop_test(operators, logic_stops_as_soon_as_it_knows, 0, ROWS(logic));
    tcase_add_loop_test(operators, values_are_exact_and_missing_passes_on, 0, ROWS(values));
    Suite *suite = suite_create("engine/expr/expr_operators");
    suite_add_tcase(suite, operators);
    return suite_run(suite);
}
