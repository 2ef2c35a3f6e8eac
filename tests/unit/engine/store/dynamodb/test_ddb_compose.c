#include "engine/store/dynamodb/ddb_compose_internal.h"

#include "engine/item/item_json.h"
#include "tests/support/suite.h"

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1};

enum { BASIS_MAX = 8 };

#define ITEM(members) "{\"PK\":{\"S\":\"P\"}" members "}"

static const struct {
    const char *says;
    const char *before, *after;
    bool loose;
    const char *condition, *set, *remove;
    const char *basis; /* names of one letter; NULL: the whole item */
} changes[] = {
    {"a new attribute must not be there", ITEM(""), ITEM(",\"A\":{\"N\":\"1\"}"), false,
     "attribute_exists(#0) AND attribute_not_exists(#1)", "#1=:0", "", NULL},
    {"a changed one must be as it was", ITEM(",\"A\":{\"N\":\"1\"}"), ITEM(",\"A\":{\"N\":\"2\"}"),
     false, "attribute_exists(#0) AND #1=:0", "#1=:1", "", NULL},
    {"a removed one too", ITEM(",\"A\":{\"N\":\"1\"}"), ITEM(""), false,
     "attribute_exists(#0) AND #1=:0", "", "#1", NULL},
    {"and what stays as it is", ITEM(",\"A\":{\"N\":\"1\"},\"B\":{\"S\":\"b\"}"),
     ITEM(",\"B\":{\"S\":\"b\"},\"C\":{\"S\":\"c\"}"), false,
     "attribute_exists(#0) AND attribute_not_exists(#1) AND #2=:1 AND #3=:2", "#1=:0", "#2", NULL},
    {"loosely, sets and documents are not compared",
     ITEM(",\"A\":{\"SS\":[\"x\"]},\"B\":{\"L\":[]},\"C\":{\"S\":\"c\"}"),
     ITEM(",\"A\":{\"SS\":[\"y\"]},\"B\":{\"L\":[]},\"C\":{\"S\":\"c\"}"), true,
     "attribute_exists(#0) AND #2=:1", "#1=:0", "", NULL},
    {"of what else stands, only what it was made from",
     ITEM(",\"A\":{\"S\":\"a\"},\"B\":{\"S\":\"b\"},\"C\":{\"S\":\"c\"}"),
     ITEM(",\"A\":{\"S\":\"x\"},\"B\":{\"S\":\"b\"},\"C\":{\"S\":\"c\"}"), false,
     "attribute_exists(#0) AND #1=:0 AND #2=:2", "#1=:1", "", "BA"},
    {"which may be that something is not there", ITEM(""), ITEM(",\"A\":{\"S\":\"x\"}"), false,
     "attribute_exists(#0) AND attribute_not_exists(#1) AND attribute_not_exists(#2)", "#1=:0", "",
     "D"},
    {"or nothing at all", ITEM(",\"B\":{\"S\":\"b\"}"),
     ITEM(",\"A\":{\"S\":\"x\"},\"B\":{\"S\":\"b\"}"), false,
     "attribute_exists(#0) AND attribute_not_exists(#1)", "#1=:0", "", ""},
    {"loosely, documents that it was made from are not compared", ITEM(",\"B\":{\"L\":[]}"),
     ITEM(",\"A\":{\"S\":\"x\"},\"B\":{\"L\":[]}"), true,
     "attribute_exists(#0) AND attribute_not_exists(#1)", "#1=:0", "", "B"},
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

static void expect(const struct buffer *found, const char *wanted, const char *says)
{
    ck_assert_msg(str_equal(buffer_str(found), (struct str){wanted, strlen(wanted)}), "%s: '%.*s'",
                  says, STR_ARG(buffer_str(found)));
}

START_TEST(a_change_is_written_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    struct value before = item_of(changes[_i].before, arena);
    struct value after = item_of(changes[_i].after, arena);
    compose_begin(&composer, STR("T"));
    struct str names[BASIS_MAX];
    struct change change = {before, after, {.count = 0}, changes[_i].loose};
    for (; changes[_i].basis != NULL && changes[_i].basis[change.basis.count] != '\0';
         change.basis.count++) {
        names[change.basis.count] = (struct str){&changes[_i].basis[change.basis.count], 1};
    }
    change.basis.names = changes[_i].basis != NULL ? names : NULL;
    ck_assert(compose_change(&composer, &keys, &change));
    expect(&composer.condition, changes[_i].condition, changes[_i].says);
    expect(&composer.set, changes[_i].set, changes[_i].says);
    expect(&composer.remove, changes[_i].remove, changes[_i].says);
    composer_free(&composer);
    arena_free(arena);
}
END_TEST

static const struct expr *condition_of(struct str text, struct arena *arena)
{
    struct expr_parsed parsed = {0};
    struct error err = {0};
    ck_assert(expr_parse(text, NULL, arena, &parsed, &err));
    return parsed.expr;
}

START_TEST(an_update_may_hang_on_a_condition)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    struct str names[] = {STR("X"), STR("Y")};
    struct change change = {
        item_of(ITEM(",\"A\":{\"S\":\"a\"},\"Y\":{\"S\":\"y\"}"), arena),
        item_of(ITEM(",\"A\":{\"S\":\"a\"},\"X\":{\"S\":\"x\"},\"Y\":{\"S\":\"y\"}"), arena),
        {condition_of(STR("A = 'a' OR B > 1"), arena), names, 2, 2},
        false};
    compose_begin(&composer, STR("T"));
    ck_assert(compose_change(&composer, &keys, &change));
    expect(&composer.condition,
           "attribute_exists(#0) AND (#1 = :0 OR #2 > :1) AND attribute_not_exists(#3) AND #4=:3",
           "what it writes must be as it was");
    expect(&composer.set, "#3=:2", "the new attribute");
    ck_assert_uint_eq(composer.condition_operators, 9);
    composer_free(&composer);
    arena_free(arena);
}
END_TEST

/* What a scan says of items and attributes, with so many conditions of one kind. */
static struct str scan_of(size_t conditions, const struct scan_mark *mark, struct arena *arena)
{
    struct composer composer = {.name_count = 0};
    const struct expr **any_of = arena_alloc(arena, conditions * sizeof *any_of);
    struct str names[] = {STR("A"), STR("PK"), STR("mark")};
    for (size_t i = 0; i < conditions; i++) {
        any_of[i] = condition_of(STR("A = 1 OR A = 2"), arena);
    }
    struct page_use use = {any_of, conditions, names, 3};
    compose_begin(&composer, STR("T"));
    compose_use(&composer, &keys, &use, mark);
    struct str body = compose_end(&composer, arena);
    composer_free(&composer);
    return body;
}

/* A server refuses names twice in a projection, and placeholders that nothing uses. */
START_TEST(a_scan_asks_for_what_is_wanted)
{
    struct arena *arena = arena_new();
    struct scan_mark none = {.name = STR("mark")};
    struct scan_mark mark = {value_string(arena, STR("ours")), STR("mark")};
    ck_assert_str_eq(scan_of(1, &none, arena).ptr,
                     "{\"TableName\":\"T\",\"FilterExpression\":\"(#0 = :0 OR #1 = :1)\","
                     "\"ProjectionExpression\":\"#2,#3,#4\","
                     "\"ExpressionAttributeNames\":{\"#0\":\"A\",\"#1\":\"A\",\"#2\":\"PK\",\"#3\":"
                     "\"A\",\"#4\":\"mark\"},"
                     "\"ExpressionAttributeValues\":{\":0\":{\"N\":\"1\"},\":1\":{\"N\":\"2\"}}}");
    ck_assert_str_eq(
        scan_of(1, &mark, arena).ptr,
        "{\"TableName\":\"T\",\"FilterExpression\":\"(#0 = :0 OR #1 = :1) OR begins_with(#2,:2)\","
        "\"ProjectionExpression\":\"#3,#4,#5\","
        "\"ExpressionAttributeNames\":{\"#0\":\"A\",\"#1\":\"A\",\"#2\":\"PK\",\"#3\":\"PK\",\"#"
        "4\":"
        "\"mark\",\"#5\":\"A\"},"
        "\"ExpressionAttributeValues\":{\":0\":{\"N\":\"1\"},\":1\":{\"N\":\"2\"},\":2\":{\"S\":"
        "\"ours\"}}}");
    ck_assert_str_eq(scan_of(200, &none, arena).ptr,
                     "{\"TableName\":\"T\",\"ProjectionExpression\":\"#0,#1,#2\","
                     "\"ExpressionAttributeNames\":{\"#0\":\"PK\",\"#1\":\"A\",\"#2\":\"mark\"}}");
    arena_free(arena);
}
END_TEST

/* 4 KB and 300 operators an expression. */
START_TEST(a_wide_item_is_compared_as_far_as_an_expression_goes)
{
    enum { WIDE = 1000 };
    struct arena *arena = arena_new();
    struct attribute *members = arena_alloc(arena, WIDE * sizeof *members);
    struct composer composer = {.name_count = 0};
    struct value item;
    struct error err = {0};
    members[0] = (struct attribute){STR("PK"), value_string(arena, STR("P"))};
    for (int i = 1; i < WIDE; i++) {
        members[i] = (struct attribute){arena_format(arena, "A%03d", i), value_null()};
    }
    ck_assert(value_map(arena, members, WIDE, &item, &err));
    compose_begin(&composer, STR("T"));
    compose_unchanged(&composer, &keys, item, false);
    ck_assert_uint_le(composer.condition.len, 4096);
    ck_assert_uint_le(composer.condition_operators, 300);
    ck_assert_uint_gt(composer.condition_operators, 290);
    compose_begin(&composer, STR("T"));
    struct change change = {item_of(ITEM(""), arena), item, {.count = 0}, false};
    ck_assert(!compose_change(&composer, &keys, &change));
    struct str *names = arena_alloc(arena, WIDE * sizeof *names);
    for (size_t i = 0; i < WIDE; i++) {
        names[i] = members[i].name;
    }
    change = (struct change){item, item, {NULL, names, 100, 100}, false};
    compose_begin(&composer, STR("T"));
    ck_assert(compose_change(&composer, &keys, &change));
    change.basis.count = WIDE;
    compose_begin(&composer, STR("T"));
    ck_assert(!compose_change(&composer, &keys, &change));
    composer_free(&composer);
    arena_free(arena);
}
END_TEST

/* Else what somebody adds between reading and deleting would go with the item. */
START_TEST(an_item_is_unchanged_without_what_others_have)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    compose_know(&composer, item_of(ITEM(",\"A\":{\"S\":\"a\"},\"B\":{\"S\":\"b\"}"), arena));
    compose_know(&composer, (struct value){NULL, 0});
    compose_begin(&composer, STR("T"));
    compose_unchanged(&composer, &keys, item_of(ITEM(",\"A\":{\"S\":\"a\"}"), arena), false);
    expect(&composer.condition, "attribute_exists(#0) AND #1=:0 AND attribute_not_exists(#2)",
           "an attribute known of another item");
    composer_free(&composer);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_compose");
    TCase *expressions = tcase_create("expressions");
    tcase_add_loop_test(expressions, a_change_is_written_as_the_table_says, 0,
                        sizeof changes / sizeof *changes);
    tcase_add_test(expressions, a_scan_asks_for_what_is_wanted);
    tcase_add_test(expressions, an_update_may_hang_on_a_condition);
    tcase_add_test(expressions, a_wide_item_is_compared_as_far_as_an_expression_goes);
    tcase_add_test(expressions, an_item_is_unchanged_without_what_others_have);
    suite_add_tcase(suite, expressions);
    return suite_run(suite);
}
