#include "migrate/run/kept_reading.h"

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/ledger/ledger.h"
#include "tests/support/memory_store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEGMENTS = 4, PATH_BYTES = 256 };
#define RECORD "probe/0000000003/00001-reading"

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1};

/* A table in memory that says it is on a server, and a folder for the run's files. */
struct fixture {
    struct store_ops ops;
    struct arena *arena;
    char dir[32];
    char *said;
    size_t said_len;
    struct invocation invocation;
    struct runner_session session;
    struct kept_purpose purpose;
    struct kept_reading *kept;
    struct error err;
};

static struct fixture *set_up(void)
{
    struct fixture *f = heap_alloc(sizeof *f);
    memcpy(f->dir, "/tmp/refold-test-XXXXXX", sizeof "/tmp/refold-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f->dir));
    f->arena = arena_new();
    struct store *store = memory_store_new(&keys, NULL);
    f->ops = *store->ops;
    f->ops.shares = true;
    store->ops = &f->ops;
    store->run_files = arena_format(f->arena, "%s/state/", f->dir).ptr;
    f->invocation.messages = open_memstream(&f->said, &f->said_len);
    f->session = (struct runner_session){.invocation = &f->invocation, .store = store};
    f->session.table = (struct table_desc){.name = STR("T"), .identity = STR("one"), .keys = keys};
    ck_assert(store_reader_open(store, &f->session.reader, &f->err));
    f->purpose = (struct kept_purpose){.what = "the search",
                                       .version = 3,
                                       .hash = STR("1:abc"),
                                       .stage = 1,
                                       .pass = 7,
                                       .segments = SEGMENTS};
    return f;
}

static const char *said(struct fixture *f)
{
    ck_assert_int_eq(fflush(f->invocation.messages), 0);
    return f->said;
}

static void tear_down(struct fixture *f)
{
    kept_reading_close(f->kept);
    kept_reading_forget(&f->session, 3);
    char folder[PATH_BYTES];
    (void)snprintf(folder, sizeof folder, "%s/state", f->dir);
    ck_assert_msg(rmdir(folder) == 0, "nothing is left behind");
    ck_assert_int_eq(rmdir(f->dir), 0);
    store_reader_close(f->session.reader);
    store_close(f->session.store);
    (void)fclose(f->invocation.messages);
    free(f->said);
    arena_free(f->arena);
    heap_free(f);
}

static void open_it(struct fixture *f)
{
    kept_reading_close(f->kept);
    ck_assert_msg(kept_reading_open(&f->session, &f->purpose, &f->kept, &f->err), "%s",
                  f->err.text);
}

static void take_page(struct fixture *f, uint32_t segment, const char *cursor, bool last)
{
    struct scan_page page = {
        .segment = segment, .cursor = {cursor, strlen(cursor)}, .last = last, .items = 10};
    kept_reading_page(f->kept, &page);
}

/* Two segments are begun, one is done. */
static void keep(struct fixture *f)
{
    open_it(f);
    ck_assert_ptr_null(kept_reading_part(f->kept));
    ck_assert_msg(kept_reading_begin(f->kept, NULL, &f->err), "%s", f->err.text);
    take_page(f, 1, "", true);
    take_page(f, 2, "\x01\xff key", false);
    cJSON *part = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(part, "count", 42);
    ck_assert_msg(kept_reading_save(f->kept, part, &f->err), "%s", f->err.text);
    take_page(f, 2, "later", false); /* not saved */
    kept_reading_close(f->kept);
    f->kept = NULL;
}

START_TEST(a_reading_goes_on_where_it_was_saved)
{
    struct fixture *f = set_up();
    keep(f);
    open_it(f);
    const cJSON *part = kept_reading_part(f->kept);
    ck_assert_ptr_nonnull(part);
    ck_assert_int_eq(cJSON_GetObjectItemCaseSensitive(part, "count")->valueint, 42);
    ck_assert_uint_eq(kept_reading_items(f->kept), 20);
    kept_reading_say(f->kept);
    ck_assert_str_eq(said(f), "the search goes on: 20 items were read before\n");
    const char *const cursors[SEGMENTS] = {"", NULL, "\x01\xff key", ""};
    bool met[SEGMENTS] = {false};
    struct scan_turn turn = {.none = false};
    for (ck_assert(kept_reading_next(f->kept, &turn)); !turn.none;) {
        ck_assert_ptr_nonnull(cursors[turn.segment]);
        const char *cursor = cursors[turn.segment];
        ck_assert(str_equal(turn.cursor, (struct str){cursor, strlen(cursor)}));
        ck_assert(!met[turn.segment]);
        met[turn.segment] = true;
        ck_assert(kept_reading_next(f->kept, &turn));
    }
    ck_assert(met[0] && !met[1] && met[2] && met[3]);
    tear_down(f);
}
END_TEST

START_TEST(a_second_save_tells_of_all)
{
    struct fixture *f = set_up();
    keep(f);
    open_it(f);
    take_page(f, 2, "", true);
    ck_assert(kept_reading_save(f->kept, cJSON_CreateObject(), &f->err));
    open_it(f);
    struct scan_turn turn = {.none = false};
    ck_assert_uint_eq(kept_reading_items(f->kept), 30);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(kept_reading_next(f->kept, &turn));
        ck_assert(!turn.none && (turn.segment == 0 || turn.segment == 3));
    }
    ck_assert(kept_reading_next(f->kept, &turn));
    ck_assert(turn.none);
    tear_down(f);
}
END_TEST

/* ---------------------------------------------------------------- what is not believed */

static const char *manifest(const struct fixture *f)
{
    glob_t found;
    char pattern[PATH_BYTES];
    (void)snprintf(pattern, sizeof pattern, "%s/state/*.reading", f->dir);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    struct str path = {found.gl_pathv[0], strlen(found.gl_pathv[0])};
    const char *copy = arena_copy(f->arena, path).ptr;
    globfree(&found);
    return copy;
}

static void write_at(const struct fixture *f, off_t at, const char *text)
{
    int fd = open(manifest(f), O_WRONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, text, strlen(text), at), (ssize_t)strlen(text));
    ck_assert_int_eq(close(fd), 0);
}

static void damage(struct fixture *f)
{
    struct stat status;
    ck_assert_int_eq(stat(manifest(f), &status), 0);
    write_at(f, status.st_size - 2, "!");
}

static void damage_checksum(struct fixture *f)
{
    write_at(f, sizeof "refold reading 1 " - 1, "!");
}

static void cut(struct fixture *f)
{
    ck_assert_int_eq(truncate(manifest(f), 60), 0);
}

static void empty(struct fixture *f)
{
    ck_assert_int_eq(truncate(manifest(f), 0), 0);
}

static void take_away(struct fixture *f)
{
    ck_assert_int_eq(unlink(manifest(f)), 0);
}

static void be_newer(struct fixture *f)
{
    write_at(f, sizeof "refold reading " - 1, "2");
}

static void be_another_plan(struct fixture *f)
{
    f->purpose.hash = STR("1:abd");
}

static void be_another_pass(struct fixture *f)
{
    f->purpose.pass = 8;
}

static void have_more_segments(struct fixture *f)
{
    f->purpose.segments = SEGMENTS + 1;
}

static void put_record(struct fixture *f, struct str value)
{
    struct control control = {.name = STR(RECORD), .value = value};
    ck_assert(ledger_commit(f->session.store, &control, 1, &f->err));
}

/* The record with that text changed. */
static void change_record(struct fixture *f, const char *member, const char *to)
{
    struct str value;
    ck_assert(store_control_get(f->session.reader, STR(RECORD), f->arena, &value, &f->err));
    cJSON *object = cJSON_ParseWithLength(value.ptr, value.len);
    ck_assert(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(object, member)));
    (void)cJSON_ReplaceItemInObjectCaseSensitive(object, member, cJSON_CreateString(to));
    char *text = cJSON_PrintUnformatted(object);
    put_record(f, arena_copy(f->arena, (struct str){text, strlen(text)}));
    cJSON_free(text);
    cJSON_Delete(object);
}

static void be_another_host(struct fixture *f)
{
    change_record(f, "host", "elsewhere");
}

static void be_elsewhere(struct fixture *f)
{
    change_record(f, "path", "/elsewhere/T");
}

static void be_another_search(struct fixture *f)
{
    change_record(f, "id", "00112233445566778899aabbccddeeff");
}

static void damage_record(struct fixture *f)
{
    put_record(f, STR("{\"id\":1}"));
}

static void take_record_away(struct fixture *f)
{
    put_record(f, (struct str){NULL, 0});
}

static const struct {
    const char *says;
    void (*change)(struct fixture *f);
    const char *why; /* part of the message; "": none */
} misfits[] = {
    {"the last byte but one", damage, "it is damaged"},
    {"the checksum", damage_checksum, "it is damaged"},
    {"half of it", cut, "it is damaged"},
    {"nothing of it", empty, "it is damaged"},
    {"no file", take_away, "No such file"},
    {"a newer format", be_newer, "another version of refold"},
    {"a changed plan", be_another_plan, "another plan"},
    {"a later pass", be_another_pass, "another pass"},
    {"other segments", have_more_segments, "another number of segments"},
    {"another host", be_another_host, "begun on host elsewhere"},
    {"another folder", be_elsewhere, "/elsewhere/T"},
    {"files of an older search", be_another_search, "another search"},
    {"a damaged record", damage_record, "what the table tells of it is damaged"},
    {"no record: the verdicts were there, and are done with", take_record_away, ""},
};

START_TEST(what_does_not_fit_begins_anew)
{
    struct fixture *f = set_up();
    keep(f);
    misfits[_i].change(f);
    open_it(f);
    ck_assert_msg(kept_reading_part(f->kept) == NULL, "%s", misfits[_i].says);
    ck_assert_msg(kept_reading_begin(f->kept, NULL, &f->err), "%s: %s", misfits[_i].says,
                  f->err.text);
    const char *message = said(f);
    ck_assert_msg(strstr(message, misfits[_i].why) != NULL, "%s: %s", misfits[_i].says, message);
    bool silent = misfits[_i].why[0] == '\0';
    ck_assert_msg((strlen(message) == 0) == silent, "%s: %s", misfits[_i].says, message);
    ck_assert_uint_eq(kept_reading_items(f->kept), 0);
    ck_assert(kept_reading_save(f->kept, cJSON_CreateObject(), &f->err));
    open_it(f);
    ck_assert_msg(kept_reading_part(f->kept) != NULL, "%s: the new one fits", misfits[_i].says);
    tear_down(f);
}
END_TEST

START_TEST(another_table_of_the_name_has_its_own)
{
    struct fixture *f = set_up();
    keep(f);
    f->session.table.identity = STR("two");
    open_it(f);
    ck_assert_ptr_null(kept_reading_part(f->kept));
    kept_reading_forget(&f->session, 3);
    f->session.table.identity = STR("one");
    open_it(f);
    ck_assert_ptr_nonnull(kept_reading_part(f->kept));
    tear_down(f);
}
END_TEST

START_TEST(a_table_in_a_file_keeps_nothing)
{
    struct fixture *f = set_up();
    keep(f);
    f->ops.shares = false;
    open_it(f);
    ck_assert_ptr_null(f->kept);
    f->ops.shares = true;
    tear_down(f);
}
END_TEST

START_TEST(a_folder_that_cannot_be_used_is_said)
{
    struct fixture *f = set_up();
    keep(f);
    const char *folder = f->session.store->run_files;
    f->session.store->run_files = "/proc/none/";
    open_it(f);
    ck_assert_ptr_null(f->kept);
    ck_assert_ptr_nonnull(strstr(said(f), "nothing of the search is kept: "));
    f->session.store->run_files = folder;
    tear_down(f);
}
END_TEST

START_TEST(it_is_saved_more_rarely_as_it_grows)
{
    struct fixture *f = set_up();
    keep(f);
    open_it(f);
    unsigned saves = 0;
    unsigned pages = 0;
    for (; pages < 10000; pages++) {
        if (kept_reading_is_due(f->kept, 1)) {
            ck_assert(kept_reading_save(f->kept, cJSON_CreateObject(), &f->err));
            ck_assert_msg(saves > 0 || pages == 15, "the first after 16 pages");
            saves++;
        }
    }
    ck_assert_uint_ge(saves, 16);
    ck_assert_uint_le(saves, 200);
    tear_down(f);
}
END_TEST

int main(void)
{
    TCase *reading = tcase_create("reading");
    tcase_add_test(reading, a_reading_goes_on_where_it_was_saved);
    tcase_add_test(reading, a_second_save_tells_of_all);
    tcase_add_loop_test(reading, what_does_not_fit_begins_anew, 0, ROWS(misfits));
    tcase_add_test(reading, another_table_of_the_name_has_its_own);
    tcase_add_test(reading, a_table_in_a_file_keeps_nothing);
    tcase_add_test(reading, a_folder_that_cannot_be_used_is_said);
    tcase_add_test(reading, it_is_saved_more_rarely_as_it_grows);
    tcase_set_timeout(reading, 60);
    Suite *suite = suite_create("migrate/run/kept_reading");
    suite_add_tcase(suite, reading);
    return suite_run(suite);
}
