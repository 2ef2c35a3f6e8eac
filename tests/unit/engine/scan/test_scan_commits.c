#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/scan/scan.h"
#include "engine/store/store.h"
#include "engine/undo/undo.h"
#include "tests/support/memory_store.h"
#include "tests/support/scan_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const struct {
    const char *says;
    bool removes;
    unsigned times;
    int64_t visits; /* in the end; -1: the item is gone */
    size_t stale;
} writers[] = {
    {"a write between is not lost", false, 1, 101, 1},
    {"nor are three", false, 3, 101, 3},
    {"an item that is removed stays away", true, 1, -1, 1},
};

START_TEST(a_stale_item_is_met_again)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    fixture->disturbed = 500;
    fixture->removes = writers[_i].removes;
    fixture->disturbances = writers[_i].times;
    scan_fixture_expect_run(fixture, &options);
    bool gone = writers[_i].visits < 0;
    ck_assert_msg(fixture->not_applied[OUTCOME_STALE] == writers[_i].stale, "%s", writers[_i].says);
    ck_assert_msg(fixture->gone == (gone ? 1 : 0), "%s", writers[_i].says);
    ck_assert_msg(scan_fixture_count(fixture, 1) == ITEMS - 1, "%s", writers[_i].says);
    ck_assert_msg(scan_fixture_count(fixture, writers[_i].visits) == (gone ? 0 : 1), "%s",
                  writers[_i].says);
    ck_assert_msg(fixture->items == ITEMS, "%s: items count once", writers[_i].says);
    ck_assert_msg(fixture->total.written == (gone ? ITEMS - 1 : ITEMS), "%s", writers[_i].says);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(an_item_that_never_rests_is_refused)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    fixture->disturbed = 500;
    fixture->disturbances = 1000;
    scan_fixture_expect_run(fixture, &options);
    ck_assert_uint_eq(fixture->not_applied[OUTCOME_REJECTED], 1);
    ck_assert_uint_eq(fixture->total.written, ITEMS - 1);
    ck_assert_uint_eq(scan_fixture_count(fixture, 1), ITEMS - 1);
    ck_assert_uint_eq(scan_fixture_count(fixture, 100), 1);
    scan_fixture_free(fixture);
}
END_TEST

/* Each rest would be an hour. */
START_TEST(a_stop_ends_the_rests_and_refuses_nothing)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    struct error err = {0};
    fixture->disturbed = 500;
    fixture->disturbances = 1000;
    fixture->stop_after = 3; /* the last before a rest */
    options.segments = 1;
    options.limits.items = ITEMS;
    options.rest_ms = 3600 * 1000;
    ck_assert(!scan_fixture_run(fixture, &options, &err));
    ck_assert_int_eq(err.code, ERROR_STOPPED);
    ck_assert_uint_eq(fixture->not_applied[OUTCOME_REJECTED], 0);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(what_does_not_apply_is_taken_out_of_the_count)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    options.skip_own_pass = true;
    fixture->kind = WRITE_PUT;
    fixture->put_id = ITEMS; /* stands nowhere: the first put applies */
    scan_fixture_expect_run(fixture, &options);
    ck_assert_uint_eq(memory_store_count(fixture->store), ITEMS + 1);
    ck_assert_uint_eq(fixture->not_applied[OUTCOME_CONFLICT], ITEMS - 1);
    ck_assert_uint_eq(fixture->total.written, 1);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(the_checkpoint_is_the_end_of_each_segment)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    scan_fixture_expect_run(fixture, &options);
    struct store_reader *reader = NULL;
    struct error err = {0};
    ck_assert(store_reader_open(fixture->store, &reader, &err));
    for (uint32_t i = 0; i < options.segments; i++) {
        struct str name = arena_format(fixture->arena, "segment %u", (unsigned)i);
        struct str value;
        ck_assert(store_control_get(reader, name, fixture->arena, &value, &err));
        ck_assert(str_equal(value, fixture->cursors[i]));
    }
    store_reader_close(reader);
    scan_fixture_free(fixture);
}
END_TEST

/* Records of a frame, all of this kind. */
static size_t count_records(struct str frame, enum undo_kind kind, struct arena *arena)
{
    struct str rest;
    struct error err = {0};
    ck_assert(undo_unpack(frame, 1 << 20, arena, &rest, &err));
    size_t records = 0;
    for (; rest.len > 0; records++) {
        struct undo_record record;
        ck_assert_msg(undo_read(&scan_fixture_keys, rest, arena, &record, &err), "%s", err.text);
        ck_assert_int_eq(record.kind, kind);
        rest = (struct str){rest.ptr + record.len, rest.len - record.len};
    }
    return records;
}

static const struct {
    const char *says;
    enum write_kind write;
    enum undo_kind undo;
    size_t left; /* items, under the old keys */
} kinds[] = {
    {"updates", WRITE_UPDATE, UNDO_UPDATE, ITEMS},
    {"deletes", WRITE_DELETE, UNDO_DELETE, 0},
    {"moves", WRITE_MOVE, UNDO_MOVE, 0},
};

START_TEST(each_write_has_its_undo_record)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    options.skip_own_pass = true;
    options.undo_log = LOG;
    fixture->kind = kinds[_i].write;
    scan_fixture_expect_run(fixture, &options);
    size_t left = 0;
    for (size_t i = 0; i < memory_store_count(fixture->store); i++) {
        left += scan_fixture_id(memory_store_at(fixture->store, i).item) < ITEMS ? 1 : 0;
    }
    ck_assert_msg(left == kinds[_i].left, "%s: %zu", kinds[_i].says, left);

    struct store_reader *reader = NULL;
    struct error err = {0};
    ck_assert(store_reader_open(fixture->store, &reader, &err));
    size_t records = 0;
    struct undo_frame frame = {.sequence = UINT64_MAX};
    struct undo_place place = {LOG, UINT64_MAX};
    ck_assert(store_undo_last(reader, place, fixture->arena, &frame, &err));
    while (frame.bytes.ptr != NULL) {
        records += count_records(frame.bytes, kinds[_i].undo, fixture->arena);
        place.before = frame.sequence;
        ck_assert(store_undo_last(reader, place, fixture->arena, &frame, &err));
    }
    ck_assert_msg(records == ITEMS, "%s: %zu", kinds[_i].says, records);
    store_reader_close(reader);
    scan_fixture_free(fixture);
}
END_TEST

int main(void)
{
    TCase *commits = tcase_create("commits");
    tcase_add_loop_test(commits, a_stale_item_is_met_again, 0, ROWS(writers));
    tcase_add_test(commits, an_item_that_never_rests_is_refused);
    tcase_add_test(commits, a_stop_ends_the_rests_and_refuses_nothing);
    tcase_add_test(commits, what_does_not_apply_is_taken_out_of_the_count);
    tcase_add_test(commits, the_checkpoint_is_the_end_of_each_segment);
    tcase_add_loop_test(commits, each_write_has_its_undo_record, 0, ROWS(kinds));
    tcase_set_timeout(commits, 30);
    Suite *suite = suite_create("engine/scan/scan_commits");
    suite_add_tcase(suite, commits);
    return suite_run(suite);
}
