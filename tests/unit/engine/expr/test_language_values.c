/* docs/language.md, "Values": missing is not NULL, conditions, exactness; and what every function
 * makes of its edges. */
#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>

#define YES "{\"BOOL\":true}"
#define NO  "{\"BOOL\":false}"

#define ITEM                                                                                   \
    "{\"S\":{\"S\":\"a#b\"},\"N\":{\"N\":\"7\"},\"B\":{\"B\":\"AAEC\"},\"T\":{\"BOOL\":true}," \
    "\"Z\":{\"NULL\":true},\"SS\":{\"SS\":[\"a\",\"b\"]},\"NS\":{\"NS\":[\"1\",\"2\"]},"       \
    "\"L\":{\"L\":[{\"S\":\"a\"},{\"NULL\":true}]},\"EL\":{\"L\":[]},\"E\":{\"S\":\"\"},"      \
    "\"M\":{\"M\":{\"k\":{\"N\":\"1.0\"}}},\"big\":{\"N\":"                                    \
    "\"99999999999999999999999999999999999999\"}}"

/* One missing operand makes each of them missing, whatever the others are. */
static const char *const missing[] = {
    "gone",
    "M.k.x",
    "L[9]",
    "S[0]",
    "lower(gone)",
    "upper(gone)",
    "trim(gone)",
    "substring(gone, 1, 1)",
    "substring(S, gone, 1)",
    "substring(S, 1, gone)",
    "split(gone, '#')",
    "split(S, gone)",
    "split(gone, '#', 1)",
    "split(S, gone, 1)",
    "split(S, '#', gone)",
    "before(gone, '#')",
    "before(S, gone)",
    "after(gone, '#')",
    "after(S, gone)",
    "replace(gone, 'a', 'b')",
    "replace(S, gone, 'b')",
    "replace(S, 'a', gone)",
    "pad(gone, 3)",
    "pad(N, gone)",
    "pad(gone, 3, 'signed')",
    "date(gone)",
    "date(gone, 'iso', 'epoch')",
    "epoch(gone)",
    "shard(gone, 3)",
    "shard(S, gone)",
    "hash(gone)",
    "hash(gone, 8)",
    "hash(S, gone)",
    "json(gone)",
    "parse_json(gone)",
    "string(gone)",
    "number(gone)",
    "binary(gone)",
    "base64(gone)",
    "unbase64(gone)",
    "list(gone)",
    "list(S, gone)",
    "set(S, gone)",
    "to_list(gone)",
    "to_set(gone)",
    "list_append(gone, L)",
    "list_append(L, gone)",
    "size(gone)",
    "S || gone",
    "gone || S",
    "N + gone",
    "gone - N",
    "gone * N",
    "-gone",
    "[S, gone]",
    "<<S, gone>>",
    "{'a': S, 'b': gone}",
    "lower(upper(trim(gone)))",
    "gone + S", /* missing comes before a wrong type */
    "if(gone = 1, S, gone)",
    "if_not_exists(gone, gone)",
    "coalesce(gone, Z)",
};

/* NULL is a value, of a type that none of these takes. */
static const char *const null_errors[] = {
    "lower(Z)",
    "upper(Z)",
    "trim(Z)",
    "substring(Z, 1, 1)",
    "substring(S, Z, 1)",
    "split(Z, '#')",
    "split(S, Z)",
    "split(S, '#', Z)",
    "before(Z, '#')",
    "after(S, Z)",
    "replace(S, 'a', Z)",
    "pad(Z, 3)",
    "date(Z)",
    "date(Z, 'iso', 'epoch')",
    "epoch(Z)",
    "shard(Z, 3)",
    "hash(Z)",
    "parse_json(Z)",
    "string(Z)",
    "number(Z)",
    "binary(Z)",
    "base64(Z)",
    "unbase64(Z)",
    "set(Z)",
    "to_list(Z)",
    "to_set(Z)",
    "list_append(Z, L)",
    "S || Z",
    "N + Z",
    "-Z",
    "<<S, Z>>",
};

static const struct answer_row nulls[] = {
    {"Z", "{\"NULL\":true}"},
    {"if_not_exists(Z, 'x')", "{\"NULL\":true}"},
    {"coalesce(Z, 'x')", "{\"S\":\"x\"}"},
    {"coalesce(lower(gone), 'x')", "{\"S\":\"x\"}"},
    {"coalesce(E, 'x')", "{\"S\":\"\"}"}, /* empty is there */
    {"[Z]", "{\"L\":[{\"NULL\":true}]}"},
    {"{'a': Z}", "{\"M\":{\"a\":{\"NULL\":true}}}"},
    {"json(Z)", "{\"S\":\"null\"}"},
    {"parse_json('null')", "{\"NULL\":true}"},
    {"attribute_exists(Z)", YES},
    {"attribute_type(Z, 'NULL')", YES},
    {"attribute_type(gone, 'NULL')", NO},
    {"Z = null", YES},
    {"Z = Z", YES},
    {"gone = null", NO},
    {"gone <> null", YES},
    {"contains(L, Z)", YES},
    {"contains(L, gone)", NO},
    {"size(Z)", "missing"},
};

/* Missing operands and unequal types: false, <> true, and NOT turns them round. */
static const struct answer_row comparisons[] = {
    {"gone = gone", NO},
    {"gone <> gone", YES},
    {"NOT gone = gone", YES},
    {"NOT gone <> gone", NO},
    {"gone <= gone", NO},
    {"gone >= gone", NO},
    {"Z <= Z", NO},
    {"T <= T", NO},
    {"SS <= SS", NO},
    {"L >= L", NO},
    {"N = '7'", NO},
    {"N <> '7'", YES},
    {"N < S", NO},
    {"N >= S", NO},
    {"NOT N >= S", YES},
    {"N BETWEEN S AND S", NO},
    {"NOT N BETWEEN S AND S", YES},
    {"gone BETWEEN gone AND gone", NO},
    {"N BETWEEN 7 AND 7", YES},
    {"N IN (S, gone, Z)", NO},
    {"NOT gone IN (gone)", YES},
    {"begins_with(N, S)", NO},
    {"NOT begins_with(gone, S)", YES},
    {"contains(N, 7)", NO},
    {"contains(SS, N)", NO},
    {"contains(NS, 1.0)", YES},
    {"'B' < 'a'", YES},
    {"'a' < 'aa'", YES},
    {"'\xc3\xa9' > 'z'", YES},
    {"'\xef\xbf\xbd' < '\xf0\x9f\x98\x80'", YES}, /* by bytes, not by UTF-16 units */
    {"b64'/w==' > b64'AA=='", YES},
    {"10 > 9", YES},
    {"-10 < -9", YES},
    {"0 = -0", YES},
    {"M = {'k': 1}", YES},
    {"M = {'k': '1'}", NO},
    {"L = ['a', null]", YES},
    {"L = [null, 'a']", NO},
    {"SS = <<'b', 'a'>>", YES},
    {"SS = ['a', 'b']", NO},
    {"SS <> <<'a'>>", YES},
    {"NS = <<2, 1.0>>", YES},
    {"NS = <<'1', '2'>>", NO},
    {"{'a': <<2, 1>>} = {'a': <<1, 2>>}", YES},
    {"size('\xf0\x9f\x98\x80')", "{\"N\":\"2\"}"},
};

static const struct answer_row exactness[] = {
    {"big + 1", "{\"N\":\"100000000000000000000000000000000000000\"}"},
    {"big + 2", "item: +: the result has over 38 significant digits"},
    {"big + 2 - 2", "item: +: the result has over 38 significant digits"}, /* each operation */
    {"big - 1", "{\"N\":\"99999999999999999999999999999999999998\"}"},
    {"-big - 1", "{\"N\":\"-100000000000000000000000000000000000000\"}"},
    {"big * 10", "{\"N\":\"999999999999999999999999999999999999990\"}"},
    {"big * 1.1", "item: *: the result has over 38 significant digits"},
    {"N * 1e125 * 10", "item: *: the result is out of the range of numbers"},
    {"N * 1e-130 * 0.1", "item: *: the result is out of the range of numbers"},
    {"N * 0 * -1", "{\"N\":\"0\"}"},
    {"N - 7 = -0", YES},
    {"1e125 - 1e125", "{\"N\":\"0\"}"},
    {"1e125 + 1e-130", "plan: +: the result has over 38 significant digits"},
    {"number('1e125') = 1e125", YES},
    {"number('-0.000')", "{\"N\":\"0\"}"},
    {"number('+.5e+1')", "{\"N\":\"5\"}"},
    {"number('5.')", "{\"N\":\"5\"}"},
    {"number('00000000000000000000000000000000000000000000007')", "{\"N\":\"7\"}"},
    {"number(' 7')", "plan: number(): ' 7' is not a number"},
    {"number('7e')", "plan: number(): '7e' is not a number"},
    {"number('Infinity')", "plan: number(): 'Infinity' is not a number"},
    {"number('\xd9\xa7')", "plan: number(): '\xd9\xa7' is not a number"},
    {"string(big * 1e80 * 1e7) = string(99999999999999999999999999999999999999e87)", YES},
    {"size(string(1e125))", "{\"N\":\"126\"}"},
    {"size(string(1e-130))", "{\"N\":\"132\"}"},
    {"number(string(1e-130)) = 1e-130", YES},
    {"json([1e21, -0.0, 1.50])", "{\"S\":\"[1000000000000000000000,0,1.5]\"}"},
    {"parse_json('[1e21, -0, 1.50]')",
     "{\"L\":[{\"N\":\"1000000000000000000000\"},{\"N\":\"0\"},{\"N\":\"1.5\"}]}"},
    {"parse_json('1e400')", "plan: 1e400 is out of the range of numbers"},
    {"parse_json('0.123456789012345678901234567890123456789')",
     "plan: has over 38 significant digits"},
};

/* What a set without members does. */
static const struct answer_row empty_sets[] = {
    {"size(to_set(EL))", "{\"N\":\"0\"}"},
    {"size(<<>>)", "{\"N\":\"0\"}"},
    {"to_set(EL) = <<>>", YES},
    {"contains(to_set(EL), 'a')", NO},
    {"to_list(to_set(EL))", "{\"L\":[]}"},
    {"to_set(to_list(to_set(EL))) = <<>>", YES},
    {"to_set(EL)", "{\"SS\":[]}"},
    {"[to_set(EL)]", "item: a list cannot hold an empty set"},
    {"list(S, to_set(EL))", "item: a list cannot hold an empty set"},
    {"{'a': to_set(EL), 'b': {'c': to_set(EL)}}", "{\"M\":{\"b\":{\"M\":{}}}}"},
    {"json(to_set(EL))", "{\"S\":\"[]\"}"},
    {"set()", "plan: set() takes at least 1 argument, found 0"},
};

static const struct answer_row edges[] = {
    {"parse_json('')", "plan: parse_json(): S ''"},
    {"parse_json('1 2')", "plan: expected the end of the text, found more"},
    {"parse_json('[1')", "plan: the text ends too early: ] is missing"},
    {"parse_json('[1,]')", "plan: parse_json()"},
    {"parse_json('{\"a\":1,\"a\":2}')", "plan: member \"a\" stands twice"},
    {"parse_json('\"\\ud800\"')", "plan: half of a surrogate pair"},
    {"parse_json('\"\\u0000\"') = '\\u0000'", NO},
    {"size(parse_json('\"\\u0000\"'))", "{\"N\":\"1\"}"},
    {"parse_json('{\"S\": \"x\"}')", "{\"M\":{\"S\":{\"S\":\"x\"}}}"},
    {"parse_json('/* c */ 1')", "plan: parse_json()"},
    {"parse_json(' true ')", YES},
    {"parse_json('NaN')", "plan: parse_json()"},
    {"parse_json(json(M)) = M", YES},
    {"split('#', '#', -3)", "missing"},
    {"split('a#b', '#', 9223372036854775807)", "missing"},
    {"split('a#b', '#', -9223372036854775808)", "missing"},
    {"split('\xc3\xa9\xc3\xa9', '\xc3\xa9')", "{\"L\":[{\"S\":\"\"},{\"S\":\"\"},{\"S\":\"\"}]}"},
    {"before('#', '#')", "{\"S\":\"\"}"},
    {"before('', '#')", "missing"},
    {"after('', '#')", "missing"},
    {"replace('', 'a', 'b')", "{\"S\":\"\"}"},
    {"substring('', 1, 1)", "{\"S\":\"\"}"},
    {"trim('')", "{\"S\":\"\"}"},
    {"pad(0, 1)", "{\"S\":\"0\"}"},
    {"pad(-0, 1)", "{\"S\":\"0\"}"},
    {"pad(99, 2)", "{\"S\":\"99\"}"},
    {"pad(100, 2)", "plan: pad(): N 100 has over 2 digits"},
    {"pad(1e37, 38)", "{\"S\":\"10000000000000000000000000000000000000\"}"},
    {"pad(0, 1025)", "plan: 1025 is not within 1 to 1024"},
    {"pad(-1, 1, 'signed') < pad(0, 1, 'signed')", YES},
    {"pad(-2, 1, 'signed') < pad(-1, 1, 'signed')", YES},
    {"hash('', 1)", "{\"S\":\"e\"}"},
    {"hash('', 0)", "plan: 0 is not within 1 to 64"},
    {"shard(N, 1)", "{\"N\":\"0\"}"},
    {"shard(T, 1)", "item: shard(): expected S or N, found BOOL true"},
    {"string(b64'')", "{\"S\":\"\"}"},
    {"unbase64('')", "{\"B\":\"\"}"},
    {"base64(b64'')", "{\"S\":\"\"}"},
    {"set(1, 'a')", "plan: a set of N holds a member of type S"},
    {"set(N, S)", "item: a set of N holds a member of type S"},
    {"to_set(L)", "item: to_set()"},
    {"attribute_type(S, 's')", "plan: S 's' is none of the types"},
    {"if(gone = 1, number(S), 2)", "{\"N\":\"2\"}"},
    {"if(N = 7, 1, number(S))", "{\"N\":\"1\"}"},
};

static void check(const struct answer_row *row)
{
    struct answer_item_row full = {row->text, ITEM, row->answer};
    answer_item_check(&full);
}

START_TEST(a_missing_operand_makes_it_missing)
{
    struct answer_row row = {missing[_i], "missing"};
    check(&row);
}
END_TEST

START_TEST(null_is_a_wrong_type)
{
    struct answer_row row = {null_errors[_i], "item: NULL"};
    check(&row);
}
END_TEST

START_TEST(null_is_a_value)
{
    check(&nulls[_i]);
}
END_TEST

START_TEST(comparisons_never_fail)
{
    check(&comparisons[_i]);
}
END_TEST

START_TEST(numbers_are_exact_or_refused)
{
    check(&exactness[_i]);
}
END_TEST

START_TEST(empty_sets_are_values_until_they_are_stored)
{
    check(&empty_sets[_i]);
}
END_TEST

START_TEST(functions_hold_at_their_edges)
{
    check(&edges[_i]);
}
END_TEST

int main(void)
{
    TCase *values = tcase_create("values");
    tcase_add_loop_test(values, a_missing_operand_makes_it_missing, 0, ROWS(missing));
    tcase_add_loop_test(values, null_is_a_wrong_type, 0, ROWS(null_errors));
    tcase_add_loop_test(values, null_is_a_value, 0, ROWS(nulls));
    tcase_add_loop_test(values, comparisons_never_fail, 0, ROWS(comparisons));
    tcase_add_loop_test(values, numbers_are_exact_or_refused, 0, ROWS(exactness));
    tcase_add_loop_test(values, empty_sets_are_values_until_they_are_stored, 0, ROWS(empty_sets));
    tcase_add_loop_test(values, functions_hold_at_their_edges, 0, ROWS(edges));
    Suite *suite = suite_create("engine/expr/language_values");
    suite_add_tcase(suite, values);
    return suite_run(suite);
}
