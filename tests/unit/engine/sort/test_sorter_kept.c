#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/sort/sorter.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 1 << 20, LONG_VALUE = 10000 };

/* What is kept needs no folder for temporary files. */
static struct sorter *open_sorter(void)
{
    struct sorter_options options = {.memory_bytes = MEMORY, .temp_dir = "/nowhere"};
    return sorter_new(&options);
}

/* The numbers from 0 to `count` come, and no more. */
static void expect_numbers(struct sorted *sorted, uint32_t count)
{
    struct str key, value;
    bool more = false;
    struct error err = {0};
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_msg(sorted_next(sorted, &key, &value, &more, &err) && more, "%s", err.text);
        ck_assert_uint_eq((uint32_t)(uint8_t)key.ptr[0] << 8 | (uint8_t)key.ptr[1], i);
        ck_assert_uint_eq(value.len, LONG_VALUE);
    }
    ck_assert_msg(sorted_next(sorted, &key, &value, &more, &err), "%s", err.text);
    ck_assert(!more);
}

static struct sorted *read_sorter(struct sorter *sorter)
{
    struct sorted *sorted = NULL;
    struct error err = {0};
    ck_assert_msg(sorted_open(&sorter, 1, &sorted, &err), "%s", err.text);
    return sorted;
}

/* A file for runs, and what the last keeper told of them. */
struct kept {
    char dir[32];
    char path[64];
    struct sorted_run runs[8];
    size_t count;
};

static struct kept make_kept(void)
{
    struct kept kept = {.dir = "/tmp/refold-test-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(kept.dir));
    (void)snprintf(kept.path, sizeof kept.path, "%s/runs", kept.dir);
    return kept;
}

static void remove_kept(const struct kept *kept)
{
    (void)unlink(kept->path);
    ck_assert_int_eq(rmdir(kept->dir), 0);
}

static void add_numbers(struct sorter *sorter, uint32_t first, uint32_t end)
{
    static const char value[LONG_VALUE] = {'v'};
    for (uint32_t i = first; i < end; i++) {
        char key[] = {(char)(i >> 8), (char)i};
        struct error err = {0};
        ck_assert_msg(sorter_add(sorter, (struct str){key, sizeof key},
                                 (struct str){value, LONG_VALUE}, &err),
                      "%s", err.text);
    }
}

static void keep(struct sorter *sorter, struct kept *kept)
{
    const struct sorted_run *runs = NULL;
    struct error err = {0};
    ck_assert_msg(sorter_keep(sorter, &runs, &kept->count, &err), "%s", err.text);
    ck_assert_uint_le(kept->count, sizeof kept->runs / sizeof *kept->runs);
    memcpy(kept->runs, runs, kept->count * sizeof *runs);
}

static bool keep_in(struct sorter *sorter, const struct kept *kept, struct error *err)
{
    return sorter_keep_in(sorter, kept->path, kept->runs, kept->count, err);
}

/* Numbers 10 to 19 and 0 to 9, in two runs, and behind them what nobody was told of. */
static struct kept keep_two_runs(void)
{
    struct kept kept = make_kept();
    struct error err = {0};
    struct sorter *sorter = open_sorter();
    ck_assert_msg(keep_in(sorter, &kept, &err), "%s", err.text);
    add_numbers(sorter, 10, 20);
    keep(sorter, &kept);
    add_numbers(sorter, 0, 10);
    keep(sorter, &kept);
    ck_assert_uint_eq(kept.count, 2);
    struct kept later = kept;
    add_numbers(sorter, 20, 30);
    keep(sorter, &later);
    sorter_free(sorter);
    return kept;
}

START_TEST(runs_outlive_their_sorter)
{
    struct kept kept = keep_two_runs();
    struct error err = {0};
    struct sorter *sorter = open_sorter();
    ck_assert_msg(keep_in(sorter, &kept, &err), "%s", err.text);
    add_numbers(sorter, 20, 25);
    ck_assert(sorter_finish(sorter, &err));
    struct sorted *sorted = read_sorter(sorter);
    expect_numbers(sorted, 25);
    sorted_close(sorted);
    sorter_free(sorter);
    remove_kept(&kept);
}
END_TEST

START_TEST(what_is_kept_can_be_read_while_more_is_added)
{
    struct kept kept = keep_two_runs();
    struct error err = {0};
    struct sorter *sorter = open_sorter();
    ck_assert(keep_in(sorter, &kept, &err));
    struct sorted *sorted = read_sorter(sorter);
    add_numbers(sorter, 20, 25);
    keep(sorter, &kept);
    expect_numbers(sorted, 20);
    sorted_close(sorted);
    sorter_free(sorter);
    remove_kept(&kept);
}
END_TEST

START_TEST(pairs_that_come_in_order_are_one_run)
{
    struct kept kept = make_kept();
    struct error err = {0};
    struct sorter *sorter = open_sorter();
    ck_assert(keep_in(sorter, &kept, &err));
    for (uint32_t i = 0; i < 300; i += 50) {
        add_numbers(sorter, i, i + 50);
        keep(sorter, &kept);
        ck_assert_uint_eq(kept.count, 1);
    }
    sorter_free(sorter);
    sorter = open_sorter();
    ck_assert_msg(keep_in(sorter, &kept, &err), "%s", err.text);
    sorter_free(sorter);
    remove_kept(&kept);
}
END_TEST

static void flip(const struct kept *kept, off_t at)
{
    char byte = 0;
    int fd = open(kept->path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 0x40);
    ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
    ck_assert_int_eq(close(fd), 0);
}

static void damage_first(struct kept *kept)
{
    flip(kept, 30);
}

static void damage_last(struct kept *kept)
{
    flip(kept, (off_t)kept->runs[1].end - 1);
}

static void damage_digest(struct kept *kept)
{
    kept->runs[1].digest ^= 1;
}

static void swap_runs(struct kept *kept)
{
    uint64_t digest = kept->runs[0].digest;
    kept->runs[0].digest = kept->runs[1].digest;
    kept->runs[1].digest = digest;
}

static void cut_short(struct kept *kept)
{
    ck_assert_int_eq(truncate(kept->path, (off_t)kept->runs[1].end - 1), 0);
}

static void take_away(struct kept *kept)
{
    ck_assert_int_eq(unlink(kept->path), 0);
}

static const struct {
    const char *says;
    void (*harm)(struct kept *kept);
    enum error_code code;
} harms[] = {
    {"a byte of the first run", damage_first, ERROR_DAMAGED},
    {"the last byte", damage_last, ERROR_DAMAGED},
    {"a digest", damage_digest, ERROR_DAMAGED},
    {"runs are others, and whole", swap_runs, ERROR_DAMAGED},
    {"the file is cut short", cut_short, ERROR_DAMAGED},
    {"there is none", take_away, ERROR_STORE},
};

START_TEST(runs_that_are_not_what_was_written_are_refused)
{
    struct kept kept = keep_two_runs();
    struct error err = {0};
    struct sorter *sorter = open_sorter();
    harms[_i].harm(&kept);
    ck_assert_msg(!keep_in(sorter, &kept, &err), "%s", harms[_i].says);
    ck_assert_msg(err.code == harms[_i].code, "%s: %s", harms[_i].says, err.text);
    kept.count = 0; /* the sorter is as it was: it can begin anew */
    ck_assert_msg(keep_in(sorter, &kept, &err), "%s: %s", harms[_i].says, err.text);
    sorter_free(sorter);
    remove_kept(&kept);
}
END_TEST

START_TEST(a_file_of_runs_has_one_writer)
{
    struct kept kept = keep_two_runs();
    struct kept anew = kept;
    struct error err = {0};
    struct sorter *first = open_sorter();
    struct sorter *second = open_sorter();
    ck_assert(keep_in(first, &kept, &err));
    ck_assert(!keep_in(second, &kept, &err));
    ck_assert_int_eq(err.code, ERROR_BUSY);
    anew.count = 0; /* takes the file's place */
    ck_assert_msg(keep_in(second, &anew, &err), "%s", err.text);
    const struct sorted_run *runs = NULL;
    size_t count = 0;
    add_numbers(first, 0, 10);
    ck_assert(!sorter_keep(first, &runs, &count, &err));
    ck_assert_int_eq(err.code, ERROR_BUSY);
    sorter_free(first);
    sorter_free(second);
    remove_kept(&kept);
}
END_TEST

START_TEST(who_stops_keeps_what_there_is)
{
    atomic_bool stop = false;
    struct kept kept = make_kept();
    struct error err = {0};
    struct sorter_options options = {.memory_bytes = MEMORY, .temp_dir = "/nowhere", .stop = &stop};
    struct sorter *sorter = sorter_new(&options);
    ck_assert(keep_in(sorter, &kept, &err));
    add_numbers(sorter, 0, 10);
    stop = true;
    keep(sorter, &kept);
    ck_assert_uint_eq(kept.count, 1);
    sorter_free(sorter);
    remove_kept(&kept);
}
END_TEST

int main(void)
{
    TCase *stay = tcase_create("kept");
    tcase_add_test(stay, runs_outlive_their_sorter);
    tcase_add_test(stay, what_is_kept_can_be_read_while_more_is_added);
    tcase_add_test(stay, pairs_that_come_in_order_are_one_run);
    tcase_add_loop_test(stay, runs_that_are_not_what_was_written_are_refused, 0, ROWS(harms));
    tcase_add_test(stay, a_file_of_runs_has_one_writer);
    tcase_add_test(stay, who_stops_keeps_what_there_is);
    Suite *suite = suite_create("engine/sort/sorter_kept");
    suite_add_tcase(suite, stay);
    return suite_run(suite);
}
