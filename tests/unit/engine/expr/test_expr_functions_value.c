#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct answer_row containers[] = {
    {"list(S, 1)", "{\"L\":[{\"S\":\"text\"},{\"N\":\"1\"}]}"},
    {"list(S, gone)", "missing"},
    {"set(S, 'a', S)", "{\"SS\":[\"a\",\"text\"]}"},
    {"set(1, 1.0, 10)", "{\"NS\":[\"1\",\"10\"]}"},
    {"set(S, N)", "item: a set of S holds a member of type N"},
    {"set(L)", "item: a set holds S, N or B, not L"},
    {"to_list(NS)", "{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}"},
    {"to_list(L)", "{\"L\":[{\"N\":\"1\"},{\"S\":\"a\"},{\"L\":[{\"N\":\"2\"}]}]}"},
    {"to_list(S)", "item: to_list(): expected SS, NS, BS or L, found S 'text'"},
    {"to_set(list(S, S))", "{\"SS\":[\"text\"]}"},
    {"to_set(L)", "item: to_set(): a set of N holds a member of type S"},
    {"to_set(SS)", "{\"SS\":[\"a\",\"b\"]}"},
    {"size(to_set([]))", "{\"N\":\"0\"}"},
    {"to_list(to_set(if(T = true, [], L)))", "{\"L\":[]}"},
    {"list_append(L[2], ['x'])", "{\"L\":[{\"N\":\"2\"},{\"S\":\"x\"}]}"},
    {"list_append([], [])", "{\"L\":[]}"},
    {"list_append(L, S)", "item: list_append(): expected L, found S 'text'"},
    {"list_append(L, gone)", "missing"},
};

static const struct answer_row scalars[] = {
    {"string(N)", "{\"S\":\"12.5\"}"},
    {"string(1e3)", "{\"S\":\"1000\"}"},
    {"string(T)", "{\"S\":\"true\"}"},
    {"string(b64'aMOp')", "{\"S\":\"hé\"}"},
    {"string(b64'/w==')", "plan: string(): B of 1 bytes is not UTF-8 text"},
    {"string(S)", "{\"S\":\"text\"}"},
    {"string(Z)", "item: string(): expected S, N, B or BOOL, found NULL"},
    {"string(L)", "item: string(): expected S, N, B or BOOL, found L of 3 members"},
    {"number('1e3')", "{\"N\":\"1000\"}"},
    {"number(N)", "{\"N\":\"12.5\"}"},
    {"number(S)", "item: number(): 'text' is not a number"},
    {"number(E)", "item: number(): '' is not a number"},
    {"number(T)", "item: number(): expected S or N, found BOOL true"},
    {"number(S || '11111111111111111111111111111111111111111111111111111111111111111111111')",
     "item: number(): 'text11111111111111111111111111111111111111111111111111111111...' is not a "
     "number"},
    {"lower(L || S)", "item: ||: expected S, found L of 3 members"},
    {"binary(S)", "{\"B\":\"dGV4dA==\"}"},
    {"base64(B)", "{\"S\":\"AAEC\"}"},
    {"base64(S)", "item: base64(): expected B, found S 'text'"},
    {"unbase64('AAEC')", "{\"B\":\"AAEC\"}"},
    {"unbase64(SK)", "item: unbase64(): S 'ORDER#7' is not base64"},
    {"json(M)", "{\"S\":\"{\\\"in\\\":[10,20],\\\"k\\\":\\\"v\\\"}\"}"},
    {"json(SS)", "{\"S\":\"[\\\"a\\\",\\\"b\\\"]\"}"},
    {"json(to_set([]))", "{\"S\":\"[]\"}"},
    {"json(12345678901234567890.5)", "{\"S\":\"12345678901234567890.5\"}"},
    {"json(B)", "{\"S\":\"\\\"AAEC\\\"\"}"},
    {"parse_json('{\"a\": [1.50, null, true]}')",
     "{\"M\":{\"a\":{\"L\":[{\"N\":\"1.5\"},{\"NULL\":true},{\"BOOL\":true}]}}}"},
    {"parse_json(json(L)) = L", "{\"BOOL\":true}"},
    {"parse_json(gone)", "missing"},
};

/* zlib.crc32 and hashlib.sha256 of Python say the same. */
static const struct answer_row digests[] = {
    {"shard('customer-1', 10)", "{\"N\":\"9\"}"},
    {"shard('', 7)", "{\"N\":\"0\"}"},
    {"shard('Grüße', 1000000)", "{\"N\":\"938097\"}"},
    {"shard(12.50, 4294967296) = shard('12.5', 4294967296)", "{\"BOOL\":true}"},
    {"shard(PK, 1)", "{\"N\":\"0\"}"},
    {"shard(PK, N)", "item: shard(): N 12.5 is not a whole number of at most 18 digits"},
    {"shard(PK, I - 7)", "item: shard(): 0 is not within 1 to 9223372036854775807"},
    {"hash('abc')", "{\"S\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"}"},
    {"hash('abc', 8)", "{\"S\":\"ba7816bf\"}"},
    {"hash(binary('abc'), 8)", "{\"S\":\"ba7816bf\"}"},
    {"hash(1.0) = hash('1')", "{\"BOOL\":true}"},
    {"hash(S, I * 10)", "item: hash(): 70 is not within 1 to 64"},
    {"hash(L)", "item: hash(): expected S, N or B, found L of 3 members"},
};

START_TEST(lists_and_sets_become_each_other)
{
    answer_check(&containers[_i]);
}
END_TEST

START_TEST(scalars_convert_where_nothing_is_lost)
{
    answer_check(&scalars[_i]);
}
END_TEST

START_TEST(digests_are_the_ones_that_applications_can_compute)
{
    answer_check(&digests[_i]);
}
END_TEST

START_TEST(parse_json_says_where_it_failed)
{
    static const struct answer_row row = {
        "parse_json(S)", "item: parse_json(): S 'text': JSON:1:1: expected true, false or null"};
    answer_check(&row);
}
END_TEST

int main(void)
{
    TCase *functions = tcase_create("functions");
    tcase_add_loop_test(functions, lists_and_sets_become_each_other, 0, ROWS(containers));
    tcase_add_loop_test(functions, scalars_convert_where_nothing_is_lost, 0, ROWS(scalars));
    tcase_add_loop_test(functions, digests_are_the_ones_that_applications_can_compute, 0,
                        ROWS(digests));
    tcase_add_test(functions, parse_json_says_where_it_failed);
    Suite *suite = suite_create("engine/expr/expr_functions_value");
    suite_add_tcase(suite, functions);
    return suite_run(suite);
}
