#include "engine/store/dynamodb/ddb_statement_internal.h"

#include "engine/item/item_json.h"
#include "tests/support/suite.h"

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .sort = {{STR_INIT("S K"), VALUE_N}},
                                       .partition_count = 1,
                                       .sort_count = 1};

#define ITEM(members) "{\"PK\":{\"S\":\"P\"},\"S K\":{\"N\":\"7\"}" members "}"
#define HEAD          "{\"Statements\":[{\"Statement\":\"UPDATE \\\"T.1\\\""
#define WHERE         " WHERE \\\"PK\\\"=? AND \\\"S K\\\"=?"
#define KEY           "{\"S\":\"P\"},{\"N\":\"7\"}"
#define END           "]}],\"ReturnConsumedCapacity\":\"TOTAL\"}"

static const struct {
    const char *says;
    const char *before, *after;
    const char *body; /* NULL: it cannot be said */
} rows[] = {
    {"what is set comes first, then the key, then what was there",
     ITEM(",\"A\":{\"S\":\"\\\"a\"},\"B\":{\"SS\":[\"x\",\"y\"]}"),
     ITEM(",\"A\":{\"N\":\"2\"},\"B\":{\"SS\":[\"x\",\"y\"]}"),
     HEAD " SET \\\"A\\\"=?" WHERE
          " AND \\\"A\\\"=? AND \\\"B\\\"=?\",\"Parameters\":[{\"N\":\"2\"}," KEY
          ",{\"S\":\"\\\"a\"},{\"SS\":[\"x\",\"y\"]}" END},
    {"what was not there must be missing; what goes is removed", ITEM(",\"A\":{\"NULL\":true}"),
     ITEM(",\"B b.c\":{\"L\":[]},\"D\":{\"BOOL\":true}"),
     HEAD " SET \\\"B b.c\\\"=? SET \\\"D\\\"=? REMOVE \\\"A\\\"" WHERE
          " AND \\\"B b.c\\\" IS MISSING AND \\\"D\\\" IS MISSING AND \\\"A\\\"=?\","
          "\"Parameters\":[{\"L\":[]},{\"BOOL\":true}," KEY ",{\"NULL\":true}" END},
    {"nothing is set", ITEM(",\"A\":{\"S\":\"a\"},\"B\":{\"S\":\"b\"}"), ITEM(""),
     HEAD " REMOVE \\\"A\\\" REMOVE \\\"B\\\"" WHERE
          " AND \\\"A\\\"=? AND \\\"B\\\"=?\",\"Parameters\":[" KEY
          ",{\"S\":\"a\"},{\"S\":\"b\"}" END},
    {"a name with a quote", ITEM(""), ITEM(",\"A\\\"\":{\"S\":\"a\"}"), NULL},
    {"a name with a backslash", ITEM(""), ITEM(",\"A\\\\\":{\"S\":\"a\"}"), NULL},
    {"a name with a control character", ITEM(""), ITEM(",\"A\\n\":{\"S\":\"a\"}"), NULL},
};

static struct value item_of(const char *text, struct arena *arena)
{
    struct value item = {NULL, 0};
    struct json *json = NULL;
    struct error err = {0};
    struct json_options options = {.file = "item"};
    ck_assert(json_parse((struct str){text, strlen(text)}, &options, arena, &json, &err) &&
              item_json_item(json, arena, &item, &err));
    return item;
}

/* Adds what turns one item into the other. */
static bool add(struct statements *statements, struct composer *composer, struct value before,
                struct value after)
{
    struct key key;
    struct error err = {0};
    struct change change = {.before = before, .after = after};
    ck_assert(key_of_item(&keys, before, &key, &err));
    compose_begin(composer, STR("T.1"));
    ck_assert(compose_change(composer, &keys, &change));
    return statements_add(statements, composer, &(struct statement_place){STR("T.1"), &keys, &key});
}

static struct value wide_item(const struct value *item, int count, struct arena *arena)
{
    struct attribute *members = arena_alloc(arena, ((size_t)count + 2) * sizeof *members);
    struct value wide;
    struct error err = {0};
    members[0] = (struct attribute){STR("PK"), value_member(*item, STR("PK"))};
    members[1] = (struct attribute){STR("S K"), value_member(*item, STR("S K"))};
    for (int i = 0; i < count; i++) {
        struct str name = arena_format(arena, "A%03d", i);
        members[i + 2] = (struct attribute){name, value_null()};
    }
    ck_assert(value_map(arena, members, (size_t)count + 2, &wide, &err));
    return wide;
}

START_TEST(an_update_is_said_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    struct statements statements = {.count = 0};
    bool added = add(&statements, &composer, item_of(rows[_i].before, arena),
                     item_of(rows[_i].after, arena));
    ck_assert_msg(added == (rows[_i].body != NULL), "%s", rows[_i].says);
    ck_assert_uint_eq(statements.count, added ? 1 : 0);
    if (added) {
        ck_assert_msg(strcmp(statements_end(&statements, arena).ptr, rows[_i].body) == 0,
                      "%s: %.*s", rows[_i].says, STR_ARG(buffer_str(&statements.body)));
    }
    statements_free(&statements);
    composer_free(&composer);
    arena_free(arena);
}
END_TEST

START_TEST(what_cannot_be_said_leaves_the_others_alone)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    struct statements statements = {.count = 0};
    struct value item = item_of(ITEM(""), arena);
    struct value good = item_of(ITEM(",\"A\":{\"S\":\"a\"}"), arena);
    ck_assert(add(&statements, &composer, item, good));
    ck_assert(!add(&statements, &composer, item, item_of(rows[3].after, arena)));
    ck_assert(!add(&statements, &composer, item, wide_item(&item, PLACEHOLDERS_MAX + 1, arena)));
    ck_assert(add(&statements, &composer, item, good));
    struct json *json = NULL;
    struct error err = {0};
    struct json_options options = {.file = "body"};
    ck_assert(json_parse(statements_end(&statements, arena), &options, arena, &json, &err));
    ck_assert_uint_eq(json_member(json, "Statements")->count, 2);
    ck_assert_uint_eq(statements.count, 0);
    statements_free(&statements);
    composer_free(&composer);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_statement");
    TCase *tests = tcase_create("statements");
    tcase_add_loop_test(tests, an_update_is_said_as_the_table_says, 0, ROWS(rows));
    tcase_add_test(tests, what_cannot_be_said_leaves_the_others_alone);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
