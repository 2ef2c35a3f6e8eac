#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/sort/sorter.h"
#include "tests/rules/sort_order.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY = 1 << 20, LONG_VALUE = 10000 };

static struct sorter *open_sorter(const char *dir)
{
    struct sorter_options options = {.memory_bytes = MEMORY, .temp_dir = dir};
    return sorter_new(&options);
}

/* Pairs of 10 kB whose keys run through all residues in a shuffled order; at most 65521. */
static bool add_long_pairs(struct sorter *sorter, uint32_t count, struct error *err)
{
    static const char value[LONG_VALUE] = {'v'};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = (uint32_t)((uint64_t)i * 40503 % count);
        char key[] = {(char)(number >> 8), (char)number};
        if (!sorter_add(sorter, (struct str){key, sizeof key}, (struct str){value, LONG_VALUE},
                        err)) {
            return false;
        }
    }
    return sorter_finish(sorter, err);
}

static struct sorted *read_sorter(struct sorter *sorter)
{
    struct sorted *sorted = NULL;
    struct error err = {0};
    ck_assert_msg(sorted_open(&sorter, 1, &sorted, &err), "%s", err.text);
    return sorted;
}

static void expect_number(struct sorted *sorted, uint32_t number)
{
    struct str key, value;
    bool more = false;
    struct error err = {0};
    ck_assert_msg(sorted_next(sorted, &key, &value, &more, &err) && more, "%s", err.text);
    ck_assert_uint_eq(key.len, 2);
    ck_assert_uint_eq((uint32_t)(uint8_t)key.ptr[0] << 8 | (uint8_t)key.ptr[1], number);
    ck_assert_uint_eq(value.len, LONG_VALUE);
    ck_assert_int_eq(value.ptr[0], 'v');
}

static void expect_end(struct sorted *sorted)
{
    struct str key, value;
    bool more = true;
    struct error err = {0};
    ck_assert_msg(sorted_next(sorted, &key, &value, &more, &err), "%s", err.text);
    ck_assert(!more);
}

static const struct {
    const char *says;
    struct str first;
    struct str second;
} orders[] = {
    {"the empty key is the least", STR_INIT(""), STR_INIT("\0")},
    {"a NUL is a byte", STR_INIT("A"), STR_INIT("A\0")},
    {"bytes are unsigned", STR_INIT("A"), STR_INIT("\xff")},
    {"the shorter key is first", STR_INIT("CUSTOMER#1"), STR_INIT("CUSTOMER#10")},
    {"the eighth byte counts", STR_INIT("ORDER#12"), STR_INIT("ORDER#13")},
    {"seven bytes are before eight", STR_INIT("ORDER#1"), STR_INIT("ORDER#1\0")},
    {"long keys differ at their end", STR_INIT("CUSTOMER#1#ORDER#1"),
     STR_INIT("CUSTOMER#1#ORDER#2")},
};

START_TEST(keys_are_ordered_by_unsigned_bytes)
{
    struct sorter *sorter = open_sorter("/tmp");
    struct error err = {0};
    ck_assert(sorter_add(sorter, orders[_i].second, STR("2"), &err));
    ck_assert(sorter_add(sorter, orders[_i].first, STR("1"), &err));
    ck_assert(sorter_finish(sorter, &err));
    struct sorted *sorted = read_sorter(sorter);
    struct str key, value;
    bool more = false;
    ck_assert(sorted_next(sorted, &key, &value, &more, &err) && more);
    ck_assert_msg(str_equal(key, orders[_i].first), "%s", orders[_i].says);
    ck_assert_msg(str_equal(value, STR("1")), "%s", orders[_i].says);
    ck_assert(sorted_next(sorted, &key, &value, &more, &err) && more);
    ck_assert_msg(str_equal(key, orders[_i].second), "%s", orders[_i].says);
    expect_end(sorted);
    sorted_close(sorted);
    sorter_free(sorter);
}
END_TEST

START_TEST(an_empty_sorter_has_no_pairs)
{
    struct sorter *sorter = open_sorter("/tmp");
    struct error err = {0};
    ck_assert(sorter_finish(sorter, &err));
    ck_assert_uint_eq(sorter_count(sorter), 0);
    struct sorted *sorted = read_sorter(sorter);
    expect_end(sorted);
    expect_end(sorted);
    sorted_close(sorted);
    sorter_free(sorter);
}
END_TEST

START_TEST(equal_keys_come_in_the_order_of_the_sorters)
{
    struct sorter *sorters[] = {open_sorter("/tmp"), open_sorter("/tmp"), open_sorter("/tmp")};
    const char *values[] = {"0", "1", "2"};
    struct error err = {0};
    for (size_t i = 3; i-- > 0;) {
        ck_assert(sorter_add(sorters[i], STR("K"), (struct str){values[i], 1}, &err));
        ck_assert(sorter_finish(sorters[i], &err));
    }
    struct sorted *sorted = NULL;
    ck_assert(sorted_open(sorters, 3, &sorted, &err));
    for (size_t i = 0; i < 3; i++) {
        struct str key, value;
        bool more = false;
        ck_assert(sorted_next(sorted, &key, &value, &more, &err) && more);
        ck_assert_int_eq(value.ptr[0], values[i][0]);
    }
    expect_end(sorted);
    sorted_close(sorted);
    for (size_t i = 0; i < 3; i++) {
        sorter_free(sorters[i]);
    }
}
END_TEST

START_TEST(sorting_is_a_stable_order)
{
    property_check("rule_sort_is_a_stable_order", rule_sort_is_a_stable_order);
}
END_TEST

START_TEST(what_fits_in_memory_touches_no_file)
{
    struct sorter *sorter = open_sorter("/nowhere");
    struct error err = {0};
    ck_assert_msg(add_long_pairs(sorter, 50, &err), "%s", err.text);
    sorter_free(sorter);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_named)
{
    struct sorter *sorter = open_sorter("/nowhere");
    struct error err = {0};
    ck_assert(!add_long_pairs(sorter, 500, &err));
    ck_assert_int_eq(err.code, ERROR_STORE);
    ck_assert_ptr_nonnull(strstr(err.text, "/nowhere"));
    sorter_free(sorter);
}
END_TEST

START_TEST(a_full_disk_is_an_error_of_its_own)
{
    struct rlimit old;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {1024, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct sorter *sorter = open_sorter("/tmp");
    struct error err = {0};
    bool ok = add_long_pairs(sorter, 500, &err);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
    ck_assert(!ok);
    ck_assert_int_eq(err.code, ERROR_FULL);
    ck_assert_str_eq(err.text, "no room for sort files in /tmp");
    sorter_free(sorter);
}
END_TEST

/* 1 MiB of memory, 64 runs at once: 7000 pairs of 10 kB make about 67. */
START_TEST(any_number_of_runs_is_merged)
{
    enum { COUNT = 7000 };
    struct sorter *sorter = open_sorter("/tmp");
    struct error err = {0};
    ck_assert_msg(add_long_pairs(sorter, COUNT, &err), "%s", err.text);
    ck_assert_uint_eq(sorter_count(sorter), COUNT);
    struct sorted *sorted = read_sorter(sorter);
    for (uint32_t i = 0; i < COUNT; i++) {
        expect_number(sorted, i);
    }
    expect_end(sorted);
    sorted_close(sorted);
    sorter_free(sorter);
}
END_TEST

START_TEST(a_sorter_that_is_asked_to_stop_writes_no_run)
{
    atomic_bool stop = true;
    struct error err = {0};
    struct sorter_options options = {.memory_bytes = MEMORY, .temp_dir = "/tmp", .stop = &stop};
    struct sorter *sorter = sorter_new(&options);
    ck_assert(!add_long_pairs(sorter, 200, &err));
    ck_assert_int_eq(err.code, ERROR_STOPPED);
    sorter_free(sorter);
}
END_TEST

START_TEST(readers_do_not_disturb_each_other)
{
    enum { COUNT = 500 };
    struct sorter *sorter = open_sorter("/tmp");
    struct error err = {0};
    ck_assert(add_long_pairs(sorter, COUNT, &err));
    struct sorted *ahead = read_sorter(sorter);
    struct sorted *behind = read_sorter(sorter);
    expect_number(ahead, 0);
    for (uint32_t i = 0; i + 1 < COUNT; i++) {
        expect_number(ahead, i + 1);
        expect_number(behind, i);
    }
    sorted_close(ahead);
    expect_number(behind, COUNT - 1);
    expect_end(behind);
    sorted_close(behind);
    sorter_free(sorter);
}
END_TEST

/* The open file without a name in `dir`, or -1. */
static int find_unlinked(const char *dir)
{
    for (int fd = 3; fd < 64; fd++) {
        char name[64], target[256] = {0};
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        if (readlink(name, target, sizeof target - 1) > 0 && strstr(target, dir) == target &&
            strstr(target, "(deleted)") != NULL) {
            return fd;
        }
    }
    return -1;
}

static size_t count_names(const char *dir)
{
    DIR *entries = opendir(dir);
    ck_assert_ptr_nonnull(entries);
    size_t count = 0;
    while (readdir(entries) != NULL) {
        count++;
    }
    closedir(entries);
    return count;
}

static const struct {
    const char *says;
    off_t at; /* from the start of the file */
} damages[] = {
    {"the checksum itself", 0},  {"the unpacked size", 11},    {"the packed size", 15},
    {"a byte of the pairs", 50}, {"a block further on", 9999},
};

START_TEST(a_damaged_run_is_an_error)
{
    char dir[] = "/tmp/refold-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    struct sorter *sorter = open_sorter(dir);
    struct error err = {0};
    ck_assert(add_long_pairs(sorter, 5000, &err));
    ck_assert_msg(count_names(dir) == 2, "runs have no name");
    int fd = find_unlinked(dir);
    ck_assert_int_ge(fd, 0);
    char byte = 0;
    ck_assert_int_eq(pread(fd, &byte, 1, damages[_i].at), 1);
    byte = (char)(byte ^ 0x40);
    ck_assert_int_eq(pwrite(fd, &byte, 1, damages[_i].at), 1);

    struct sorted *sorted = NULL;
    bool more = true;
    bool ok = sorted_open(&sorter, 1, &sorted, &err);
    while (ok && more) {
        struct str key, value;
        ok = sorted_next(sorted, &key, &value, &more, &err);
    }
    ck_assert_msg(!ok && err.code == ERROR_DAMAGED, "%s", damages[_i].says);
    sorted_close(sorted);
    sorter_free(sorter);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

int main(void)
{
    TCase *order = tcase_create("order");
    tcase_add_loop_test(order, keys_are_ordered_by_unsigned_bytes, 0, ROWS(orders));
    tcase_add_test(order, an_empty_sorter_has_no_pairs);
    tcase_add_test(order, equal_keys_come_in_the_order_of_the_sorters);
    tcase_add_test(order, sorting_is_a_stable_order);
    tcase_set_timeout(order, 60);
    TCase *runs = tcase_create("runs");
    tcase_add_test(runs, what_fits_in_memory_touches_no_file);
    tcase_add_test(runs, a_folder_that_is_not_there_is_named);
    tcase_add_test(runs, a_full_disk_is_an_error_of_its_own);
    tcase_add_test(runs, any_number_of_runs_is_merged);
    tcase_add_test(runs, a_sorter_that_is_asked_to_stop_writes_no_run);
    tcase_add_test(runs, readers_do_not_disturb_each_other);
    tcase_add_loop_test(runs, a_damaged_run_is_an_error, 0, ROWS(damages));
    tcase_set_timeout(runs, 60);
    Suite *suite = suite_create("engine/sort/sorter");
    suite_add_tcase(suite, order);
    suite_add_tcase(suite, runs);
    return suite_run(suite);
}
