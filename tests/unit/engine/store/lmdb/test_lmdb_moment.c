/* What is open for reading only is read as of one moment, whatever a run writes meanwhile. */
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOME = 200, PAGE = 50, NOBODY = 65534 };

static struct fixture table;
static int to_child[2];
static int to_parent[2];

static void make(void)
{
    fixture_make(&table, "PK:S", NULL);
    for (size_t i = 0; i < SOME; i++) {
        struct str json = arena_format(table.arena, "{\"PK\":{\"S\":\"%zu\"}}", i);
        ck_assert_int_eq(fixture_put(&table, fixture_item(table.arena, json.ptr)), OUTCOME_APPLIED);
    }
    ck_assert(fixture_flush(&table));
    fixture_close(&table);
    ck_assert_int_eq(pipe(to_child), 0);
    ck_assert_int_eq(pipe(to_parent), 0);
}

static void destroy(void)
{
    int ends[] = {to_child[0], to_child[1], to_parent[0], to_parent[1]};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)close(ends[i]);
    }
    fixture_remove(&table);
}

static bool read_page(struct page *page, struct str cursor)
{
    struct page_limits limits = {.items = PAGE};
    struct page_place place = {{0, 1}, cursor, &limits};
    return store_read_page(table.reader, &place, page, &table.err);
}

/* Those that stood before the parent wrote. */
static size_t count_old(const struct page *page)
{
    size_t count = 0;
    for (size_t i = 0; i < page->count; i++) {
        struct str key = value_bytes(value_member(page->items[i].item, STR("PK")));
        count += key.ptr[0] == 'x' ? 0 : 1;
    }
    return count;
}

/* In the child: a page, then the parent writes, then the rest. Exit 1: not all could be read. */
static void read_meanwhile(void)
{
    struct page page = {.last = false};
    struct str cursor = STR("");
    char word = 0;
    size_t count = 0;
    bool ok = fixture_open(&table, STORE_READ) && read_page(&page, cursor);
    ok = write(to_parent[1], "r", 1) == 1 && read(to_child[0], &word, 1) == 1 && ok;
    count = count_old(&page);
    while (ok && !page.last) {
        cursor = arena_copy(table.arena, page.cursor);
        ok = read_page(&page, cursor);
        count += count_old(&page);
    }
    bool said = strstr(table.err.text, "was written while it was read") != NULL;
    _exit(ok && count == SOME ? 0 : said ? 2 : 1);
}

/* Deletes every item and puts others; twice, as LMDB uses pages again from the second commit on. */
static void write_meanwhile(void)
{
    ck_assert_msg(fixture_open(&table, STORE_WRITE), "%s", table.err.text);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < SOME; i++) {
            struct str old =
                arena_format(table.arena, "{\"PK\":{\"S\":\"%.*s%zu\"}}", (int)round, "xxx", i);
            struct str new =
                arena_format(table.arena, "{\"PK\":{\"S\":\"%.*s%zu\"}}", (int)round + 1, "xxx", i);
            struct value gone = fixture_item(table.arena, old.ptr);
            struct write delete = {.kind = WRITE_DELETE, .key = fixture_key(&table, gone)};
            delete.stamp = fixture_get(&table, gone).stamp;
            ck_assert_int_eq(fixture_write(&table, delete), OUTCOME_APPLIED);
            ck_assert_int_eq(fixture_put(&table, fixture_item(table.arena, new.ptr)),
                             OUTCOME_APPLIED);
        }
        ck_assert(fixture_flush(&table));
    }
}

static int status_of_reader(bool is_nobody)
{
    char word = 0;
    pid_t child = fork();
    if (child == 0) {
        if (is_nobody && geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(3);
        }
        read_meanwhile();
    }
    ck_assert_int_eq(read(to_parent[0], &word, 1), 1);
    write_meanwhile();
    ck_assert_int_eq(write(to_child[1], "w", 1), 1);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(all_pages_are_as_of_one_moment)
{
    ck_assert_int_eq(status_of_reader(false), 0);
}
END_TEST

START_TEST(who_may_not_lock_is_told_that_the_table_was_written)
{
    ck_assert_int_eq(chmod(table.folder, 0755), 0);
    (void)unlink(arena_format(table.arena, "%s-lock", table.path).ptr);
    ck_assert_int_eq(status_of_reader(true), 2);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("cases");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, all_pages_are_as_of_one_moment);
    tcase_add_test(cases, who_may_not_lock_is_told_that_the_table_was_written);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_moment");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
