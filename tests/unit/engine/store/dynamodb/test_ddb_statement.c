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

#define INSERT "{\"Statements\":[{\"Statement\":\"INSERT INTO \\\"T.1\\\" VALUE {'PK':?,'S K':?"

static const struct {
    const char *says;
    const char *item;
    const char *body; /* NULL: it cannot be said */
} inserts[] = {
    {"the key alone", ITEM(""), INSERT "}\",\"Parameters\":[" KEY END},
    {"every type",
     ITEM(
         ",\"T1\":{\"B\":\"AAH/"
         "\"},\"T2\":{\"S\":\"\"},\"T3\":{\"NULL\":true},\"T4\":{\"BOOL\":false},"
         "\"T5\":{\"N\":\"-12345678901234567890123456789012345678\"},\"T6\":{\"SS\":[\"'\",\"?\"]},"
         "\"T7\":{\"BS\":[\"AA==\"]},\"T8\":{\"L\":[{\"M\":{\"it's\":{\"L\":[]}}}]}"),
     INSERT ",'T1':?,'T2':?,'T3':?,'T4':?,'T5':?,'T6':?,'T7':?,'T8':?}\",\"Parameters\":[" KEY
            ",{\"B\":\"AAH/\"},{\"S\":\"\"},{\"NULL\":true},{\"BOOL\":false},"
            "{\"N\":\"-12345678901234567890123456789012345678\"},{\"SS\":[\"'\",\"?\"]},"
            "{\"BS\":[\"AA==\"]},{\"L\":[{\"M\":{\"it's\":{\"L\":[]}}}]}" END},
    {"names of more than letters",
     ITEM(",\"T.a?,:}{\":{\"S\":\"a\"},\"\xc3\xbc \xe6\x97\xa5\":{\"S\":\"b\"}"),
     INSERT ",'T.a?,:}{':?,'\xc3\xbc \xe6\x97\xa5':?}\",\"Parameters\":[" KEY
            ",{\"S\":\"a\"},{\"S\":\"b\"}" END},
    {"a name with a single quote", ITEM(",\"it's\":{\"S\":\"a\"}"), NULL},
    {"a name with a quote", ITEM(",\"A\\\"\":{\"S\":\"a\"}"), NULL},
    {"a name with a backslash", ITEM(",\"A\\\\\":{\"S\":\"a\"}"), NULL},
    {"a name with a control character", ITEM(",\"A\\n\":{\"S\":\"a\"}"), NULL},
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

START_TEST(a_new_item_is_said_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct statements statements = {.count = 0};
    bool added = statements_add_insert(&statements, STR("T.1"), item_of(inserts[_i].item, arena));
    ck_assert_msg(added == (inserts[_i].body != NULL), "%s", inserts[_i].says);
    ck_assert_uint_eq(statements.count, added ? 1 : 0);
    if (added) {
        const char *body = statements_end(&statements, arena).ptr;
        ck_assert_msg(strcmp(body, inserts[_i].body) == 0, "%s: %s", inserts[_i].says, body);
    }
    statements_free(&statements);
    arena_free(arena);
}
END_TEST

/* Amazon DynamoDB API Reference, BatchStatementRequest: at most 8192 characters. */
START_TEST(a_statement_ends_at_its_longest)
{
    enum { LONGEST = 8192 };
    struct arena *arena = arena_new();
    struct statements statements = {.count = 0};
    const char *fixed = "INSERT INTO \\\"T.1\\\" VALUE {'PK':?,'S K':?,'':?}";
    char *letters = arena_bytes(arena, LONGEST);
    memset(letters, 'x', LONGEST);
    struct str name = {letters, LONGEST - strlen(fixed)};
    for (size_t over = 0; over < 2; over++) {
        name.len += over;
        struct str text = arena_format(arena, ITEM(",\"%.*s\":{\"S\":\"a\"}"), STR_ARG(name));
        ck_assert(statements_add_insert(&statements, STR("T.1"), item_of(text.ptr, arena)) ==
                  (over == 0));
    }
    ck_assert_uint_eq(statements.count, 1);
    statements_free(&statements);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_statement");
    TCase *tests = tcase_create("statements");
    tcase_add_loop_test(tests, an_update_is_said_as_the_table_says, 0, ROWS(rows));
    tcase_add_test(tests, what_cannot_be_said_leaves_the_others_alone);
    tcase_add_loop_test(tests, a_new_item_is_said_as_the_table_says, 0, ROWS(inserts));
    tcase_add_test(tests, a_statement_ends_at_its_longest);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
