/* A file has one lease and one lock file, whatever it is called by, and who gets the lease goes by
 * what the table is then. */
#include "engine/store/lmdb/lmdb_store.h"
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fixture table;

static void make(void)
{
    fixture_make(&table, "PK:S", NULL);
    fixture_close(&table);
}

static const char *beside(const char *name)
{
    return arena_format(table.arena, "%s/%s", table.folder, name).ptr;
}

static void destroy(void)
{
    static const char *const links[] = {"link.refold", "middle.refold", "a.refold", "b.refold",
                                        "other.refold"};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        (void)unlink(beside(links[i]));
    }
    fixture_remove(&table);
}

static bool in_child(bool (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        _exit(body() ? 0 : 1);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool open_as(const char *path, struct store **out)
{
    struct store_options options = {.mode = STORE_WRITE};
    return lmdb_store_open(path, &options, out, &table.err);
}

/* --- names --- */

static bool is_busy_by_link(void)
{
    struct store *other = NULL;
    return open_as(beside("link.refold"), &other) && !store_lease_take(other, "me", &table.err) &&
           table.err.code == ERROR_BUSY;
}

START_TEST(a_symbolic_link_has_no_lease_of_its_own)
{
    ck_assert_int_eq(symlink("middle.refold", beside("link.refold")), 0);
    ck_assert_int_eq(symlink(table.path, beside("middle.refold")), 0);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert_msg(in_child(is_busy_by_link), "%s", table.err.text);
    ck_assert_int_ne(access(beside("link.refold-lock"), F_OK), 0);
    ck_assert_int_ne(access(beside("link.refold-run"), F_OK), 0);
}
END_TEST

START_TEST(a_table_is_made_and_removed_behind_a_link)
{
    struct table_desc desc = {.name = STR("t"), .keys = fixture_keys("PK:S", NULL)};
    struct store_options options = {.mode = STORE_CREATE, .create = &desc};
    struct store *made = NULL;
    ck_assert_int_eq(symlink("new.refold", beside("link.refold")), 0);
    ck_assert_msg(lmdb_store_open(beside("link.refold"), &options, &made, &table.err), "%s",
                  table.err.text);
    ck_assert_int_eq(access(beside("new.refold-run"), F_OK), 0);
    lmdb_store_remove(beside("link.refold"));
    store_close(made);
    ck_assert_int_ne(access(beside("new.refold"), F_OK), 0);
    ck_assert_int_ne(access(beside("new.refold-lock"), F_OK), 0);
    ck_assert_int_ne(access(beside("new.refold-run"), F_OK), 0);
}
END_TEST

START_TEST(links_in_a_circle_are_an_error)
{
    struct store *none = NULL;
    ck_assert_int_eq(symlink("b.refold", beside("a.refold")), 0);
    ck_assert_int_eq(symlink("a.refold", beside("b.refold")), 0);
    ck_assert(!open_as(beside("a.refold"), &none));
    ck_assert_int_eq(table.err.code, ERROR_STORE);
}
END_TEST

START_TEST(a_file_of_two_names_is_read_and_not_written)
{
    struct store *none = NULL;
    ck_assert_int_eq(link(table.path, beside("other.refold")), 0);
    ck_assert(!open_as(table.path, &none));
    ck_assert_ptr_nonnull(strstr(table.err.text, "hard links"));
    ck_assert_msg(fixture_open(&table, STORE_READ), "%s", table.err.text);
}
END_TEST

/* --- what changes between opening a table and getting its lease --- */

static bool add_index(void)
{
    struct store *other = NULL;
    struct index_desc index = fixture_index("GSI", "A:S", NULL);
    return open_as(table.path, &other) && store_lease_take(other, "child", &table.err) &&
           store_index_create(other, &index, &table.err) &&
           store_index_finish(other, index.name, &table.err) && store_flush(other, &table.err);
}

START_TEST(an_index_that_another_run_made_is_kept)
{
    ck_assert(fixture_open(&table, STORE_WRITE));
    store_lease_release(table.store);
    ck_assert(in_child(add_index));
    ck_assert_msg(store_lease_take(table.store, "parent", &table.err), "%s", table.err.text);
    struct value item = fixture_item(table.arena, "{\"PK\":{\"S\":\"p\"},\"A\":{\"S\":\"a\"}}");
    ck_assert_int_eq(fixture_put(&table, item), OUTCOME_APPLIED);
    ck_assert(fixture_flush(&table));
    ck_assert_uint_eq(fixture_verify(&table), 0);
}
END_TEST

static bool make_anew(void)
{
    struct table_desc desc = {.name = STR("t"), .keys = fixture_keys("PK:S", NULL)};
    struct store_options options = {.mode = STORE_CREATE, .create = &desc};
    struct store *made = NULL;
    lmdb_store_remove(table.path);
    return lmdb_store_open(table.path, &options, &made, &table.err);
}

START_TEST(a_file_that_was_made_anew_is_not_taken_for_the_open_one)
{
    ck_assert(fixture_open(&table, STORE_WRITE));
    store_lease_release(table.store);
    ck_assert(in_child(make_anew));
    ck_assert(!store_lease_take(table.store, "parent", &table.err));
    ck_assert_int_eq(table.err.code, ERROR_BUSY);
    ck_assert_ptr_nonnull(strstr(table.err.text, "made anew"));
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_add_test(cases, a_symbolic_link_has_no_lease_of_its_own);
    tcase_add_test(cases, a_table_is_made_and_removed_behind_a_link);
    tcase_add_test(cases, links_in_a_circle_are_an_error);
    tcase_add_test(cases, a_file_of_two_names_is_read_and_not_written);
    tcase_add_test(cases, an_index_that_another_run_made_is_kept);
    tcase_add_test(cases, a_file_that_was_made_anew_is_not_taken_for_the_open_one);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_lease");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
