#include "engine/store/lmdb/lmdb_store.h"
#include "tests/rules/lmdb_damage.h"
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>

enum { SOME = 20 };

static struct fixture table;
static char findings[4096];

static void make(void)
{
    struct index_desc index = fixture_index("by-g", "G:S", NULL);
    fixture_make_indexed(&table, "PK:S", NULL, &index, 1);
    for (size_t i = 0; i < SOME; i++) {
        struct str json =
            arena_format(table.arena, "{\"PK\":{\"S\":\"k%zu\"},\"G\":{\"S\":\"g%zu\"}}", i, i % 3);
        ck_assert_int_eq(fixture_put(&table, fixture_item(table.arena, json.ptr)), OUTCOME_APPLIED);
    }
    ck_assert(fixture_flush(&table));
    fixture_close(&table);
}

static void destroy(void)
{
    fixture_remove(&table);
}

/* --- what may go wrong behind the store's back --- */

static void delete_first(MDB_txn *txn, const char *tree)
{
    MDB_dbi dbi = 0;
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    ck_assert_int_eq(mdb_dbi_open(txn, tree, 0, &dbi), 0);
    ck_assert_int_eq(mdb_cursor_open(txn, dbi, &cursor), 0);
    ck_assert_int_eq(mdb_cursor_get(cursor, &key, &value, MDB_FIRST), 0);
    ck_assert_int_eq(mdb_cursor_del(cursor, 0), 0);
    mdb_cursor_close(cursor);
}

static void lose_an_item(MDB_txn *txn)
{
    delete_first(txn, "items");
}

static void lose_an_entry(MDB_txn *txn)
{
    delete_first(txn, "index:by-g:0");
}

static void misplace_an_item(MDB_txn *txn)
{
    MDB_dbi dbi = 0;
    MDB_cursor *cursor = NULL;
    MDB_val key;
    MDB_val value;
    unsigned char copy[512];
    ck_assert_int_eq(mdb_dbi_open(txn, "items", 0, &dbi), 0);
    ck_assert_int_eq(mdb_cursor_open(txn, dbi, &cursor), 0);
    ck_assert_int_eq(mdb_cursor_get(cursor, &key, &value, MDB_FIRST), 0);
    memcpy(copy, value.mv_data, value.mv_size);
    MDB_val record = {value.mv_size, copy};
    ck_assert_int_eq(mdb_cursor_del(cursor, 0), 0);
    mdb_cursor_close(cursor);
    unsigned char elsewhere[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 'x'};
    MDB_val at = {sizeof elsewhere, elsewhere};
    ck_assert_int_eq(mdb_put(txn, dbi, &at, &record, 0), 0);
}

static void miscount(MDB_txn *txn)
{
    MDB_dbi dbi = 0;
    char name[] = "size_bytes";
    unsigned char wrong[8] = {0};
    MDB_val key = {sizeof name - 1, name};
    MDB_val value = {sizeof wrong, wrong};
    ck_assert_int_eq(mdb_dbi_open(txn, "meta", 0, &dbi), 0);
    ck_assert_int_eq(mdb_put(txn, dbi, &key, &value, 0), 0);
}

static void spoil_an_undo_frame(MDB_txn *txn)
{
    MDB_dbi dbi = 0;
    unsigned char name[16] = {0};
    MDB_val key = {sizeof name, name};
    MDB_val value = {sizeof name, name};
    ck_assert_int_eq(mdb_dbi_open(txn, "undo", 0, &dbi), 0);
    ck_assert_int_eq(mdb_put(txn, dbi, &key, &value, 0), 0);
}

static const struct {
    const char *says;
    void (*change)(MDB_txn *txn);
    const char *finding;
} changes[] = {
    {"an item is gone", lose_an_item, "index by-g: entry"},
    {"an entry is gone", lose_an_entry, "index by-g has no entry for item PK='k"},
    {"an item stands elsewhere", misplace_an_item, "is in the wrong place"},
    {"the size is wrong", miscount, "the table counts 0 bytes"},
    {"a frame is no frame", spoil_an_undo_frame, "a frame of the undo log"},
};

static void note(void *context, const char *text)
{
    (void)context;
    size_t used = strlen(findings);
    (void)snprintf(findings + used, sizeof findings - used, "%s\n", text);
}

START_TEST(verify_finds_what_went_wrong)
{
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    ck_assert_int_eq(mdb_env_create(&env), 0);
    ck_assert_int_eq(mdb_env_set_maxdbs(env, 8), 0);
    /* The terabyte of the file's own setting does not fit beside a sanitizer's memory. */
    ck_assert_int_eq(mdb_env_set_mapsize(env, (size_t)64 << 20), 0);
    ck_assert_int_eq(mdb_env_open(env, table.path, MDB_NOSUBDIR, 0644), 0);
    ck_assert_int_eq(mdb_txn_begin(env, NULL, 0, &txn), 0);
    changes[_i].change(txn);
    ck_assert_int_eq(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
    ck_assert(fixture_open(&table, STORE_READ));
    ck_assert(store_verify(table.store, note, NULL, &table.err));
    ck_assert_msg(strstr(findings, changes[_i].finding) != NULL, "%s: %s", changes[_i].says,
                  findings);
}
END_TEST

START_TEST(verify_finds_nothing_in_a_sound_table)
{
    ck_assert(fixture_open(&table, STORE_READ));
    ck_assert_uint_eq(fixture_verify(&table), 0);
}
END_TEST

START_TEST(damage_is_an_error)
{
    property_check("damage_is_an_error", rule_damage_is_an_error);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("verify");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, verify_finds_what_went_wrong, 0, ROWS(changes));
    tcase_add_test(cases, verify_finds_nothing_in_a_sound_table);
    tcase_add_test(cases, damage_is_an_error);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_verify");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
