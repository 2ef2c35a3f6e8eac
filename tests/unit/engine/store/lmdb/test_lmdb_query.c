#include "engine/base/buffer.h"
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* One item for each pair of days and totals; the index has two attributes in each half of its key.
 */
enum { DAYS = 3, TOTALS = 4 };

static struct fixture table;

static struct value item(const char *json)
{
    return fixture_item(table.arena, json);
}

static void make(void)
{
    struct key_schema keys = {
        .partition = {{STR("Shop"), VALUE_S}, {STR("Year"), VALUE_N}},
        .partition_count = 2,
        .sort = {{STR("Day"), VALUE_S}, {STR("Total"), VALUE_N}},
        .sort_count = 2,
    };
    struct index_desc index = {.name = STR("sales"), .keys = keys};
    fixture_make_indexed(&table, "PK:S", "SK:N", &index, 1);
    for (int i = 0; i < DAYS * TOTALS; i++) {
        struct str json = arena_format(
            table.arena,
            "{\"PK\":{\"S\":\"p\"},\"SK\":{\"N\":\"%d\"},\"Shop\":{\"S\":\"s\"},"
            "\"Year\":{\"N\":\"2026\"},\"Day\":{\"S\":\"day%d\"},\"Total\":{\"N\":\"%d\"}}",
            i - 6, i / TOTALS, i % TOTALS - 2);
        ck_assert_int_eq(fixture_put(&table, item(json.ptr)), OUTCOME_APPLIED);
    }
    ck_assert(fixture_flush(&table));
}

static void destroy(void)
{
    fixture_remove(&table);
}

/* 'text' as S, else a number as N; NULL is missing. */
static struct value value_of(const char *text)
{
    if (text == NULL) {
        return (struct value){NULL, 0};
    }
    size_t len = strlen(text);
    if (text[0] == '\'') {
        return value_string(table.arena, (struct str){text + 1, len - 2});
    }
    struct number n;
    ck_assert(number_parse((struct str){text, len}, &n, &table.err));
    return value_from_number(table.arena, &n);
}

static const struct {
    const char *says;
    const char *index;
    const char *partition[2];
    const char *equal[2];
    const char *low;
    const char *high;
    bool low_exclusive;
    bool high_exclusive;
    bool prefix;
    bool descending;
    const char *found; /* the SK of each, in order */
} queries[] = {
    {"a whole partition",
     "",
     {"'p'"},
     {NULL},
     NULL,
     NULL,
     0,
     0,
     0,
     0,
     "-6 -5 -4 -3 -2 -1 0 1 2 3 4 5"},
    {"backwards", "", {"'p'"}, {NULL}, NULL, NULL, 0, 0, 0, 1, "5 4 3 2 1 0 -1 -2 -3 -4 -5 -6"},
    {"no such partition", "", {"'q'"}, {NULL}, NULL, NULL, 0, 0, 0, 0, ""},
    {"one sort key", "", {"'p'"}, {"-2"}, NULL, NULL, 0, 0, 0, 0, "-2"},
    {"between, both in", "", {"'p'"}, {NULL}, "-1.0", "1e0", 0, 0, 0, 0, "-1 0 1"},
    {"between, both out", "", {"'p'"}, {NULL}, "-1", "1", 1, 1, 0, 0, "0"},
    {"at most, backwards", "", {"'p'"}, {NULL}, NULL, "-5", 0, 0, 0, 1, "-5 -6"},
    {"more than, backwards", "", {"'p'"}, {NULL}, "3", NULL, 1, 0, 0, 1, "5 4"},
    {"nothing between", "", {"'p'"}, {NULL}, "2", "1", 0, 0, 0, 0, ""},
    {"an index",
     "sales",
     {"'s'", "2026"},
     {NULL},
     NULL,
     NULL,
     0,
     0,
     0,
     0,
     "-6 -5 -4 -3 -2 -1 0 1 2 3 4 5"},
    {"another part", "sales", {"'s'", "2027"}, {NULL}, NULL, NULL, 0, 0, 0, 0, ""},
    {"its first sort attribute",
     "sales",
     {"'s'", "2026"},
     {"'day1'"},
     NULL,
     NULL,
     0,
     0,
     0,
     0,
     "-2 -1 0 1"},
    {"and the next from", "sales", {"'s'", "2026"}, {"'day1'"}, "0", NULL, 0, 0, 0, 0, "0 1"},
    {"and the next below, backwards",
     "sales",
     {"'s'", "2026"},
     {"'day2'"},
     NULL,
     "0",
     0,
     1,
     0,
     1,
     "3 2"},
    {"all of them", "sales", {"'s'", "2026"}, {"'day1'", "-1"}, NULL, NULL, 0, 0, 0, 0, "-1"},
    {"a start",
     "sales",
     {"'s'", "2026"},
     {NULL},
     "'day'",
     NULL,
     0,
     0,
     1,
     0,
     "-6 -5 -4 -3 -2 -1 0 1 2 3 4 5"},
    {"a start that one has",
     "sales",
     {"'s'", "2026"},
     {NULL},
     "'day2'",
     NULL,
     0,
     0,
     1,
     1,
     "5 4 3 2"},
    {"a start that none has", "sales", {"'s'", "2026"}, {NULL}, "'day3'", NULL, 0, 0, 1, 0, ""},
    {"more than a day", "sales", {"'s'", "2026"}, {NULL}, "'day1'", NULL, 1, 0, 0, 0, "2 3 4 5"},
};

static struct query query_of(int at)
{
    struct query query = {.index = {queries[at].index, strlen(queries[at].index)},
                          .low = value_of(queries[at].low),
                          .high = value_of(queries[at].high),
                          .low_exclusive = queries[at].low_exclusive,
                          .high_exclusive = queries[at].high_exclusive,
                          .low_is_prefix = queries[at].prefix,
                          .descending = queries[at].descending};
    for (size_t i = 0; i < 2; i++) {
        query.partition[i] = value_of(queries[at].partition[i]);
        query.sort_equal[i] = value_of(queries[at].equal[i]);
        query.sort_equal_count += queries[at].equal[i] != NULL ? 1 : 0;
    }
    return query;
}

static struct str found_keys(const struct value *found, size_t count)
{
    struct buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        char digits[NUMBER_TEXT_MAX];
        struct number n = value_number(value_member(found[i], STR("SK")));
        size_t len = number_format(&n, digits);
        buffer_add(&text, i > 0 ? STR(" ") : STR(""));
        buffer_add(&text, (struct str){digits, len});
    }
    struct str copy = arena_copy(table.arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

START_TEST(a_query_follows_the_table)
{
    for (size_t page_items = 1; page_items < 8; page_items += 3) {
        struct value *found = NULL;
        struct query query = query_of(_i);
        query.limits.items = page_items;
        size_t count = fixture_query(&table, query, &found);
        struct str keys = found_keys(found, count);
        ck_assert_msg(strcmp(keys.ptr, queries[_i].found) == 0, "%s: %s", queries[_i].says,
                      keys.ptr);
    }
}
END_TEST

static const struct {
    const char *says;
    const char *index;
    const char *partition[2];
    const char *equal[2];
    const char *low;
    bool prefix;
} refused[] = {
    {"no such index", "none", {"'p'"}, {NULL}, NULL, 0},
    {"a partition of another type", "", {"1"}, {NULL}, NULL, 0},
    {"a partition part too few", "sales", {"'s'"}, {NULL}, NULL, 0},
    {"a sort key of another type", "", {"'p'"}, {"'a'"}, NULL, 0},
    {"a bound of another type", "", {"'p'"}, {NULL}, "'a'", 0},
    {"a bound behind the last attribute", "", {"'p'"}, {"1"}, "2", 0},
    {"the start of a number", "", {"'p'"}, {NULL}, "1", 1},
};

START_TEST(a_query_that_cannot_be_is_refused)
{
    struct page page;
    struct query query = {.index = {refused[_i].index, strlen(refused[_i].index)},
                          .low = value_of(refused[_i].low),
                          .low_is_prefix = refused[_i].prefix};
    for (size_t i = 0; i < 2; i++) {
        query.partition[i] = value_of(refused[_i].partition[i]);
        query.sort_equal[i] = value_of(refused[_i].equal[i]);
        query.sort_equal_count += refused[_i].equal[i] != NULL ? 1 : 0;
    }
    ck_assert_msg(!store_query(table.reader, &query, &page, &table.err), "%s", refused[_i].says);
    ck_assert_msg(table.err.code == ERROR_USAGE, "%s: %s", refused[_i].says, table.err.text);
}
END_TEST

START_TEST(a_reader_sees_an_index_that_was_made_since)
{
    struct index_desc index = fixture_index("by-day", "Day:S", NULL);
    struct value *found = NULL;
    struct query query = {.index = STR("by-day"), .partition = {value_of("'day1'")}};
    struct page page;
    ck_assert(!store_query(table.reader, &query, &page, &table.err));
    ck_assert(store_index_create(table.store, &index, &table.err));
    ck_assert(!store_query(table.reader, &query, &page, &table.err));
    ck_assert_ptr_nonnull(strstr(table.err.text, "is not filled yet"));
    ck_assert(store_index_finish(table.store, STR("by-day"), &table.err));
    ck_assert_uint_eq(fixture_query(&table, query, &found), TOTALS);
    ck_assert(store_index_drop(table.store, STR("by-day"), &table.err));
    ck_assert(!store_query(table.reader, &query, &page, &table.err));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("query");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_add_loop_test(cases, a_query_follows_the_table, 0, ROWS(queries));
    tcase_add_loop_test(cases, a_query_that_cannot_be_is_refused, 0, ROWS(refused));
    tcase_add_test(cases, a_reader_sees_an_index_that_was_made_since);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_query");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
