#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "engine/item/item_json.h"
#include "migrate/run/dry_run_sample.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct key_schema keys = {
    .partition = {{STR_INIT("PK"), VALUE_S}},
    .partition_count = 1,
};

#define BEFORE "{\"PK\":{\"S\":\"a\"},\"n\":{\"S\":\"1\"},\"old\":{\"BOOL\":true}}"
#define AFTER  "{\"PK\":{\"S\":\"a\"},\"n\":{\"N\":\"1\"},\"new\":{\"S\":\"x\"}}"
#define PUT    "{\"PK\":{\"S\":\"p\"},\"of\":{\"S\":\"a\"}}"

static const struct {
    const char *says;
    enum pass_fate fate;
    const char *after; /* NULL: none */
    const char *put;   /* NULL: none */
    struct str text;
    struct str json;
} cases[] = {
    {"what differs stands side by side", PASS_UPDATE, AFTER, NULL,
     STR_INIT("    PK='a'\n"
              "      - n {\"S\":\"1\"}\n"
              "      + n {\"N\":\"1\"}\n"
              "      + new {\"S\":\"x\"}\n"
              "      - old {\"BOOL\":true}\n"),
     STR_INIT("{\"key\":{\"PK\":{\"S\":\"a\"}},"
              "\"before\":{\"n\":{\"S\":\"1\"},\"old\":{\"BOOL\":true}},"
              "\"after\":{\"n\":{\"N\":\"1\"},\"new\":{\"S\":\"x\"}},\"puts\":[]}")},
    {"a deleted item is only named", PASS_DELETE, NULL, NULL, STR_INIT("    PK='a' is deleted\n"),
     STR_INIT("{\"key\":{\"PK\":{\"S\":\"a\"}},\"before\":" BEFORE ",\"after\":{},\"puts\":[]}")},
    {"a put item is shown without its key", PASS_UNCHANGED, NULL, PUT,
     STR_INIT("    PK='a'\n"
              "      puts PK='p'\n"
              "      + of {\"S\":\"a\"}\n"),
     STR_INIT("{\"key\":{\"PK\":{\"S\":\"a\"}},\"before\":{},\"after\":{},\"puts\":[" PUT "]}")},
};

static struct value item_of(const char *text, struct arena *arena)
{
    struct json_options options = {.file = "case"};
    struct json *json = NULL;
    struct value item = {NULL, 0};
    struct error err = {0};
    ck_assert_msg(json_parse((struct str){text, strlen(text)}, &options, arena, &json, &err) &&
                      item_json_item(json, arena, &item, &err),
                  "%s", err.text);
    return item;
}

START_TEST(samples_follow_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct stored_item before = {.item = item_of(BEFORE, arena)};
    struct pass_put put = {.step = 0};
    struct runner_effect effect = {.result = {.fate = cases[_i].fate}};
    if (cases[_i].after != NULL) {
        effect.result.item = item_of(cases[_i].after, arena);
    }
    if (cases[_i].put != NULL) {
        put.item = item_of(cases[_i].put, arena);
        ck_assert(key_of_item(&keys, put.item, &put.key, &err));
        effect.result.puts = &put;
        effect.result.put_count = 1;
    }
    struct str text = dry_run_sample(&keys, &effect, &before, false, arena);
    ck_assert_msg(str_equal(text, cases[_i].text), "%s:\n%.*s", cases[_i].says, STR_ARG(text));
    struct str json = dry_run_sample(&keys, &effect, &before, true, arena);
    ck_assert_msg(str_equal(json, cases[_i].json), "%s:\n%.*s", cases[_i].says, STR_ARG(json));
    arena_free(arena);
}
END_TEST

START_TEST(long_values_are_cut_between_characters)
{
    struct arena *arena = arena_new();
    char text[400] = "";
    for (size_t i = 0; i < 150; i++) {
        text[2 * i] = '\xC3';
        text[2 * i + 1] = '\xA4';
    }
    struct str name = arena_format(arena, "{\"PK\":{\"S\":\"a\"},\"v\":{\"S\":\"%s\"}}", text);
    struct stored_item before = {.item = item_of("{\"PK\":{\"S\":\"a\"}}", arena)};
    struct runner_effect effect = {
        .result = {.fate = PASS_UPDATE, .item = item_of(name.ptr, arena)}};
    struct str sample = dry_run_sample(&keys, &effect, &before, false, arena);
    ck_assert(utf8_is_valid(sample));
    ck_assert_uint_lt(sample.len, 140);
    ck_assert_ptr_nonnull(strstr(sample.ptr, "\xC3\xA4...\n"));
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *sample = tcase_create("sample");
    tcase_add_loop_test(sample, samples_follow_the_table, 0, ROWS(cases));
    tcase_add_test(sample, long_values_are_cut_between_characters);
    Suite *suite = suite_create("migrate/run/dry_run_sample");
    suite_add_tcase(suite, sample);
    return suite_run(suite);
}
