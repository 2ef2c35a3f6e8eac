#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>

#define YES "{\"BOOL\":true}"
#define NO  "{\"BOOL\":false}"

static const struct answer_row conditions[] = {
    {"attribute_exists(S)", YES},
    {"attribute_exists(Z)", YES}, /* NULL is there */
    {"attribute_exists(M.k)", YES},
    {"attribute_exists(L[1])", YES},
    {"attribute_exists(L[9])", NO},
    {"attribute_not_exists(gone)", YES},
    {"attribute_not_exists(Z)", NO},
    {"attribute_type(N, 'N')", YES},
    {"attribute_type(SS, 'SS')", YES},
    {"attribute_type(Z, 'NULL')", YES},
    {"attribute_type(N, 'S')", NO},
    {"attribute_type(gone, 'S')", NO},
    {"begins_with(SK, 'ORDER#')", YES},
    {"begins_with(SK, SK)", YES},
    {"begins_with(SK, 'ORDER#77')", NO},
    {"begins_with(SK, '')", YES},
    {"begins_with(B, b64'AAE=')", YES},
    {"begins_with(B, 'A')", NO},
    {"begins_with(N, '12')", NO},
    {"begins_with(gone, 'a')", NO},
    {"begins_with(SK, gone)", NO},
    {"contains(S, 'ex')", YES},
    {"contains(S, '')", YES},
    {"contains(S, 'eX')", NO},
    {"contains(S, N)", NO},
    {"contains(B, b64'AQI=')", YES},
    {"contains(SS, 'a')", YES},
    {"contains(SS, 'ab')", NO},
    {"contains(NS, 2.0)", YES},
    {"contains(NS, '2')", NO},
    {"contains(BS, b64'AQ==')", YES},
    {"contains(L, 'a')", YES},
    {"contains(L, [2])", YES},
    {"contains(L, 2)", NO},
    {"contains(M, 'k')", NO},
    {"contains(gone, 'k')", NO},
    {"contains(S, gone)", NO},
    {"NOT contains(gone, 'k')", YES},
    {"size(S)", "{\"N\":\"4\"}"},
    {"size(Accents)", "{\"N\":\"8\"}"}, /* an emoji is two UTF-16 units */
    {"size(B)", "{\"N\":\"3\"}"},
    {"size(SS)", "{\"N\":\"2\"}"},
    {"size(L)", "{\"N\":\"3\"}"},
    {"size(M)", "{\"N\":\"2\"}"},
    {"size(E)", "{\"N\":\"0\"}"},
    {"size(N)", "missing"},
    {"size(N) < 100", NO},
    {"size(gone) > 0", NO},
};

static const struct answer_row choices[] = {
    {"if_not_exists(S, 'x')", "{\"S\":\"text\"}"},
    {"if_not_exists(gone, 'x')", "{\"S\":\"x\"}"},
    {"if_not_exists(Z, 'x')", "{\"NULL\":true}"},
    {"if_not_exists(gone, gone)", "missing"},
    {"coalesce(gone, Z, S, N)", "{\"S\":\"text\"}"},
    {"coalesce(lower(gone), 'x')", "{\"S\":\"x\"}"},
    {"coalesce(gone, Z)", "missing"},
    {"coalesce(gone, null)", "missing"},
    {"coalesce(S, number(S))", "{\"S\":\"text\"}"},
    {"if(N > 10, 'big', 'small')", "{\"S\":\"big\"}"},
    {"if(gone > 10, 'big', 'small')", "{\"S\":\"small\"}"},
    {"if(T = true, S, number(S))", "{\"S\":\"text\"}"}, /* only the branch taken */
    {"if(T = false, S, number(S))", "item: number(): 'text' is not a number"},
    {"if(T = true, gone, 1)", "missing"},
    {"if(T = true, N = 12.5, false) AND true", YES}, /* conditions on both sides make one */
};

START_TEST(conditions_are_those_of_dynamodb)
{
    answer_check(&conditions[_i]);
}
END_TEST

START_TEST(choices_take_what_is_there)
{
    answer_check(&choices[_i]);
}
END_TEST

int main(void)
{
    TCase *functions = tcase_create("functions");
    tcase_add_loop_test(functions, conditions_are_those_of_dynamodb, 0, ROWS(conditions));
    tcase_add_loop_test(functions, choices_take_what_is_there, 0, ROWS(choices));
    Suite *suite = suite_create("engine/expr/expr_functions_condition");
    suite_add_tcase(suite, functions);
    return suite_run(suite);
}
