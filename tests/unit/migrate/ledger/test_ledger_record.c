#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/ledger/ledger_record.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static struct ledger_step steps[] = {
    {STR_INIT("orders by status"), {.written = 7, .unchanged = 2, .failed = 1}, 40},
    {STR_INIT("steps[1]"), {.skipped = 3, .overwritten = 2, .gone = 4}, 0},
};
static struct item_fault faults[] = {
    {STR_INIT("orders by status"), STR_INIT("PK='A\0B'"), STR_INIT("OrderDate is \"missing\"")},
};
static struct item_fault gone[] = {
    {STR_INIT("steps[1]"), STR_INIT("PK='B'"), STR_INIT("gone, skipped")},
    {STR_INIT("steps[1]"), STR_INIT("PK='C'"), STR_INIT("gone, skipped")},
};
static struct str included[] = {STR_INIT("Name"), STR_INIT("Größe")};
static struct index_change changes[] = {
    {true,
     {.name = STR_INIT("GSI1"),
      .keys = {.partition = {{STR_INIT("GSI1PK"), VALUE_S}},
               .partition_count = 1,
               .sort = {{STR_INIT("GSI1SK"), VALUE_N}, {STR_INIT("At"), VALUE_B}},
               .sort_count = 2},
      .projection = PROJECT_INCLUDE,
      .include = included,
      .read_units = 3,
      .write_units = 2,
      .include_count = 2}},
    {false,
     {.name = STR_INIT("Old"),
      .keys = {.partition = {{STR_INIT("K"), VALUE_B}}, .partition_count = 1},
      .projection = PROJECT_KEYS_ONLY}},
};

static const struct ledger_record sample = {
    .version = 3,
    .name = STR_INIT("open_orders"),
    .hash = STR_INIT("1:abc"),
    .state = RUN_FAILED,
    .stage = 2,
    .pass = 17,
    .segments = 64,
    .attempts = 2,
    .used = {12.5, 40},
    .started = STR_INIT("2026-04-18T03:04:05Z"),
    .ended = STR_INIT(""),
    .who = STR_INIT("ann@host, process 12"),
    .steps = steps,
    .step_count = 2,
    .faults = {faults, 1},
    .gone = {gone, 2},
    .violating = 8,
    .changes = changes,
    .change_count = 2,
    .undo_before = LEDGER_NUMBER_MAX,
    .undone = 5,
    .left = 1,
};

static struct str printed(struct arena *arena)
{
    return ledger_json_print(ledger_record_to_json(&sample), arena);
}

START_TEST(a_record_comes_back_as_it_was_written)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct ledger_record back = {0};
    struct str text = printed(arena);
    ck_assert_msg(ledger_record_parse(text, STR("plan/3"), arena, &back, &err), "%s", err.text);
    struct str again = ledger_json_print(ledger_record_to_json(&back), arena);
    ck_assert_msg(str_equal(text, again), "%.*s\n%.*s", STR_ARG(text), STR_ARG(again));
    ck_assert_uint_eq(back.undo_before, sample.undo_before);
    ck_assert_int_eq(back.state, RUN_FAILED);
    ck_assert_uint_eq(back.steps[0].earlier, 40);
    ck_assert_uint_eq(back.steps[1].counts.gone, 4);
    ck_assert_uint_eq(back.gone.count, 2);
    ck_assert_double_eq(back.used.read_units, 12.5);
    ck_assert_double_eq(back.used.write_units, 40);
    ck_assert(str_equal(back.changes[0].index.include[1], included[1]));
    ck_assert_uint_eq(back.changes[0].index.read_units, 3);
    ck_assert_uint_eq(back.changes[0].index.write_units, 2);
    ck_assert_int_eq(back.changes[0].index.keys.sort[1].type, VALUE_B);
    arena_free(arena);
}
END_TEST

/* RES-1: what a torn write may leave is never taken for a fresh start. */
START_TEST(every_shorter_record_is_damage)
{
    struct arena *arena = arena_new();
    struct str text = printed(arena);
    for (size_t len = 0; len < text.len; len++) {
        struct error err = {0};
        struct ledger_record back = {.version = 99};
        ck_assert(
            !ledger_record_parse((struct str){text.ptr, len}, STR("plan/3"), arena, &back, &err));
        ck_assert_int_eq(err.code, ERROR_DAMAGED);
        ck_assert_uint_eq(back.version, 99);
        ck_assert_ptr_nonnull(strstr(err.text, "plan/3"));
    }
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *find;
    const char *put;
} damages[] = {
    {"text behind it", "\"left\":1}", "\"left\":1} "},
    {"an unknown state", "\"failed\",\"stage\"", "\"mended\",\"stage\""},
    {"a fraction", "\"stage\":2", "\"stage\":2.5"},
    {"a negative number", "\"pass\":17", "\"pass\":-1"},
    {"a number out of range", "\"version\":3", "\"version\":4294967296"},
    {"a member in other letters", "\"attempts\"", "\"Attempts\""},
    {"a NUL", "ann@host", "ann\\u0000host"},
    {"no UTF-8", "ann@host", "ann\xff\xffhost"},
    {"an unknown projection", "\"KEYS_ONLY\"", "\"SOME\""},
    {"a list that is none", "\"faults\":[", "\"faults\":7,\"x\":["},
};

START_TEST(a_changed_record_is_damage)
{
    struct arena *arena = arena_new();
    struct str text = printed(arena);
    const char *at = strstr(text.ptr, damages[_i].find);
    ck_assert_msg(at != NULL, "%s: %s", damages[_i].says, text.ptr);
    const char *rest = at + strlen(damages[_i].find);
    struct str changed =
        arena_format(arena, "%.*s%s%s", (int)(at - text.ptr), text.ptr, damages[_i].put, rest);
    struct error err = {0};
    struct ledger_record back = {0};
    ck_assert_msg(!ledger_record_parse(changed, STR("plan/3"), arena, &back, &err), "%s",
                  damages[_i].says);
    ck_assert_msg(err.code == ERROR_DAMAGED, "%s: %s", damages[_i].says, err.text);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *record = tcase_create("record");
    tcase_add_test(record, a_record_comes_back_as_it_was_written);
    tcase_add_test(record, every_shorter_record_is_damage);
    tcase_add_loop_test(record, a_changed_record_is_damage, 0, ROWS(damages));
    Suite *suite = suite_create("migrate/ledger/ledger_record");
    suite_add_tcase(suite, record);
    return suite_run(suite);
}
