#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 300 };

static struct fixture table;

static struct value numbered(size_t i)
{
    return fixture_item(
        table.arena,
        arena_format(table.arena, "{\"PK\":{\"N\":\"%zu\"},\"V\":{\"S\":\"%zu\"}}", i, i).ptr);
}

static void make(void)
{
    fixture_make(&table, "PK:N", NULL);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(fixture_put(&table, numbered(i)), OUTCOME_APPLIED);
    }
    ck_assert(fixture_flush(&table));
}

static void destroy(void)
{
    fixture_remove(&table);
}

static const struct {
    uint32_t segments;
    size_t page_items;
} scans[] = {{1, 0}, {1, 1}, {1, MANY}, {2, 7}, {3, 10}, {64, 3}, {1000, 5}, {1000000, 1}};

START_TEST(segments_are_disjoint_and_complete)
{
    struct value *found = NULL;
    bool seen[MANY] = {false};
    size_t count = fixture_scan(&table, scans[_i].segments, scans[_i].page_items, &found);
    ck_assert_uint_eq(count, MANY);
    for (size_t i = 0; i < count; i++) {
        struct number n = value_number(value_member(found[i], STR("PK")));
        int64_t place = -1;
        ck_assert(number_to_int(&n, &place) && !seen[place]);
        seen[place] = true;
    }
}
END_TEST

/* A run's 256 threads, each in the midst of a page and of a look-up; and other processes. */
START_TEST(many_read_at_one_time)
{
    enum { THREADS = 2 * 256 };
    struct store_reader *readers[THREADS];
    struct key key = fixture_key(&table, numbered(1));
    for (size_t i = 0; i < THREADS; i++) {
        struct page page;
        struct stored_item found;
        ck_assert(store_reader_open(table.store, &readers[i], &table.err));
        ck_assert_msg(
            store_read_page(readers[i],
                            &(struct page_place){{0, 1}, STR(""), &(struct page_limits){0}}, &page,
                            &table.err),
            "%s", table.err.text);
        ck_assert_msg(
            store_get(readers[i], (struct key_list){&key, 1}, table.arena, &found, &table.err),
            "%s", table.err.text);
    }
    for (size_t i = 0; i < THREADS; i++) {
        store_reader_close(readers[i]);
    }
}
END_TEST

START_TEST(a_page_ends_at_its_limit_of_bytes)
{
    struct page page;
    struct page_limits limits = {.bytes = 1};
    struct segment all = {0, 1};
    ck_assert(store_read_page(table.reader, &(struct page_place){all, STR(""), &limits}, &page,
                              &table.err));
    ck_assert_uint_eq(page.count, 1);
    ck_assert(!page.last);
}
END_TEST

START_TEST(a_scan_goes_on_behind_an_item_that_is_gone)
{
    struct page page;
    struct page_limits limits = {.items = 10};
    struct segment all = {0, 1};
    ck_assert(store_read_page(table.reader, &(struct page_place){all, STR(""), &limits}, &page,
                              &table.err));
    struct str cursor = arena_copy(table.arena, page.cursor);
    struct value last = value_copy(table.arena, page.items[9].item);
    uint64_t stamp = page.items[9].stamp;
    ck_assert(store_read_page(table.reader, &(struct page_place){all, cursor, &limits}, &page,
                              &table.err));
    struct value next = value_copy(table.arena, page.items[0].item);
    store_release(table.reader);
    struct write gone = {.kind = WRITE_DELETE, .key = fixture_key(&table, last), .stamp = stamp};
    ck_assert_int_eq(fixture_write(&table, gone), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    ck_assert(store_read_page(table.reader, &(struct page_place){all, cursor, &limits}, &page,
                              &table.err));
    ck_assert(value_equal(page.items[0].item, next));
}
END_TEST

START_TEST(a_page_stays_as_it_was_read)
{
    struct page page;
    struct segment all = {0, 1};
    struct page_limits limits = {.items = 1};
    ck_assert(store_read_page(table.reader, &(struct page_place){all, STR(""), &limits}, &page,
                              &table.err));
    struct value copy = value_copy(table.arena, page.items[0].item);
    struct write gone = {
        .kind = WRITE_DELETE, .key = fixture_key(&table, copy), .stamp = page.items[0].stamp};
    ck_assert_int_eq(fixture_write(&table, gone), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    ck_assert(value_is_missing(fixture_get(&table, copy).item));
    ck_assert(value_equal(page.items[0].item, copy));
}
END_TEST

START_TEST(items_are_found_by_key_in_any_spelling)
{
    struct stored_item got =
        fixture_get(&table, fixture_item(table.arena, "{\"PK\":{\"N\":\"+1.50e1\"}}"));
    ck_assert(value_equal(got.item, numbered(15)));
    ck_assert_uint_eq(got.pass, 1);
    ck_assert(value_is_missing(
        fixture_get(&table, fixture_item(table.arena, "{\"PK\":{\"N\":\"-15\"}}")).item));
}
END_TEST

static const struct {
    const char *says;
    struct str cursor;
} wrong_cursors[] = {
    {"no value", STR_INIT("\x63")},
    {"cut short", STR_INIT("\x02\x05\x01")},
    {"of another type", STR_INIT("\x01\x01z")},
};

START_TEST(a_cursor_that_is_none_is_refused)
{
    struct page page;
    struct segment all = {0, 1};
    ck_assert_msg(!store_read_page(table.reader,
                                   &(struct page_place){all, wrong_cursors[_i].cursor, NULL}, &page,
                                   &table.err),
                  "%s", wrong_cursors[_i].says);
    ck_assert_int_eq(table.err.code, ERROR_DAMAGED);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("read");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, segments_are_disjoint_and_complete, 0, ROWS(scans));
    tcase_add_test(cases, many_read_at_one_time);
    tcase_add_test(cases, a_page_ends_at_its_limit_of_bytes);
    tcase_add_test(cases, a_scan_goes_on_behind_an_item_that_is_gone);
    tcase_add_test(cases, a_page_stays_as_it_was_read);
    tcase_add_test(cases, items_are_found_by_key_in_any_spelling);
    tcase_add_loop_test(cases, a_cursor_that_is_none_is_refused, 0, ROWS(wrong_cursors));
    Suite *suite = suite_create("engine/store/lmdb/lmdb_read");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
