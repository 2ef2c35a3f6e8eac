#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/cli/files.h"
#include "migrate/cli/output_file.h"
#include "migrate/cli/target.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each test works in a folder of its own. */
struct fixture {
    char folder[32];
    struct arena *arena;
    struct error err;
};

static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){.folder = "/tmp/refold-test-XXXXXX", .arena = arena_new()};
    ck_assert_ptr_nonnull(mkdtemp(fixture->folder));
    ck_assert_int_eq(chdir(fixture->folder), 0);
}

static void tear_down(struct fixture *fixture)
{
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(fixture->folder), 0);
    arena_free(fixture->arena);
}

static void write_file(const char *path, struct str text)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text.ptr, 1, text.len, file), text.len);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(file_read_reads_up_to_its_limit)
{
    struct fixture fixture;
    set_up(&fixture);
    struct str text = {0};
    write_file("a", STR("12\0"
                        "45"));
    ck_assert_msg(file_read("a", 5, fixture.arena, &text, &fixture.err), "%s", fixture.err.text);
    ck_assert(str_equal(text, STR("12\0"
                                  "45")));
    ck_assert(!file_read("a", 4, fixture.arena, &text, &fixture.err));
    ck_assert_str_eq(fixture.err.text, "a is over 4 bytes");
    ck_assert(!file_read("b", 4, fixture.arena, &text, &fixture.err));
    ck_assert_int_eq(fixture.err.code, ERROR_USAGE);
    ck_assert_int_eq(unlink("a"), 0);
    tear_down(&fixture);
}
END_TEST

START_TEST(folder_list_sorts_what_has_the_suffix)
{
    struct fixture fixture;
    set_up(&fixture);
    struct file_names names;
    static const char *const files[] = {"b.json", "a.json", "c.jsonl", ".json", "B.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_file(files[i], STR(""));
    }
    ck_assert(folder_list(".", ".json", fixture.arena, &names, &fixture.err));
    ck_assert_uint_eq(names.count, 4);
    ck_assert_str_eq(names.list[0].ptr, ".json");
    ck_assert_str_eq(names.list[1].ptr, "B.json");
    ck_assert_str_eq(names.list[2].ptr, "a.json");
    ck_assert_str_eq(names.list[3].ptr, "b.json");
    ck_assert(!folder_list("none", ".json", fixture.arena, &names, &fixture.err));
    ck_assert_int_eq(fixture.err.code, ERROR_USAGE);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ck_assert_int_eq(unlink(files[i]), 0);
    }
    tear_down(&fixture);
}
END_TEST

/* How many names the working directory holds. */
static size_t names_here(struct fixture *fixture)
{
    struct file_names names;
    ck_assert(folder_list(".", "", fixture->arena, &names, &fixture->err));
    return names.count - 2; /* . and .. */
}

START_TEST(output_file_appears_only_when_it_is_kept)
{
    struct fixture fixture;
    set_up(&fixture);
    struct output_file *file = NULL;
    struct str text = {0};
    write_file("out", STR("old"));
    ck_assert(output_file_open("out", stdout, fixture.arena, &file, &fixture.err));
    ck_assert(output_file_write(file, STR("new"), &fixture.err));
    output_file_close(file);
    ck_assert(file_read("out", 9, fixture.arena, &text, &fixture.err));
    ck_assert(str_equal(text, STR("old")));
    ck_assert_uint_eq(names_here(&fixture), 1);

    ck_assert(output_file_open("out", stdout, fixture.arena, &file, &fixture.err));
    ck_assert(output_file_write(file, STR("new"), &fixture.err));
    ck_assert_msg(output_file_keep(file, &fixture.err), "%s", fixture.err.text);
    output_file_close(file);
    ck_assert(file_read("out", 9, fixture.arena, &text, &fixture.err));
    ck_assert(str_equal(text, STR("new")));
    ck_assert_uint_eq(names_here(&fixture), 1);
    ck_assert_int_eq(unlink("out"), 0);
    tear_down(&fixture);
}
END_TEST

START_TEST(output_file_names_what_cannot_be_written)
{
    struct fixture fixture;
    set_up(&fixture);
    struct output_file *file = NULL;
    ck_assert(!output_file_open("none/out", stdout, fixture.arena, &file, &fixture.err));
    ck_assert_int_eq(fixture.err.code, ERROR_STORE);
    ck_assert_ptr_nonnull(strstr(fixture.err.text, "none/out"));

    ck_assert(!output_file_open("/dev/null", stdout, fixture.arena, &file, &fixture.err));
    ck_assert_int_eq(fixture.err.code, ERROR_USAGE);

    FILE *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(full);
    ck_assert(output_file_open("-", full, fixture.arena, &file, &fixture.err));
    ck_assert(output_file_write(file, STR("x"), &fixture.err));
    ck_assert(!output_file_keep(file, &fixture.err));
    ck_assert_int_eq(fixture.err.code, ERROR_FULL);
    output_file_close(file);
    (void)fclose(full);
    tear_down(&fixture);
}
END_TEST

static const struct {
    const char *text;
    bool is_target;
} targets[] = {
    {"shop.refold", true},    {"a/b.refold", true},
    {"file:shop", true},      {"file:a.refold", true},
    {"file:", false},         {".refold", false},
    {"shop", false},          {"", false},
    {"refold", false},        {"shop.REFOLD", false},
    {"PK = 'file:a'", false},
};

START_TEST(target_is_what_has_a_scheme_or_the_suffix)
{
    ck_assert_msg(target_is(targets[_i].text) == targets[_i].is_target, "%s", targets[_i].text);
}
END_TEST

START_TEST(target_exists_where_its_file_does)
{
    struct fixture fixture;
    set_up(&fixture);
    struct store *store = NULL;
    bool exists = true;
    ck_assert(target_exists("a.refold", &exists, &fixture.err) && !exists);
    ck_assert(target_exists("file:a.refold", &exists, &fixture.err) && !exists);
    write_file("a.refold", STR("")); /* as a creation that was broken off leaves it */
    ck_assert(target_exists("a.refold", &exists, &fixture.err) && !exists);
    write_file("a.refold", STR("damaged"));
    ck_assert(target_exists("a.refold", &exists, &fixture.err) && exists);
    ck_assert(target_exists("file:a.refold", &exists, &fixture.err) && exists);
    ck_assert(target_is_file("a.refold") && !target_is_file("dynamodb:Shop"));
    ck_assert(!target_open("a", &(struct store_options){0}, &store, &fixture.err));
    ck_assert_int_eq(fixture.err.code, ERROR_USAGE);
    ck_assert_int_eq(unlink("a.refold"), 0);
    tear_down(&fixture);
}
END_TEST

int main(void)
{
    TCase *files = tcase_create("files");
    tcase_add_test(files, file_read_reads_up_to_its_limit);
    tcase_add_test(files, folder_list_sorts_what_has_the_suffix);
    tcase_add_test(files, output_file_appears_only_when_it_is_kept);
    tcase_add_test(files, output_file_names_what_cannot_be_written);
    tcase_add_loop_test(files, target_is_what_has_a_scheme_or_the_suffix, 0, ROWS(targets));
    tcase_add_test(files, target_exists_where_its_file_does);
    Suite *suite = suite_create("migrate/cli/files");
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
