/* docs/language.md, "Templates": what each JSON value is, for an attribute and for a key. */
#include "engine/base/json.h"
#include "plans/template.h"
#include "tests/rules/expr_answer.h"
#include "tests/rules/item_value.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

#define ITEM                                                                                    \
    "{\"S\":{\"S\":\"text\"},\"N\":{\"N\":\"7\"},\"B\":{\"B\":\"AAEC\"},\"T\":{\"BOOL\":true}," \
    "\"Z\":{\"NULL\":true},\"SS\":{\"SS\":[\"a\",\"b\"]},\"NS\":{\"NS\":[\"1\",\"2\"]},"        \
    "\"L\":{\"L\":[{\"S\":\"a\"},{\"S\":\"a\"}]},\"EL\":{\"L\":[]},\"E\":{\"S\":\"\"},"         \
    "\"EB\":{\"B\":\"\"},\"M\":{\"M\":{\"S\":{\"S\":\"x\"}}},\"D\":{\"S\":\"7.0\"},"            \
    "\"yes\":{\"S\":\"true\"},\"code\":{\"S\":\"AAEC\"},"                                       \
    "\"deep\":{\"L\":[{\"L\":[{\"L\":[]}]}]}}"

struct row {
    const char *template;
    const char *answer; /* DynamoDB JSON; "missing: …"; "item: " or "plan: " and a part of it */
};

static const struct row texts[] = {
    {"\"${S}\"", "{\"S\":\"text\"}"},
    {"\"${Z}\"", "{\"NULL\":true}"},
    {"\"${M}\"", "{\"M\":{\"S\":{\"S\":\"x\"}}}"},
    {"\"${SS}\"", "{\"SS\":[\"a\",\"b\"]}"},
    {"\"${B}\"", "{\"B\":\"AAEC\"}"},
    {"\"${N} ${-0.5} ${1e3} ${T}\"", "{\"S\":\"7 -0.5 1000 true\"}"},
    {"\"${-0}x\"", "{\"S\":\"0x\"}"},
    {"\"${1e-7}x\"", "{\"S\":\"0.0000001x\"}"},
    {"\"${N = 7}\"", "{\"BOOL\":true}"},
    {"\"is ${attribute_exists(gone)}\"", "{\"S\":\"is false\"}"},
    {"\"x${Z}\"", "item: expected S, N or BOOL for ${Z} in a text, found NULL"},
    {"\"x${B}\"", "item: found B"},
    {"\"x${SS}\"", "item: found SS"},
    {"\"x${M}\"", "item: found M"},
    {"\"x${null}\"", "plan: expected S, N or BOOL in a text, found NULL"},
    {"\"x${gone}\"", "missing: gone is missing"},
    {"\"${S}${gone.a}\"", "missing: gone.a is missing"},
    {"\"${before(S, '#')}\"", "missing: before(S, '#') is missing"},
    {"\"${before('a', '#')}\"", "plan: which is missing for every item"},
    {"\"\"", "{\"S\":\"\"}"},
    {"\"${E}${E}\"", "{\"S\":\"\"}"},
    {"\"${S}}\"", "{\"S\":\"text}\"}"},
    {"\"{${S}\"", "{\"S\":\"{text\"}"},
    {"\"$${S}\"", "{\"S\":\"$text\"}"},
    {"\"$\"", "{\"S\":\"$\"}"},
    {"\"$ {S}\"", "{\"S\":\"$ {S}\"}"},
    {"\"\\\\${S}\"", "{\"S\":\"\\\\text\"}"}, /* a backslash escapes nothing */
    {"\"${'${'}S}\"", "{\"S\":\"${S}\"}"},
    {"\"${'${'}${S}${'}'}\"", "{\"S\":\"${text}\"}"},
    {"\"${{'a': {'b': '}'}}}\"", "{\"M\":{\"a\":{\"M\":{\"b\":{\"S\":\"}\"}}}}}"},
    {"\"${\\\"}\\\"}\"", "missing: \"}\" is missing"},
    {"\"${'it''s'}\"", "{\"S\":\"it's\"}"},
    {"\"\\u0000${S}\"", "{\"S\":\"\\u0000text\"}"},
    {"\"${'\\u0000'}\"", "{\"S\":\"\\u0000\"}"},
    {"\"\\ud83d\\ude00${N}\"", "{\"S\":\"\xf0\x9f\x98\x80"
                               "7\"}"},
    {"\"${\"", "plan: t.json:1:4: expected a value, found the end"},
    {"\"${}\"", "plan: t.json:1:4: expected a value, found }"},
    {"\"${S\"", "plan: t.json:1:5: expected an operator or }, found the end"},
    {"\"\\u00e9${lower(S}\"", "plan: t.json:1:17: expected , or ), found }"},
    {"\"${'}\"", "plan: t.json:1:4: no closing '"},
};

static const struct row types[] = {
    {"{\"N\": \"${D}\"}", "{\"N\":\"7\"}"},
    {"{\"N\": \"1${N}\"}", "{\"N\":\"17\"}"},
    {"{\"N\": \"${S}\"}", "item: 'text' is not a number"},
    {"{\"N\": \"${T}\"}", "item: expected a value that makes N, found BOOL"},
    {"{\"N\": \"${Z}\"}", "item: expected a value that makes N, found NULL"},
    {"{\"N\": \"\"}", "plan: t.json:1:7: N: '' is not a number"},
    {"{\"N\": 1e400}", "plan: t.json:1:7: N: 1e400 is out of the range of numbers"},
    {"{\"N\": true}", "plan: N: expected a value that makes N, found BOOL"},
    {"{\"S\": \"${N}\"}", "{\"S\":\"7\"}"},
    {"{\"S\": \"${T}\"}", "{\"S\":\"true\"}"},
    {"{\"S\": \"${B}\"}", "item: expected a value that makes S, found B"},
    {"{\"S\": 1.50}", "{\"S\":\"1.5\"}"},
    {"{\"S\": null}", "plan: S: expected a value for S, found null"},
    {"{\"S\": {\"S\": \"x\"}}", "plan: S: expected a value for S, found an object"},
    {"{\"B\": \"${code}\"}", "{\"B\":\"AAEC\"}"},
    {"{\"B\": \"${B}\"}", "{\"B\":\"AAEC\"}"},
    {"{\"B\": \"${N}\"}", "item: expected a value that makes B, found N"},
    {"{\"B\": \"AAE\"}", "plan: B: base64 of 3 characters"},
    {"{\"BOOL\": \"${yes}\"}", "{\"BOOL\":true}"},
    {"{\"BOOL\": \"${T}\"}", "{\"BOOL\":true}"},
    {"{\"BOOL\": \"${N = 8}\"}", "{\"BOOL\":false}"},
    {"{\"BOOL\": \"False\"}", "plan: expected true, false, 'true' or 'false', found another text"},
    {"{\"BOOL\": \"${N}\"}", "item: expected true, false, 'true' or 'false', found N"},
    {"{\"NULL\": \"${Z}\"}", "plan: NULL: expected true for NULL, found a string"},
    {"{\"SS\": [\"${S}\", 1, true, \"1\"]}", "{\"SS\":[\"1\",\"text\",\"true\"]}"},
    {"{\"SS\": [null]}", "plan: SS[0]: expected a value that makes S, found NULL"},
    {"{\"SS\": [\"${gone}\"]}", "missing: gone is missing"},
    {"{\"SS\": \"${L}\"}", "{\"SS\":[\"a\"]}"},
    {"{\"SS\": \"${NS}\"}", "item: expected a value that makes SS, found NS"},
    {"{\"NS\": [1, \"1.0\", \"${N}\"]}", "{\"NS\":[\"1\",\"7\"]}"},
    {"{\"NS\": \"${L}\"}", "item: 'a' is not a number"},
    {"{\"BS\": [\"${B}\", \"AAEC\"]}", "{\"BS\":[\"AAEC\"]}"},
    {"{\"L\": \"${L}\"}", "{\"L\":[{\"S\":\"a\"},{\"S\":\"a\"}]}"},
    {"{\"L\": \"${SS}\"}", "item: expected a value that makes L, found SS"},
    {"{\"M\": \"${M}\"}", "{\"M\":{\"S\":{\"S\":\"x\"}}}"},
    {"{\"M\": \"${L}\"}", "item: expected a value that makes M, found L"},
    {"{\"M\": {\"S\": \"${S}\"}}", "{\"M\":{\"S\":{\"S\":\"text\"}}}"},
    {"{\"M\": {\"M\": {\"S\": \"x\"}}}", "{\"M\":{\"M\":{\"S\":\"x\"}}}"},
    {"{\"M\": {\"M\": {\"M\": {\"S\": \"x\"}}}}", "{\"M\":{\"M\":{\"M\":{\"S\":{\"S\":\"x\"}}}}}"},
    {"{\"S\": \"x\", \"N\": \"1\"}", "{\"M\":{\"N\":{\"S\":\"1\"},\"S\":{\"S\":\"x\"}}}"},
    {"{\"s\": \"x\"}", "{\"M\":{\"s\":{\"S\":\"x\"}}}"},
    {"{\"a.b\": 1}", "{\"M\":{\"a.b\":{\"N\":\"1\"}}}"}, /* a plain name */
    {"{\"a\": 1, \"a\": 2}", "plan: t.json:1:10: member \"a\" stands twice"},
    {"{\"a\": {\"b\": 1, \"b\": 2}}", "plan: t.json:1:16: member \"b\" stands twice"},
    {"1.000000000000000000000000000000000000000000", "{\"N\":\"1\"}"},
    {"-0.0", "{\"N\":\"0\"}"},
    {"123456789012345678901234567890123456789", "plan: t.json:1:1: 123456789012345678901234567890"},
    {"1e400", "plan: t.json:1:1: 1e400 is out of the range of numbers"},
    {"null", "{\"NULL\":true}"},
    {"[null, false, [{}]]", "{\"L\":[{\"NULL\":true},{\"BOOL\":false},{\"L\":[{\"M\":{}}]}]}"},
};

/* A set without members leaves a map, and has no place in a list. */
static const struct row empty_sets[] = {
    {"{\"SS\": []}", "{\"SS\":[]}"},
    {"{\"NS\": \"${EL}\"}", "{\"NS\":[]}"},
    {"{\"NS\": \"${to_set(EL)}\"}", "{\"NS\":[]}"},
    {"{\"BS\": \"${to_set(EL)}\"}", "{\"BS\":[]}"},
    {"{\"NS\": \"${<<>>}\"}", "{\"NS\":[]}"},
    {"{\"L\": \"${to_set(EL)}\"}", "item: expected a value that makes L, found SS"},
    {"{\"a\": {\"SS\": []}, \"b\": {\"c\": \"${to_set(EL)}\"}}", "{\"M\":{\"b\":{\"M\":{}}}}"},
    {"[{\"a\": {\"SS\": \"${EL}\"}}]", "{\"L\":[{\"M\":{}}]}"},
    {"[{\"SS\": []}]", "plan: expected a value in a list, found an empty set"},
    {"[{\"NS\": \"${EL}\"}]", "item: expected a value in a list, found an empty set"},
    {"[\"${to_set(EL)}\"]", "item: expected a value in a list, found an empty set"},
    {"\"x${to_set(EL)}\"", "item: expected S, N or BOOL for ${to_set(EL)} in a text, found SS"},
};

/* A text of 300000 bytes. */
#define LONG "${replace(pad(N - N, 1000), '0', pad(0, 300))}"

static const struct row too_large[] = {
    {"\"" LONG LONG "\"", "item: the value has over 409600 bytes, more than an item may"},
    {"[\"" LONG "\", [\"" LONG "\"]]", "item: the value has over 409600 bytes"},
    {"{\"a\": \"" LONG "\", \"b\": \"" LONG "\"}", "item: the value has over 409600 bytes"},
    {"{\"SS\": [\"" LONG "\", \"" LONG "x\"]}", "item: the value has over 409600 bytes"},
};

static const struct row string_keys[] = {
    {"\"${S}\"", "{\"S\":\"text\"}"},
    {"\"${N}\"", "{\"S\":\"7\"}"},
    {"\"${7 * 6}\"", "{\"S\":\"42\"}"},
    {"\"${1e125}x\"", "{\"S\":\"1000000000000000000000000000000000000000000000000000000000000000000"
                      "00000000000000000000000000000000000000000000000000000000000x\"}"},
    {"\"A#${N}\"", "{\"S\":\"A#7\"}"},
    {"{\"S\": \"${N}\"}", "{\"S\":\"7\"}"},
    {"\"${T}\"", "item: expected S for a key attribute, found BOOL"},
    {"\"${Z}\"", "item: expected S for a key attribute, found NULL"},
    {"\"${B}\"", "item: expected S for a key attribute, found B"},
    {"\"${SS}\"", "item: expected S for a key attribute, found SS"},
    {"\"${to_set(EL)}\"", "item: expected S for a key attribute, found SS"},
    {"\"${E}\"", "item: found an empty S"},
    {"\"${E}${E}\"", "item: found an empty S"},
    {"{\"S\": \"${E}\"}", "item: found an empty S"},
    {"{\"N\": \"${N}\"}", "item: expected S for a key attribute, found N"},
    {"7", "item: expected S for a key attribute, found N"},
    {"\"${gone}\"", "missing: gone is missing"},
};

static const struct row number_keys[] = {
    {"\"${N}\"", "{\"N\":\"7\"}"},
    {"\"${D}\"", "{\"N\":\"7\"}"},
    {"\"${'1e3'}\"", "{\"N\":\"1000\"}"},
    {"7.0", "{\"N\":\"7\"}"},
    {"\"${S}\"", "item: 'text' is not a number"},
    {"\"${E}\"", "item: '' is not a number"},
    {"\"${D}0\"", "item: expected N for a key attribute, found S"},
    {"\"7\"", "item: expected N for a key attribute, found S"},
    {"{\"N\": \"${D}0\"}", "{\"N\":\"7\"}"},
    {"\"${T}\"", "item: expected N for a key attribute, found BOOL"},
};

static const struct row binary_keys[] = {
    {"\"${B}\"", "{\"B\":\"AAEC\"}"},
    {"\"${binary(S)}\"", "{\"B\":\"dGV4dA==\"}"},
    {"{\"B\": \"${code}\"}", "{\"B\":\"AAEC\"}"},
    {"\"${code}\"", "item: expected B for a key attribute, found S"},
    {"\"${EB}\"", "item: found an empty B"},
};

static const char *evaluate(const struct template *template, struct arena *arena)
{
    struct value item = item_of_json(arena, ITEM);
    struct expr_scope scope = {.item = item};
    struct value v;
    struct error err = {0};
    if (!template_eval(template, &scope, arena, &v, &err)) {
        return arena_format(arena, "%s: %s", err.code == ERROR_ITEM ? "item" : "other", err.text)
            .ptr;
    }
    if (value_is_missing(v)) {
        return arena_format(arena, "missing: %s", template_missing(template, &scope, arena).ptr)
            .ptr;
    }
    return json_of_value(arena, v).ptr;
}

static const char *template_answer(const char *text, enum value_type key_type, struct arena *arena)
{
    struct str bytes = {text, strlen(text)};
    struct json_options options = {.file = "t.json"};
    struct template_options place = {.place = {bytes, "t.json", {"", 0}}};
    struct json *json = NULL;
    const struct template *template = NULL;
    struct error err = {0};
    if (!json_parse(bytes, &options, arena, &json, &err) ||
        !template_parse(json, &place, arena, &template, &err)) {
        return arena_format(arena, "plan: %s", err.text).ptr;
    }
    if (key_type != VALUE_MISSING) {
        template = template_for_key(template, key_type, arena);
    }
    return evaluate(template, arena);
}

static void check(const struct row *row, enum value_type key_type)
{
    struct arena *arena = arena_new();
    const char *answer = template_answer(row->template, key_type, arena);
    ck_assert_msg(answer_fits(answer, row->answer), "%s\n    expected %s\n    found    %s",
                  row->template, row->answer, answer);
    arena_free(arena);
}

START_TEST(texts_are_made_of_expressions)
{
    check(&texts[_i], VALUE_MISSING);
}
END_TEST

START_TEST(types_convert_where_nothing_is_lost)
{
    check(&types[_i], VALUE_MISSING);
}
END_TEST

START_TEST(empty_sets_remove)
{
    check(&empty_sets[_i], VALUE_MISSING);
}
END_TEST

START_TEST(what_no_item_could_hold_is_not_made)
{
    check(&too_large[_i], VALUE_MISSING);
}
END_TEST

START_TEST(keys_of_strings)
{
    check(&string_keys[_i], VALUE_S);
}
END_TEST

START_TEST(keys_of_numbers)
{
    check(&number_keys[_i], VALUE_N);
}
END_TEST

START_TEST(keys_of_bytes)
{
    check(&binary_keys[_i], VALUE_B);
}
END_TEST

int main(void)
{
    TCase *templates = tcase_create("templates");
    tcase_add_loop_test(templates, texts_are_made_of_expressions, 0, ROWS(texts));
    tcase_add_loop_test(templates, types_convert_where_nothing_is_lost, 0, ROWS(types));
    tcase_add_loop_test(templates, empty_sets_remove, 0, ROWS(empty_sets));
    tcase_add_loop_test(templates, what_no_item_could_hold_is_not_made, 0, ROWS(too_large));
    tcase_add_loop_test(templates, keys_of_strings, 0, ROWS(string_keys));
    tcase_add_loop_test(templates, keys_of_numbers, 0, ROWS(number_keys));
    tcase_add_loop_test(templates, keys_of_bytes, 0, ROWS(binary_keys));
    Suite *suite = suite_create("plans/language_templates");
    suite_add_tcase(suite, templates);
    return suite_run(suite);
}
