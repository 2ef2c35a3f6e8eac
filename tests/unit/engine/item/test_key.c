#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "tests/rules/item_value.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct key_schema table = {
    .partition = {{STR_INIT("PK"), VALUE_S}},
    .partition_count = 1,
    .sort = {{STR_INIT("SK"), VALUE_N}},
    .sort_count = 1,
};

/* A GSI with two attributes on each side. */
static const struct key_schema wide = {
    .partition = {{STR_INIT("A"), VALUE_S}, {STR_INIT("B"), VALUE_B}},
    .partition_count = 2,
    .sort = {{STR_INIT("C"), VALUE_N}, {STR_INIT("D"), VALUE_S}},
    .sort_count = 2,
};

static const struct {
    const char *text;
    const char *name; /* NULL: refused */
    enum value_type type;
} attributes[] = {
    {"PK:S", "PK", VALUE_S},   {"a:b:N", "a:b", VALUE_N},
    {"b64:B", "b64", VALUE_B}, {" x :S", " x ", VALUE_S},
    {"PK", NULL, 0},           {"PK:", NULL, 0},
    {"PK:L", NULL, 0},         {"PK:s", NULL, 0},
    {":S", NULL, 0},           {"", NULL, 0},
};

START_TEST(key_attribute_parse_follows_the_table)
{
    struct error err = {0};
    struct key_attribute parsed = {STR("as it was"), VALUE_NULL};
    const char *text = attributes[_i].text;
    bool ok = key_attribute_parse((struct str){text, strlen(text)}, &parsed, &err);
    ck_assert_msg(ok == (attributes[_i].name != NULL), "%s", text);
    if (ok) {
        ck_assert(
            str_equal(parsed.name, (struct str){attributes[_i].name, strlen(attributes[_i].name)}));
        ck_assert_int_eq(parsed.type, attributes[_i].type);
    } else {
        ck_assert_int_eq(err.code, ERROR_PLAN);
        ck_assert(str_equal(parsed.name, STR("as it was")));
    }
}
END_TEST

START_TEST(key_attribute_name_has_at_most_255_bytes)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct key_attribute parsed;
    ck_assert(key_attribute_parse(arena_format(arena, "%0255d:S", 0), &parsed, &err));
    ck_assert(!key_attribute_parse(arena_format(arena, "%0256d:S", 0), &parsed, &err));
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const struct key_schema *schema;
    const char *item;
    const char *printed; /* or the error */
    enum error_code code;
    bool sparse; /* an index leaves the item out */
} keys[] = {
    {"a key", &table, "{\"PK\":{\"S\":\"a#1\"},\"SK\":{\"N\":\"10\"},\"x\":{\"NULL\":true}}",
     "PK='a#1' SK=10", ERROR_NONE, false},
    {"four parts", &wide,
     "{\"A\":{\"S\":\"a\"},\"B\":{\"B\":\"AQ==\"},\"C\":{\"N\":\"-1.5\"},\"D\":{\"S\":\"d\"}}",
     "A='a' B=b64'AQ==' C=-1.5 D='d'", ERROR_NONE, false},
    {"no sort key", &table, "{\"PK\":{\"S\":\"a\"}}", "key attribute SK: expected N, found nothing",
     ERROR_ITEM, true},
    {"no partition key", &table, "{\"SK\":{\"N\":\"1\"}}",
     "key attribute PK: expected S, found nothing", ERROR_ITEM, true},
    {"another type", &table, "{\"PK\":{\"S\":\"a\"},\"SK\":{\"S\":\"1\"}}",
     "key attribute SK: expected N, found S", ERROR_ITEM, false},
    {"another type, and one missing", &table, "{\"PK\":{\"NULL\":true}}",
     "key attribute PK: expected S, found NULL", ERROR_ITEM, false},
    {"an empty string", &table, "{\"PK\":{\"S\":\"\"},\"SK\":{\"N\":\"0\"}}",
     "key attribute PK: it is empty", ERROR_ITEM, false},
    {"empty binary, and one missing", &wide, "{\"A\":{\"S\":\"a\"},\"B\":{\"B\":\"\"}}",
     "key attribute B: it is empty", ERROR_ITEM, false},
};

START_TEST(key_of_item_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct key key;
    struct value item = item_of_json(arena, keys[_i].item);
    bool ok = key_of_item(keys[_i].schema, item, &key, &err);
    ck_assert_msg(ok == (keys[_i].code == ERROR_NONE), "%s: %s", keys[_i].says, err.text);
    ck_assert_int_eq(err.code, keys[_i].code);
    const char *text = ok ? key_print(keys[_i].schema, &key, arena).ptr : err.text;
    ck_assert_msg(strcmp(text, keys[_i].printed) == 0, "%s: %s", keys[_i].says, text);
    arena_free(arena);
}
END_TEST

START_TEST(key_of_index_leaves_out_what_lacks_a_part)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct key key;
    bool present = true;
    struct value item = item_of_json(arena, keys[_i].item);
    bool ok = key_of_index(keys[_i].schema, item, &key, &present, &err);
    ck_assert_msg(ok == (keys[_i].code == ERROR_NONE || keys[_i].sparse), "%s: %s", keys[_i].says,
                  err.text);
    if (ok) {
        ck_assert_msg(present == !keys[_i].sparse, "%s", keys[_i].says);
    }
    arena_free(arena);
}
END_TEST

static struct value item_with(struct arena *arena, const char *name, size_t len, struct value item)
{
    struct error err = {0};
    char *bytes = arena_bytes(arena, len);
    memset(bytes, 'x', len);
    struct attribute members[5] = {
        {{name, strlen(name)}, value_string(arena, (struct str){bytes, len})}};
    size_t count = 1;
    struct value_iter iter = value_members(item);
    while (value_next(&iter, &members[count])) {
        count++;
    }
    ck_assert(value_map(arena, members, count, &item, &err));
    return item;
}

START_TEST(key_size_is_limited_by_half)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct key key;
    struct value rest = item_of_json(arena, "{\"SK\":{\"N\":\"1\"}}");
    ck_assert(key_of_item(&table, item_with(arena, "PK", 2048, rest), &key, &err));
    ck_assert(!key_of_item(&table, item_with(arena, "PK", 2049, rest), &key, &err));
    ck_assert_int_eq(err.code, ERROR_LIMIT);
    ck_assert_str_eq(err.text, "key attribute PK: 2049 bytes, over the limit of 2048");

    rest = item_of_json(arena, "{\"A\":{\"S\":\"a\"},\"B\":{\"B\":\"AQ==\"},\"C\":{\"N\":\"1\"}}");
    bool present = false;
    ck_assert(key_of_index(&wide, item_with(arena, "D", 1021, rest), &key, &present, &err));
    ck_assert(present);
    ck_assert(!key_of_index(&wide, item_with(arena, "D", 1022, rest), &key, &present, &err));
    ck_assert_int_eq(err.code, ERROR_LIMIT);
    arena_free(arena);
}
END_TEST

static struct key wide_key(struct arena *arena)
{
    struct error err = {0};
    struct key key;
    struct value item =
        item_of_json(arena, "{\"A\":{\"S\":\"a\"},\"B\":{\"B\":\"AQ==\"},\"C\":{\"N\":\"-1.5\"},"
                            "\"D\":{\"S\":\"d\"},\"E\":{\"S\":\"e\"}}");
    ck_assert(key_of_item(&wide, item, &key, &err));
    return key;
}

START_TEST(key_comes_back_from_its_bytes)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct buffer bytes = {0};
    struct key key = wide_key(arena);
    struct key copy = key_copy(&key, arena);
    struct key decoded;
    key_encode(&key, &bytes);
    ck_assert(key_decode(buffer_str(&bytes), 4, &decoded, &err));
    ck_assert(key_equal(&key, &decoded));
    ck_assert(key_equal(&key, &copy));
    copy.parts[3] = value_of_json(arena, "{\"S\":\"e\"}");
    ck_assert(!key_equal(&key, &copy));
    copy.count = 3;
    ck_assert(!key_equal(&key, &copy));
    buffer_free(&bytes);
    arena_free(arena);
}
END_TEST

START_TEST(key_decode_refuses_damage)
{
    struct arena *arena = arena_new();
    struct buffer bytes = {0};
    struct key key = wide_key(arena);
    struct key decoded = {.count = 99};
    key_encode(&key, &bytes);
    struct str whole = buffer_str(&bytes);
    for (size_t len = 0; len < whole.len; len++) {
        struct error err = {0};
        ck_assert(!key_decode((struct str){whole.ptr, len}, 4, &decoded, &err));
        ck_assert_int_eq(err.code, ERROR_DAMAGED);
    }
    struct error err = {0};
    ck_assert(!key_decode(whole, 3, &decoded, &err));
    ck_assert(!key_decode(STR("\x04\x01"), 1, &decoded, &err));     /* a BOOL */
    ck_assert(!key_decode(STR("\x01\x01\xff"), 1, &decoded, &err)); /* not UTF-8 */
    ck_assert_int_eq(err.code, ERROR_DAMAGED);
    ck_assert_uint_eq(decoded.count, 99);
    buffer_free(&bytes);
    arena_free(arena);
}
END_TEST

START_TEST(key_item_holds_the_parts_by_name)
{
    struct arena *arena = arena_new();
    struct key key = wide_key(arena);
    struct str text = json_of_item(arena, key_item(&wide, &key, arena));
    ck_assert(
        str_equal(text, STR("{\"A\":{\"S\":\"a\"},\"B\":{\"B\":\"AQ==\"},\"C\":{\"N\":\"-1.5\"},"
                            "\"D\":{\"S\":\"d\"}}")));
    arena_free(arena);
}
END_TEST

START_TEST(key_print_shortens_between_characters)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct key_schema schema = {.partition = {{STR("P"), VALUE_S}}, .partition_count = 1};
    struct key key;
    struct str text = STR("0123456789012345678901234567890123456789012345678901234567"
                          "8\xc3\xa9 and more");
    struct attribute only = {STR("P"), value_string(arena, text)};
    struct value item;
    ck_assert(value_map(arena, &only, 1, &item, &err));
    ck_assert(key_of_item(&schema, item, &key, &err));
    ck_assert_str_eq(key_print(&schema, &key, arena).ptr,
                     "P='01234567890123456789012345678901234567890123456789012345678...'");
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    struct key_schema other;
    bool equal;
} schemas[] = {
    {"itself", {{{STR_INIT("PK"), VALUE_S}}, 1, {{STR_INIT("SK"), VALUE_N}}, 1}, true},
    {"another name", {{{STR_INIT("Pk"), VALUE_S}}, 1, {{STR_INIT("SK"), VALUE_N}}, 1}, false},
    {"another type", {{{STR_INIT("PK"), VALUE_S}}, 1, {{STR_INIT("SK"), VALUE_S}}, 1}, false},
    {"no sort key", {{{STR_INIT("PK"), VALUE_S}}, 1, {{{NULL, 0}, VALUE_MISSING}}, 0}, false},
    {"all of them in the partition",
     {{{STR_INIT("PK"), VALUE_S}, {STR_INIT("SK"), VALUE_N}}, 2, {{{NULL, 0}, VALUE_MISSING}}, 0},
     false},
    {"one more in the partition",
     {{{STR_INIT("PK"), VALUE_S}, {STR_INIT("B"), VALUE_S}}, 2, {{STR_INIT("SK"), VALUE_N}}, 1},
     false},
    {"what is behind the last is nothing",
     {{{STR_INIT("PK"), VALUE_S}, {STR_INIT("B"), VALUE_S}}, 1, {{STR_INIT("SK"), VALUE_N}}, 1},
     true},
};

START_TEST(key_schema_equal_follows_the_table)
{
    const struct key_schema *other = &schemas[_i].other;
    ck_assert_msg(key_schema_equal(&table, other) == schemas[_i].equal, "%s", schemas[_i].says);
    ck_assert_msg(key_schema_equal(other, &table) == schemas[_i].equal, "%s", schemas[_i].says);
}
END_TEST

int main(void)
{
    TCase *key = tcase_create("key");
    tcase_add_loop_test(key, key_attribute_parse_follows_the_table, 0, ROWS(attributes));
    tcase_add_test(key, key_attribute_name_has_at_most_255_bytes);
    tcase_add_loop_test(key, key_schema_equal_follows_the_table, 0, ROWS(schemas));
    tcase_add_loop_test(key, key_of_item_follows_the_table, 0, ROWS(keys));
    tcase_add_loop_test(key, key_of_index_leaves_out_what_lacks_a_part, 0, ROWS(keys));
    tcase_add_test(key, key_size_is_limited_by_half);
    tcase_add_test(key, key_comes_back_from_its_bytes);
    tcase_add_test(key, key_decode_refuses_damage);
    tcase_add_test(key, key_item_holds_the_parts_by_name);
    tcase_add_test(key, key_print_shortens_between_characters);
    Suite *suite = suite_create("engine/item/key");
    suite_add_tcase(suite, key);
    return suite_run(suite);
}
