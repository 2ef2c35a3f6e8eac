#include "plans/map_bind.h"

#include "plans/map_make.h"
#include "tests/rules/plans_fixture.h"
#include "tests/rules/plans_map.h"
#include "tests/support/suite.h"

#define PEOPLE(more) "{`entities`: [{`from`: `people`, " more "}]}"
#define KEY          "`key`: {`PK`: `P#${id}`, `SK`: `A`}"
#define LAND         "`join`: {`land`: {`from`: `countries`, `on`: `x`}}"
#define ORDERS(more) "`embed`: {`Orders`: {`from`: `orders`, `on`: `x`" more "}}"

static const struct {
    const char *says;
    const char *text;
    const char *message;
} faults[] = {
    {"no such table", "{`entities`: [{`from`: `nobody`, " KEY "}]}",
     "m.json:1:24: entities[0].from: there is no table \"nobody\""},
    {"no such column", PEOPLE("`key`: {`PK`: `P#${age}`, `SK`: `A`}"),
     "m.json:1:53: entities[0].key.PK: people has no column \"age\""},
    {"no such column of a join", PEOPLE(KEY ", " LAND ", `set`: {`A`: `${land.code}`}"),
     "m.json:1:139: entities[0].set.A: land has no column \"code\""},
    {"a join without a column", PEOPLE(KEY ", " LAND ", `set`: {`A`: `${land}`}"),
     "m.json:1:139: entities[0].set.A: land is a relation: write land.column"},
    {"an alias that is a column",
     PEOPLE(KEY ", `join`: {`name`: {`from`: `countries`, `on`: `x`}}"),
     "m.json:1:97: entities[0].join.name.from: name is also a name in people"},
    {"no such column in a list", PEOPLE(KEY ", `columns`: [`id`, `age`]"),
     "m.json:1:89: entities[0].columns: people has no column \"age\""},
    {"no such column in except", PEOPLE(KEY ", `columns`: {`except`: [`age`]}"),
     "m.json:1:94: entities[0].columns: people has no column \"age\""},
    {"no such column in a policy", PEOPLE(KEY ", `policy`: {`age`: `text`}"),
     "m.json:1:89: entities[0].policy: people has no column \"age\""},
    {"an attribute twice", PEOPLE(KEY ", `set`: {`name`: `x`}, `columns`: [`name`]"),
     "m.json:1:105: entities[0].columns: attribute name is made twice"},
    {"an embed of an attribute's name", PEOPLE(KEY ", `set`: {`Orders`: `x`}, " ORDERS("")),
     "m.json:1:124: entities[0].embed.Orders: attribute Orders is made twice"},
    {"a key attribute that is none", PEOPLE("`key`: {`PK`: `a`, `SK`: `b`, `X`: `c`}"),
     "m.json:1:69: entities[0].key.X: X is no key attribute of the table"},
    {"a key attribute that lacks", PEOPLE("`key`: {`PK`: `a`}"),
     "m.json:1:15: entities[0]: \"key\" lacks a key attribute of the table: PK, SK"},
    {"a key attribute that is set too", PEOPLE(KEY ", `set`: {`SK`: `x`}"),
     "m.json:1:85: entities[0].set.SK: attribute SK is made twice"},
    {"scalars of two columns",
     PEOPLE(KEY ", " ORDERS(", `as`: `scalar`, `columns`: [`id`, `total`]")),
     "m.json:1:100: entities[0].embed.Orders: \"as\" takes one column, not 2"},
};

START_TEST(map_bind_says_where_the_fault_is)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *map = NULL;
    const struct map_binding *binding = NULL;
    ck_assert_msg(map_of(faults[_i].text, arena, &map, &err), "%s: %s", faults[_i].says, err.text);
    ck_assert_msg(!map_bound(map, arena, &binding, &err), "%s", faults[_i].says);
    ck_assert_msg(err.code == ERROR_PLAN, "%s: %s", faults[_i].says, err.text);
    ck_assert_msg(strncmp(err.text, faults[_i].message, strlen(faults[_i].message)) == 0, "%s: %s",
                  faults[_i].says, err.text);
    arena_free(arena);
}
END_TEST

/* What a column of the row holds: its own name, or a number in an id, or nothing in an email. */
static struct value column_value(const struct map_bound_rows *rows, const struct map_slot *slot,
                                 struct arena *arena)
{
    const struct map_relation *relation = &rows->relations[slot->relation];
    struct str name = relation->columns[slot->column];
    if (str_equal(name, STR("id"))) {
        return plans_value("7", arena);
    }
    if (str_equal(name, STR("email"))) {
        return (struct value){NULL, 0};
    }
    return value_string(arena, slot->relation == 0 ? name : relation->name);
}

/* Embeds hold the list that is theirs by number. */
static void fill_slots(const struct map_bound_rows *rows, struct value *slots, struct arena *arena)
{
    size_t embeds = rows->rows->embed_count;
    for (size_t i = 0; i < embeds; i++) {
        slots[i] = plans_value("[\"embedded\"]", arena);
    }
    for (size_t i = 0; i < rows->slot_count; i++) {
        slots[embeds + i] = column_value(rows, &rows->slots[i], arena);
    }
}

/* item NULL: the conditions do not hold; code ERROR_ITEM: `item` is the message. */
static const struct {
    const char *says;
    const char *text;
    const char *item;
    enum error_code code;
    size_t left_out;
} makes[] = {
    {"a key alone", PEOPLE(KEY), "{`PK`: `P#7`, `SK`: `A`}", ERROR_NONE, 0},
    {"listed columns", PEOPLE(KEY ", `columns`: [`name`, `odd name`]"),
     "{`PK`: `P#7`, `SK`: `A`, `name`: `name`, `odd name`: `odd name`}", ERROR_NONE, 0},
    {"renamed columns", PEOPLE(KEY ", `columns`: {`N`: `name`, `L`: `land.name`}, " LAND),
     "{`PK`: `P#7`, `SK`: `A`, `N`: `name`, `L`: `land`}", ERROR_NONE, 0},
    {"all columns but the unlisted", PEOPLE(KEY ", `columns`: `*`"),
     "{`PK`: `P#7`, `SK`: `A`, `id`: 7, `name`: `name`, `country_id`: `country_id`, `odd name`: "
     "`odd name`}",
     ERROR_NONE, 1},
    {"what is set goes before all columns",
     PEOPLE(KEY ", `columns`: {`except`: [`id`, `email`]}, `set`: {`name`: `${upper(name)}`}"),
     "{`PK`: `P#7`, `SK`: `A`, `name`: `NAME`, `country_id`: `country_id`, `odd name`: `odd name`}",
     ERROR_NONE, 0},
    {"a missing attribute is left out", PEOPLE(KEY ", `set`: {`E`: `x${email}`, `F`: `f`}"),
     "{`PK`: `P#7`, `SK`: `A`, `F`: `f`}", ERROR_NONE, 1},
    {"a missing key", PEOPLE("`key`: {`PK`: `a`, `SK`: `${email}`}"),
     "key attribute SK: email is missing", ERROR_ITEM, 0},
    {"the relation's own name", PEOPLE(KEY ", `set`: {`N`: `${people.name}`}"),
     "{`PK`: `P#7`, `SK`: `A`, `N`: `name`}", ERROR_NONE, 0},
    {"a number where a key wants text", PEOPLE("`key`: {`PK`: `${id}`, `SK`: `A`}"),
     "{`PK`: `7`, `SK`: `A`}", ERROR_NONE, 0},
    {"an index key takes its type from a column", PEOPLE(KEY ", `columns`: {`GSI1PK`: `id`}"),
     "{`PK`: `P#7`, `SK`: `A`, `GSI1PK`: `7`}", ERROR_NONE, 0},
    {"an index key of a type that cannot be", PEOPLE(KEY ", `columns`: {`GSI1SK`: `name`}"),
     "attribute GSI1SK: ", ERROR_ITEM, 0},
    {"an embed", PEOPLE(KEY ", " ORDERS("")), "{`PK`: `P#7`, `SK`: `A`, `Orders`: [`embedded`]}",
     ERROR_NONE, 0},
    {"when does not hold", PEOPLE(KEY ", `when`: `id = 8`"), NULL, ERROR_NONE, 0},
    {"when holds", PEOPLE(KEY ", `when`: `id = 7`"), "{`PK`: `P#7`, `SK`: `A`}", ERROR_NONE, 0},
    {"both conditions count",
     PEOPLE("`when`: `id = 7`, `items`: [{" KEY ", `when`: `attribute_exists(email)`}]"), NULL,
     ERROR_NONE, 0},
    {"an attribute with a condition",
     PEOPLE(KEY
            ", `set`: {`A`: {`value`: `${name}`, `when`: `id = 8`}, `B`: {`value`: `b`, `when`: "
            "`id = 7`}}"),
     "{`PK`: `P#7`, `SK`: `A`, `B`: `b`}", ERROR_NONE, 1},
    {"the entity's own attributes go to its items",
     PEOPLE("`set`: {`Kind`: `Person`}, `items`: [{" KEY ", `set`: {`B`: `b`}}]"),
     "{`PK`: `P#7`, `SK`: `A`, `Kind`: `Person`, `B`: `b`}", ERROR_NONE, 0},
    {"a value that cannot be computed", PEOPLE(KEY ", `set`: {`A`: `${number(name)}`}"),
     "attribute A: ", ERROR_ITEM, 0},
};

START_TEST(map_make_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *map = NULL;
    const struct map_binding *binding = NULL;
    bool bound = map_of(makes[_i].text, arena, &map, &err) && map_bound(map, arena, &binding, &err);
    ck_assert_msg(bound, "%s: %s", makes[_i].says, err.text);
    struct value slots[16];
    const struct map_bound_rows *rows = &binding->entities[0].rows;
    fill_slots(rows, slots, arena);
    struct expr_scope scope = {.slots = slots,
                               .slot_count = rows->rows->embed_count + rows->slot_count};
    struct map_made made = {0};
    bool ok = map_make(&rows->shapes[0], &scope, arena, &made, &err);
    ck_assert_msg(ok == (makes[_i].code == ERROR_NONE), "%s: %s", makes[_i].says, err.text);
    if (!ok) {
        ck_assert_msg(strncmp(err.text, makes[_i].item, strlen(makes[_i].item)) == 0, "%s: %s",
                      makes[_i].says, err.text);
    } else if (makes[_i].item == NULL) {
        ck_assert_msg(!made.present, "%s", makes[_i].says);
    } else {
        struct value wanted = plans_value(map_text(makes[_i].item, arena).ptr, arena);
        ck_assert_msg(value_equal(made.item, wanted), "%s: %s", makes[_i].says,
                      plans_show(made.item, arena));
        ck_assert_msg(made.left_out == makes[_i].left_out, "%s: %zu", makes[_i].says,
                      made.left_out);
    }
    arena_free(arena);
}
END_TEST

/* rows: one map each; value NULL: missing. */
static const struct {
    const char *says;
    struct map_embed embed;
    const char *rows[4];
    const char *value;
} embeds[] = {
    {"rows are a list of maps", {.kind = MAP_EMBED_ROWS}, {"{`a`: 1}", "{}"}, "[{`a`: 1}, {}]"},
    {"no rows are an empty list", {.kind = MAP_EMBED_ROWS}, {NULL}, "[]"},
    {"no rows are left out", {.kind = MAP_EMBED_ROWS, .omit_empty = true}, {NULL}, NULL},
    {"scalars", {.kind = MAP_EMBED_SCALAR}, {"{`a`: 1}", "{}", "{`a`: `x`}"}, "[1, `x`]"},
    {"a set merges",
     {.kind = MAP_EMBED_SET},
     {"{`a`: 2}", "{`a`: 1}", "{`a`: 2}"},
     "{`NS`: [1, 2]}"},
    {"a set has no NULL", {.kind = MAP_EMBED_SET}, {"{`a`: null}", "{`a`: `x`}"}, "{`SS`: [`x`]}"},
    {"an empty set is left out", {.kind = MAP_EMBED_SET}, {"{`a`: null}"}, NULL},
};

START_TEST(map_make_embed_follows_the_table)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value rows[4];
    struct value made;
    size_t count = 0;
    while (count < 4 && embeds[_i].rows[count] != NULL) {
        rows[count] = plans_value(map_text(embeds[_i].rows[count], arena).ptr, arena);
        count++;
    }
    ck_assert_msg(
        map_make_embed(&embeds[_i].embed, (struct map_values){rows, count}, arena, &made, &err),
        "%s: %s", embeds[_i].says, err.text);
    struct value wanted = {NULL, 0};
    if (embeds[_i].value != NULL) {
        wanted = plans_value(map_text(embeds[_i].value, arena).ptr, arena);
    }
    ck_assert_msg(value_equal(made, wanted), "%s: %s", embeds[_i].says, plans_show(made, arena));
    arena_free(arena);
}
END_TEST

START_TEST(map_make_embed_refuses_a_set_of_two_types)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct map_embed embed = {.name = STR("Tags"), .kind = MAP_EMBED_SET};
    struct value rows[] = {plans_value("{\"a\": 1}", arena), plans_value("{\"a\": \"x\"}", arena)};
    struct value made;
    ck_assert(!map_make_embed(&embed, (struct map_values){rows, 2}, arena, &made, &err));
    ck_assert(err.code == ERROR_ITEM && strncmp(err.text, "attribute Tags: ", 16) == 0);
    arena_free(arena);
}
END_TEST

START_TEST(map_bind_fetches_only_what_is_named)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *map = NULL;
    const struct map_binding *binding = NULL;
    bool bound = map_of(PEOPLE("`key`: {`PK`: `${id}#${id}`, `SK`: `${land.name}`}, " LAND
                               ", `columns`: [`id`], `policy`: {`id`: `omit`}"),
                        arena, &map, &err) &&
                 map_bound(map, arena, &binding, &err);
    ck_assert_msg(bound, "%s", err.text);
    const struct map_bound_rows *rows = &binding->entities[0].rows;
    ck_assert_uint_eq(rows->slot_count, 2);
    ck_assert(rows->slots[0].relation == 0 && rows->slots[0].policy == MAP_OMIT);
    ck_assert(rows->slots[1].relation == 1 && rows->slots[1].column == 1);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/map_bind");
    TCase *tcase = tcase_create("map_bind");
    tcase_add_loop_test(tcase, map_bind_says_where_the_fault_is, 0, ROWS(faults));
    tcase_add_loop_test(tcase, map_make_follows_the_table, 0, ROWS(makes));
    tcase_add_loop_test(tcase, map_make_embed_follows_the_table, 0, ROWS(embeds));
    tcase_add_test(tcase, map_make_embed_refuses_a_set_of_two_types);
    tcase_add_test(tcase, map_bind_fetches_only_what_is_named);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
