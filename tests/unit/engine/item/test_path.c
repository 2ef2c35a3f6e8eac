#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/path.h"
#include "engine/item/value.h"
#include "tests/rules/item_value.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define NAME(text)             \
    {                          \
        .name = STR_INIT(text) \
    }
#define PLACE(n)                       \
    {                                  \
        .is_place = true, .place = (n) \
    }

static const struct {
    const char *says;
    struct path_step steps[4];
    size_t count;
    const char *found;
    const char *printed;
} paths[] = {
    {"an attribute", {NAME("a")}, 1, "{\"N\":\"1\"}", "a"},
    {"a place", {NAME("l"), PLACE(1)}, 2, "{\"S\":\"two\"}", "l[1]"},
    {"deep", {NAME("l"), PLACE(2), NAME("m"), PLACE(0)}, 4, "{\"NULL\":true}", "l[2].m[0]"},
    {"no such attribute", {NAME("b")}, 1, "missing", "b"},
    {"no such place", {NAME("l"), PLACE(3)}, 2, "missing", "l[3]"},
    {"a name in a list", {NAME("l"), NAME("m")}, 2, "missing", "l.m"},
    {"a place in a number", {NAME("a"), PLACE(0)}, 2, "missing", "a[0]"},
    {"past what is missing", {NAME("b"), NAME("c"), PLACE(9)}, 3, "missing", "b.c[9]"},
    {"a dot in a name", {NAME("d.e")}, 1, "{\"N\":\"2\"}", "\"d.e\""},
    {"a quote in a name", {NAME("q\"")}, 1, "{\"N\":\"3\"}", "\"q\"\"\""},
    {"a digit first", {NAME("1st"), NAME("_x9")}, 2, "missing", "\"1st\"._x9"},
    {"a keyword", {NAME("Between"), NAME("betweens")}, 2, "missing", "\"Between\".betweens"},
    {"another", {NAME("NULL")}, 1, "missing", "\"NULL\""},
    {"no letters", {NAME("")}, 1, "missing", "\"\""},
};

START_TEST(path_leads_and_prints_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct value item = item_of_json(
        arena, "{\"a\":{\"N\":\"1\"},\"d.e\":{\"N\":\"2\"},\"q\\\"\":{\"N\":\"3\"},\"l\":{\"L\":[{"
               "\"S\":\"one\"},{\"S\":\"two\"},{\"M\":{\"m\":{\"L\":[{\"NULL\":true}]}}}]}}");
    struct path path = {paths[_i].steps, paths[_i].count};
    struct str found = json_of_value(arena, path_value(path, item));
    ck_assert_msg(str_equal(found, (struct str){paths[_i].found, strlen(paths[_i].found)}),
                  "%s: %.*s", paths[_i].says, STR_ARG(found));
    struct str printed = path_print(path, arena);
    ck_assert_msg(str_equal(printed, (struct str){paths[_i].printed, strlen(paths[_i].printed)}),
                  "%s: %.*s", paths[_i].says, STR_ARG(printed));
    arena_free(arena);
}
END_TEST

static const struct {
    struct path_step a[3];
    size_t a_count;
    struct path_step b[3];
    size_t b_count;
    bool overlap;
    bool conflict;
} pairs[] = {
    {{NAME("a")}, 1, {NAME("a")}, 1, true, false},
    {{NAME("a")}, 1, {NAME("b")}, 1, false, false},
    {{NAME("a")}, 1, {NAME("ab")}, 1, false, false},
    {{NAME("a")}, 1, {NAME("a"), NAME("b"), PLACE(1)}, 3, true, false},
    {{NAME("a"), PLACE(1)}, 2, {NAME("a"), PLACE(1), NAME("x")}, 3, true, false},
    {{NAME("a"), PLACE(1)}, 2, {NAME("a"), PLACE(2)}, 2, false, false},
    {{NAME("a"), PLACE(0)}, 2, {NAME("a"), NAME("")}, 2, false, true},
    {{NAME("a"), NAME("b"), NAME("c")}, 3, {NAME("a"), PLACE(1)}, 2, false, true},
    {{NAME("a"), NAME("b")}, 2, {NAME("a"), NAME("c"), NAME("b")}, 3, false, false},
};

START_TEST(paths_overlap_or_conflict_or_neither)
{
    struct path a = {pairs[_i].a, pairs[_i].a_count};
    struct path b = {pairs[_i].b, pairs[_i].b_count};
    ck_assert_int_eq(path_overlaps(a, b), pairs[_i].overlap);
    ck_assert_int_eq(path_overlaps(b, a), pairs[_i].overlap);
    ck_assert_int_eq(path_conflicts(a, b), pairs[_i].conflict);
    ck_assert_int_eq(path_conflicts(b, a), pairs[_i].conflict);
}
END_TEST

int main(void)
{
    TCase *path = tcase_create("path");
    tcase_add_loop_test(path, path_leads_and_prints_as_the_table_says, 0, ROWS(paths));
    tcase_add_loop_test(path, paths_overlap_or_conflict_or_neither, 0, ROWS(pairs));
    Suite *suite = suite_create("engine/item/path");
    suite_add_tcase(suite, path);
    return suite_run(suite);
}
