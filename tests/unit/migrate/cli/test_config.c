#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/cli/config.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool read_text(struct str text, struct arena *arena, struct config *out, struct error *err)
{
    char path[] = "/tmp/refold-test-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text.ptr, text.len), (int)text.len);
    ck_assert_int_eq(close(descriptor), 0);
    bool ok = config_read(path, arena, out, err);
    ck_assert_int_eq(unlink(path), 0);
    return ok;
}

static const struct {
    const char *says;
    const char *text;
    const char *table;
    const char *plans;
    const char *shop; /* what the name leads to */
} good[] = {
    {"nothing", "{}", NULL, NULL, NULL},
    {"a name", "{\"targets\": {\"shop\": \"a.refold\"}}", NULL, NULL, "a.refold"},
    {"a default by name", "{\"table\": \"shop\", \"targets\": {\"shop\": \"a.refold\"}}",
     "a.refold", NULL, "a.refold"},
    {"a default by target", "{\"table\": \"b.refold\"}", "b.refold", NULL, NULL},
    {"names keep their case", "{\"targets\": {\"Shop\": \"a.refold\"}}", NULL, NULL, NULL},
    {"a folder", "{\"plans\": \"p/q\"} \n", NULL, "p/q", NULL},
};

START_TEST(config_read_takes_what_is_right)
{
    struct arena *arena = arena_new();
    struct config config = {0};
    struct error err = {0};
    struct str text = {good[_i].text, strlen(good[_i].text)};
    ck_assert_msg(read_text(text, arena, &config, &err), "%s: %s", good[_i].says, err.text);
    ck_assert_pstr_eq(config.table, good[_i].table);
    ck_assert_pstr_eq(config.plans, good[_i].plans);
    ck_assert_pstr_eq(config_target(&config, "shop"), good[_i].shop);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    struct str text;
    const char *message;
} bad[] = {
    {"not JSON", STR_INIT("{\n  \"plans\": nothing\n}"), "line 2, column 12"},
    {"two values", STR_INIT("{} {}"), "line 1, column 4"},
    {"no object", STR_INIT("[]"), "expected an object"},
    {"an unknown member", STR_INIT("{\"tables\": {}}"), "unknown member 'tables'"},
    {"another case", STR_INIT("{\"Plans\": \"p\"}"), "unknown member 'Plans'"},
    {"a member twice", STR_INIT("{\"plans\": \"a\", \"plans\": \"b\"}"), "twice"},
    {"a target twice", STR_INIT("{\"targets\": {\"a\": \"a.refold\", \"a\": \"b.refold\"}}"),
     "twice"},
    {"a number for a text", STR_INIT("{\"plans\": 1}"), "'plans': expected a text"},
    {"an empty text", STR_INIT("{\"plans\": \"\"}"), "'plans': expected a text"},
    {"a text for targets", STR_INIT("{\"targets\": \"a.refold\"}"), "expected an object"},
    {"a target that is none", STR_INIT("{\"targets\": {\"a\": \"b\"}}"),
     "'b' is no table: expected NAME.refold, file:PATH or dynamodb:TABLE?region=REGION"},
    {"a default that is none", STR_INIT("{\"table\": \"shop\"}"), "neither"},
    {"a NUL", STR_INIT("{\"plans\": \"a\\u0000b\"}"), "NUL"},
    {"a NUL byte", STR_INIT("{\"plans\": \"a\0b\"}"), "NUL"},
    {"bad UTF-8", STR_INIT("{\"plans\": \"\xff\"}"), "UTF-8"},
};

START_TEST(config_read_refuses_what_is_wrong)
{
    struct arena *arena = arena_new();
    struct config config = {.plans = "as it was"};
    struct error err = {0};
    ck_assert_msg(!read_text(bad[_i].text, arena, &config, &err), "%s", bad[_i].says);
    ck_assert_msg(err.code == ERROR_USAGE, "%s: %s", bad[_i].says, err.text);
    ck_assert_msg(strstr(err.text, bad[_i].message) != NULL, "%s: %s", bad[_i].says, err.text);
    ck_assert_str_eq(config.plans, "as it was");
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *reading = tcase_create("read");
    tcase_add_loop_test(reading, config_read_takes_what_is_right, 0, ROWS(good));
    tcase_add_loop_test(reading, config_read_refuses_what_is_wrong, 0, ROWS(bad));
    Suite *suite = suite_create("migrate/cli/config");
    suite_add_tcase(suite, reading);
    return suite_run(suite);
}
