#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "migrate/cli/report.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint64_t n;
    const char *count, *bytes, *duration;
} quantities[] = {
    {0, "0", "0 B", "0.0 s"},
    {999, "999", "999 B", "0.9 s"},
    {1000, "1,000", "1.0 kB", "1.0 s"},
    {59999, "59,999", "59.9 kB", "59.9 s"},
    {60000, "60,000", "60.0 kB", "1 min 0 s"},
    {999999, "999,999", "999.9 kB", "16 min 39 s"},
    {1000000, "1,000,000", "1.0 MB", "16 min 40 s"},
    {7500000, "7,500,000", "7.5 MB", "2 h 5 min"},
    {UINT64_MAX, "18,446,744,073,709,551,615", "18.4 EB", "5124095576030 h 25 min"},
};

START_TEST(report_quantities_follow_the_table)
{
    struct arena *arena = arena_new();
    struct str count = report_count(arena, quantities[_i].n);
    struct str bytes = report_bytes(arena, quantities[_i].n);
    struct str duration = report_duration(arena, quantities[_i].n);
    ck_assert_msg(strncmp(count.ptr, quantities[_i].count, count.len) == 0, "%.*s", STR_ARG(count));
    ck_assert_uint_eq(count.len, strlen(quantities[_i].count));
    ck_assert_str_eq(bytes.ptr, quantities[_i].bytes);
    ck_assert_str_eq(duration.ptr, quantities[_i].duration);
    arena_free(arena);
}
END_TEST

START_TEST(report_counted_knows_one_from_many)
{
    struct arena *arena = arena_new();
    ck_assert_str_eq(report_counted(arena, 0, "entry", "entries").ptr, "0 entries");
    ck_assert_str_eq(report_counted(arena, 1, "entry", "entries").ptr, "1 entry");
    ck_assert_str_eq(report_counted(arena, 1001, "entry", "entries").ptr, "1,001 entries");
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    struct str rows[3][3];
    size_t width;
    size_t header_rows;
    bool color;
    const char *printed;
} tables[] = {
    {"columns stand below one another",
     {{STR_INIT("PK"), STR_INIT("SK"), STR_INIT("Total")},
      {STR_INIT("CUSTOMER#1"), STR_INIT("A"), STR_INIT("7")},
      {STR_INIT("C"), STR_INIT("ORDER"), STR_INIT("12.5")}},
     0,
     1,
     false,
     "PK          SK     Total\n"
     "CUSTOMER#1  A          7\n"
     "C           ORDER   12.5\n"},
    {"no blanks at the end",
     {{STR_INIT("a"), STR_INIT("b"), STR_INIT("c")},
      {STR_INIT("long"), STR_INIT(""), STR_INIT("")},
      {STR_INIT(""), STR_INIT("x"), STR_INIT("")}},
     0,
     1,
     false,
     "a     b  c\n"
     "long\n"
     "      x\n"},
    {"characters count, not bytes",
     {{STR_INIT("Straße"), STR_INIT("b"), STR_INIT("c")},
      {STR_INIT("Åse"), STR_INIT("x"), STR_INIT("y")},
      {STR_INIT("日本"), STR_INIT("x"), STR_INIT("y")}},
     0,
     1,
     false,
     "Straße  b  c\n"
     "Åse     x  y\n"
     "日本      x  y\n"},
    {"the widest is shortened",
     {{STR_INIT("a"), STR_INIT("b"), STR_INIT("c")},
      {STR_INIT("1"), STR_INIT("a very long text indeed"), STR_INIT("z")},
      {STR_INIT("2"), STR_INIT("short"), STR_INIT("z")}},
     16,
     1,
     false,
     "a  b           c\n"
     "1  a very lo…  z\n"
     "2  short       z\n"},
    {"control characters are shown",
     {{STR_INIT("a"), STR_INIT("b"), STR_INIT("c")},
      {STR_INIT("x\ny"), STR_INIT("\033[31m"), STR_INIT("\0")},
      {STR_INIT(""), STR_INIT(""), STR_INIT("")}},
     0,
     1,
     false,
     "a     b         c\n"
     "x\\ny  \\x1b[31m  \\x00\n"
     "\n"},
    {"headings are underlined in color",
     {{STR_INIT("a"), STR_INIT("b"), STR_INIT("c")},
      {STR_INIT("1"), STR_INIT("2"), STR_INIT("3")},
      {STR_INIT("4"), STR_INIT("5"), STR_INIT("6")}},
     0,
     1,
     true,
     "\033[4ma  b  c\033[0m\n"
     "1  2  3\n"
     "4  5  6\n"},
};

START_TEST(report_table_print_follows_the_table)
{
    struct arena *arena = arena_new();
    struct report_table *table = report_table_new(arena, 3);
    for (size_t i = 0; i < 3; i++) {
        report_table_row(table, tables[_i].rows[i]);
    }
    report_table_fit(table, tables[_i].width);
    char *printed = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&printed, &len);
    ck_assert_ptr_nonnull(out);
    report_table_print(table, out, tables[_i].header_rows, tables[_i].color);
    ck_assert_int_eq(fclose(out), 0);
    ck_assert_msg(strcmp(printed, tables[_i].printed) == 0, "%s:\n%s", tables[_i].says, printed);
    heap_free(printed);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    uint64_t done, total, elapsed_ms;
    size_t bar;
    const char *line;
    bool is_estimate;
} lines[] = {
    {"the start", 0, 2000, 0, 0, "load  0 %  0 of 2,000", false},
    {"nothing yet", 0, 2000, 7000, 0, "load  0 %  0 of 2,000  for 7.0 s", false},
    {"half", 1000, 2000, 500, 0, "load  50 %  1,000 of 2,000  2,000/s  ETA 0.5 s", false},
    {"with a bar", 500, 2000, 500, 8, "load  [##      ]  25 %  500 of 2,000  1,000/s  ETA 1.5 s",
     false},
    {"the end", 2000, 2000, 1000, 4, "load  [####]  100 %  2,000 of 2,000  2,000/s", false},
    {"more than was thought", 3000, 2000, 1000, 0, "load  100 %  3,000 of 2,000  3,000/s", false},
    {"about half", 1000, 2000, 500, 0, "load  50 %  1,000 of ~2,000  2,000/s  ETA 0.5 s", true},
    {"more than was estimated", 3000, 2000, 1000, 4, "load  3,000  3,000/s", true},
    {"an unknown total", 1500, 0, 1000, 8, "load  1,500  1,500/s", false},
};

START_TEST(progress_line_follows_the_table)
{
    struct arena *arena = arena_new();
    struct progress_state state = {"load", lines[_i].done, lines[_i].total, lines[_i].elapsed_ms,
                                   lines[_i].is_estimate};
    struct str line = progress_line(arena, state, lines[_i].bar);
    ck_assert_msg(strcmp(line.ptr, lines[_i].line) == 0, "%s: %s", lines[_i].says, line.ptr);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *reports = tcase_create("reports");
    tcase_add_test(reports, report_counted_knows_one_from_many);
    tcase_add_loop_test(reports, report_quantities_follow_the_table, 0, ROWS(quantities));
    tcase_add_loop_test(reports, report_table_print_follows_the_table, 0, ROWS(tables));
    tcase_add_loop_test(reports, progress_line_follows_the_table, 0, ROWS(lines));
    Suite *suite = suite_create("migrate/cli/report");
    suite_add_tcase(suite, reports);
    return suite_run(suite);
}
