#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_checkpoint.h"
#include "tests/support/control_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static size_t count_controls(struct fixture *f, const char *prefix)
{
    struct control_list found = {NULL, 0};
    ck_assert(store_control_list(f->reader, (struct str){prefix, strlen(prefix)}, f->arena, &found,
                                 &f->err));
    return found.count;
}

static void write_record(struct fixture *f, uint32_t version, enum run_state state)
{
    struct ledger_record record = {
        .version = version, .name = STR("p"), .hash = STR("1:a"), .state = state};
    ck_assert_msg(ledger_write(f->store, &record, &f->err), "%s", f->err.text);
}

START_TEST(records_come_back_in_order_of_versions)
{
    struct fixture f = set_up();
    struct ledger ledger;
    ck_assert(ledger_read(f.reader, f.arena, &ledger, &f.err));
    ck_assert_uint_eq(ledger.count, 0);
    ck_assert_ptr_null(ledger_newest(&ledger));
    write_record(&f, 100, RUN_ROLLED_BACK);
    write_record(&f, 11, RUN_RUNNING);
    write_record(&f, 9, RUN_APPLIED);
    ck_assert(ledger_read(f.reader, f.arena, &ledger, &f.err));
    ck_assert_uint_eq(ledger.count, 3);
    ck_assert_uint_eq(ledger.records[0].version, 9);
    ck_assert_uint_eq(ledger.records[1].version, 11);
    ck_assert_uint_eq(ledger_newest(&ledger)->version, 11);
    ck_assert_ptr_null(ledger_find(&ledger, 10));
    ck_assert_int_eq(ledger_find(&ledger, 100)->state, RUN_ROLLED_BACK);
    tear_down(&f);
}
END_TEST

START_TEST(a_damaged_record_is_an_error_and_not_a_fresh_start)
{
    struct fixture f = set_up();
    struct ledger ledger;
    write_record(&f, 1, RUN_APPLIED);
    put_control(&f, "plan/0000000002", STR(""));
    ck_assert(!ledger_read(f.reader, f.arena, &ledger, &f.err));
    ck_assert_int_eq(f.err.code, ERROR_DAMAGED);
    ck_assert_ptr_nonnull(strstr(f.err.text, "plan/0000000002"));
    tear_down(&f);
}
END_TEST

START_TEST(pass_numbers_are_used_once)
{
    struct fixture f = set_up();
    uint64_t pass = 0;
    ck_assert(ledger_next_pass(f.store, f.reader, &pass, &f.err));
    ck_assert_uint_eq(pass, 1);
    put_control(&f, "pass", STR("41"));
    ck_assert(ledger_next_pass(f.store, f.reader, &pass, &f.err));
    ck_assert(ledger_next_pass(f.store, f.reader, &pass, &f.err));
    ck_assert_uint_eq(pass, 43);
    tear_down(&f);
}
END_TEST

static const struct str wrong_passes[] = {STR_INIT(""), STR_INIT("4x"), STR_INIT("-4"),
                                          STR_INIT("99999999999999999")};

START_TEST(a_damaged_pass_number_is_an_error)
{
    struct fixture f = set_up();
    uint64_t pass = 7;
    put_control(&f, "pass", wrong_passes[_i]);
    ck_assert(!ledger_next_pass(f.store, f.reader, &pass, &f.err));
    ck_assert_int_eq(f.err.code, ERROR_DAMAGED);
    ck_assert_uint_eq(pass, 7);
    tear_down(&f);
}
END_TEST

START_TEST(settling_forgets_what_the_own_pass_kept)
{
    struct fixture f = set_up();
    struct ledger_record record = {
        .version = 3, .name = STR("p"), .hash = STR("1:a"), .state = RUN_APPLIED};
    put_control(&f, "checkpoint/0000000003/00000", STR("{}"));
    put_control(&f, "checkpoint/0000000003/00001", STR("{}"));
    put_control(&f, "checkpoint/0000000030/00001", STR("{}"));
    put_control(&f, "probe/0000000003/00000/done", STR("{}"));
    put_control(&f, "probe/0000000004/00000/done", STR("{}"));
    ck_assert_msg(ledger_settle(f.store, f.reader, &record, &f.err), "%s", f.err.text);
    ck_assert_uint_eq(count_controls(&f, "checkpoint/0000000003/"), 0);
    ck_assert_uint_eq(count_controls(&f, "checkpoint/"), 1);
    ck_assert_uint_eq(count_controls(&f, "probe/"), 1);
    ck_assert_uint_eq(count_controls(&f, "plan/"), 1);
    tear_down(&f);
}
END_TEST

/* ---------------------------------------------------------------- checkpoints */

static const struct checkpoint_run run = {.version = 3,
                                          .hash = STR_INIT("1:abc"),
                                          .table = STR_INIT("table-7"),
                                          .stage = 2,
                                          .pass = 9,
                                          .segments = 4,
                                          .step_count = 2};

static struct control sample_checkpoint(struct arena *arena)
{
    struct step_counts counts[] = {{.written = 5, .failed = 1}, {.unchanged = 6}};
    struct item_fault faults[] = {{STR("s"), STR("PK='a'"), STR("why")}};
    struct checkpoint checkpoint = {.segment = 2,
                                    .cursor = STR("\x01\x00key\xff"),
                                    .items = 6,
                                    .counts = counts,
                                    .faults = {faults, 1}};
    return checkpoint_control(&run, &checkpoint, arena);
}

START_TEST(a_checkpoint_comes_back_and_others_begin_at_their_start)
{
    struct fixture f = set_up();
    struct checkpoint read[4 + CHECKPOINT_RANGES_MAX];
    struct control control = sample_checkpoint(f.arena);
    ck_assert(ledger_commit(f.store, &control, 1, &f.err));
    ck_assert_msg(checkpoint_read(f.reader, &run, f.arena, read, &f.err), "%s", f.err.text);
    ck_assert(str_equal(read[2].cursor, STR("\x01\x00key\xff")));
    ck_assert(!read[2].done);
    ck_assert_uint_eq(read[2].items, 6);
    ck_assert_uint_eq(read[2].counts[0].written, 5);
    ck_assert_uint_eq(read[2].counts[0].failed, 1);
    ck_assert_uint_eq(read[2].counts[1].unchanged, 6);
    ck_assert(str_equal(read[2].faults.list[0].reason, STR("why")));
    ck_assert_uint_eq(read[1].cursor.len, 0);
    ck_assert_uint_eq(read[1].counts[0].written, 0);
    tear_down(&f);
}
END_TEST

static const struct {
    const char *says;
    struct checkpoint_run run;
    const char *text;
} others[] = {
    {"another plan text", {3, STR_INIT("1:abd"), STR_INIT("table-7"), 2, 9, 4, 2}, "plan"},
    {"another table", {3, STR_INIT("1:abc"), STR_INIT("table-8"), 2, 9, 4, 2}, "table"},
    {"more segments", {3, STR_INIT("1:abc"), STR_INIT("table-7"), 2, 9, 8, 2}, "segments"},
    {"fewer segments", {3, STR_INIT("1:abc"), STR_INIT("table-7"), 2, 9, 3, 2}, "segments"},
    {"another stage", {3, STR_INIT("1:abc"), STR_INIT("table-7"), 3, 9, 4, 2}, "pass"},
    {"another pass", {3, STR_INIT("1:abc"), STR_INIT("table-7"), 2, 8, 4, 2}, "pass"},
};

START_TEST(a_checkpoint_of_another_run_is_refused) /* SCAN-3 */
{
    struct fixture f = set_up();
    struct checkpoint read[8 + CHECKPOINT_RANGES_MAX];
    struct control control = sample_checkpoint(f.arena);
    ck_assert(ledger_commit(f.store, &control, 1, &f.err));
    ck_assert_msg(!checkpoint_read(f.reader, &others[_i].run, f.arena, read, &f.err), "%s",
                  others[_i].says);
    ck_assert_int_eq(f.err.code, ERROR_STORE);
    ck_assert_msg(strstr(f.err.text, others[_i].text) != NULL, "%s: %s", others[_i].says,
                  f.err.text);
    tear_down(&f);
}
END_TEST

START_TEST(a_damaged_checkpoint_is_an_error) /* RES-1: cut short, and with a byte flipped */
{
    struct fixture f = set_up();
    struct control control = sample_checkpoint(f.arena);
    char *bytes = arena_bytes(f.arena, control.value.len);
    for (size_t at = 0; at < control.value.len; at++) {
        struct checkpoint read[4 + CHECKPOINT_RANGES_MAX];
        memcpy(bytes, control.value.ptr, control.value.len);
        bytes[at] = (char)(bytes[at] ^ 0x80);
        struct control cut = {.name = control.name, .value = {control.value.ptr, at}};
        ck_assert(ledger_commit(f.store, &cut, 1, &f.err));
        ck_assert_msg(!checkpoint_read(f.reader, &run, f.arena, read, &f.err), "cut at %zu", at);
        ck_assert_int_eq(f.err.code, ERROR_DAMAGED);
        struct control flipped = {.name = control.name, .value = {bytes, control.value.len}};
        ck_assert(ledger_commit(f.store, &flipped, 1, &f.err));
        ck_assert_msg(!checkpoint_read(f.reader, &run, f.arena, read, &f.err), "flipped at %zu",
                      at);
        ck_assert_int_eq(f.err.code, ERROR_DAMAGED);
    }
    tear_down(&f);
}
END_TEST

START_TEST(a_reading_is_told_of_until_its_stage_is_done)
{
    struct fixture f = set_up();
    struct ledger_record record = {
        .version = 3, .name = STR("p"), .hash = STR("1:a"), .state = RUN_RUNNING, .stage = 1};
    put_control(&f, "probe/0000000003/00000-reading", STR("{}"));
    put_control(&f, "probe/0000000003/00001-reading", STR("{}"));
    put_control(&f, "probe/0000000003/00001/0000000000", STR("{}"));
    ck_assert(ledger_settle(f.store, f.reader, &record, &f.err));
    ck_assert_uint_eq(count_controls(&f, "probe/"), 1);
    ck_assert_uint_eq(count_controls(&f, "probe/0000000003/00001-reading"), 1);
    record.state = RUN_FAILED;
    ck_assert(ledger_settle(f.store, f.reader, &record, &f.err));
    ck_assert_uint_eq(count_controls(&f, "probe/"), 0);
    tear_down(&f);
}
END_TEST

int main(void)
{
    TCase *records = tcase_create("records");
    tcase_add_test(records, records_come_back_in_order_of_versions);
    tcase_add_test(records, a_damaged_record_is_an_error_and_not_a_fresh_start);
    tcase_add_test(records, pass_numbers_are_used_once);
    tcase_add_loop_test(records, a_damaged_pass_number_is_an_error, 0, ROWS(wrong_passes));
    tcase_add_test(records, settling_forgets_what_the_own_pass_kept);
    TCase *checkpoints = tcase_create("checkpoints");
    tcase_add_test(checkpoints, a_checkpoint_comes_back_and_others_begin_at_their_start);
    tcase_add_loop_test(checkpoints, a_checkpoint_of_another_run_is_refused, 0, ROWS(others));
    tcase_add_test(checkpoints, a_damaged_checkpoint_is_an_error);
    tcase_add_test(checkpoints, a_reading_is_told_of_until_its_stage_is_done);
    Suite *suite = suite_create("migrate/ledger/ledger");
    suite_add_tcase(suite, records);
    suite_add_tcase(suite, checkpoints);
    return suite_run(suite);
}
