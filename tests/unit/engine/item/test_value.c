#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/value.h"
#include "tests/rules/item_value.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Part of docs/format.md: these bytes may not change. */
static const struct {
    const char *json;
    size_t len;
    unsigned char bytes[32];
} encodings[] = {
    {"{\"S\":\"\"}", 2, {1, 0}},
    {"{\"S\":\"ab\"}", 4, {1, 2, 'a', 'b'}},
    {"{\"N\":\"12\"}", 5, {2, 3, 3, 131, 24}},
    {"{\"N\":\"0\"}", 3, {2, 1, 2}},
    {"{\"B\":\"AQI=\"}", 4, {3, 2, 1, 2}},
    {"{\"BOOL\":false}", 2, {4, 0}},
    {"{\"BOOL\":true}", 2, {4, 1}},
    {"{\"NULL\":true}", 1, {5}},
    {"{\"SS\":[\"b\",\"\",\"ab\",\"a\"]}", 11, {6, 9, 4, 0, 1, 'a', 2, 'a', 'b', 1, 'b'}},
    {"{\"NS\":[\"1\",\"0\"]}", 9, {7, 7, 2, 1, 2, 3, 3, 130, 20}},
    {"{\"BS\":[\"AQ==\"]}", 5, {8, 3, 1, 1, 1}},
    {"{\"L\":[]}", 3, {9, 1, 0}},
    {"{\"L\":[{\"NULL\":true},{\"S\":\"a\"}]}", 7, {9, 5, 2, 5, 1, 1, 'a'}},
    {"{\"M\":{\"b\":{\"NULL\":true},\"a\":{\"BOOL\":true},\"\":{\"NULL\":true}}}",
     12,
     {10, 10, 3, 0, 5, 1, 'a', 4, 1, 1, 'b', 5}},
};

START_TEST(value_encoding_follows_the_format)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value v = value_of_json(arena, encodings[_i].json);
    ck_assert_msg(v.len == encodings[_i].len, "%s: %zu", encodings[_i].json, v.len);
    ck_assert_mem_eq(v.bytes, encodings[_i].bytes, v.len);
    ck_assert_msg(value_check(v, &err), "%s: %s", encodings[_i].json, err.text);
    arena_free(arena);
}
END_TEST

START_TEST(value_types_have_names)
{
    for (enum value_type type = VALUE_S; type <= VALUE_M; type++) {
        const char *name = value_type_name(type);
        ck_assert_int_eq(value_type_named((struct str){name, strlen(name)}), type);
    }
    ck_assert_str_eq(value_type_name(VALUE_MISSING), "missing");
    ck_assert_int_eq(value_type_named(STR("missing")), VALUE_MISSING);
    ck_assert_int_eq(value_type_named(STR("s")), VALUE_MISSING);
    ck_assert_int_eq(value_type_named(STR("")), VALUE_MISSING);
}
END_TEST

START_TEST(value_equal_is_by_content)
{
    struct arena *arena = arena_new();
    struct value missing = {NULL, 0};
    ck_assert(value_equal(value_of_json(arena, "{\"N\":\"1e3\"}"),
                          value_of_json(arena, "{\"N\":\"+1000.0\"}")));
    ck_assert(value_equal(value_of_json(arena, "{\"SS\":[\"a\",\"b\"]}"),
                          value_of_json(arena, "{\"SS\":[\"b\",\"a\"]}")));
    ck_assert(
        !value_equal(value_of_json(arena, "{\"S\":\"1\"}"), value_of_json(arena, "{\"N\":\"1\"}")));
    ck_assert(value_equal(missing, missing));
    ck_assert(!value_equal(missing, value_null()));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *name;
    const char *found;
} members[] = {
    {"the first", "", "{\"N\":\"0\"}"},
    {"a name that others begin with", "a", "{\"N\":\"1\"}"},
    {"a longer one", "ab", "{\"N\":\"2\"}"},
    {"one behind 127 bytes", "long", "{\"N\":\"4\"}"},
    {"the last", "\xff", "missing"},
    {"before the first but one", "A", "missing"},
    {"between", "aa", "missing"},
    {"behind the last", "zz", "missing"},
    {"above ASCII", "\xc3\xa9", "{\"N\":\"5\"}"},
};

START_TEST(value_member_finds_by_whole_name)
{
    struct arena *arena = arena_new();
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "{\"\xc3\xa9\":{\"N\":\"5\"},\"\":{\"N\":\"0\"},\"a\":{\"N\":\"1\"},\"ab\":"
                   "{\"N\":\"2\"},\"c\":{\"S\":\"%0200d\"},\"long\":{\"N\":\"4\"}}",
                   0);
    struct value item = item_of_json(arena, text);
    struct str name = {members[_i].name, strlen(members[_i].name)};
    struct str found = json_of_value(arena, value_member(item, name));
    ck_assert_msg(str_equal(found, (struct str){members[_i].found, strlen(members[_i].found)}),
                  "%s: %.*s", members[_i].says, STR_ARG(found));
    arena_free(arena);
}
END_TEST

START_TEST(value_readers_take_other_types_for_empty)
{
    struct arena *arena = arena_new();
    struct attribute member;
    struct value string = value_of_json(arena, "{\"S\":\"a\"}");
    struct value list = value_of_json(arena, "{\"L\":[{\"S\":\"a\"}]}");
    ck_assert(value_is_missing(value_member(string, STR("a"))));
    ck_assert(value_is_missing(value_member(list, STR("a"))));
    ck_assert(value_is_missing(value_member((struct value){NULL, 0}, STR("a"))));
    ck_assert(value_is_missing(value_element(string, 0)));
    ck_assert(value_is_missing(value_element(list, 1)));
    ck_assert(!value_is_missing(value_element(list, 0)));
    struct value_iter iter = value_members(string);
    ck_assert(!value_next(&iter, &member));
    iter = value_members((struct value){NULL, 0});
    ck_assert(!value_next(&iter, &member));
    arena_free(arena);
}
END_TEST

START_TEST(value_compare_orders_by_type)
{
    struct arena *arena = arena_new();
    static const char *const pairs[][2] = {
        {"{\"N\":\"-10\"}", "{\"N\":\"-9\"}"},     {"{\"N\":\"9\"}", "{\"N\":\"10\"}"},
        {"{\"S\":\"10\"}", "{\"S\":\"9\"}"},       {"{\"S\":\"a\"}", "{\"S\":\"ab\"}"},
        {"{\"S\":\"z\"}", "{\"S\":\"\xc3\xa9\"}"}, {"{\"B\":\"fw==\"}", "{\"B\":\"gA==\"}"},
        {"{\"B\":\"\"}", "{\"B\":\"AA==\"}"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct value low = value_of_json(arena, pairs[i][0]);
        struct value high = value_of_json(arena, pairs[i][1]);
        ck_assert_msg(value_compare(low, high) < 0 && value_compare(high, low) > 0, "%s %s",
                      pairs[i][0], pairs[i][1]);
        ck_assert_int_eq(value_compare(low, low), 0);
    }
    arena_free(arena);
}
END_TEST

START_TEST(value_map_sorts_and_leaves_out_what_is_missing)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value map;
    struct attribute some[] = {{STR("b"), value_null()},
                               {STR("gone"), {NULL, 0}},
                               {STR("a"), value_from_bool(true)},
                               {STR("gone"), {NULL, 0}}};
    ck_assert(value_map(arena, some, 4, &map, &err));
    ck_assert(
        str_equal(json_of_item(arena, map), STR("{\"a\":{\"BOOL\":true},\"b\":{\"NULL\":true}}")));
    ck_assert(value_map(arena, NULL, 0, &map, &err));
    ck_assert_uint_eq(value_count(map), 0);
    arena_free(arena);
}
END_TEST

START_TEST(value_map_refuses_a_name_twice)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value map = {NULL, 7};
    struct attribute twice[] = {
        {STR("b"), value_null()}, {STR("a"), value_null()}, {STR("b"), value_null()}};
    ck_assert(!value_map(arena, twice, 3, &map, &err));
    ck_assert_int_eq(err.code, ERROR_ITEM);
    ck_assert_str_eq(err.text, "\"b\" stands twice in a map");
    ck_assert_uint_eq(map.len, 7);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *list; /* its elements are the members */
    bool merge;
    const char *set; /* NULL: refused */
} sets[] = {
    {"numbers in order of value", "{\"L\":[{\"N\":\"10\"},{\"N\":\"9\"},{\"N\":\"-1\"}]}", false,
     "{\"NS\":[\"-1\",\"9\",\"10\"]}"},
    {"equal numbers merge", "{\"L\":[{\"N\":\"1\"},{\"N\":\"1.0\"}]}", true, "{\"NS\":[\"1\"]}"},
    {"or are refused", "{\"L\":[{\"N\":\"1\"},{\"N\":\"1.0\"}]}", false, NULL},
    {"strings", "{\"L\":[{\"S\":\"b\"},{\"S\":\"a\"},{\"S\":\"b\"}]}", true,
     "{\"SS\":[\"a\",\"b\"]}"},
    {"binaries", "{\"L\":[{\"B\":\"AQ==\"}]}", false, "{\"BS\":[\"AQ==\"]}"},
    {"nothing", "{\"L\":[]}", true, NULL},
    {"mixed types", "{\"L\":[{\"S\":\"1\"},{\"N\":\"1\"}]}", true, NULL},
    {"a type that has no set", "{\"L\":[{\"BOOL\":true}]}", true, NULL},
    {"a set in a set", "{\"L\":[{\"SS\":[\"a\"]}]}", true, NULL},
};

START_TEST(value_set_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value list = value_of_json(arena, sets[_i].list);
    struct value set = {NULL, 0};
    struct value given[4];
    for (size_t i = 0; i < value_count(list); i++) {
        given[i] = value_element(list, i);
    }
    bool ok = sets[_i].merge ? value_set_merged(arena, given, value_count(list), &set, &err)
                             : value_set(arena, given, value_count(list), &set, &err);
    ck_assert_msg(ok == (sets[_i].set != NULL), "%s: %s", sets[_i].says, err.text);
    ck_assert_int_eq(err.code, ok ? ERROR_NONE : ERROR_ITEM);
    struct str text = json_of_value(arena, set);
    const char *expected = ok ? sets[_i].set : "missing";
    ck_assert_msg(str_equal(text, (struct str){expected, strlen(expected)}), "%s: %.*s",
                  sets[_i].says, STR_ARG(text));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    size_t len;
    unsigned char bytes[24];
} damaged[] = {
    {"no bytes", 0, {0}},
    {"the tag of nothing", 1, {0}},
    {"an unknown tag", 1, {11}},
    {"no length", 1, {1}},
    {"cut short", 3, {1, 2, 'a'}},
    {"bytes behind it", 3, {1, 0, 0}},
    {"a length that is not the shortest", 3, {1, 0x80, 0}},
    {"a huge length", 11, {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}},
    {"not UTF-8", 3, {1, 1, 0xff}},
    {"no BOOL", 2, {4, 2}},
    {"half a BOOL", 1, {4}},
    {"a number without bytes", 2, {2, 0}},
    {"a number that is not canonical", 6, {2, 4, 3, 130, 21, 0}},
    {"a number and a byte", 5, {2, 3, 2, 2, 2}},
    {"an empty set", 3, {6, 1, 0}},
    {"a set without a count", 2, {6, 0}},
    {"a member twice", 7, {6, 5, 2, 1, 'a', 1, 'a'}},
    {"members out of order", 7, {6, 5, 2, 1, 'b', 1, 'a'}},
    {"fewer members than counted", 5, {6, 3, 2, 1, 'a'}},
    {"more members than counted", 7, {6, 5, 1, 1, 'a', 1, 'b'}},
    {"a member that is no number", 5, {7, 3, 1, 1, 9}},
    {"a name twice", 9, {10, 7, 2, 1, 'a', 5, 1, 'a', 5}},
    {"names out of order", 9, {10, 7, 2, 1, 'b', 5, 1, 'a', 5}},
    {"a name that is not UTF-8", 6, {10, 4, 1, 1, 0xff, 5}},
    {"a name without a value", 5, {10, 3, 1, 1, 'a'}},
    {"a list whose body goes on", 5, {9, 3, 1, 5, 5}},
    {"a list cut short", 4, {9, 3, 2, 5}},
    {"damage inside", 7, {9, 5, 1, 9, 3, 2, 5}},
};

START_TEST(value_check_refuses_damage)
{
    struct error err = {0};
    struct value v = {damaged[_i].bytes, damaged[_i].len};
    ck_assert_msg(!value_check(v, &err), "%s", damaged[_i].says);
    ck_assert_msg(err.code == ERROR_DAMAGED, "%s", damaged[_i].says);
}
END_TEST

static bool check_nested(struct arena *arena, int lists, bool in_item)
{
    struct error err;
    struct value v = value_null();
    for (int i = 0; i < lists; i++) {
        v = value_list(arena, &v, 1);
    }
    if (in_item) {
        struct attribute only = {STR("a"), v};
        ck_assert(value_map(arena, &only, 1, &v, &err));
    }
    return value_check(v, &err);
}

START_TEST(value_check_limits_depth_within_an_item)
{
    struct arena *arena = arena_new();
    ck_assert(check_nested(arena, VALUE_MAX_DEPTH, false));
    ck_assert(!check_nested(arena, VALUE_MAX_DEPTH + 1, false));
    ck_assert(check_nested(arena, VALUE_MAX_DEPTH, true));
    ck_assert(!check_nested(arena, VALUE_MAX_DEPTH + 1, true));
    ck_assert(!check_nested(arena, 1000, true));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *name;
    property_rule *rule;
} laws[] = {
    {"value_is_what_it_is_built_of", rule_value_is_what_it_is_built_of},
    {"value_members_are_found", rule_value_members_are_found},
    {"value_check_takes_only_canonical_bytes", rule_value_check_takes_only_canonical_bytes},
    {"value_check_sees_damage", rule_value_check_sees_damage},
    {"value_order_of_members_does_not_matter", rule_value_order_of_members_does_not_matter},
};

START_TEST(value_obeys_its_laws)
{
    property_check(laws[_i].name, laws[_i].rule);
}
END_TEST

int main(void)
{
    TCase *read = tcase_create("read");
    tcase_add_test(read, value_types_have_names);
    tcase_add_test(read, value_equal_is_by_content);
    tcase_add_loop_test(read, value_member_finds_by_whole_name, 0, ROWS(members));
    tcase_add_test(read, value_readers_take_other_types_for_empty);
    tcase_add_test(read, value_compare_orders_by_type);
    TCase *build = tcase_create("build");
    tcase_add_loop_test(build, value_encoding_follows_the_format, 0, ROWS(encodings));
    tcase_add_test(build, value_map_sorts_and_leaves_out_what_is_missing);
    tcase_add_test(build, value_map_refuses_a_name_twice);
    tcase_add_loop_test(build, value_set_follows_the_table, 0, ROWS(sets));
    TCase *check = tcase_create("check");
    tcase_add_loop_test(check, value_check_refuses_damage, 0, ROWS(damaged));
    tcase_add_test(check, value_check_limits_depth_within_an_item);
    TCase *rules = tcase_create("laws");
    tcase_add_loop_test(rules, value_obeys_its_laws, 0, ROWS(laws));
    Suite *suite = suite_create("engine/item/value");
    suite_add_tcase(suite, read);
    suite_add_tcase(suite, build);
    suite_add_tcase(suite, check);
    suite_add_tcase(suite, rules);
    return suite_run(suite);
}
