#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "tests/rules/expr_answer.h"
#include "tests/rules/expr_language.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static struct str str_of(const char *text)
{
    return (struct str){text, strlen(text)};
}

/* What is no expression, where, and what the message says. */
static const struct {
    const char *text;
    size_t at;
    const char *message;
} faults[] = {
    {"", 0, "expected a value, found the end"},
    {"A =", 3, "expected a value, found the end"},
    {"A = 1 2", 6, "expected an operator or the end, found 2"},
    {"A = 1 AND", 9, "expected a value, found the end"},
    {"(A = 1", 6, "expected ), found the end"},
    {"A = 1)", 5, "expected an operator or the end, found )"},
    {"A = B = C", 6, "expected an operator or the end, found ="},
    {"A == 1", 3, "expected a value, found ="},
    {"A != 1", 2, "unexpected '!': not equal is written <>"},
    {"A = $x", 4, "unexpected '$'"},
    {"Größe = 1", 2,
     "unexpected character: names other than letters A to Z, digits and _ stand in double quotes"},
    {"A = 'it", 4, "no closing '"},
    {"\"A = 1", 0, "no closing \""},
    {"A = '\xff'", 4, "not UTF-8"},
    {"A = 12ab", 4, "malformed number"},
    {"A = 1e", 4, "malformed number"},
    {"A = 1.", 5, "expected an operator or the end, found ."},
    {"A = .5", 4, "expected a value, found ."},
    {"A = 123456789012345678901234567890123456789", 4,
     "123456789012345678901234567890123456789 has over 38 significant digits"},
    {"A = 1e126", 4, "1e126 is out of the range of numbers"},
    {"b64'AAE'", 0, "not base64 with its padding"},
    {"\"\" = 1", 0, "a name has 1 to 65535 bytes"},
    {"A.and = 1", 2, "expected a name (keywords need double quotes), found and"},
    {"A[1.5]", 2, "expected a place in a list, from 0, found 1.5"},
    {"A[B]", 2, "expected a place in a list, from 0, found B"},
    {"A[409600]", 2, "expected a place in a list, from 0, found 409600"},
    {"A[0", 3, "expected ], found the end"},
    {"A[0].", 5, "expected a name (keywords need double quotes), found the end"},
    {"{'a' 1}", 5, "expected :, found 1"},
    {"{a: 1}", 1, "expected a member's name in single quotes, found a"},
    {"{'a': 1,}", 8, "expected a member's name in single quotes, found }"},
    {"{'a': 1, 'a': A}", 0, "the map has 'a' twice"},
    {"[1", 2, "expected , or ], found the end"},
    {"<<1", 3, "expected , or >>, found the end"},
    {"<<1, 'a'>>", 0, "a set of S holds a member of type N"},
    {"<<A, [1]>>", 5, "a member: expected S, N or B, found L of 1 members"},
    {"lower(A", 7, "expected , or ), found the end"},
    {"A IN ()", 0, "IN has no values"},
    {"A IN 1", 5, "expected (, found 1"},
    {"A BETWEEN 1", 11, "expected AND, found the end"},
    {"A BETWEEN 2 AND 1", 16, "nothing lies between N 2 and N 1"},
    {"A BETWEEN 2 AND 'x'", 16, "nothing lies between N 2 and S 'x'"},
    /* what takes conditions takes nothing else */
    {"A AND B = 1", 0,
     "expected a condition as an operand of AND; of a BOOL attribute write A = true"},
    {"B = 1 OR A", 9,
     "expected a condition as an operand of OR; of a BOOL attribute write A = true"},
    {"NOT A", 4, "expected a condition as an operand of NOT; of a BOOL attribute write A = true"},
    {"if(A, 1, 2)", 3,
     "expected a condition as argument 1 of if(); of a BOOL attribute write A = true"},
    {"if(true, A, B) OR true", 0,
     "expected a condition as an operand of OR; of a BOOL attribute write A = true"},
    /* functions */
    {"lenght(A)", 0, "unknown function lenght(); there are"},
    {"subString(A, 1, 2)", 0, "unknown function subString(); did you mean substring()?"},
    {"A = 1 AND SIZE(A) > 1", 10, "unknown function SIZE(); did you mean size()?"},
    {"attribute_exist(A)", 0, "did you mean attribute_exists()?"},
    {"lower(A, B)", 0, "lower() takes 1 argument, found 2"},
    {"lower()", 0, "lower() takes 1 argument, found 0"},
    {"split(A)", 0, "split() takes 2 or 3 arguments, found 1"},
    {"date(A, 'iso')", 0, "date() takes 1 or 3 arguments, found 2"},
    {"coalesce(A)", 0, "coalesce() takes at least 2 arguments, found 1"},
    {"attribute_exists('A')", 17, "expected a path as argument 1 of attribute_exists()"},
    {"attribute_type(A, 'X')", 18, "argument 2 of attribute_type(): S 'X' is none of the types"},
    {"attribute_type(A, B)", 18, "expected a literal as argument 2 of attribute_type()"},
    /* what can never work */
    {"A || 5", 5, "an operand of ||: expected S, found N 5"},
    {"A || size(B)", 5, "expected S as an operand of ||, found N"},
    {"A + 'x'", 4, "an operand of +: expected N, found S 'x'"},
    {"A < true", 4, "an operand of <: expected S, N or B, found BOOL true"},
    {"A BETWEEN null AND B", 10, "an operand of BETWEEN: expected S, N or B, found NULL"},
    {"begins_with(A, 5)", 15, "argument 2 of begins_with(): expected S or B, found N 5"},
    {"lower(5)", 6, "argument 1 of lower(): expected S, found N 5"},
    {"number('abc')", 0, "number(): 'abc' is not a number"},
    {"A = number('1' || 'x')", 4, "number(): '1x' is not a number"},
    {"pad(A, 0)", 7, "argument 2 of pad(): 0 is not within 1 to 1024"},
    {"pad(A, 1.5)", 7, "argument 2 of pad(): N 1.5 is not a whole number of at most 18 digits"},
    {"pad(A, 5, 'unsigned')", 10, "argument 3 of pad(): expected 'signed', found S 'unsigned'"},
    {"substring(A, 1, -1)", 16,
     "argument 3 of substring(): -1 is not within 0 to 9223372036854775807"},
    {"split(A, '')", 9, "argument 2 of split(): an empty string stands nowhere"},
    {"split(A, '#', 0)", 14,
     "argument 3 of split(): parts are counted from 1, or from the end with -1"},
    {"hash(A, 65)", 8, "argument 2 of hash(): 65 is not within 1 to 64"},
    {"shard(A, 0)", 9, "argument 2 of shard(): 0 is not within 1 to 9223372036854775807"},
    {"date(A, 'iso', B)", 15, "expected a literal as argument 3 of date()"},
    {"date(A, 'iso', 'yyyy')", 15,
     "argument 3 of date(): 'yyyy' is no date format: 'y' at 1 is none of iso, epoch, epoch_ms, "
     "YYYY, MM, DD, HH, mm, ss, SSS"},
    {"date(A, 'MM-DD', 'iso')", 8,
     "argument 2 of date(): 'MM-DD' is no date format: YYYY does not stand in it"},
    {"date(A, 'YYYY-MM-MM', 'iso')", 8,
     "argument 2 of date(): 'YYYY-MM-MM' is no date format: MM stands in it twice"},
    {"date(A, 'YYYYY', 'iso')", 8, "'Y' at 5 is none of"},
    {"date(A, 'iso', 'epoch') || 'x'", 0, "expected S as an operand of ||, found N"},
    {"9e125 * A + 9e125 * 9", 12, "*: the result is out of the range of numbers"},
};

START_TEST(faults_are_found_with_their_place)
{
    struct arena *arena = arena_new();
    struct expr_parsed parsed = {.fault = 999};
    struct error err = {0};
    const char *text = faults[_i].text;
    ck_assert_msg(!expr_parse(str_of(text), NULL, arena, &parsed, &err), "%s", text);
    ck_assert_msg(err.code == ERROR_PLAN, "%s: code %d", text, err.code);
    ck_assert_msg(strstr(err.text, faults[_i].message) != NULL, "%s: %s", text, err.text);
    ck_assert_msg(parsed.fault == faults[_i].at, "%s: at %zu, expected %zu", text, parsed.fault,
                  faults[_i].at);
    ck_assert_ptr_null(parsed.expr);
    arena_free(arena);
}
END_TEST

/* Templates: text after "${", and where its expression ends. */
static const struct {
    const char *text;
    size_t end; /* of a right one */
    size_t at;  /* of the fault, else 0 */
} braces[] = {
    {"A}#tail }", 1, 0},
    {" lower(A) }", 10, 0},
    {"'}' || A}", 8, 0},
    {"\"}\"}", 3, 0},
    {"{'k': {'l': A}}}", 15, 0},
    {"A}$ not a token: 'open", 1, 0},
    {"A", 0, 1},
    {"A B}", 0, 2},
    {"}", 0, 0},
};

START_TEST(a_template_expression_ends_before_its_brace)
{
    struct arena *arena = arena_new();
    struct expr_options options = {.stop_at_brace = true};
    struct expr_parsed parsed = {0};
    struct error err = {0};
    bool ok = expr_parse(str_of(braces[_i].text), &options, arena, &parsed, &err);
    ck_assert_msg(ok == (braces[_i].end > 0), "%s: %s", braces[_i].text, err.text);
    ck_assert_msg(parsed.end == braces[_i].end, "%s: ends at %zu", braces[_i].text, parsed.end);
    ck_assert_msg(parsed.fault == braces[_i].at, "%s: fault at %zu", braces[_i].text, parsed.fault);
    arena_free(arena);
}
END_TEST

START_TEST(without_a_brace_all_bytes_are_read)
{
    struct arena *arena = arena_new();
    struct expr_parsed parsed = {0};
    struct error err = {0};
    ck_assert(expr_parse(STR(" A = 1\n"), NULL, arena, &parsed, &err));
    ck_assert_uint_eq(parsed.end, 7);
    arena_free(arena);
}
END_TEST

/* What opens a level of nesting, and what closes it. */
static const struct {
    const char *open;
    const char *middle;
    const char *close;
} nestings[] = {
    {"(", "A = 1", ")"},  {"NOT ", "A = 1", ""},     {"-", "A", ""},       {"[", "A", "]"},
    {"lower(", "A", ")"}, {"1 + (", "A", ")"},       {"{'a': ", "A", "}"}, {"", "A", " - 1"},
    {"[[", "1", "]]"},    {"(1 IN (A, ", "B", "))"},
};

static bool parses_nested(int row, size_t levels, struct error *err)
{
    struct buffer text = {0};
    for (size_t i = 0; i < levels; i++) {
        buffer_add(&text, str_of(nestings[row].open));
    }
    buffer_add(&text, str_of(nestings[row].middle));
    for (size_t i = 0; i < levels; i++) {
        buffer_add(&text, str_of(nestings[row].close));
    }
    struct arena *arena = arena_new();
    struct expr_parsed parsed = {0};
    bool ok = expr_parse(buffer_str(&text), NULL, arena, &parsed, err);
    arena_free(arena);
    buffer_free(&text);
    return ok;
}

START_TEST(nesting_has_a_limit_that_no_text_passes)
{
    struct error err = {0};
    ck_assert_msg(parses_nested(_i, 40, &err), "%s: %s", nestings[_i].open, err.text);
    ck_assert_msg(!parses_nested(_i, 101, &err), "%s", nestings[_i].open);
    ck_assert_str_eq(err.text, "nested over 100 levels");
    ck_assert_msg(!parses_nested(_i, 40000, &err), "%s", nestings[_i].open);
    ck_assert_str_eq(err.text, "nested over 100 levels");
}
END_TEST

START_TEST(a_path_has_no_more_steps_than_an_item_is_deep)
{
    struct arena *arena = arena_new();
    struct expr_parsed parsed = {0};
    struct error err = {0};
    struct str deep = STR("A[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]"
                          "[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]");
    ck_assert(expr_parse(deep, NULL, arena, &parsed, &err));
    deep = arena_format(arena, "%.*s.B", STR_ARG(deep));
    ck_assert(!expr_parse(deep, NULL, arena, &parsed, &err));
    ck_assert_str_eq(err.text, "a path of over 33 steps");
    arena_free(arena);
}
END_TEST

START_TEST(in_takes_a_hundred_values)
{
    struct arena *arena = arena_new();
    struct buffer text = {0};
    buffer_add(&text, STR("A IN (0"));
    for (int i = 1; i < 100; i++) {
        buffer_format(&text, ", %d", i);
    }
    buffer_add(&text, STR(")"));
    struct expr_parsed parsed = {0};
    struct error err = {0};
    ck_assert(expr_parse(buffer_str(&text), NULL, arena, &parsed, &err));
    text.len--;
    buffer_add(&text, STR(", 100)"));
    ck_assert(!expr_parse(buffer_str(&text), NULL, arena, &parsed, &err));
    ck_assert_str_eq(err.text, "IN takes at most 100 values");
    buffer_free(&text);
    arena_free(arena);
}
END_TEST

START_TEST(an_expression_has_a_limit)
{
    struct arena *arena = arena_new();
    struct buffer text = {0};
    memset(buffer_reserve(&text, ITEM_MAX_BYTES), ' ', ITEM_MAX_BYTES);
    text.len = ITEM_MAX_BYTES - 1;
    buffer_add(&text, STR("AB"));
    struct expr_parsed parsed = {0};
    struct error err = {0};
    ck_assert(!expr_parse(buffer_str(&text), NULL, arena, &parsed, &err));
    ck_assert_str_eq(err.text, "expression of over 409600 bytes");
    text.len--;
    ck_assert(expr_parse(buffer_str(&text), NULL, arena, &parsed, &err));
    buffer_free(&text);
    arena_free(arena);
}
END_TEST

/* Slots: "c" is a lookup's alias, "t.col" a join's column; "gone" is unknown. */
static int resolve(void *context, struct path path, size_t *used, struct error *err)
{
    (*(int *)context)++;
    struct str first = path.steps[0].name;
    if (str_equal(first, STR("c"))) {
        *used = 1;
        return 0;
    }
    if (str_equal(first, STR("t"))) {
        *used = 2;
        return 1;
    }
    if (str_equal(first, STR("gone"))) {
        (void)error_set(err, ERROR_PLAN, "no column gone");
        return EXPR_UNKNOWN;
    }
    return EXPR_ITEM;
}

static const struct {
    const char *text;
    const char *answer;
} scoped[] = {
    {"c.Name", "{\"S\":\"Ada\"}"},
    {"c.Tags[1]", "{\"S\":\"y\"}"},
    {"c", "{\"M\":{\"Name\":{\"S\":\"Ada\"},\"Tags\":{\"L\":[{\"S\":\"x\"},{\"S\":\"y\"}]}}}"},
    {"t.col", "{\"L\":[{\"N\":\"5\"}]}"},
    {"t.col[0] + n", "{\"N\":\"12\"}"},
    {"attribute_exists(c.Name) AND attribute_not_exists(c.Age)", "{\"BOOL\":true}"},
};

START_TEST(paths_lead_into_the_slots_of_the_scope)
{
    struct arena *arena = arena_new();
    int calls = 0;
    struct expr_options options = {.resolve = resolve, .context = &calls};
    struct expr_parsed parsed = {0};
    struct error err = {0};
    const char *text = scoped[_i].text;
    ck_assert_msg(expr_parse(str_of(text), &options, arena, &parsed, &err), "%s", err.text);
    ck_assert_int_gt(calls, 0);
    struct value slots[] = {value_of_expr(arena, "{'Name': 'Ada', 'Tags': ['x', 'y']}"),
                            value_of_expr(arena, "[5]")};
    struct expr_scope scope = {value_of_expr(arena, "{'n': 7}"), slots, 2};
    const char *answer = answer_in_scope(arena, parsed.expr, &scope);
    ck_assert_msg(strcmp(answer, scoped[_i].answer) == 0, "%s: %s", text, answer);
    arena_free(arena);
}
END_TEST

START_TEST(a_path_that_leads_nowhere_is_a_fault_at_its_place)
{
    struct arena *arena = arena_new();
    int calls = 0;
    struct expr_options options = {.resolve = resolve, .context = &calls};
    struct expr_parsed parsed = {0};
    struct error err = {0};
    ck_assert(!expr_parse(STR("n = 1 OR gone = 2"), &options, arena, &parsed, &err));
    ck_assert_str_eq(err.text, "no column gone");
    ck_assert_int_eq(err.code, ERROR_PLAN);
    ck_assert_uint_eq(parsed.fault, 9);
    arena_free(arena);
}
END_TEST

START_TEST(any_text_is_an_expression_or_refused)
{
    property_check("any_text_is_an_expression_or_refused", rule_any_text_is_taken_or_refused);
}
END_TEST

int main(void)
{
    TCase *parse = tcase_create("parse");
    tcase_add_loop_test(parse, faults_are_found_with_their_place, 0, ROWS(faults));
    tcase_add_loop_test(parse, a_template_expression_ends_before_its_brace, 0, ROWS(braces));
    tcase_add_test(parse, without_a_brace_all_bytes_are_read);
    tcase_add_loop_test(parse, nesting_has_a_limit_that_no_text_passes, 0, ROWS(nestings));
    tcase_add_test(parse, a_path_has_no_more_steps_than_an_item_is_deep);
    tcase_add_test(parse, in_takes_a_hundred_values);
    tcase_add_test(parse, an_expression_has_a_limit);
    tcase_add_loop_test(parse, paths_lead_into_the_slots_of_the_scope, 0, ROWS(scoped));
    tcase_add_test(parse, a_path_that_leads_nowhere_is_a_fault_at_its_place);
    tcase_add_test(parse, any_text_is_an_expression_or_refused);
    Suite *suite = suite_create("engine/expr/expr_parse");
    suite_add_tcase(suite, parse);
    return suite_run(suite);
}
