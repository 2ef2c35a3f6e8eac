#include "tests/rules/expr_answer.h"
#include "tests/rules/expr_text.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct answer_row case_and_space[] = {
    {"lower('ÀÉß İ Kelvin: K')", "{\"S\":\"àéß i kelvin: k\"}"},
    {"upper('straße àé')", "{\"S\":\"STRAßE ÀÉ\"}"}, /* simple mapping: ß has no capital of one */
    {"upper('ⱥ')", "{\"S\":\"Ⱥ\"}"},
    {"lower('')", "{\"S\":\"\"}"},
    {"lower(N)", "item: lower(): expected S, found N 12.5"},
    {"lower(gone)", "missing"},
    {"trim('  a b\t')", "{\"S\":\"a b\"}"},
    {"trim('\xc2\xa0\xe3\x80\x80x\xe2\x80\xa8')", "{\"S\":\"x\"}"}, /* Unicode's white space */
    {"trim(' \n ')", "{\"S\":\"\"}"},
    {"trim('x')", "{\"S\":\"x\"}"},
};

static const struct answer_row parts[] = {
    {"substring('hello', 2, 3)", "{\"S\":\"ell\"}"},
    {"substring('hello', 4, 100)", "{\"S\":\"lo\"}"},
    {"substring('hello', 0, 3)", "{\"S\":\"he\"}"}, /* SQL counts what lies before */
    {"substring('hello', -1, 3)", "{\"S\":\"h\"}"},
    {"substring('hello', -5, 3)", "{\"S\":\"\"}"},
    {"substring('hello', 9, 3)", "{\"S\":\"\"}"},
    {"substring('hello', 1, 0)", "{\"S\":\"\"}"},
    {"substring('hello', 2, 9223372036854775807)", "{\"S\":\"ello\"}"},
    {"substring('hello', -9223372036854775808, 9223372036854775807)", "{\"S\":\"\"}"},
    {"substring(Accents, 3, 2)", "{\"S\":\"üß\"}"}, /* characters, not bytes */
    {"substring(Accents, 7, 1)", "{\"S\":\"😀\"}"},
    {"substring(S, 1, N)", "item: substring(): N 12.5 is not a whole number of at most 18 digits"},
    {"substring(S, 1, I - 8)", "item: substring(): -1 is not within 0 to 9223372036854775807"},
    {"split(PK, '#')", "{\"L\":[{\"S\":\"CUSTOMER\"},{\"S\":\"1\"}]}"},
    {"split('a##b', '#')", "{\"L\":[{\"S\":\"a\"},{\"S\":\"\"},{\"S\":\"b\"}]}"},
    {"split('', '#')", "{\"L\":[{\"S\":\"\"}]}"},
    {"split('#', '#')", "{\"L\":[{\"S\":\"\"},{\"S\":\"\"}]}"},
    {"split('a::b::c', '::', 2)", "{\"S\":\"b\"}"},
    {"split('a::b::c', '::', 3)", "{\"S\":\"c\"}"},
    {"split('a::b::c', '::', 4)", "missing"},
    {"split('a::b::c', '::', -1)", "{\"S\":\"c\"}"},
    {"split('a::b::c', '::', -3)", "{\"S\":\"a\"}"},
    {"split('a::b::c', '::', -4)", "missing"},
    {"split('abc', '#', 1)", "{\"S\":\"abc\"}"},
    {"split(PK, E)", "item: split(): an empty string stands nowhere"},
    {"split(PK, '#', I - 7)", "item: split(): parts are counted from 1, or from the end with -1"},
    {"before(PK, '#')", "{\"S\":\"CUSTOMER\"}"},
    {"before('a#b#c', '#')", "{\"S\":\"a\"}"},
    {"before(S, '#')", "missing"},
    {"after('a#b#c', '#')", "{\"S\":\"b#c\"}"},
    {"after('a#', '#')", "{\"S\":\"\"}"},
    {"after(S, '#')", "missing"},
    {"replace('a-b-c', '-', '::')", "{\"S\":\"a::b::c\"}"},
    {"replace('aaa', 'aa', 'b')", "{\"S\":\"ba\"}"},
    {"replace(S, 't', '')", "{\"S\":\"ex\"}"},
    {"replace(S, 'q', 'r')", "{\"S\":\"text\"}"},
    {"replace(S, E, 'r')", "item: replace(): an empty string stands nowhere"},
};

static const struct answer_row padding[] = {
    {"pad(I, 5)", "{\"S\":\"00007\"}"},
    {"pad(0, 3)", "{\"S\":\"000\"}"},
    {"pad(1e3, 4)", "{\"S\":\"1000\"}"},
    {"pad(1e3 * I, 3)", "item: pad(): N 7000 has over 3 digits"},
    {"pad(N, 5)", "item: pad(): N 12.5 is not a whole number from 0 up"},
    {"pad(-I, 5)", "item: pad(): N -7 is not a whole number from 0 up"},
    {"pad(S, 5)", "item: pad(): expected N, found S 'text'"},
    {"pad(I, 3, 'signed')", "{\"S\":\"007\"}"},
    {"pad(-I, 3, 'signed')", "{\"S\":\"-992\"}"},
    {"pad(-999, 3, 'signed')", "{\"S\":\"-000\"}"},
    {"pad(N, 3, 'signed')", "item: pad(): N 12.5 is not a whole number"},
    {"pad(I * -1000, 3, 'signed')", "item: pad(): N -7000 has over 3 digits"},
};

START_TEST(case_mapping_and_white_space_are_unicodes)
{
    answer_check(&case_and_space[_i]);
}
END_TEST

START_TEST(parts_are_counted_in_characters)
{
    answer_check(&parts[_i]);
}
END_TEST

START_TEST(padding_is_for_whole_numbers_that_fit)
{
    answer_check(&padding[_i]);
}
END_TEST

START_TEST(padded_numbers_sort_as_numbers)
{
    property_check("padded_numbers_sort_as_numbers", rule_padded_numbers_sort_as_numbers);
}
END_TEST

START_TEST(parts_make_up_the_text)
{
    property_check("parts_make_up_the_text", rule_parts_make_up_the_text);
}
END_TEST

START_TEST(results_that_no_item_could_hold_are_refused)
{
    static const struct answer_row row = {
        "replace(pad(0, 1000), '0', pad(0, 1000))",
        "plan: replace(): the result has 1000000 bytes, more than an item may (409600)"};
    answer_check(&row);
}
END_TEST

int main(void)
{
    TCase *functions = tcase_create("functions");
    tcase_add_loop_test(functions, case_mapping_and_white_space_are_unicodes, 0,
                        ROWS(case_and_space));
    tcase_add_loop_test(functions, parts_are_counted_in_characters, 0, ROWS(parts));
    tcase_add_loop_test(functions, padding_is_for_whole_numbers_that_fit, 0, ROWS(padding));
    tcase_add_test(functions, padded_numbers_sort_as_numbers);
    tcase_add_test(functions, parts_make_up_the_text);
    tcase_add_test(functions, results_that_no_item_could_hold_are_refused);
    Suite *suite = suite_create("engine/expr/expr_functions_text");
    suite_add_tcase(suite, functions);
    return suite_run(suite);
}
