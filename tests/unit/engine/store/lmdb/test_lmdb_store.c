#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_store.h"
#include "tests/rules/lmdb_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, SOME = 200, NOBODY = 65534 };

static struct fixture table;

static struct value numbered(size_t i)
{
    return fixture_item(table.arena, arena_format(table.arena, "{\"PK\":{\"S\":\"%zu\"}}", i).ptr);
}

static void make(void)
{
    fixture_make(&table, "PK:S", NULL);
    for (size_t i = 0; i < SOME; i++) {
        ck_assert_int_eq(fixture_put(&table, numbered(i)), OUTCOME_APPLIED);
    }
    ck_assert(fixture_flush(&table));
    fixture_close(&table);
}

static void destroy(void)
{
    fixture_remove(&table);
}

static size_t folder_count(void)
{
    size_t count = 0;
    DIR *folder = opendir(table.folder);
    ck_assert_ptr_nonnull(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count - 2;
}

START_TEST(a_table_is_made_once)
{
    struct table_desc desc = {.name = STR("t"), .keys = fixture_keys("PK:S", NULL)};
    struct store_options options = {.mode = STORE_CREATE, .create = &desc};
    ck_assert(!lmdb_store_open(table.path, &options, &table.store, &table.err));
    ck_assert_int_eq(table.err.code, ERROR_STORE);
    ck_assert_ptr_nonnull(strstr(table.err.text, "is there already"));
    const char *path = arena_format(table.arena, "%s/none/t.refold", table.folder).ptr;
    ck_assert(!lmdb_store_open(path, &options, &table.store, &table.err));
    ck_assert_ptr_nonnull(strstr(table.err.text, "t.refold cannot be made: its folder does not"));
}
END_TEST

START_TEST(a_creation_that_was_broken_off_is_taken_up)
{
    ck_assert_int_eq(truncate(table.path, 0), 0);
    ck_assert(!fixture_open(&table, STORE_READ));
    ck_assert_ptr_nonnull(strstr(table.err.text, "its creation was interrupted"));
    struct table_desc desc = {.name = STR("t"), .keys = fixture_keys("PK:S", NULL)};
    struct store_options options = {.mode = STORE_CREATE, .create = &desc};
    ck_assert_msg(lmdb_store_open(table.path, &options, &table.store, &table.err), "%s",
                  table.err.text);
}
END_TEST

START_TEST(a_file_without_a_first_commit_holds_nothing)
{
    MDB_env *env = NULL;
    ck_assert_int_eq(unlink(table.path), 0);
    ck_assert_int_eq(mdb_env_create(&env), 0);
    ck_assert_int_eq(mdb_env_open(env, table.path, MDB_NOSUBDIR, 0644), 0);
    mdb_env_close(env);
    ck_assert(!fixture_open(&table, STORE_WRITE));
    ck_assert_ptr_nonnull(strstr(table.err.text, "its creation was interrupted"));
}
END_TEST

START_TEST(a_creation_that_is_refused_leaves_nothing)
{
    struct index_desc index = fixture_index("by-pk", "PK:N", NULL);
    struct table_desc desc = {
        .name = STR("t"), .keys = fixture_keys("PK:S", NULL), .indexes = &index, .index_count = 1};
    struct store_options options = {.mode = STORE_CREATE, .create = &desc};
    const char *path = arena_format(table.arena, "%s/other.refold", table.folder).ptr;
    size_t files = folder_count();
    ck_assert(!lmdb_store_open(path, &options, &table.store, &table.err));
    ck_assert_int_eq(table.err.code, ERROR_PLAN);
    ck_assert_uint_eq(folder_count(), files);
}
END_TEST

START_TEST(another_table_has_another_identity)
{
    struct table_desc first;
    struct table_desc second;
    ck_assert(fixture_open(&table, STORE_READ));
    ck_assert(store_describe(table.store, table.arena, &first, &table.err));
    fixture_close(&table);
    ck_assert_int_eq(unlink(table.path), 0);
    struct table_desc desc = {.name = STR("t"), .keys = fixture_keys("PK:S", NULL)};
    struct store_options options = {.mode = STORE_CREATE, .create = &desc};
    ck_assert(lmdb_store_open(table.path, &options, &table.store, &table.err));
    ck_assert(store_describe(table.store, table.arena, &second, &table.err));
    ck_assert_uint_eq(first.identity.len, 32);
    ck_assert(!str_equal(first.identity, second.identity));
}
END_TEST

/* --- files that are no table, or no longer one --- */

static void spoil(off_t at, const void *bytes, size_t len)
{
    int fd = open(table.path, O_WRONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, bytes, len, at), (ssize_t)len);
    (void)close(fd);
}

static off_t file_size(void)
{
    struct stat stat_buffer;
    ck_assert_int_eq(stat(table.path, &stat_buffer), 0);
    return stat_buffer.st_size;
}

static void make_absent(void)
{
    ck_assert_int_eq(unlink(table.path), 0);
}

static void cut_a_byte(void)
{
    ck_assert_int_eq(truncate(table.path, file_size() - 1), 0);
}

static void cut_in_half(void)
{
    ck_assert_int_eq(truncate(table.path, file_size() / 2), 0);
}

static void cut_the_second_page(void)
{
    ck_assert_int_eq(truncate(table.path, PAGE_BYTES), 0);
}

static void write_text(void)
{
    ck_assert_int_eq(truncate(table.path, 0), 0);
    spoil(0, "PK,SK,Total\n", 12);
}

static void write_noise(void)
{
    unsigned char noise[4 * PAGE_BYTES];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof noise; i++) {
        state = state * 1664525 + 1013904223;
        noise[i] = (unsigned char)(state >> 24);
    }
    spoil(0, noise, sizeof noise);
}

static void spoil_second_page(void)
{
    spoil(PAGE_BYTES, "garbage garbage garbage garbage", 31);
}

static void spoil_both_roots(void)
{
    uint64_t far = 1 << 30;
    spoil(128, &far, sizeof far);
    spoil(PAGE_BYTES + 128, &far, sizeof far);
}

static const struct {
    const char *says;
    void (*spoil)(void);
    enum error_code code;
    const char *text;
} spoilt[] = {
    {"no file", make_absent, ERROR_STORE, "does not exist"},
    {"a byte short", cut_a_byte, ERROR_DAMAGED, "bytes of"},
    {"half of it", cut_in_half, ERROR_DAMAGED, "bytes of"},
    {"one page of it", cut_the_second_page, ERROR_DAMAGED, "cut short"},
    {"a text file", write_text, ERROR_DAMAGED, "cut short"},
    {"noise", write_noise, ERROR_STORE, "is not a refold table"},
    {"its second page spoilt", spoil_second_page, ERROR_DAMAGED, "second page"},
    {"its roots spoilt", spoil_both_roots, ERROR_DAMAGED, "contradict"},
};

START_TEST(a_spoilt_file_is_an_error_that_says_so)
{
    spoilt[_i].spoil();
    static const enum store_mode modes[] = {STORE_READ, STORE_WRITE};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_msg(!fixture_open(&table, modes[i]), "%s", spoilt[_i].says);
        ck_assert_msg(table.err.code == spoilt[_i].code, "%s: %s", spoilt[_i].says, table.err.text);
        ck_assert_msg(strstr(table.err.text, spoilt[_i].text) != NULL, "%s: %s", spoilt[_i].says,
                      table.err.text);
    }
}
END_TEST

START_TEST(a_newer_format_is_refused)
{
    MDB_env *env = NULL;
    MDB_txn *txn = NULL;
    MDB_dbi meta = 0;
    unsigned char newer[] = {0, 0, 0, 0, 0, 0, 0, 2};
    char format[] = "format";
    MDB_val name = {6, format};
    MDB_val value = {sizeof newer, newer};
    ck_assert_int_eq(mdb_env_create(&env), 0);
    ck_assert_int_eq(mdb_env_set_maxdbs(env, 4), 0);
    /* The terabyte of the file's own setting does not fit beside a sanitizer's memory. */
    ck_assert_int_eq(mdb_env_set_mapsize(env, (size_t)64 << 20), 0);
    ck_assert_int_eq(mdb_env_open(env, table.path, MDB_NOSUBDIR, 0644), 0);
    ck_assert_int_eq(mdb_txn_begin(env, NULL, 0, &txn), 0);
    ck_assert_int_eq(mdb_dbi_open(txn, "meta", 0, &meta), 0);
    ck_assert_int_eq(mdb_put(txn, meta, &name, &value, 0), 0);
    ck_assert_int_eq(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
    ck_assert(!fixture_open(&table, STORE_READ));
    ck_assert_int_eq(table.err.code, ERROR_STORE);
    ck_assert_ptr_nonnull(strstr(table.err.text, "format 2"));
}
END_TEST

START_TEST(a_record_that_was_changed_is_named)
{
    /* The item of key '7' changes in the file: a bit of its attribute's name. */
    FILE *file = fopen(table.path, "r+");
    ck_assert_ptr_nonnull(file);
    size_t size = (size_t)file_size();
    char *bytes = arena_bytes(table.arena, size);
    ck_assert_uint_eq(fread(bytes, 1, size, file), size);
    (void)fclose(file);
    static const char item[] = "\x02PK\x01\x01"
                               "7";
    for (size_t i = 0; i + sizeof item < size; i++) {
        if (memcmp(bytes + i, item, sizeof item - 1) == 0) {
            spoil((off_t)i + 1, "Q", 1);
        }
    }
    ck_assert(fixture_open(&table, STORE_READ));
    struct page page;
    struct segment all = {0, 1};
    ck_assert(!store_read_page(table.reader, &(struct page_place){all, STR(""), NULL}, &page,
                               &table.err));
    ck_assert_int_eq(table.err.code, ERROR_DAMAGED);
    ck_assert_msg(strstr(table.err.text, "key \\x017 fails") != NULL, "%s", table.err.text);
    ck_assert_uint_eq(fixture_verify(&table), 2);
}
END_TEST

/* --- rights --- */

/* Runs in a child without the rights of root; true if it did well. */
static bool as_nobody(void (*test)(void))
{
    ck_assert_int_eq(chmod(table.folder, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(2);
        }
        test();
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void read_all(void)
{
    struct value *found = NULL;
    if (!fixture_open(&table, STORE_READ) || fixture_scan(&table, 1, 0, &found) != SOME) {
        _exit(1);
    }
    fixture_close(&table);
}

static void be_refused_as_busy(void)
{
    if (fixture_open(&table, STORE_READ) || table.err.code != ERROR_BUSY) {
        _exit(1);
    }
}

START_TEST(reading_needs_no_right_to_write)
{
    (void)unlink(arena_format(table.arena, "%s-lock", table.path).ptr);
    size_t files = folder_count();
    ck_assert(as_nobody(read_all));
    ck_assert_uint_eq(folder_count(), files);
}
END_TEST

START_TEST(a_reader_that_no_run_would_know_of_is_refused_during_a_run)
{
    ck_assert(fixture_open(&table, STORE_WRITE));
    struct fixture writer = table;
    ck_assert(as_nobody(be_refused_as_busy));
    table = writer;
}
END_TEST

/* --- the lease --- */

START_TEST(a_lease_has_one_owner_who_is_named)
{
    struct str owner;
    ck_assert(fixture_open(&table, STORE_READ));
    ck_assert(store_lease_owner(table.store, table.arena, &owner, &table.err));
    ck_assert_ptr_null(owner.ptr);
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    ck_assert(store_lease_take(table.store, "process 7 on here", &table.err));
    ck_assert(store_lease_owner(table.store, table.arena, &owner, &table.err));
    ck_assert(str_equal(owner, STR("process 7 on here")));
    pid_t child = fork();
    if (child == 0) {
        struct store_options options = {.mode = STORE_WRITE};
        struct store *other = NULL;
        bool busy = lmdb_store_open(table.path, &options, &other, &table.err) &&
                    !store_lease_take(other, "me", &table.err) && table.err.code == ERROR_BUSY &&
                    strstr(table.err.text, "process 7 on here") != NULL;
        _exit(busy ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    store_lease_release(table.store);
    ck_assert(store_lease_owner(table.store, table.arena, &owner, &table.err));
    ck_assert_ptr_null(owner.ptr);
}
END_TEST

START_TEST(the_lease_of_a_dead_owner_is_free)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(fixture_open(&table, STORE_WRITE) ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(fixture_open(&table, STORE_WRITE), "%s", table.err.text);
}
END_TEST

START_TEST(a_reader_takes_no_lease)
{
    ck_assert(fixture_open(&table, STORE_READ));
    ck_assert(!store_lease_take(table.store, "me", &table.err));
}
END_TEST

/* --- a full device --- */

static struct value big(size_t i)
{
    char *text = arena_bytes(table.arena, 100000);
    struct value item = {NULL, 0};
    memset(text, 'b', 100000);
    struct attribute members[] = {
        {STR("PK"), value_string(table.arena, arena_format(table.arena, "big %zu", i))},
        {STR("V"), value_string(table.arena, (struct str){text, 100000})}};
    ck_assert(value_map(table.arena, members, 2, &item, &table.err));
    return item;
}

/* A file that may not grow behaves as one on a full device: writes beyond fail. */
START_TEST(a_full_device_loses_nothing_that_was_durable)
{
    ck_assert(fixture_open(&table, STORE_WRITE));
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    struct rlimit small = {(rlim_t)file_size() + 300000, limit.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_int_eq(fixture_put(&table, big(i)), OUTCOME_APPLIED);
    }
    ck_assert(!fixture_flush(&table));
    ck_assert_msg(table.err.code == ERROR_FULL, "%s", table.err.text);
    ck_assert_int_eq(fixture_put(&table, big(0)), OUTCOME_APPLIED);
    ck_assert_msg(fixture_flush(&table), "%s", table.err.text);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fixture_close(&table);
    ck_assert(fixture_open(&table, STORE_WRITE));
    struct value *found = NULL;
    ck_assert_uint_eq(fixture_scan(&table, 1, 0, &found), SOME + 1);
    ck_assert_uint_eq(fixture_verify(&table), 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("store");
    tcase_add_checked_fixture(cases, make, destroy);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_table_is_made_once);
    tcase_add_test(cases, a_creation_that_was_broken_off_is_taken_up);
    tcase_add_test(cases, a_file_without_a_first_commit_holds_nothing);
    tcase_add_test(cases, a_creation_that_is_refused_leaves_nothing);
    tcase_add_test(cases, another_table_has_another_identity);
    tcase_add_loop_test(cases, a_spoilt_file_is_an_error_that_says_so, 0, ROWS(spoilt));
    tcase_add_test(cases, a_newer_format_is_refused);
    tcase_add_test(cases, a_record_that_was_changed_is_named);
    tcase_add_test(cases, reading_needs_no_right_to_write);
    tcase_add_test(cases, a_reader_that_no_run_would_know_of_is_refused_during_a_run);
    tcase_add_test(cases, a_lease_has_one_owner_who_is_named);
    tcase_add_test(cases, the_lease_of_a_dead_owner_is_free);
    tcase_add_test(cases, a_reader_takes_no_lease);
    tcase_add_test(cases, a_full_device_loses_nothing_that_was_durable);
    Suite *suite = suite_create("engine/store/lmdb/lmdb_store");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
