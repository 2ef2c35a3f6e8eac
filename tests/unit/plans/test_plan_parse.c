#include "plans/plan.h"

#include "tests/rules/plans_fixture.h"
#include "tests/rules/plans_pass.h"
#include "tests/support/suite.h"

#include <stdio.h>

static const struct {
    const char *file;
    uint32_t version; /* 0: refused */
    const char *name;
} names[] = {
    {"plans/0003_open_orders.json", 3, "open_orders"},
    {"0010_Open-Orders_2.json", 10, "Open-Orders_2"},
    {"/a/b/1_x.json", 1, "x"},
    {"999999999_x.json", 999999999, "x"},
    {"0000_x.json", 0, NULL},
    {"1000000000_x.json", 0, NULL},
    {"3-x.json", 0, NULL},
    {"3_.json", 0, NULL},
    {"_x.json", 0, NULL},
    {"3_x.JSON", 0, NULL},
    {"3_x y.json", 0, NULL},
    {"3_x.json.bak", 0, NULL},
    {"plans.d/3_x/y.json", 0, NULL},
};

START_TEST(plan_file_name_holds_version_and_name)
{
    uint32_t version = 42;
    struct str name = STR("as it was");
    struct error err = {0};
    bool ok = plan_file_name(names[_i].file, &version, &name, &err);
    ck_assert_msg(ok == (names[_i].version > 0), "%s: %s", names[_i].file, err.text);
    if (ok) {
        ck_assert_uint_eq(version, names[_i].version);
        ck_assert_msg(str_equal(name, (struct str){names[_i].name, strlen(names[_i].name)}), "%s",
                      names[_i].file);
    } else {
        ck_assert_int_eq(err.code, ERROR_PLAN);
        ck_assert_uint_eq(version, 42);
        ck_assert(strstr(err.text, "expected a file name like 0003_open_orders.json") != NULL);
    }
}
END_TEST

START_TEST(plan_parse_divides_steps_into_stages)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct plan *plan = NULL;
    bool ok = plans_plan("{ // a plan\n"
                         "\"description\": \"d\", \"steps\": [\n"
                         "{\"set\": {\"a\": 1}}, {\"remove\": [\"b\"]},\n"
                         "{\"create_index\": {\"name\": \"GSI1\", \"partition\": \"P:S\"}},\n"
                         "{\"set\": {\"c\": 1}}, {\"pass\": \"why\"}, {\"delete\": true},\n"
                         "{\"drop_index\": \"GSI1\"}, {\"set\": {\"d\": 1}}]}",
                         arena, &plan, &err);
    ck_assert_msg(ok, "%s", err.text);
    static const struct {
        enum stage_kind kind;
        size_t number, steps;
    } wanted[] = {{STAGE_PASS, 0, 2}, {STAGE_CREATE_INDEX, 2, 0}, {STAGE_PASS, 3, 1},
                  {STAGE_PASS, 5, 1}, {STAGE_DROP_INDEX, 6, 0},   {STAGE_PASS, 7, 1}};
    ck_assert_uint_eq(plan->steps.count, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(plan->steps.stages[i].kind, wanted[i].kind);
        ck_assert_uint_eq(plan->steps.stages[i].number, wanted[i].number);
        ck_assert_uint_eq(plan->steps.stages[i].step_count, wanted[i].steps);
    }
    ck_assert(str_equal(plan->steps.stages[3].why, STR("why")));
    ck_assert(str_equal(plan->steps.stages[4].index.name, STR("GSI1")));
    ck_assert(str_equal(plan->description, STR("d")));
    ck_assert_uint_eq(plan->version, 7);
    ck_assert(!plan->has_rollback);
    arena_free(arena);
}
END_TEST

START_TEST(plan_parse_reads_rollback)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct plan *plan = NULL;
    ck_assert(
        plans_plan("{\"steps\": [{\"set\": {\"a\": 1}}], \"rollback\": []}", arena, &plan, &err));
    ck_assert(plan->has_rollback && plan->rollback.count == 0);
    ck_assert(plans_plan("{\"steps\": [{\"set\": {\"a\": 1}}], \"rollback\": [{\"remove\": "
                         "[\"a\"]}]}",
                         arena, &plan, &err));
    ck_assert(plan->has_rollback && plan->rollback.count == 1);
    arena_free(arena);
}
END_TEST

START_TEST(plan_parse_reads_an_index)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct plan *plan = NULL;
    bool ok = plans_plan("{\"steps\": [{\"create_index\": {\"name\": \"by.day\", \"partition\": "
                         "[\"A:S\", \"B:N\"], \"sort\": [\"C:B\", \"D:S\", \"E:S\", \"a:b:N\"], "
                         "\"projection\": {\"include\": [\"x\", \"y\"]}, "
                         "\"capacity\": {\"read\": 7, \"write\": 999999999}, "
                         "\"on_violation\": \"leave_out\"}}]}",
                         arena, &plan, &err);
    ck_assert_msg(ok, "%s", err.text);
    const struct stage *stage = plan->steps.stages;
    const struct index_desc *index = &stage->index;
    ck_assert(str_equal(index->name, STR("by.day")));
    ck_assert_uint_eq(index->read_units, 7);
    ck_assert_uint_eq(index->write_units, 999999999);
    ck_assert_uint_eq(index->keys.partition_count, 2);
    ck_assert(str_equal(index->keys.partition[1].name, STR("B")));
    ck_assert_int_eq(index->keys.partition[1].type, VALUE_N);
    ck_assert_uint_eq(index->keys.sort_count, 4);
    ck_assert(str_equal(index->keys.sort[3].name, STR("a:b")));
    ck_assert_int_eq(index->projection, PROJECT_INCLUDE);
    ck_assert_uint_eq(index->include_count, 2);
    ck_assert(str_equal(index->include[1], STR("y")));
    ck_assert(stage->leave_out);
    arena_free(arena);
}
END_TEST

#define AT "plans/0007_test.json:1:"

/* The message, whole. */
static const struct {
    const char *text;
    const char *message;
} faults[] = {
    {"[]", AT "1: expected an object, found an array"},
    {"{}", AT "1: expected the member \"steps\""},
    {"{\"steps\": 1}", AT "11: steps: expected an array, found a number"},
    {"{\"steps\": []}", AT "11: expected at least one step"},
    {"{\"steps\": [{\"pass\": \"x\"}]}", AT "11: expected at least one step"},
    {"{\"steps\": [1]}", AT "12: steps[0]: expected an object, found a number"},
    {"{\"stepz\": []}", AT "2: expected one of description, steps, rollback, found \"stepz\""},
    {"{\"steps\": [], \"description\": 1}",
     AT "30: description: expected a string, found a number"},
    {"{\"steps\": [{\"set\": {\"a\": 1}}], \"rollback\": [{}]}",
     AT "45: rollback[0]: expected either put, or delete, or any of set, rename, remove, rekey; "
        "found none of them"},
};

/* The step alone; the message behind "plans/0007_test.json:1:". */
static const struct {
    const char *step;
    const char *message;
} step_faults[] = {
    {"{\"wher\": \"a = 1\"}", "13: steps[0]: expected one of name, lookup, where, set, rename, "
                              "remove, rekey, put, delete, on_collision, found \"wher\""},
    {"{\"where\": \"a = 1\"}", "12: steps[0]: expected either put, or delete, or any of set, "
                               "rename, remove, rekey; found none of them"},
    {"{\"put\": {\"a\": 1}, \"set\": {\"a\": 1}}",
     "12: steps[0]: expected either put, or delete, or any of set, rename, remove, rekey; found "
     "more"},
    {"{\"put\": {\"a\": 1}, \"delete\": true}",
     "12: steps[0]: expected either put, or delete, or any of set, rename, remove, rekey; found "
     "more"},
    {"{\"delete\": true, \"rekey\": {\"PK\": 1}}",
     "12: steps[0]: expected either put, or delete, or any of set, rename, remove, rekey; found "
     "more"},
    {"{\"delete\": false}", "23: steps[0].delete: expected true, found false"},
    {"{\"name\": \"\", \"delete\": true}",
     "21: steps[0].name: expected a string, found an empty one"},
    {"{\"where\": 1, \"delete\": true}", "22: steps[0].where: expected a string, found a number"},
    {"{\"where\": \"a\", \"delete\": true}",
     "22: steps[0].where: expected a condition, found the value a\nhint: of a BOOL attribute write "
     "a = true"},
    {"{\"where\": \"a = 'x' AND\", \"delete\": true}", "34: steps[0].where: "},
    {"{\"set\": {}}", "20: steps[0].set: expected at least one member"},
    {"{\"set\": [1]}", "20: steps[0].set: expected an object, found an array"},
    {"{\"set\": {\"a b\": 1}}", "24: steps[0].set.a b: "},
    {"{\"set\": {\"a = 1\": 1}}", "21: steps[0].set.a = 1: expected a document path, found a = 1"},
    {"{\"set\": {\"a\": \"${\"}}", "29: steps[0].set.a: "},
    {"{\"set\": {\"a\": 1, \"a.b\": 2}}",
     "36: steps[0]: expected paths that do not overlap, found a.b and a"},
    {"{\"set\": {\"a\": 1}, \"remove\": [\"a\"]}",
     "41: steps[0]: expected paths that do not overlap, found a and a"},
    {"{\"rename\": {\"a\": \"b\", \"b\": \"a\"}}",
     "39: steps[0]: expected paths that do not overlap, found b and b"},
    {"{\"set\": {\"a.b\": 1, \"\\\"a\\\".\\\"b\\\"\": 2}}",
     "46: steps[0]: expected paths that do not overlap, found a.b and a.b"},
    {"{\"rename\": {\"a\": 1}}", "29: steps[0].rename.a: expected a string, found a number"},
    {"{\"rename\": {\"a\": \"a b\"}}", "32: steps[0].rename.a: "},
    {"{\"remove\": {}}", "23: steps[0].remove: expected an array, found an object"},
    {"{\"remove\": []}", "23: steps[0].remove: expected at least one member"},
    {"{\"remove\": [\"a\", 1]}", "29: steps[0].remove[1]: expected a string, found a number"},
    {"{\"put\": {\"\": 1}}", "21: steps[0].put.: expected an attribute name, found an empty one"},
    {"{\"set\": {\"a\": 1}, \"on_collision\": \"skip\"}",
     "46: steps[0].on_collision: expected a rekey or put that can collide, found neither"},
    {"{\"rekey\": {\"PK\": 1}, \"on_collision\": \"newer\"}",
     "49: steps[0].on_collision: expected fail, skip, overwrite or \"keep_newer: ATTRIBUTE\", "
     "found \"newer\""},
    {"{\"rekey\": {\"PK\": 1}, \"on_collision\": \"keep_newer: \"}",
     "49: steps[0].on_collision: expected fail, skip, overwrite or \"keep_newer: ATTRIBUTE\", "
     "found \"keep_newer: \""},
    {"{\"lookup\": {}, \"delete\": true}", "23: steps[0].lookup: expected at least one member"},
    {"{\"lookup\": {\"c\": {}}, \"delete\": true}",
     "29: steps[0].lookup.c: expected at least one member"},
    {"{\"lookup\": {\"c\": {\"PK\": \"${d.x}\"}, \"d\": {\"PK\": \"x\"}}, \"delete\": true}",
     "39: steps[0].lookup.c.PK: expected a path of the item, found the lookup d"},
    {"{\"pass\": \"why\", \"set\": {\"a\": 1}}",
     "28: steps[0]: expected one of pass, found \"set\""},
    {"{\"pass\": 1}", "21: steps[0]: expected a string, found a number"},
    {"{\"drop_index\": \"\"}", "27: steps[0].drop_index: expected a string, found an empty one"},
    {"{\"create_index\": {\"name\": \"abc\"}}",
     "29: steps[0].create_index: expected the member \"partition\""},
    {"{\"create_index\": {\"name\": \"ab\", \"partition\": \"P:S\"}}",
     "38: steps[0].create_index.name: expected 3 to 255 of a-z A-Z 0-9 _ - ., found \"ab\""},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P\"}}",
     "58: steps[0].create_index.partition: key attribute 'P' has no type: write NAME:S"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": [\"P:S\", \"Q:M\"]}}",
     "66: steps[0].create_index.partition: key attribute 'Q': type 'M' is not S, N or B"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": []}}",
     "58: steps[0].create_index.partition: expected 1 to 4 attributes, found 0"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"sort\": "
     "[\"A:S\",\"B:S\",\"C:S\",\"D:S\",\"E:S\"]}}",
     "73: steps[0].create_index.sort: expected 1 to 4 attributes, found 5"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"sort\": \"P:S\"}}",
     "29: steps[0].create_index: expected each key attribute once, found P twice"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"projection\": \"all\"}}",
     "79: steps[0].create_index.projection: expected \"ALL\", \"KEYS_ONLY\" or {\"include\": "
     "[...]}"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"projection\": {\"include\": "
     "[]}}}",
     "91: steps[0].create_index.projection: expected 1 to 100 attribute names, found 0"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"projection\": {\"include\": "
     "[\"x\", \"y\", \"x\"]}}}",
     "102: steps[0].create_index.projection: expected each attribute once, found x twice"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"capacity\": 5}}",
     "77: steps[0].create_index.capacity: "},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"capacity\": {\"read\": 5}}}",
     "77: steps[0].create_index.capacity: expected \"write\": a whole number from 1"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"capacity\": {\"read\": 0, "
     "\"write\": 5}}}",
     "86: steps[0].create_index.capacity: expected \"read\": a whole number from 1"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"capacity\": {\"read\": 5, "
     "\"write\": 1.5}}}",
     "98: steps[0].create_index.capacity: expected \"write\": a whole number from 1"},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"on_violation\": \"skip\"}}",
     "81: steps[0].create_index.on_violation: expected \"fail\" or \"leave_out\""},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\"}, \"on_violation\": 1}",
     "82: steps[0].on_violation: expected \"fail\" or \"leave_out\""},
    {"{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"on_violation\": \"fail\"}, "
     "\"on_violation\": \"fail\"}",
     "106: steps[0].on_violation: expected once, found inside create_index too"},
};

static void check_fault(const char *text, const char *message)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct plan *plan = NULL;
    ck_assert_msg(!plans_plan(text, arena, &plan, &err), "%s is taken", text);
    ck_assert_int_eq(err.code, ERROR_PLAN);
    size_t len = strlen(message);
    bool open = len >= 2 && strcmp(message + len - 2, ": ") == 0; /* the rest is another's */
    ck_assert_msg(open ? strncmp(err.text, message, len) == 0 : strcmp(err.text, message) == 0,
                  "%s: %s", text, err.text);
    arena_free(arena);
}

START_TEST(plan_parse_says_where_the_fault_is)
{
    check_fault(faults[_i].text, faults[_i].message);
}
END_TEST

START_TEST(plan_parse_says_which_step_is_wrong)
{
    char text[512];
    char message[512];
    (void)snprintf(text, sizeof text, "{\"steps\": [%s]}", step_faults[_i].step);
    (void)snprintf(message, sizeof message, AT "%s", step_faults[_i].message);
    check_fault(text, message);
}
END_TEST

START_TEST(plan_parse_tells_line_and_column)
{
    check_fault("\xef\xbb\xbf{\r\n\"steps\": [\r\n{\"name\": \"\xc3\xa9\", \"wer\": 1}]}",
                "plans/0007_test.json:3:15: steps[0]: expected one of name, lookup, where, set, "
                "rename, remove, rekey, put, delete, on_collision, found \"wer\"");
    check_fault("{\"steps\": [],\n \"steps\": []}", "plans/0007_test.json:2:2: ");
}
END_TEST

/* RES-4: spelling is no change, meaning is. */
static const struct {
    const char *says;
    const char *one;
    const char *other;
    bool same;
} hashes[] = {
    {"mark, line ends, blanks and comments", "{\"steps\": [{\"delete\": true}]}",
     "\xef\xbb\xbf{\r\n\t\"steps\" : /* c */ [ {\"delete\":true} ]\r\n} // end\r\n", true},
    {"order of members",
     "{\"steps\": [{\"where\": \"a = 1\", \"set\": {\"b\": 1, \"c\": {\"x\": 1, \"y\": 2}}}]}",
     "{\"steps\": [{\"set\": {\"c\": {\"y\": 2, \"x\": 1}, \"b\": 1}, \"where\": \"a = 1\"}]}",
     true},
    {"description and names", "{\"description\": \"d\", \"steps\": [{\"delete\": true}]}",
     "{\"steps\": [{\"name\": \"n\", \"delete\": true}]}", true},
    {"spelling of expressions",
     "{\"steps\": [{\"where\": \"a=1.0 and (begins_with( b,'x' ))\", \"set\": {\"c\": \"${ d "
     "}\"}}]}",
     "{\"steps\": [{\"where\": \"a = 1 AND begins_with(b, 'x')\", \"set\": {\"\\\"c\\\"\": "
     "\"${d}\"}}]}",
     true},
    {"spelling of values", "{\"steps\": [{\"set\": {\"a\": 1.50, \"b\": {\"S\": \"x\"}}}]}",
     "{\"steps\": [{\"set\": {\"a\": {\"N\": \"15e-1\"}, \"b\": \"\\u0078\"}}]}", true},
    {"order of removed paths", "{\"steps\": [{\"remove\": [\"a\", \"b\"]}]}",
     "{\"steps\": [{\"remove\": [\"b\", \"a\"]}]}", true},
    {"what is the default",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}, \"on_collision\": \"fail\"}, {\"create_index\": "
     "{\"name\": \"abc\", \"partition\": [\"P:S\"], \"projection\": \"ALL\", \"on_violation\": "
     "\"fail\"}}]}",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}}, {\"create_index\": {\"name\": \"abc\", "
     "\"partition\": \"P:S\"}}]}",
     true},
    {"why a pass ends", "{\"steps\": [{\"delete\": true}, {\"pass\": \"a\"}, {\"delete\": true}]}",
     "{\"steps\": [{\"delete\": true}, {\"pass\": \"b\"}, {\"delete\": true}]}", true},
    {"order of included attributes",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"projection\": "
     "{\"include\": [\"x\", \"y\"]}}}]}",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"projection\": "
     "{\"include\": [\"y\", \"x\"]}}}]}",
     true},
    {"order of a set's members",
     "{\"steps\": [{\"where\": \"a = <<'x', 'y'>> OR b = <<c, 1>>\", \"set\": {\"d\": {\"NS\": "
     "[\"1\", "
     "\"${e}\"]}}}]}",
     "{\"steps\": [{\"where\": \"a = <<'y', 'x'>> OR b = <<1.0, c>>\", \"set\": {\"d\": {\"NS\": "
     "[\"${ e }\", 1]}}}]}",
     true},
    {"a set member twice", "{\"steps\": [{\"set\": {\"a\": {\"SS\": [\"x\", \"x\"]}}}]}",
     "{\"steps\": [{\"set\": {\"a\": {\"SS\": [\"x\"]}}}]}", true},
    {"dividers that divide nothing",
     "{\"steps\": [{\"pass\": \"a\"}, {\"delete\": true}, {\"pass\": \"b\"}, {\"drop_index\": "
     "\"abc\"}, {\"pass\": \"c\"}]}",
     "{\"steps\": [{\"delete\": true}, {\"drop_index\": \"abc\"}]}", true},
    {"parentheses of one operator",
     "{\"steps\": [{\"where\": \"(a = 1 AND b = 2) AND c = 3\", \"delete\": true}]}",
     "{\"steps\": [{\"where\": \"a = 1 AND (b = 2 AND c = 3)\", \"delete\": true}]}", true},
    {"parentheses that count", "{\"steps\": [{\"where\": \"a - (b - c) = 1\", \"delete\": true}]}",
     "{\"steps\": [{\"where\": \"a - b - c = 1\", \"delete\": true}]}", false},
    {"a list's order", "{\"steps\": [{\"set\": {\"a\": [1, 2]}}]}",
     "{\"steps\": [{\"set\": {\"a\": [2, 1]}}]}", false},
    {"a list is no set", "{\"steps\": [{\"set\": {\"a\": [\"x\"]}}]}",
     "{\"steps\": [{\"set\": {\"a\": {\"SS\": [\"x\"]}}}]}", false},
    {"a set's type", "{\"steps\": [{\"set\": {\"a\": {\"SS\": [\"1\"]}}}]}",
     "{\"steps\": [{\"set\": {\"a\": {\"NS\": [\"1\"]}}}]}", false},
    {"a path and a name with a dot", "{\"steps\": [{\"set\": {\"a.b\": 1}}]}",
     "{\"steps\": [{\"set\": {\"\\\"a.b\\\"\": 1}}]}", false},
    {"a map that looks like a type", "{\"steps\": [{\"set\": {\"a\": {\"M\": {\"S\": \"x\"}}}}]}",
     "{\"steps\": [{\"set\": {\"a\": {\"S\": \"x\"}}}]}", false},
    {"an opening that is none", "{\"steps\": [{\"set\": {\"a\": \"${'${'}b}\"}}]}",
     "{\"steps\": [{\"set\": {\"a\": \"${b}\"}}]}", false},
    {"bytes and their text", "{\"steps\": [{\"where\": \"a = b64'MQ=='\", \"delete\": true}]}",
     "{\"steps\": [{\"where\": \"a = '1'\", \"delete\": true}]}", false},
    {"put and rekey", "{\"steps\": [{\"put\": {\"PK\": \"x\", \"SK\": \"y\"}}]}",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\", \"SK\": \"y\"}}]}", false},
    {"what wins a collision",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}, \"on_collision\": \"keep_newer: a\"}]}",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}, \"on_collision\": \"keep_newer: b\"}]}", false},
    {"what is behind a NUL",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}, \"on_collision\": \"keep_newer: a\\u0000b\"}]}",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}, \"on_collision\": \"keep_newer: a\\u0000c\"}]}",
     false},
    {"what is behind a NUL in a key's name",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"a\\u0000b:S\"}}]}",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"a\\u0000c:S\"}}]}",
     false},
    {"where an index takes violations",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\"}, "
     "\"on_violation\": \"leave_out\"}]}",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\"}}]}", false},
    {"what an index may use",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"capacity\": "
     "{\"read\": 1, \"write\": 2}}}]}",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": \"P:S\", \"capacity\": "
     "{\"read\": 1, \"write\": 3}}}]}",
     false},
    {"a literal in where", "{\"steps\": [{\"where\": \"a = 1\", \"delete\": true}]}",
     "{\"steps\": [{\"where\": \"a = 2\", \"delete\": true}]}", false},
    {"a type", "{\"steps\": [{\"set\": {\"a\": 1}}]}", "{\"steps\": [{\"set\": {\"a\": \"1\"}}]}",
     false},
    {"the kind of edit", "{\"steps\": [{\"set\": {\"a\": \"b\"}}]}",
     "{\"steps\": [{\"rename\": {\"a\": \"b\"}}]}", false},
    {"a text in a template", "{\"steps\": [{\"set\": {\"a\": \"A#${b}\"}}]}",
     "{\"steps\": [{\"set\": {\"a\": \"B#${b}\"}}]}", false},
    {"where a pass ends",
     "{\"steps\": [{\"delete\": true}, {\"pass\": \"a\"}, {\"delete\": true}]}",
     "{\"steps\": [{\"delete\": true}, {\"delete\": true}]}", false},
    {"the order of steps", "{\"steps\": [{\"set\": {\"a\": 1}}, {\"set\": {\"a\": 2}}]}",
     "{\"steps\": [{\"set\": {\"a\": 2}}, {\"set\": {\"a\": 1}}]}", false},
    {"on_collision", "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}}]}",
     "{\"steps\": [{\"rekey\": {\"PK\": \"x\"}, \"on_collision\": \"keep_newer: at\"}]}", false},
    {"a lookup",
     "{\"steps\": [{\"lookup\": {\"c\": {\"PK\": \"1\"}}, \"set\": {\"a\": \"${c.n}\"}}]}",
     "{\"steps\": [{\"lookup\": {\"c\": {\"PK\": \"2\"}}, \"set\": {\"a\": \"${c.n}\"}}]}", false},
    {"rollback", "{\"steps\": [{\"delete\": true}]}",
     "{\"steps\": [{\"delete\": true}], \"rollback\": []}", false},
    {"the order of an index's attributes",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": [\"P:S\", \"Q:S\"]}}]}",
     "{\"steps\": [{\"create_index\": {\"name\": \"abc\", \"partition\": [\"Q:S\", \"P:S\"]}}]}",
     false},
    {"which index is dropped", "{\"steps\": [{\"drop_index\": \"a\"}]}",
     "{\"steps\": [{\"drop_index\": \"b\"}]}", false},
};

START_TEST(plan_hash_tells_meaning_from_spelling)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct plan *one = NULL;
    const struct plan *other = NULL;
    ck_assert_msg(plans_plan(hashes[_i].one, arena, &one, &err), "%s", err.text);
    ck_assert_msg(plans_plan(hashes[_i].other, arena, &other, &err), "%s", err.text);
    ck_assert_msg(str_equal(one->hash, other->hash) == hashes[_i].same, "%s", hashes[_i].says);
    arena_free(arena);
}
END_TEST

/* Ledgers hold hashes: this one may never change. */
START_TEST(plan_hash_stays_as_it_is)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct plan *plan = NULL;
    bool ok = plans_plan("{\"steps\": [{\"where\": \"begins_with(SK, 'ORDER#') AND NOT "
                         "attribute_exists(GSI1PK)\", \"set\": {\"GSI1PK\": \"STATUS#${Status}\", "
                         "\"n\": [1, {\"SS\": [\"a\"]}]}}, {\"drop_index\": \"old\"}]}",
                         arena, &plan, &err);
    ck_assert_msg(ok, "%s", err.text);
    ck_assert_str_eq(plan->hash.ptr,
                     "1:b0982669780678812e798d506559b4c1e274cf2e8a39db090b1cfff5fd2c7b39");
    arena_free(arena);
}
END_TEST

START_TEST(plan_hash_ignores_spacing)
{
    property_check("plan_hash_ignores_spacing", rule_plan_hash_ignores_spacing);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/plan_parse");
    TCase *tcase = tcase_create("plan_parse");
    tcase_add_loop_test(tcase, plan_file_name_holds_version_and_name, 0, ROWS(names));
    tcase_add_test(tcase, plan_parse_divides_steps_into_stages);
    tcase_add_test(tcase, plan_parse_reads_rollback);
    tcase_add_test(tcase, plan_parse_reads_an_index);
    tcase_add_loop_test(tcase, plan_parse_says_where_the_fault_is, 0, ROWS(faults));
    tcase_add_loop_test(tcase, plan_parse_says_which_step_is_wrong, 0, ROWS(step_faults));
    tcase_add_test(tcase, plan_parse_tells_line_and_column);
    tcase_add_loop_test(tcase, plan_hash_tells_meaning_from_spelling, 0, ROWS(hashes));
    tcase_add_test(tcase, plan_hash_ignores_spacing);
    tcase_add_test(tcase, plan_hash_stays_as_it_is);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
