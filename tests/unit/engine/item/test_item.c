#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/item.h"
#include "engine/item/value.h"
#include "tests/rules/item_value.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stddef.h>
#include <string.h>

/* Developer Guide, "DynamoDB item sizes and formats". */
static const struct {
    const char *says;
    const char *json;
    size_t size;
} sizes[] = {
    {"an empty item", "{}", 0},
    {"a name and a string", "{\"abc\":{\"S\":\"12345\"}}", 8},
    {"bytes, not characters", "{\"\xc3\xa9\":{\"S\":\"\xe2\x82\xac\"}}", 5},
    {"an empty string", "{\"a\":{\"S\":\"\"}}", 1},
    {"binary", "{\"a\":{\"B\":\"AQID\"}}", 4},
    {"BOOL", "{\"a\":{\"BOOL\":false}}", 2},
    {"NULL", "{\"a\":{\"NULL\":true}}", 2},
    {"zero", "{\"a\":{\"N\":\"0\"}}", 2},
    {"one digit", "{\"a\":{\"N\":\"7\"}}", 3},
    {"zeros do not count", "{\"a\":{\"N\":\"7000000\"}}", 3},
    {"two digits", "{\"a\":{\"N\":\"0.0012\"}}", 3},
    {"three digits", "{\"a\":{\"N\":\"123\"}}", 4},
    {"a negative", "{\"a\":{\"N\":\"-123\"}}", 5},
    {"38 digits", "{\"a\":{\"N\":\"12345678901234567890123456789012345678\"}}", 21},
    {"a set of strings", "{\"a\":{\"SS\":[\"x\",\"yz\"]}}", 4},
    {"a set of numbers", "{\"a\":{\"NS\":[\"1\",\"-123\"]}}", 7},
    {"a set of binaries", "{\"a\":{\"BS\":[\"AQID\"]}}", 4},
    {"an empty list", "{\"a\":{\"L\":[]}}", 4},
    {"a list", "{\"a\":{\"L\":[{\"S\":\"xy\"},{\"NULL\":true}]}}", 9},
    {"a map", "{\"a\":{\"M\":{\"bc\":{\"S\":\"xy\"}}}}", 9},
    {"a list in a map", "{\"a\":{\"M\":{\"b\":{\"L\":[{\"BOOL\":true}]}}}}", 11},
};

START_TEST(item_size_bytes_follows_the_guide)
{
    struct arena *arena = arena_new();
    size_t size = item_size_bytes(item_of_json(arena, sizes[_i].json));
    ck_assert_msg(size == sizes[_i].size, "%s: %zu", sizes[_i].says, size);
    arena_free(arena);
}
END_TEST

static struct value item_of(struct arena *arena, size_t name_len, size_t value_len)
{
    struct error err = {0};
    char *bytes = arena_bytes(arena, name_len + value_len);
    memset(bytes, 'x', name_len + value_len);
    struct attribute only = {{bytes, name_len},
                             value_string(arena, (struct str){bytes, value_len})};
    struct value item;
    ck_assert(value_map(arena, &only, 1, &item, &err));
    return item;
}

START_TEST(item_check_limits_takes_the_largest_item)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    ck_assert(item_check_limits(item_of(arena, 10, ITEM_MAX_BYTES - 10), &err));
    ck_assert(!item_check_limits(item_of(arena, 10, ITEM_MAX_BYTES - 9), &err));
    ck_assert_int_eq(err.code, ERROR_LIMIT);
    ck_assert_str_eq(err.text, "the item has 409601 bytes, over the limit of 409600");
    arena_free(arena);
}
END_TEST

START_TEST(item_check_limits_takes_the_longest_name)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    ck_assert(item_check_limits(item_of(arena, ATTRIBUTE_NAME_MAX_BYTES, 1), &err));
    ck_assert(!item_check_limits(item_of(arena, ATTRIBUTE_NAME_MAX_BYTES + 1, 1), &err));
    ck_assert_int_eq(err.code, ERROR_LIMIT);
    arena_free(arena);
}
END_TEST

START_TEST(item_check_limits_takes_32_levels)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value v = value_null();
    struct value item;
    for (int depth = 1; depth <= VALUE_MAX_DEPTH + 1; depth++) {
        v = value_list(arena, &v, 1);
        struct attribute only = {STR("a"), v};
        ck_assert(value_map(arena, &only, 1, &item, &err));
        ck_assert_int_eq(item_check_limits(item, &err), depth <= VALUE_MAX_DEPTH);
    }
    ck_assert_int_eq(err.code, ERROR_LIMIT);
    ck_assert_str_eq(err.text, "nested over 32 levels");
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *item = tcase_create("item");
    tcase_add_loop_test(item, item_size_bytes_follows_the_guide, 0, ROWS(sizes));
    tcase_add_test(item, item_check_limits_takes_the_largest_item);
    tcase_add_test(item, item_check_limits_takes_the_longest_name);
    tcase_add_test(item, item_check_limits_takes_32_levels);
    Suite *suite = suite_create("engine/item/item");
    suite_add_tcase(suite, item);
    return suite_run(suite);
}
