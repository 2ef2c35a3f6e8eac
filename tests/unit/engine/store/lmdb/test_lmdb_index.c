#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

/* Above what an index must have before commits leave it alone. */
enum { MANY = 45000 };

static struct fixture table;

static struct value item(const char *json)
{
    return fixture_item(table.arena, json);
}

static void put(const char *json)
{
    ck_assert_int_eq(fixture_put(&table, item(json)), OUTCOME_APPLIED);
}

static struct index_desc described(const char *name)
{
    struct table_desc desc;
    ck_assert(store_describe(table.store, table.arena, &desc, &table.err));
    for (size_t i = 0; i < desc.index_count; i++) {
        if (str_equal(desc.indexes[i].name, (struct str){name, strlen(name)})) {
            return desc.indexes[i];
        }
    }
    return (struct index_desc){.entry_count = UINT64_MAX};
}

static bool create(const char *name, const char *partition, const char *sort)
{
    struct index_desc index = fixture_index(name, partition, sort);
    return store_index_create(table.store, &index, &table.err);
}

static bool finish(void)
{
    return store_index_finish(table.store, STR("by-g"), &table.err);
}

static size_t query(const char *index, const char *partition, struct value **found)
{
    struct query query = {
        .index = {index, strlen(index)},
        .partition = {value_string(table.arena, (struct str){partition, strlen(partition)})},
        .limits = {.items = 2}};
    return fixture_query(&table, query, found);
}

START_TEST(an_index_is_filled_once_it_is_finished)
{
    struct value *found = NULL;
    fixture_make(&table, "PK:S", NULL);
    put("{\"PK\":{\"S\":\"1\"},\"G\":{\"S\":\"x\"},\"N\":{\"N\":\"10\"}}");
    put("{\"PK\":{\"S\":\"2\"},\"G\":{\"S\":\"x\"},\"N\":{\"N\":\"-1\"}}");
    put("{\"PK\":{\"S\":\"3\"},\"G\":{\"S\":\"x\"}}");
    ck_assert(create("by-g", "G:S", "N:N"));
    put("{\"PK\":{\"S\":\"4\"},\"G\":{\"S\":\"x\"},\"N\":{\"N\":\"2.5\"}}");
    ck_assert_int_eq(described("by-g").state, INDEX_CREATING);
    ck_assert_uint_eq(described("by-g").entry_count, 0);
    struct query unfilled = {.index = STR("by-g"),
                             .partition = {value_string(table.arena, STR("x"))}};
    struct page page;
    ck_assert(!store_query(table.reader, &unfilled, &page, &table.err));
    ck_assert_int_eq(table.err.code, ERROR_USAGE);
    ck_assert(finish());
    ck_assert_int_eq(described("by-g").state, INDEX_ACTIVE);
    ck_assert_uint_eq(query("by-g", "x", &found), 3);
    ck_assert(value_equal(found[0],
                          item("{\"PK\":{\"S\":\"2\"},\"G\":{\"S\":\"x\"},\"N\":{\"N\":\"-1\"}}")));
    ck_assert(value_equal(value_member(found[1], STR("PK")), value_string(table.arena, STR("4"))));
    ck_assert_uint_eq(fixture_verify(&table), 0);
    ck_assert(store_index_drop(table.store, STR("by-g"), &table.err));
    ck_assert_uint_eq(described("by-g").entry_count, UINT64_MAX);
    ck_assert(create("by-g", "N:N", NULL));
    ck_assert(finish());
    ck_assert_uint_eq(described("by-g").entry_count, 3);
    fixture_remove(&table);
}
END_TEST

static const struct {
    const char *says;
    const char *name;
    const char *partition;
    const char *sort;
} refused[] = {{"the name stands", "by-g", "X:S", NULL},
               {"too short a name", "ab", "X:S", NULL},
               {"a character that no name has", "by g", "X:S", NULL},
               {"a table key of another type", "by-x", "PK:N", NULL},
               {"an index key of another type", "by-x", "X:S", "G:B"},
               {"one attribute of two types", "by-x", "X:S", "X:N"}};

START_TEST(an_index_that_contradicts_is_refused)
{
    struct index_desc standing = fixture_index("by-g", "G:S", NULL);
    fixture_make_indexed(&table, "PK:S", NULL, &standing, 1);
    ck_assert_msg(!create(refused[_i].name, refused[_i].partition, refused[_i].sort), "%s",
                  refused[_i].says);
    ck_assert_int_eq(table.err.code, ERROR_PLAN);
    fixture_remove(&table);
}
END_TEST

START_TEST(a_wrong_index_key_is_rejected_unless_it_is_left_as_it_was)
{
    fixture_make(&table, "PK:S", NULL);
    put("{\"PK\":{\"S\":\"1\"},\"G\":{\"N\":\"1\"}}");
    ck_assert(create("by-g", "G:S", NULL));
    ck_assert(finish());
    ck_assert_uint_eq(described("by-g").entry_count, 0);
    struct value other = item("{\"PK\":{\"S\":\"2\"},\"G\":{\"S\":\"\"}}");
    ck_assert_int_eq(fixture_put(&table, other), OUTCOME_REJECTED);
    ck_assert_ptr_nonnull(strstr(table.err.text, "index by-g: key attribute G"));
    struct value standing = item("{\"PK\":{\"S\":\"1\"}}");
    struct write update = {.kind = WRITE_UPDATE,
                           .key = fixture_key(&table, standing),
                           .stamp = fixture_get(&table, standing).stamp};
    update.item = item("{\"PK\":{\"S\":\"1\"},\"G\":{\"N\":\"2\"}}");
    ck_assert_int_eq(fixture_write(&table, update), OUTCOME_REJECTED);
    update.item = item("{\"PK\":{\"S\":\"1\"},\"G\":{\"N\":\"1\"},\"X\":{\"S\":\"new\"}}");
    ck_assert_int_eq(fixture_write(&table, update), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    ck_assert_uint_eq(fixture_verify(&table), 0);
    fixture_remove(&table);
}
END_TEST

START_TEST(an_index_shows_what_it_projects)
{
    static const struct str include[] = {STR_INIT("Name")};
    struct value *found = NULL;
    struct index_desc indexes[] = {fixture_index("all", "G:S", NULL),
                                   fixture_index("keys", "G:S", "H:S"),
                                   fixture_index("some", "G:S", NULL)};
    indexes[1].projection = PROJECT_KEYS_ONLY;
    indexes[2].projection = PROJECT_INCLUDE;
    indexes[2].include = include;
    indexes[2].include_count = 1;
    fixture_make_indexed(&table, "PK:S", "SK:S", indexes, 3);
    const char *whole = "{\"PK\":{\"S\":\"1\"},\"SK\":{\"S\":\"2\"},\"G\":{\"S\":\"x\"},"
                        "\"H\":{\"S\":\"y\"},\"Name\":{\"S\":\"n\"},\"Rest\":{\"S\":\"r\"}}";
    put(whole);
    ck_assert(fixture_flush(&table));
    ck_assert_uint_eq(query("all", "x", &found), 1);
    ck_assert(value_equal(found[0], item(whole)));
    ck_assert_uint_eq(query("keys", "x", &found), 1);
    ck_assert(value_equal(found[0], item("{\"PK\":{\"S\":\"1\"},\"SK\":{\"S\":\"2\"},"
                                         "\"G\":{\"S\":\"x\"},\"H\":{\"S\":\"y\"}}")));
    ck_assert_uint_eq(query("some", "x", &found), 1);
    ck_assert(value_equal(found[0], item("{\"PK\":{\"S\":\"1\"},\"SK\":{\"S\":\"2\"},"
                                         "\"G\":{\"S\":\"x\"},\"Name\":{\"S\":\"n\"}}")));
    fixture_remove(&table);
}
END_TEST

START_TEST(items_that_tie_in_an_index_stay_distinct)
{
    struct value *found = NULL;
    struct index_desc index = fixture_index("by-g", "G:S", "H:S");
    fixture_make_indexed(&table, "PK:S", NULL, &index, 1);
    for (int i = 0; i < 25; i++) {
        put(arena_format(table.arena,
                         "{\"PK\":{\"S\":\"%d\"},\"G\":{\"S\":\"x\"},\"H\":{\"S\":\"y\"}}", i)
                .ptr);
    }
    ck_assert(fixture_flush(&table));
    ck_assert_uint_eq(query("by-g", "x", &found), 25);
    for (size_t i = 0; i < 25; i++) {
        for (size_t j = 0; j < i; j++) {
            ck_assert(!value_equal(found[i], found[j]));
        }
    }
    fixture_remove(&table);
}
END_TEST

/* --- an index of which a pass changes much --- */

static struct value numbered(size_t i, const char *group)
{
    return item(
        arena_format(table.arena, "{\"PK\":{\"S\":\"%06zu\"},\"G\":{\"S\":\"%s\"}}", i, group).ptr);
}

static void load_many(const char *group)
{
    struct value *items = arena_alloc(table.arena, MANY * sizeof *items);
    for (size_t i = 0; i < MANY; i++) {
        items[i] = numbered(i, group);
    }
    ck_assert_msg(fixture_load(&table, items, MANY), "%s", table.err.text);
}

static void put_many(const char *group, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct write put = {.kind = WRITE_PUT, .overwrite = true, .item = numbered(i, group)};
        ck_assert_int_ne(fixture_write(&table, put), OUTCOME_STALE);
    }
}

static void make_many(void)
{
    struct index_desc index = fixture_index("by-g", "G:S", NULL);
    fixture_make_indexed(&table, "PK:S", NULL, &index, 1);
    load_many("old");
    put_many("new", 0, 9000);
    ck_assert_int_eq(described("by-g").state, INDEX_ACTIVE);
    put_many("new", 9000, 20000);
    ck_assert_int_eq(described("by-g").state, INDEX_BEHIND);
}

static void expect_made_anew(void)
{
    struct value *found = NULL;
    ck_assert_int_eq(described("by-g").state, INDEX_ACTIVE);
    ck_assert_uint_eq(query("by-g", "old", &found), MANY - 20000);
    ck_assert_uint_eq(query("by-g", "new", &found), 20000);
    ck_assert_uint_eq(fixture_verify(&table), 0);
}

START_TEST(an_index_that_changes_much_is_made_anew)
{
    struct value *found = NULL;
    make_many();
    size_t answered = query("by-g", "old", &found);
    ck_assert_uint_gt(answered, MANY - 20000);
    ck_assert_uint_lt(answered, MANY);
    for (size_t i = 1; i < answered; i++) {
        ck_assert(!value_equal(found[i - 1], found[i]));
    }
    ck_assert(fixture_flush(&table));
    ck_assert_uint_eq(query("by-g", "old", &found), answered);
    ck_assert(finish());
    expect_made_anew();
    fixture_remove(&table);
}
END_TEST

START_TEST(an_index_left_behind_by_a_crash_is_made_anew)
{
    make_many();
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert_uint_eq(fixture_verify(&table), 1);
    put_many("new", 0, 20000);
    ck_assert(finish());
    expect_made_anew();
    fixture_remove(&table);
}
END_TEST

/* --- asked to stop --- */

/* Stops the store once it has come so far. */
struct stopper {
    atomic_bool stop;
    bool reads;
    uint64_t told; /* how often */
};

static void note_growth(void *context, const struct index_growth *growth)
{
    struct stopper *stopper = context;
    ck_assert_uint_le(growth->done, growth->total);
    ck_assert_uint_le(growth->total, MANY);
    stopper->told++;
    if (growth->reads == stopper->reads) {
        atomic_store(&stopper->stop, true);
    }
}

static void open_stoppable(struct stopper *stopper)
{
    table.options = (struct store_options){
        .voice = {.index_grows = note_growth, .context = stopper}, .stop = &stopper->stop};
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
}

static void expect_stopped(struct stopper *stopper, enum index_state state)
{
    ck_assert(!finish());
    ck_assert_int_eq(table.err.code, ERROR_STOPPED);
    ck_assert_uint_gt(stopper->told, 0);
    ck_assert_int_eq(described("by-g").state, state);
    table.options = (struct store_options){.stop = NULL};
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert_int_eq(described("by-g").state, state);
    ck_assert_uint_eq(fixture_verify(&table), 1);
}

static const struct {
    const char *says;
    bool reads;
} phases[] = {{"while items are read", true}, {"while it gets entries", false}};

START_TEST(an_index_that_is_stopped_is_filled_by_the_next_call)
{
    struct value *found = NULL;
    struct stopper stopper = {.reads = phases[_i].reads};
    fixture_make(&table, "PK:S", NULL);
    load_many("old");
    open_stoppable(&stopper);
    ck_assert(create("by-g", "G:S", NULL));
    expect_stopped(&stopper, INDEX_CREATING);
    ck_assert(finish());
    ck_assert_int_eq(described("by-g").state, INDEX_ACTIVE);
    ck_assert_uint_eq(query("by-g", "old", &found), MANY);
    ck_assert_uint_eq(fixture_verify(&table), 0);
    fixture_remove(&table);
}
END_TEST

START_TEST(an_index_that_is_stopped_while_it_is_made_anew_answers_as_before)
{
    struct value *found = NULL;
    struct stopper stopper = {.reads = phases[_i].reads};
    make_many();
    ck_assert(fixture_flush(&table));
    size_t answered = query("by-g", "old", &found);
    open_stoppable(&stopper);
    expect_stopped(&stopper, INDEX_BEHIND);
    ck_assert_uint_eq(query("by-g", "old", &found), answered);
    ck_assert(finish());
    expect_made_anew();
    fixture_remove(&table);
}
END_TEST

static size_t count_index_trees(void)
{
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    MDB_dbi main_tree;
    MDB_cursor *cursor = NULL;
    MDB_val name;
    MDB_val ignored;
    size_t count = 0;
    ck_assert_int_eq(mdb_env_create(&env), 0);
    /* The file's own 1 TiB does not always fit beside what a sanitizer maps. */
    ck_assert_int_eq(mdb_env_set_mapsize(env, (size_t)64 << 20), 0);
    ck_assert_int_eq(mdb_env_open(env, table.path, MDB_NOSUBDIR | MDB_RDONLY, 0), 0);
    ck_assert_int_eq(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
    ck_assert_int_eq(mdb_dbi_open(txn, NULL, 0, &main_tree), 0);
    ck_assert_int_eq(mdb_cursor_open(txn, main_tree, &cursor), 0);
    while (mdb_cursor_get(cursor, &name, &ignored, MDB_NEXT) == 0) {
        count += memcmp(name.mv_data, "index:", sizeof "index:" - 1) == 0 ? 1 : 0;
    }
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return count;
}

START_TEST(an_index_that_is_dropped_leaves_no_tree)
{
    struct stopper stopper = {.reads = false};
    make_many();
    ck_assert(fixture_flush(&table));
    open_stoppable(&stopper);
    expect_stopped(&stopper, INDEX_BEHIND);
    ck_assert(store_index_drop(table.store, STR("by-g"), &table.err));
    ck_assert_uint_eq(fixture_verify(&table), 0);
    fixture_close(&table);
    ck_assert_uint_eq(count_index_trees(), 0);
    ck_assert(fixture_open(&table, STORE_WRITE));
    fixture_remove(&table);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("index");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, an_index_is_filled_once_it_is_finished);
    tcase_add_loop_test(cases, an_index_that_contradicts_is_refused, 0, ROWS(refused));
    tcase_add_test(cases, a_wrong_index_key_is_rejected_unless_it_is_left_as_it_was);
    tcase_add_test(cases, an_index_shows_what_it_projects);
    tcase_add_test(cases, items_that_tie_in_an_index_stay_distinct);
    tcase_add_test(cases, an_index_that_changes_much_is_made_anew);
    tcase_add_test(cases, an_index_left_behind_by_a_crash_is_made_anew);
    tcase_add_loop_test(cases, an_index_that_is_stopped_is_filled_by_the_next_call, 0,
                        ROWS(phases));
    tcase_add_loop_test(cases, an_index_that_is_stopped_while_it_is_made_anew_answers_as_before, 0,
                        ROWS(phases));
    tcase_add_test(cases, an_index_that_is_dropped_leaves_no_tree);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_index");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
