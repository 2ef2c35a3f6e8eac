#include "engine/base/error.h"
#include "engine/scan/scan.h"
#include "tests/support/memory_store.h"
#include "tests/support/scan_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const struct {
    const char *says;
    unsigned workers;
    uint32_t segments;
    size_t page_items;
    size_t pages_a_worker;
} shapes[] = {
    {"one of all", 1, 1, 2000, 1},
    {"small pages", 1, 1, 1, 3},
    {"one page a worker", 3, 7, 10, 1},
    {"more segments than pages", 2, 64, 100, 4},
    {"more workers than segments", 4, 2, 7, 0},
    {"the store's own pages", 2, 8, 0, 0},
};

START_TEST(every_item_is_met_once)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    options.workers = shapes[_i].workers;
    options.segments = shapes[_i].segments;
    options.limits.items = shapes[_i].page_items;
    options.pages_a_worker = shapes[_i].pages_a_worker;
    options.shuffle = (uint64_t)_i;
    scan_fixture_expect_run(fixture, &options);
    ck_assert_msg(scan_fixture_count(fixture, 1) == ITEMS, "%s", shapes[_i].says);
    ck_assert_uint_eq(fixture->total.met, ITEMS);
    ck_assert_uint_eq(fixture->total.written, ITEMS);
    ck_assert_uint_eq(fixture->items, ITEMS);
    ck_assert_uint_eq(fixture->notes, ITEMS);
    for (uint32_t i = 0; i < options.segments; i++) {
        ck_assert_msg(fixture->done[i], "%s: segment %u ends", shapes[_i].says, (unsigned)i);
    }
    size_t limit = (options.pages_a_worker == 0 ? 4 : options.pages_a_worker) * options.workers;
    ck_assert_uint_le(atomic_load(&fixture->most_in_flight), limit);
    ck_assert_uint_ge(atomic_load(&fixture->most_in_flight), 1);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(records_carry_the_pass_and_a_pass_skips_its_own)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    options.skip_own_pass = true;
    scan_fixture_expect_run(fixture, &options);
    ck_assert_uint_eq(memory_store_at(fixture->store, 0).pass, PASS);
    scan_fixture_expect_run(fixture, &options);
    ck_assert_uint_eq(scan_fixture_count(fixture, 1), ITEMS);
    ck_assert_uint_eq(fixture->total.met, ITEMS);
    options.pass++;
    scan_fixture_expect_run(fixture, &options);
    ck_assert_uint_eq(scan_fixture_count(fixture, 2), ITEMS);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(a_dry_run_counts_the_same_and_writes_nothing)
{
    struct scan_fixture *fixture = scan_fixture_new();
    fixture->fault = AT_COMMIT; /* any commit would fail */
    struct scan_options options = scan_fixture_options(fixture);
    options.read_only = true;
    scan_fixture_expect_run(fixture, &options);
    ck_assert_uint_eq(scan_fixture_count(fixture, 0), ITEMS);
    ck_assert_uint_eq(fixture->total.written, ITEMS);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(a_stopped_scan_goes_on_where_it_was)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    fixture->stop_after = 5;
    struct error err = {0};
    unsigned runs = 1;
    while (!scan_fixture_run(fixture, &options, &err)) {
        ck_assert_int_eq(err.code, ERROR_STOPPED);
        ck_assert_uint_eq(scan_fixture_count(fixture, 1), fixture->total.written);
        fixture->pages = 0;
        atomic_store(&fixture->stop, false);
        fixture->resumes = true;
        atomic_store(&fixture->turns, 0);
        runs++;
    }
    ck_assert_uint_gt(runs, 2);
    ck_assert_uint_eq(scan_fixture_count(fixture, 1), ITEMS);
    ck_assert_uint_eq(fixture->total.met, ITEMS);
    scan_fixture_free(fixture);
}
END_TEST

START_TEST(an_order_has_each_segment_once)
{
    enum { COUNT = 64 };
    uint32_t plain[COUNT];
    uint32_t mixed[COUNT];
    uint32_t other[COUNT];
    bool met[COUNT] = {false};
    scan_order(0, COUNT, plain);
    scan_order(1, COUNT, mixed);
    scan_order(2, COUNT, other);
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(plain[i], i);
        ck_assert_uint_lt(mixed[i], COUNT);
        ck_assert(!met[mixed[i]]);
        met[mixed[i]] = true;
    }
    ck_assert_mem_ne(mixed, plain, sizeof mixed);
    ck_assert_mem_ne(mixed, other, sizeof mixed);
}
END_TEST

START_TEST(a_stop_after_the_last_page_is_no_stop)
{
    struct scan_fixture *fixture = scan_fixture_new();
    struct scan_options options = scan_fixture_options(fixture);
    options.segments = 1;
    options.limits.items = ITEMS;
    fixture->stop_after = 1;
    scan_fixture_expect_run(fixture, &options);
    scan_fixture_free(fixture);
}
END_TEST

static const struct {
    const char *says;
    enum scan_fault fault;
    unsigned after;
} faults[] = {
    {"the first worker does not open", AT_OPEN, 0},
    {"the second worker does not", AT_OPEN, 1},
    {"the first page cannot be read", AT_READ, 0},
    {"a later page cannot be read", AT_READ, 9},
    {"an item ends it", AT_ITEM, 123},
    {"the runner ends it", AT_PAGE, 4},
    {"the first commit fails", AT_COMMIT, 0},
    {"a later commit fails", AT_COMMIT, 8},
};

START_TEST(an_error_ends_the_scan_and_keeps_what_is_committed)
{
    struct scan_fixture *fixture = scan_fixture_new();
    fixture->fault = faults[_i].fault;
    fixture->fault_after = faults[_i].after;
    struct scan_options options = scan_fixture_options(fixture);
    struct error err = {0};
    bool ok = scan_fixture_run(fixture, &options, &err);
    ck_assert_msg(!ok && err.code == ERROR_DAMAGED, "%s: %s", faults[_i].says, err.text);
    ck_assert_msg(strstr(err.text, "struck") != NULL, "%s: %s", faults[_i].says, err.text);
    if (fixture->fault != AT_OPEN) {
        ck_assert_msg(strncmp(err.text, "segment ", 8) == 0, "%s: %s", faults[_i].says, err.text);
    }
    size_t written = scan_fixture_count(fixture, 1);
    ck_assert_uint_eq(written + scan_fixture_count(fixture, 0), ITEMS);
    ck_assert_uint_lt(written, ITEMS);
    if (fixture->fault == AT_READ || fixture->fault == AT_ITEM) {
        ck_assert_uint_eq(written, fixture->total.written);
    }
    if (fixture->fault == AT_COMMIT) {
        ck_assert_uint_eq(written, faults[_i].after * options.limits.items);
    }
    scan_fixture_free(fixture);
}
END_TEST

int main(void)
{
    TCase *scan = tcase_create("scan");
    tcase_add_loop_test(scan, every_item_is_met_once, 0, ROWS(shapes));
    tcase_add_test(scan, records_carry_the_pass_and_a_pass_skips_its_own);
    tcase_add_test(scan, a_dry_run_counts_the_same_and_writes_nothing);
    tcase_add_test(scan, a_stopped_scan_goes_on_where_it_was);
    tcase_add_test(scan, an_order_has_each_segment_once);
    tcase_add_test(scan, a_stop_after_the_last_page_is_no_stop);
    tcase_add_loop_test(scan, an_error_ends_the_scan_and_keeps_what_is_committed, 0, ROWS(faults));
    tcase_set_timeout(scan, 30);
    Suite *suite = suite_create("engine/scan/scan");
    suite_add_tcase(suite, scan);
    return suite_run(suite);
}
