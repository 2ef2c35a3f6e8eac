#include "tests/rules/lmdb_fixture.h"
#include "tests/rules/lmdb_model.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

enum { LONG_KEY_BYTES = 600, MANY = 2000 };

static struct fixture table;

/* An item whose sort key is long and ends in a number: all share what is not cut off. */
static struct value long_item(size_t number)
{
    char text[LONG_KEY_BYTES];
    struct value item = {NULL, 0};
    memset(text, 'x', sizeof text);
    (void)snprintf(text + sizeof text - 9, 9, "%08zu", number);
    struct attribute members[] = {
        {STR("PK"), value_string(table.arena, STR("p"))},
        {STR("SK"), value_string(table.arena, (struct str){text, sizeof text - 1})}};
    ck_assert(value_map(table.arena, members, 2, &item, &table.err));
    return item;
}

static size_t number_of(struct value item)
{
    struct str sort = value_bytes(value_member(item, STR("SK")));
    size_t number = 0;
    for (size_t i = sort.len - 8; i < sort.len; i++) {
        number = number * 10 + (size_t)(sort.ptr[i] - '0');
    }
    return number;
}

static size_t ascending(size_t i)
{
    return i;
}

static size_t descending(size_t i)
{
    return MANY - i;
}

/* Each between the two that came before: labels between them run out soon. */
static size_t inward(size_t i)
{
    return i % 2 == 0 ? i / 2 : MANY - i / 2;
}

static size_t scattered(size_t i)
{
    return i * 7919 % 2003;
}

static const struct {
    const char *says;
    size_t (*number)(size_t i);
} orders[] = {{"ascending", ascending},
              {"descending", descending},
              {"inward", inward},
              {"scattered", scattered}};

START_TEST(long_sort_keys_stay_in_order)
{
    fixture_make(&table, "PK:S", "SK:S");
    for (size_t i = 0; i < MANY; i++) {
        struct value item = long_item(orders[_i].number(i));
        ck_assert_int_eq(fixture_put(&table, item), OUTCOME_APPLIED);
        ck_assert_int_eq(fixture_put(&table, item), OUTCOME_UNCHANGED);
    }
    ck_assert(fixture_flush(&table));
    struct value *found = NULL;
    ck_assert_uint_eq(fixture_scan(&table, 3, 100, &found), MANY);
    for (size_t i = 1; i < MANY; i++) {
        ck_assert_msg(number_of(found[i - 1]) < number_of(found[i]), "%s: at %zu", orders[_i].says,
                      i);
    }
    ck_assert_uint_eq(fixture_verify(&table), 0);
    fixture_remove(&table);
}
END_TEST

/* All keys as long as DynamoDB allows, of bytes that need the most room, apart in the last one; and
 * an item of the largest size, or `over`. */
static struct value largest(unsigned char last, size_t over)
{
    char partition[PARTITION_KEY_MAX_BYTES] = {0};
    char sort[SORT_KEY_MAX_BYTES] = {0};
    struct value item = {NULL, 0};
    partition[sizeof partition - 1] = (char)(last / 3);
    sort[sizeof sort - 1] = (char)(last % 3);
    size_t names = 2 + 2 + 3 + 3 + 1;
    size_t rest = ITEM_MAX_BYTES + over - sizeof partition - 3 * sizeof sort - names;
    char *filler = arena_bytes(table.arena, rest);
    memset(filler, 'f', rest);
    struct value pk = value_binary(table.arena, (struct str){partition, sizeof partition});
    struct value sk = value_binary(table.arena, (struct str){sort, sizeof sort});
    struct attribute members[] = {
        {STR("PK"), pk},
        {STR("SK"), sk},
        {STR("GPK"), sk},
        {STR("GSK"), value_binary(table.arena, (struct str){sort, sizeof sort})},
        {STR("F"), value_binary(table.arena, (struct str){filler, rest})}};
    ck_assert(value_map(table.arena, members, 5, &item, &table.err));
    return item;
}

START_TEST(the_largest_keys_and_items_have_room)
{
    struct index_desc index = fixture_index("by-g", "GPK:B", "GSK:B");
    struct value *found = NULL;
    fixture_make_indexed(&table, "PK:B", "SK:B", &index, 1);
    for (unsigned char i = 0; i < 9; i++) {
        ck_assert_int_eq(fixture_put(&table, largest(i, 0)), OUTCOME_APPLIED);
    }
    ck_assert_int_eq(fixture_put(&table, largest(9, 1)), OUTCOME_REJECTED);
    ck_assert(fixture_flush(&table));
    for (unsigned char i = 0; i < 9; i++) {
        ck_assert(value_equal(fixture_get(&table, largest(i, 0)).item, largest(i, 0)));
    }
    struct query query = {.partition = {value_member(largest(4, 0), STR("PK"))}};
    ck_assert_uint_eq(fixture_query(&table, query, &found), 3);
    query.index = STR("by-g");
    query.partition[0] = value_member(largest(4, 0), STR("GPK"));
    query.limits.items = 1;
    ck_assert_uint_eq(fixture_query(&table, query, &found), 3);
    ck_assert_uint_eq(fixture_verify(&table), 0);
    fixture_remove(&table);
}
END_TEST

START_TEST(a_table_agrees_with_an_array)
{
    property_check("a_table_agrees_with_an_array", rule_table_agrees_with_model);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("entry");
    tcase_set_timeout(cases, 300);
    tcase_add_loop_test(cases, long_sort_keys_stay_in_order, 0, ROWS(orders));
    tcase_add_test(cases, the_largest_keys_and_items_have_room);
    tcase_add_test(cases, a_table_agrees_with_an_array);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_entry");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
