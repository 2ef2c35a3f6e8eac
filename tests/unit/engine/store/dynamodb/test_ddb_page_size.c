#include "engine/store/dynamodb/ddb_page_size_internal.h"

#include "tests/support/suite.h"

#include <check.h>

enum { TIMES_MAX = 6, MS = 1000, S = 1000000 };

/* What pages look at after each took so long to be written. */
static const struct row {
    const char *says;
    bool writes;
    int readers;
    uint64_t took_us[TIMES_MAX]; /* 0: no more */
    size_t items[TIMES_MAX];
} rows[] = {
    {"pages grow while they are written fast",
     true,
     2,
     {100 * MS, 200 * MS, 400 * MS, 500 * MS},
     {2000, 4000, 4000, 4000}},
    {"and settle where one takes half a second", true, 2, {400 * MS, 500 * MS}, {1250, 1250}},
    {"a slow server's are small, but not too small", true, 2, {40 * S, 10 * S}, {250, 250}},
    {"no page changes them much", true, 2, {1, 40 * S, 1}, {2000, 500, 1000}},
    {"many readers share what memory is meant for", true, 16, {1, 1}, {1000, 1000}},
    {"any number of readers has pages", true, 1000, {1}, {250}},
    {"where nothing is written, pages are large", false, 2, {0}, {4000}},
};

START_TEST(ddb_page_size_follows_what_a_page_takes)
{
    const struct row *row = &rows[_i];
    struct ddb_page_size size;
    ddb_page_size_init(&size, row->writes);
    ddb_page_size_share(&size, row->readers + 1);
    ddb_page_size_share(&size, -1);
    for (size_t i = 0; i < TIMES_MAX && row->items[i] > 0; i++) {
        if (row->took_us[i] > 0) {
            ddb_page_size_written(&size, row->took_us[i]);
        }
        size_t now = ddb_page_size_now(&size);
        ck_assert_msg(now == row->items[i], "%s: %zu items after %zu", row->says, now, i + 1);
    }
}
END_TEST

int main(void)
{
    TCase *size = tcase_create("page_size");
    tcase_add_loop_test(size, ddb_page_size_follows_what_a_page_takes, 0,
                        (int)(sizeof rows / sizeof rows[0]));
    Suite *suite = suite_create("engine/store/dynamodb/ddb_page_size");
    suite_add_tcase(suite, size);
    return suite_run(suite);
}
