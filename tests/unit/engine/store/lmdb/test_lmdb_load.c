#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

/* MANY: so many entries that the filling of an index is told of. */
enum { SOME = 500, MANY = 3000, LONG_BYTES = 900 };

static struct fixture table;

static void make(void)
{
    struct index_desc index = fixture_index("by-g", "G:S", "H:S");
    fixture_make_indexed(&table, "PK:S", "SK:S", &index, 1);
}

static void destroy(void)
{
    fixture_remove(&table);
}

/* Long keys in the table and in the index, so that both are cut. */
static struct value numbered(size_t i)
{
    char text[LONG_BYTES];
    struct value item = {NULL, 0};
    memset(text, 'x', sizeof text);
    size_t len = i % 3 == 0 ? sizeof text : 20;
    (void)snprintf(text + len - 9, 9, "%08zu", i * 7919 % 10007);
    struct value sort = value_string(table.arena, (struct str){text, len - 1});
    struct attribute members[] = {{STR("PK"), value_string(table.arena, STR("p"))},
                                  {STR("SK"), sort},
                                  {STR("G"), value_string(table.arena, STR("g"))},
                                  {STR("H"), sort}};
    ck_assert(value_map(table.arena, members, 4, &item, &table.err));
    return item;
}

static void expect_whole(size_t count)
{
    struct value *found = NULL;
    struct query query = {.index = STR("by-g"), .partition = {value_string(table.arena, STR("g"))}};
    ck_assert_uint_eq(fixture_scan(&table, 1, 0, &found), count);
    ck_assert_uint_eq(fixture_query(&table, query, &found), count);
    for (size_t i = 1; i < count; i++) {
        ck_assert_int_lt(
            value_compare(value_member(found[i - 1], STR("SK")), value_member(found[i], STR("SK"))),
            0);
    }
    ck_assert_uint_eq(fixture_verify(&table), 0);
}

START_TEST(a_load_is_all_there_afterwards)
{
    struct value items[SOME];
    for (size_t i = 0; i < SOME; i++) {
        items[i] = numbered(i);
    }
    ck_assert_msg(fixture_load(&table, items, SOME), "%s", table.err.text);
    expect_whole(SOME);
    ck_assert_int_eq(fixture_put(&table, numbered(SOME)), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    expect_whole(SOME + 1);
    ck_assert(!store_load_open(table.store, 2, &table.err));
}
END_TEST

START_TEST(an_unfinished_load_is_taken_back)
{
    struct value item = numbered(1);
    struct key key = fixture_key(&table, item);
    ck_assert(store_load_open(table.store, 3, &table.err));
    ck_assert(store_load_item(table.store, &key, item, &table.err));
    ck_assert(fixture_flush(&table));
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert(!store_load_open(table.store, 4, &table.err));
    ck_assert(store_load_abort(table.store, &table.err));
    expect_whole(0);
    ck_assert_msg(fixture_load(&table, &item, 1), "%s", table.err.text);
    expect_whole(1);
}
END_TEST

static void stop_at_once(void *context, const struct index_growth *growth)
{
    ck_assert(!growth->reads);
    ck_assert_uint_eq(growth->total, MANY);
    atomic_store((atomic_bool *)context, true);
}

START_TEST(a_load_that_is_stopped_while_indexes_are_filled_is_taken_back)
{
    atomic_bool stop = false;
    struct value *items = arena_alloc(table.arena, MANY * sizeof *items);
    for (size_t i = 0; i < MANY; i++) {
        items[i] = numbered(i);
    }
    table.options = (struct store_options){.voice = {.index_grows = stop_at_once, .context = &stop},
                                           .stop = &stop};
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert(!fixture_load(&table, items, MANY));
    ck_assert_int_eq(table.err.code, ERROR_STOPPED);
    ck_assert(store_load_abort(table.store, &table.err));
    expect_whole(0);
    table.options = (struct store_options){.stop = NULL};
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert(fixture_load(&table, items, MANY));
    expect_whole(MANY);
}
END_TEST

START_TEST(what_dynamodb_refuses_is_refused)
{
    struct value item =
        fixture_item(table.arena, "{\"PK\":{\"S\":\"1\"},\"SK\":{\"S\":\"1\"},\"G\":{\"S\":\"\"}}");
    ck_assert(!fixture_load(&table, &item, 1));
    ck_assert_int_eq(table.err.code, ERROR_ITEM);
    ck_assert_ptr_nonnull(strstr(table.err.text, "index by-g"));
    item = fixture_item(table.arena, "{\"PK\":{\"S\":\"1\"},\"SK\":{\"S\":\"1\"}}");
    struct key key = fixture_key(&table, item);
    ck_assert(store_load_item(table.store, &key, item, &table.err));
    ck_assert(store_load_close(table.store, &table.err));
    struct value *found = NULL;
    ck_assert_uint_eq(fixture_scan(&table, 1, 0, &found), 1);
    ck_assert_uint_eq(fixture_verify(&table), 0);
}
END_TEST

START_TEST(one_key_cannot_be_loaded_twice)
{
    struct value items[] = {numbered(1), numbered(1)};
    ck_assert(!fixture_load(&table, items, 2));
    ck_assert(store_load_abort(table.store, &table.err));
    expect_whole(0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("load");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_add_test(cases, a_load_is_all_there_afterwards);
    tcase_add_test(cases, an_unfinished_load_is_taken_back);
    tcase_add_test(cases, a_load_that_is_stopped_while_indexes_are_filled_is_taken_back);
    tcase_add_test(cases, what_dynamodb_refuses_is_refused);
    tcase_add_test(cases, one_key_cannot_be_loaded_twice);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_load");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
