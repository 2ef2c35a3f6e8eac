#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"
#include "engine/item/value.h"
#include "tests/rules/item_text.h"
#include "tests/rules/item_value.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static struct json *parse(struct arena *arena, const char *text)
{
    struct error err = {0};
    struct json *json = NULL;
    struct json_options options = {false, "test"};
    ck_assert_msg(json_parse((struct str){text, strlen(text)}, &options, arena, &json, &err), "%s",
                  err.text);
    return json;
}

static const struct {
    const char *says;
    const char *text;
    const char *again; /* NULL: as it was given */
} values[] = {
    {"a string", "{\"S\":\"a\\u0000\\\"\xc3\xa9\"}", NULL},
    {"an empty string", "{\"S\":\"\"}", NULL},
    {"a number becomes plain", "{\"N\":\"+1.50E2\"}", "{\"N\":\"150\"}"},
    {"a number of 38 digits", "{\"N\":\"-0.12345678901234567890123456789012345678\"}", NULL},
    {"binary", "{\"B\":\"AQI=\"}", NULL},
    {"empty binary", "{\"B\":\"\"}", NULL},
    {"true", "{\"BOOL\":true}", NULL},
    {"false", "{\"BOOL\":false}", NULL},
    {"NULL", "{\"NULL\":true}", NULL},
    {"a set comes sorted", "{\"SS\":[\"b\",\"\",\"a\"]}", "{\"SS\":[\"\",\"a\",\"b\"]}"},
    {"numbers sort by value", "{\"NS\":[\"10\",\"9\",\"-1\"]}", "{\"NS\":[\"-1\",\"9\",\"10\"]}"},
    {"a set of binaries", "{\"BS\":[\"AQ==\",\"\"]}", "{\"BS\":[\"\",\"AQ==\"]}"},
    {"an empty list", "{\"L\":[]}", NULL},
    {"a list", "{\"L\":[{\"S\":\"a\"},{\"L\":[{\"NULL\":true}]}]}", NULL},
    {"an empty map", "{\"M\":{}}", NULL},
    {"members come sorted", "{\"M\":{\"b\":{\"N\":\"1\"},\"a\":{\"M\":{}}}}",
     "{\"M\":{\"a\":{\"M\":{}},\"b\":{\"N\":\"1\"}}}"},
};

START_TEST(item_json_value_comes_back)
{
    struct arena *arena = arena_new();
    struct str text = json_of_value(arena, value_of_json(arena, values[_i].text));
    const char *expected = values[_i].again == NULL ? values[_i].text : values[_i].again;
    ck_assert_msg(str_equal(text, (struct str){expected, strlen(expected)}), "%s: %.*s",
                  values[_i].says, STR_ARG(text));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *text; /* an item */
    enum error_code code;
    const char *error;
} refused[] = {
    {"no object", "[]", ERROR_INPUT, "an item is an object"},
    {"no typed value", "{\"a\":1}", ERROR_INPUT, "a: expected {\"TYPE\": value}"},
    {"no type", "{\"a\":{}}", ERROR_INPUT, "a: expected {\"TYPE\": value}"},
    {"two types", "{\"a\":{\"S\":\"x\",\"N\":\"1\"}}", ERROR_INPUT,
     "a: expected {\"TYPE\": value}"},
    {"an unknown type", "{\"a\":{\"s\":\"x\"}}", ERROR_INPUT, "a: unknown type \"s\""},
    {"S of a number", "{\"a\":{\"S\":1}}", ERROR_INPUT, "a: S takes a string"},
    {"N of a number", "{\"a\":{\"N\":1}}", ERROR_INPUT, "a: N takes a string"},
    {"N of a word", "{\"a\":{\"N\":\"x\"}}", ERROR_ITEM, "a: 'x' is not a number"},
    {"N out of range", "{\"a\":{\"N\":\"1e126\"}}", ERROR_ITEM,
     "a: 1e126 is out of the range of numbers"},
    {"B of a number", "{\"a\":{\"B\":1}}", ERROR_INPUT, "a: B takes a string"},
    {"B that is not base64", "{\"a\":{\"B\":\"A\"}}", ERROR_INPUT,
     "a: base64 of 1 characters, not a multiple of 4"},
    {"BOOL of a string", "{\"a\":{\"BOOL\":\"true\"}}", ERROR_INPUT, "a: BOOL takes true or false"},
    {"NULL that is false", "{\"a\":{\"NULL\":false}}", ERROR_INPUT, "a: NULL takes true"},
    {"NULL of null", "{\"a\":{\"NULL\":null}}", ERROR_INPUT, "a: NULL takes true"},
    {"an empty set", "{\"a\":{\"SS\":[]}}", ERROR_INPUT,
     "a: a set takes an array that is not empty"},
    {"a set of a string", "{\"a\":{\"NS\":\"1\"}}", ERROR_INPUT,
     "a: a set takes an array that is not empty"},
    {"a member twice", "{\"a\":{\"NS\":[\"1\",\"1.0\"]}}", ERROR_INPUT,
     "a: a set holds one member twice"},
    {"a member of another type", "{\"a\":{\"SS\":[\"x\",1]}}", ERROR_INPUT,
     "a: member 2: S takes a string"},
    {"L of an object", "{\"a\":{\"L\":{}}}", ERROR_INPUT, "a: L takes an array"},
    {"M of an array", "{\"a\":{\"M\":[]}}", ERROR_INPUT, "a: M takes an object"},
    {"deep inside", "{\"a\":{\"L\":[{\"M\":{\"b\":{\"N\":\"\"}}}]}}", ERROR_ITEM,
     "a: [0]: b: '' is not a number"},
};

START_TEST(item_json_item_refuses_and_says_where)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value item = {NULL, 7};
    bool ok = item_json_item(parse(arena, refused[_i].text), arena, &item, &err);
    ck_assert_msg(!ok && item.len == 7, "%s", refused[_i].says);
    ck_assert_msg(err.code == refused[_i].code, "%s", refused[_i].says);
    ck_assert_msg(strcmp(err.text, refused[_i].error) == 0, "%s: %s", refused[_i].says, err.text);
    arena_free(arena);
}
END_TEST

/* {"a": {"L": [{"L": … }]}}, or plain [[…]]. */
static struct json *nested(struct arena *arena, size_t depth, bool plain)
{
    struct buffer text = {0};
    buffer_add(&text, plain ? STR("") : STR("{\"a\":"));
    for (size_t i = 0; i < depth; i++) {
        buffer_add(&text, plain ? STR("[") : STR("{\"L\":["));
    }
    for (size_t i = 0; i < depth; i++) {
        buffer_add(&text, plain ? STR("]") : STR("]}"));
    }
    buffer_add(&text, plain ? STR("") : STR("}"));
    struct json *json = parse(arena, arena_copy(arena, buffer_str(&text)).ptr);
    buffer_free(&text);
    return json;
}

START_TEST(item_json_depth_is_dynamodbs)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value v;
    ck_assert(item_json_item(nested(arena, VALUE_MAX_DEPTH, false), arena, &v, &err));
    ck_assert(!item_json_item(nested(arena, VALUE_MAX_DEPTH + 1, false), arena, &v, &err));
    ck_assert_int_eq(err.code, ERROR_INPUT);
    ck_assert(item_json_plain(nested(arena, VALUE_MAX_DEPTH, true), arena, &v, &err));
    ck_assert(!item_json_plain(nested(arena, VALUE_MAX_DEPTH + 1, true), arena, &v, &err));
    ck_assert_int_eq(err.code, ERROR_LIMIT);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *typed;
    const char *plain;
} plains[] = {
    {"a string", "{\"S\":\"a\\n\"}", "\"a\\n\""},
    {"a number", "{\"N\":\"1E3\"}", "1000"},
    {"a long fraction", "{\"N\":\"-1e-20\"}", "-0.00000000000000000001"},
    {"true", "{\"BOOL\":true}", "true"},
    {"NULL", "{\"NULL\":true}", "null"},
    {"binary", "{\"B\":\"AQID\"}", "\"AQID\""},
    {"a list", "{\"L\":[{\"N\":\"1\"},{\"L\":[]}]}", "[1,[]]"},
    {"a set", "{\"NS\":[\"2\",\"1\"]}", "[1,2]"},
    {"a set of strings", "{\"SS\":[\"a\"]}", "[\"a\"]"},
    {"a map", "{\"M\":{\"b\":{\"M\":{}},\"a\":{\"NULL\":true}}}", "{\"a\":null,\"b\":{}}"},
};

START_TEST(item_json_plain_is_written_by_type)
{
    struct arena *arena = arena_new();
    struct buffer out = {0};
    item_json_write_plain(value_of_json(arena, plains[_i].typed), &out);
    struct str expected = {plains[_i].plain, strlen(plains[_i].plain)};
    ck_assert_msg(str_equal(buffer_str(&out), expected), "%s: %.*s", plains[_i].says,
                  STR_ARG(buffer_str(&out)));
    buffer_free(&out);
    arena_free(arena);
}
END_TEST

START_TEST(item_json_plain_is_read_by_kind)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value v;
    struct json *json = parse(
        arena,
        "{\"s\":\"1\",\"n\":1.50e1,\"b\":false,\"z\":null,\"l\":[1,\"\"],\"m\":{\"S\":\"x\"}}");
    ck_assert(item_json_plain(json, arena, &v, &err));
    struct value expected = item_of_json(
        arena, "{\"s\":{\"S\":\"1\"},\"n\":{\"N\":\"15\"},\"b\":{\"BOOL\":false},\"z\":{\"NULL\":"
               "true},\"l\":{\"L\":[{\"N\":\"1\"},{\"S\":\"\"}]},\"m\":{\"M\":{\"S\":{\"S\":\"x\"}"
               "}}}");
    ck_assert(value_equal(v, expected));
    ck_assert(!item_json_plain(parse(arena, "{\"a\":[1,1e200]}"), arena, &v, &err));
    ck_assert_int_eq(err.code, ERROR_ITEM);
    ck_assert_str_eq(err.text, "a: [1]: 1e200 is out of the range of numbers");
    arena_free(arena);
}
END_TEST

/* RFC 4648, 10. */
static const struct {
    struct str bytes;
    struct str text;
} base64s[] = {
    {STR_INIT(""), STR_INIT("")},
    {STR_INIT("f"), STR_INIT("Zg==")},
    {STR_INIT("fo"), STR_INIT("Zm8=")},
    {STR_INIT("foo"), STR_INIT("Zm9v")},
    {STR_INIT("foob"), STR_INIT("Zm9vYg==")},
    {STR_INIT("fooba"), STR_INIT("Zm9vYmE=")},
    {STR_INIT("foobar"), STR_INIT("Zm9vYmFy")},
    {STR_INIT("\0\xff\xfe\xfb"), STR_INIT("AP/++w==")},
};

START_TEST(base64_is_that_of_the_standard)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct buffer out = {0};
    struct str bytes;
    base64_write(base64s[_i].bytes, &out);
    ck_assert(str_equal(buffer_str(&out), base64s[_i].text));
    ck_assert(base64_read(base64s[_i].text, arena, &bytes, &err));
    ck_assert(str_equal(bytes, base64s[_i].bytes));
    buffer_free(&out);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *text;
} base64_refused[] = {
    {"no padding", "Zg"},
    {"too little padding", "Zg="},
    {"padding alone", "===="},
    {"three of padding", "Z==="},
    {"padding in the middle", "Zg==Zg=="},
    {"a digit behind padding", "Zg=g"},
    {"bits left over", "Zh=="},
    {"bits left over of two", "Zm9="},
    {"a line end", "Zm9v\n"},
    {"four bytes with a line end", "Zm9\n"},
    {"the alphabet of URLs", "AP_-"},
    {"above ASCII", "Zm9\xc3"},
};

START_TEST(base64_refuses_what_is_not_canonical)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct str bytes = STR("as it was");
    const char *text = base64_refused[_i].text;
    ck_assert_msg(!base64_read((struct str){text, strlen(text)}, arena, &bytes, &err), "%s",
                  base64_refused[_i].says);
    ck_assert_int_eq(err.code, ERROR_INPUT);
    ck_assert(str_equal(bytes, STR("as it was")));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *name;
    property_rule *rule;
} laws[] = {
    {"item_json_comes_back", rule_item_json_comes_back},
    {"item_json_plain_comes_back", rule_item_json_plain_comes_back},
    {"item_json_takes_or_refuses_any_text", rule_item_json_takes_or_refuses_any_text},
    {"base64_comes_back", rule_base64_comes_back},
};

START_TEST(item_json_obeys_its_laws)
{
    property_check(laws[_i].name, laws[_i].rule);
}
END_TEST

int main(void)
{
    TCase *typed = tcase_create("typed");
    tcase_add_loop_test(typed, item_json_value_comes_back, 0, ROWS(values));
    tcase_add_loop_test(typed, item_json_item_refuses_and_says_where, 0, ROWS(refused));
    tcase_add_test(typed, item_json_depth_is_dynamodbs);
    TCase *plain = tcase_create("plain");
    tcase_add_loop_test(plain, item_json_plain_is_written_by_type, 0, ROWS(plains));
    tcase_add_test(plain, item_json_plain_is_read_by_kind);
    TCase *base64 = tcase_create("base64");
    tcase_add_loop_test(base64, base64_is_that_of_the_standard, 0, ROWS(base64s));
    tcase_add_loop_test(base64, base64_refuses_what_is_not_canonical, 0, ROWS(base64_refused));
    TCase *rules = tcase_create("laws");
    tcase_add_loop_test(rules, item_json_obeys_its_laws, 0, ROWS(laws));
    Suite *suite = suite_create("engine/item/item_json");
    suite_add_tcase(suite, typed);
    suite_add_tcase(suite, plain);
    suite_add_tcase(suite, base64);
    suite_add_tcase(suite, rules);
    return suite_run(suite);
}
