#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/edit.h"
#include "engine/item/path.h"
#include "engine/item/value.h"
#include "tests/rules/item_edit.h"
#include "tests/rules/item_value.h"
#include "tests/support/property.h"
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

enum { EDITS_MAX = 4, STEPS_MAX = 3 };

struct row {
    struct path_step steps[STEPS_MAX];
    size_t count;
    const char *value; /* NULL: remove */
};

static const struct {
    const char *says;
    const char *before;
    struct row edits[EDITS_MAX];
    size_t count;
    const char *after; /* or the error */
} edits[] = {
    {"nothing to do",
     "{\"a\":{\"N\":\"1\"}}",
     {{{NAME("x")}, 0, NULL}},
     0,
     "{\"a\":{\"N\":\"1\"}}"},
    {"set and remove, in any order",
     "{\"b\":{\"N\":\"2\"},\"d\":{\"N\":\"4\"}}",
     {{{NAME("e")}, 1, "{\"N\":\"5\"}"},
      {{NAME("d")}, 1, NULL},
      {{NAME("a")}, 1, "{\"N\":\"1\"}"},
      {{NAME("c")}, 1, "{\"N\":\"3\"}"}},
     4,
     "{\"a\":{\"N\":\"1\"},\"b\":{\"N\":\"2\"},\"c\":{\"N\":\"3\"},\"e\":{\"N\":\"5\"}}"},
    {"another type",
     "{\"a\":{\"N\":\"1\"}}",
     {{{NAME("a")}, 1, "{\"L\":[]}"}},
     1,
     "{\"a\":{\"L\":[]}}"},
    {"remove of what is not there",
     "{\"a\":{\"N\":\"1\"}}",
     {{{NAME("b")}, 1, NULL}},
     1,
     "{\"a\":{\"N\":\"1\"}}"},
    {"the last one", "{\"a\":{\"N\":\"1\"}}", {{{NAME("a")}, 1, NULL}}, 1, "{}"},
    {"into nothing", "{}", {{{NAME("a")}, 1, "{\"S\":\"x\"}"}}, 1, "{\"a\":{\"S\":\"x\"}}"},
    {"within a map",
     "{\"m\":{\"M\":{\"x\":{\"N\":\"1\"},\"y\":{\"N\":\"2\"}}}}",
     {{{NAME("m"), NAME("y")}, 2, NULL},
      {{NAME("m"), NAME("z")}, 2, "{\"N\":\"3\"}"},
      {{NAME("a")}, 1, "{\"N\":\"0\"}"}},
     3,
     "{\"a\":{\"N\":\"0\"},\"m\":{\"M\":{\"x\":{\"N\":\"1\"},\"z\":{\"N\":\"3\"}}}}"},
    {"places are as found",
     "{\"l\":{\"L\":[{\"N\":\"0\"},{\"N\":\"1\"},{\"N\":\"2\"}]}}",
     {{{NAME("l"), PLACE(0)}, 2, NULL},
      {{NAME("l"), PLACE(2)}, 2, "{\"S\":\"two\"}"},
      {{NAME("l"), PLACE(1)}, 2, NULL}},
     3,
     "{\"l\":{\"L\":[{\"S\":\"two\"}]}}"},
    {"past the end appends, in the order of places",
     "{\"l\":{\"L\":[{\"N\":\"0\"}]}}",
     {{{NAME("l"), PLACE(9)}, 2, "{\"N\":\"2\"}"},
      {{NAME("l"), PLACE(5)}, 2, "{\"N\":\"1\"}"},
      {{NAME("l"), PLACE(7)}, 2, NULL},
      {{NAME("l"), PLACE(0)}, 2, NULL}},
     4,
     "{\"l\":{\"L\":[{\"N\":\"1\"},{\"N\":\"2\"}]}}"},
    {"through a list",
     "{\"l\":{\"L\":[{\"M\":{}},{\"M\":{\"a\":{\"N\":\"1\"}}}]}}",
     {{{NAME("l"), PLACE(1), NAME("a")}, 3, NULL},
      {{NAME("l"), PLACE(0), NAME("b")}, 3, "{\"BOOL\":true}"}},
     2,
     "{\"l\":{\"L\":[{\"M\":{\"b\":{\"BOOL\":true}}},{\"M\":{}}]}}"},
    {"an empty name",
     "{\"m\":{\"M\":{\"a\":{\"N\":\"1\"}}}}",
     {{{NAME("m"), NAME("")}, 2, "{\"N\":\"0\"}"}},
     1,
     "{\"m\":{\"M\":{\"\":{\"N\":\"0\"},\"a\":{\"N\":\"1\"}}}}"},
    {"no parent",
     "{}",
     {{{NAME("m"), NAME("a")}, 2, "{\"N\":\"1\"}"}},
     1,
     "m: expected M, found missing"},
    {"no parent to remove from",
     "{}",
     {{{NAME("m"), NAME("a")}, 2, NULL}},
     1,
     "m: expected M, found missing"},
    {"a name in a list",
     "{\"l\":{\"L\":[]}}",
     {{{NAME("l"), NAME("a")}, 2, NULL}},
     1,
     "l: expected M, found L"},
    {"a place in a map",
     "{\"m\":{\"M\":{}}}",
     {{{NAME("m"), PLACE(0)}, 2, NULL}},
     1,
     "m: expected L, found M"},
    {"a place in a set",
     "{\"s\":{\"SS\":[\"a\"]}}",
     {{{NAME("s"), PLACE(0)}, 2, NULL}},
     1,
     "s: expected L, found SS"},
    {"both a name and a place",
     "{\"m\":{\"M\":{}}}",
     {{{NAME("m"), PLACE(0)}, 2, NULL}, {{NAME("m"), NAME("a")}, 2, NULL}},
     2,
     "m: expected L, found M"},
    {"past the end is no parent",
     "{\"l\":{\"L\":[]}}",
     {{{NAME("l"), PLACE(0), NAME("a")}, 3, "{\"N\":\"1\"}"}},
     1,
     "l[0]: expected M, found missing"},
};

START_TEST(edit_apply_follows_the_table)
{
    struct arena *arena = arena_new();
    struct edit given[EDITS_MAX];
    for (size_t i = 0; i < edits[_i].count; i++) {
        const struct row *row = &edits[_i].edits[i];
        struct value value = {NULL, 0};
        if (row->value != NULL) {
            value = value_of_json(arena, row->value);
        }
        given[i] = (struct edit){{row->steps, row->count}, value};
    }
    struct error err = {0};
    struct value item = item_of_json(arena, edits[_i].before);
    struct value after = {NULL, 0};
    const char *expected = edits[_i].after;
    if (!edit_apply(item, &(struct edits){given, edits[_i].count}, arena, &after, &err)) {
        ck_assert_msg(strcmp(err.text, expected) == 0, "%s: %s", edits[_i].says, err.text);
        ck_assert_int_eq(err.code, ERROR_ITEM);
        ck_assert(value_is_missing(after));
    } else {
        struct str text = json_of_item(arena, after);
        ck_assert_msg(str_equal(text, (struct str){expected, strlen(expected)}), "%s: %.*s",
                      edits[_i].says, STR_ARG(text));
        ck_assert_msg(value_check(after, &err), "%s: %s", edits[_i].says, err.text);
    }
    arena_free(arena);
}
END_TEST

START_TEST(edits_at_once_are_edits_in_turn)
{
    property_check("edits_at_once_are_edits_in_turn", rule_edits_at_once_are_edits_in_turn);
}
END_TEST

int main(void)
{
    TCase *edit = tcase_create("edit");
    tcase_add_loop_test(edit, edit_apply_follows_the_table, 0, ROWS(edits));
    tcase_add_test(edit, edits_at_once_are_edits_in_turn);
    Suite *suite = suite_create("engine/item/edit");
    suite_add_tcase(suite, edit);
    return suite_run(suite);
}
