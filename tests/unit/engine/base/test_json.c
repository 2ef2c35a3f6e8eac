#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "tests/rules/base_json.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct json_options strict = {false, "f"};
static const struct json_options relaxed = {true, "f"};

static struct json *parse(struct arena *arena, struct str text)
{
    struct error err = {0};
    struct json *json = NULL;
    ck_assert_msg(json_parse(text, &relaxed, arena, &json, &err), "%s", err.text);
    return json;
}

/* Of an array: where its elements start. Of another value: where it starts. */
static const struct {
    const char *says;
    struct str text;
    enum json_kind kind;
    size_t count;
    size_t offsets[6];
} offsets[] = {
    {"null", STR_INIT("null"), JSON_NULL, 0, {0}},
    {"a number at the end", STR_INIT("  12"), JSON_NUMBER, 0, {2}},
    {"a number and a comment", STR_INIT("/* n */ -1.5e3 // n"), JSON_NUMBER, 0, {8}},
    {"nothing in it", STR_INIT(" [ ] "), JSON_ARRAY, 0, {0}},
    {"all kinds",
     STR_INIT("[1,\"a\" , true,null, [2], {\"b\":3}]"),
     JSON_ARRAY,
     6,
     {1, 3, 9, 14, 20, 25}},
    {"numbers end where they end", STR_INIT("[1 ,22,\n333\t, -4e5]"), JSON_ARRAY, 4, {1, 4, 8, 14}},
    {"escapes and characters",
     STR_INIT("[\"\\\"\\u00e9\\ud83d\\ude00\", \"\xc3\xa9\", 1]"),
     JSON_ARRAY,
     3,
     {1, 25, 31}},
    {"comments between",
     STR_INIT("[1 /* , 9 */ , // 8,\n 2, /*/ 7, /*/ 3]"),
     JSON_ARRAY,
     3,
     {1, 22, 36}},
    {"commas in strings", STR_INIT("[\",:,\",\"/*\",\"//\"]"), JSON_ARRAY, 3, {1, 7, 12}},
    {"behind a byte-order mark",
     STR_INIT("\xef\xbb\xbf[ 1, \"x\\n\", 2]"),
     JSON_ARRAY,
     3,
     {5, 8, 15}},
};

START_TEST(json_knows_where_each_value_starts)
{
    struct arena *arena = arena_new();
    struct json *json = parse(arena, offsets[_i].text);
    ck_assert_msg(json->kind == offsets[_i].kind, "%s", offsets[_i].says);
    ck_assert_msg(json->count == offsets[_i].count, "%s: %zu", offsets[_i].says, json->count);
    for (size_t i = 0; i < json->count; i++) {
        ck_assert_msg(json->items[i].offset == offsets[_i].offsets[i], "%s: [%zu] at %zu",
                      offsets[_i].says, i, json->items[i].offset);
    }
    if (json->kind == JSON_NUMBER) {
        ck_assert_msg(json->offset == offsets[_i].offsets[0], "%s", offsets[_i].says);
    }
    arena_free(arena);
}
END_TEST

START_TEST(json_members_keep_name_value_and_order)
{
    struct arena *arena = arena_new();
    struct json *json = parse(arena, STR("{\"b\": 1.50, \"a\\u0000\": \"x\\ny\", \"c\": [true]}"));
    ck_assert_uint_eq(json->count, 3);
    ck_assert(str_equal(json->items[0].name, STR("b")));
    ck_assert(str_equal(json->items[0].text, STR("1.50")));
    ck_assert(str_equal(json->items[1].name, STR("a\0")));
    ck_assert(str_equal(json->items[1].text, STR("x\ny")));
    ck_assert_uint_eq(json->items[1].name_offset, 12);
    ck_assert_uint_eq(json->items[1].offset, 23);
    ck_assert_ptr_eq(json_member(json, "c"), &json->items[2]);
    ck_assert(json_member(json, "c")->items[0].boolean);
    ck_assert_ptr_null(json_member(json, "d"));
    ck_assert_ptr_null(json_member(json_member(json, "c"), "c"));
    arena_free(arena);
}
END_TEST

START_TEST(json_tree_outlives_its_text)
{
    struct arena *arena = arena_new();
    char text[] = "[\"plain\", \"esc\\u0061ped\", 12]";
    struct json *json = parse(arena, (struct str){text, strlen(text)});
    memset(text, 'z', sizeof text);
    ck_assert(str_equal(json->items[0].text, STR("plain")));
    ck_assert(str_equal(json->items[1].text, STR("escaped")));
    ck_assert(str_equal(json->items[2].text, STR("12")));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    struct str text;
    bool comments;
    const char *error; /* how it begins */
} refused[] = {
    {"nothing", STR_INIT(""), true, "f:1:1: expected a value, found an empty text"},
    {"only a comment", STR_INIT("// x\n"), true, "f:2:1: expected a value, found an empty text"},
    {"a list cut short", STR_INIT("[1,\n 2"), true, "f:2:3: the text ends too early: ] is missing"},
    {"an object cut short", STR_INIT("[{\"a\":"), true,
     "f:1:7: the text ends too early: } is missing"},
    {"a cut literal", STR_INIT("tru"), true, "f:1:4: expected true, false or null"},
    {"a cut string", STR_INIT("\"ab"), true, "f:1:4: the text ends too early"},
    {"a wrong token", STR_INIT("{\"a\" \"bcd\"}"), true, "f:1:6: expected a colon after the name"},
    {"a comma too many", STR_INIT("[1,]"), true, "f:1:4: expected a value"},
    {"two commas", STR_INIT("[1,,2]"), true, "f:1:4: "},
    {"no name", STR_INIT("{1:2}"), true, "f:1:2: expected a name in double quotes"},
    {"a leading zero", STR_INIT("[01]"), true, "f:1:3: expected , or ]"},
    {"a plus", STR_INIT("[+1]"), true, "f:1:2: expected JSON, found another character"},
    {"a point without digits", STR_INIT("[1.]"), true, "f:1:2: expected a digit in the number"},
    {"not a number", STR_INIT("[NaN]"), true, "f:1:2: "},
    {"more behind it", STR_INIT("[1]\n [2]"), true,
     "f:2:2: expected the end of the text, found more"},
    {"a wrong literal", STR_INIT("[nil]"), true, "f:1:2: expected true, false or null"},
    {"members without a comma", STR_INIT("{\"a\": 1 \"b\": 2}"), true, "f:1:9: expected , or }"},
    {"columns are characters", STR_INIT("[\"\xc3\xa9\xe2\x82\xac\", x]"), true, "f:1:8: "},
    {"a name twice", STR_INIT("{\"a\": 1,\n \"b\": 2, \"\\u0061\": 3}"), true,
     "f:2:10: member \"a\" stands twice"},
    {"a name twice, deep", STR_INIT("[{\"x\": {\"a\": {}, \"a\": []}}]"), true, "f:1:18: member"},
    {"not UTF-8", STR_INIT("[\"a\xff\"]"), true, "f:1:4: not UTF-8"},
    {"not UTF-8 in a comment", STR_INIT("1 // \x80"), true, "f:1:6: not UTF-8"},
    {"an encoded surrogate", STR_INIT("\"\xed\xa0\x80\""), true, "f:1:2: not UTF-8"},
    {"a control character", STR_INIT("[\"a\nb\"]"), true,
     "f:1:2: expected \\n, \\t or another escape, found a bare control character"},
    {"a raw NUL", STR_INIT("[\"a\0b\"]"), true, "f:1:"},
    {"a NUL outside", STR_INIT("[1\0]"), true, "f:1:3: "},
    {"an unknown escape", STR_INIT("[\"\\x41\"]"), true,
     "f:1:2: expected one of \"\\/bfnrtu after \\ in a string"},
    {"a short escape", STR_INIT("[\"\\u12\"]"), true,
     "f:1:2: expected four hexadecimal digits after \\u"},
    {"a high surrogate alone", STR_INIT("[\"ab\\ud800c\"]"), true, "f:1:5: half of"},
    {"a high surrogate and a letter", STR_INIT("[\"\\ud800\\u0041\"]"), true, "f:1:3: half of"},
    {"two high surrogates", STR_INIT("[\"\\ud800\\ud800\"]"), true, "f:1:3: half of"},
    {"a low surrogate", STR_INIT("{\"\\udfff\": 1}"), true, "f:1:3: half of"},
    {"a comment where none may be", STR_INIT("[1] // x"), false,
     "f:1:5: expected the end of the text, found more"},
    {"a comment inside where none may be", STR_INIT("[1, /* x */ 2]"), false,
     "f:1:5: expected no comment"},
    {"a byte-order mark where none may be", STR_INIT("\xef\xbb\xbf[1]"), false, "f:1:1: "},
    {"a comment without end", STR_INIT("[1] /* x"), true, "f:1:5: a comment without end"},
    {"a comment without end first", STR_INIT("/* x"), true, "f:1:1: a comment without end"},
};

START_TEST(json_refuses_with_the_place)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct json untouched;
    struct json *json = &untouched;
    const char *says = refused[_i].says;
    const struct json_options *options = refused[_i].comments ? &relaxed : &strict;
    ck_assert_msg(!json_parse(refused[_i].text, options, arena, &json, &err), "%s", says);
    ck_assert_msg(err.code == ERROR_INPUT, "%s", says);
    ck_assert_msg(strncmp(err.text, refused[_i].error, strlen(refused[_i].error)) == 0, "%s: %s",
                  says, err.text);
    ck_assert_msg(json == &untouched, "%s", says);
    arena_free(arena);
}
END_TEST

/* `depth` arrays around a 1. */
static bool parse_nested(size_t depth, struct error *err)
{
    struct arena *arena = arena_new();
    struct buffer text = {0};
    for (size_t i = 0; i < depth; i++) {
        buffer_add_char(&text, '[');
    }
    buffer_add_char(&text, '1');
    for (size_t i = 0; i < depth; i++) {
        buffer_add_char(&text, ']');
    }
    struct json *json = NULL;
    bool ok = json_parse(buffer_str(&text), &strict, arena, &json, err);
    buffer_free(&text);
    arena_free(arena);
    return ok;
}

START_TEST(json_depth_is_limited)
{
    struct error err = {0};
    ck_assert(parse_nested(JSON_MAX_DEPTH, &err));
    ck_assert(!parse_nested(JSON_MAX_DEPTH + 1, &err));
    ck_assert_str_eq(err.text, "f:1:161: nested too deep");
    ck_assert(!parse_nested(100000, &err));
}
END_TEST

/* Both ways to look for doubles, on either side of the number of members where they change. */
START_TEST(json_finds_a_name_twice_among_many)
{
    for (size_t count = 2; count < 40; count++) {
        struct arena *arena = arena_new();
        struct buffer text = {0};
        buffer_add_char(&text, '{');
        for (size_t i = 0; i < count; i++) {
            buffer_format(&text, "%s\"n%zu\":%zu", i > 0 ? "," : "", i * 7 % 41, i);
        }
        size_t end = text.len;
        buffer_add_char(&text, '}');
        struct json *json = parse(arena, buffer_str(&text));
        ck_assert_uint_eq(json->count, count);
        text.len = end;
        buffer_add(&text, STR(",\n\"n99\": 1, \"n99\": 2}"));
        struct error err = {0};
        ck_assert(!json_parse(buffer_str(&text), &strict, arena, &json, &err));
        ck_assert_str_eq(err.text, "f:2:11: member \"n99\" stands twice");
        buffer_free(&text);
        arena_free(arena);
    }
}
END_TEST

static const struct {
    size_t offset;
    size_t line;
    size_t column;
} positions[] = {{0, 1, 1}, {1, 1, 2}, {3, 1, 3}, {4, 2, 1}, {5, 3, 1}, {7, 3, 3}, {99, 3, 3}};

START_TEST(json_position_counts_lines_and_characters)
{
    size_t line = 0;
    size_t column = 0;
    json_position(STR("a\xc3\xa9\n\nbc"), positions[_i].offset, &line, &column);
    ck_assert_uint_eq(line, positions[_i].line);
    ck_assert_uint_eq(column, positions[_i].column);
}
END_TEST

/* In the source  ["a\n\u00e9é\ud83d\ude00z"]  by byte of the decoded string. */
static const struct {
    size_t at;
    size_t offset;
} string_offsets[] = {
    {0, 2},  {1, 3},  {2, 5},   {3, 5},   {4, 11},  {5, 12},
    {6, 13}, {9, 13}, {10, 25}, {11, 26}, {50, 26},
};

START_TEST(json_string_offset_counts_escapes)
{
    struct arena *arena = arena_new();
    struct str text = STR("[\"a\\n\\u00e9\xc3\xa9\\ud83d\\ude00z\"]");
    struct json *json = parse(arena, text);
    ck_assert_uint_eq(json->items[0].text.len, 11);
    size_t offset = json_string_offset(text, &json->items[0], string_offsets[_i].at);
    ck_assert_msg(offset == string_offsets[_i].offset, "%zu: %zu", string_offsets[_i].at, offset);
    arena_free(arena);
}
END_TEST

START_TEST(json_write_string_escapes_only_what_it_must)
{
    struct buffer out = {0};
    json_write_string(&out, STR("a\"\\/\b\f\n\r\t\0\x1f\x7f\xc3\xa9"));
    ck_assert(str_equal(buffer_str(&out),
                        STR("\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\xc3\xa9\"")));
    out.len = 0;
    json_write_string(&out, (struct str){NULL, 0});
    ck_assert(str_equal(buffer_str(&out), STR("\"\"")));
    buffer_free(&out);
}
END_TEST

START_TEST(json_strings_come_back)
{
    property_check("json_strings_come_back", rule_json_strings_come_back);
}
END_TEST

START_TEST(json_takes_or_refuses_any_bytes)
{
    property_check("json_takes_or_refuses_any_bytes", rule_json_takes_or_refuses_any_bytes);
}
END_TEST

int main(void)
{
    TCase *read = tcase_create("read");
    tcase_add_loop_test(read, json_knows_where_each_value_starts, 0, ROWS(offsets));
    tcase_add_test(read, json_members_keep_name_value_and_order);
    tcase_add_test(read, json_tree_outlives_its_text);
    tcase_add_loop_test(read, json_refuses_with_the_place, 0, ROWS(refused));
    tcase_add_test(read, json_depth_is_limited);
    tcase_add_test(read, json_finds_a_name_twice_among_many);
    tcase_add_test(read, json_takes_or_refuses_any_bytes);
    TCase *places = tcase_create("places");
    tcase_add_loop_test(places, json_position_counts_lines_and_characters, 0, ROWS(positions));
    tcase_add_loop_test(places, json_string_offset_counts_escapes, 0, ROWS(string_offsets));
    TCase *write = tcase_create("write");
    tcase_add_test(write, json_write_string_escapes_only_what_it_must);
    tcase_add_test(write, json_strings_come_back);
    Suite *suite = suite_create("engine/base/json");
    suite_add_tcase(suite, read);
    suite_add_tcase(suite, places);
    suite_add_tcase(suite, write);
    return suite_run(suite);
}
