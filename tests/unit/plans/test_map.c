#include "plans/map.h"

#include "tests/rules/plans_map.h"
#include "tests/support/suite.h"

#define ENTITY(more) "{`entities`: [{`from`: `t`, `key`: {`PK`: `a`, `SK`: `b`}" more "}]}"

static const struct {
    const char *says;
    const char *text;
    const char *message; /* what it begins with */
} faults[] = {
    {"no JSON", "{", "m.json:1:"},
    {"no object", "[]", "m.json:1:1: expected"},
    {"an unknown member", "{`entity`: []}", "m.json:1:2: expected one of table, entities"},
    {"a member twice", "{`entities`: [], `entities`: []}", "m.json:1:"},
    {"no entities", "{`table`: {`partition`: `PK:S`}}",
     "m.json:1:1: entities: expected a list of at least one entity"},
    {"an empty list of entities", "{`entities`: []}", "m.json:1:14: entities: expected"},
    {"an entity that is no object", "{`entities`: [1]}", "m.json:1:15: entities[0]: expected"},
    {"no from", "{`entities`: [{`key`: {`PK`: `a`}}]}",
     "m.json:1:15: entities[0]: expected \"from\""},
    {"a query without a name",
     "{`entities`: [{`from`: {`query`: `SELECT 1`}, `key`: {`PK`: `a`}}]}",
     "m.json:1:24: entities[0].from: expected {\"query\""},
    {"a table and a query",
     "{`entities`: [{`from`: {`query`: `SELECT 1`, `table`: `t`, `as`: `q`}, `key`: {}}]}",
     "m.json:1:24: entities[0].from: expected"},
    {"no key", "{`entities`: [{`from`: `t`}]}", "m.json:1:15: entities[0]: expected \"key\""},
    {"a key and items", ENTITY(", `items`: [{`key`: {`PK`: `a`}}]"),
     "m.json:1:36: entities[0]: \"key\" and \"items\""},
    {"no items", "{`entities`: [{`from`: `t`, `items`: []}]}",
     "m.json:1:38: entities[0].items: expected at least one"},
    {"a conditional key",
     "{`entities`: [{`from`: `t`, `key`: {`PK`: {`value`: `a`, `when`: `b = 1`}}}]}",
     "m.json:1:53: entities[0].key.PK.value: a key attribute has no \"when\""},
    {"two entities of one name",
     "{`entities`: [{`from`: `t`, `key`: {`PK`: `a`}}, {`from`: `t`, `key`: {`PK`: `a`}}]}",
     "m.json:1:50: entities[1]: two entities are called t"},
    {"a template that is broken", ENTITY(", `set`: {`A`: `x${lower(}`}"),
     "m.json:1:83: entities[0].set.A: "},
    {"a where that is no SQL text", ENTITY(", `where`: 1"), "m.json:1:69: entities[0].where: "},
    {"a when that is no condition", ENTITY(", `when`: `a`"), "m.json:1:"},
    {"a policy that is none", ENTITY(", `policy`: {`a`: `drop`}"),
     "m.json:1:76: entities[0].policy: expected \"text\", \"omit\" or \"null\""},
    {"columns that are none", ENTITY(", `columns`: `a`"),
     "m.json:1:71: entities[0].columns: expected \"*\""},
    {"an embed without on", ENTITY(", `embed`: {`E`: {`from`: `u`}}"),
     "m.json:1:75: entities[0].embed.E: expected \"on\""},
    {"a limit of nothing", ENTITY(", `embed`: {`E`: {`from`: `u`, `on`: `x`, `limit`: 0}}"),
     "m.json:1:109: entities[0].embed.E.limit: expected a whole number"},
    {"a limit in parts", ENTITY(", `embed`: {`E`: {`from`: `u`, `on`: `x`, `limit`: 1.5}}"),
     "m.json:1:109: entities[0].embed.E.limit: expected a whole number"},
    {"as is neither", ENTITY(", `embed`: {`E`: {`from`: `u`, `on`: `x`, `as`: `list`}}"),
     "m.json:1:106: entities[0].embed.E.as: expected \"scalar\" or \"set\""},
    {"a join without on", ENTITY(", `join`: {`j`: {`from`: `u`}}"),
     "m.json:1:74: entities[0].join.j: expected \"on\""},
    {"a key attribute without a type", "{`table`: {`partition`: `PK`}, `entities`: []}",
     "m.json:1:25: table.partition: "},
    {"an index twice",
     "{`table`: {`partition`: `PK:S`, `indexes`: [{`name`: `GSI`, `partition`: `A:S`}, {`name`: "
     "`GSI`, `partition`: `B:S`}]}}",
     "m.json:1:82: table.indexes[1]: index GSI is there twice"},
    {"an index with capacity",
     "{`table`: {`partition`: `PK:S`, `indexes`: [{`name`: `GSI`, `partition`: `A:S`, "
     "`capacity`: {`read`: 1, `write`: 1}}]}}",
     "m.json:1:"},
    {"an index with on_violation",
     "{`table`: {`partition`: `PK:S`, `indexes`: [{`name`: `GSI`, `partition`: `A:S`, "
     "`on_violation`: `fail`}]}}",
     "m.json:1:"},
};

START_TEST(map_parse_says_where_the_fault_is)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *map = NULL;
    ck_assert_msg(!map_of(faults[_i].text, arena, &map, &err), "%s", faults[_i].says);
    ck_assert_msg(err.code == ERROR_PLAN, "%s: %s", faults[_i].says, err.text);
    ck_assert_msg(strncmp(err.text, faults[_i].message, strlen(faults[_i].message)) == 0, "%s: %s",
                  faults[_i].says, err.text);
    arena_free(arena);
}
END_TEST

START_TEST(map_parse_reads_all_members)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *map = NULL;
    bool ok = map_of(
        "// comments are fine\n{`table`: {`partition`: `PK:S`, `sort`: `SK:N`, `indexes`: "
        "[{`name`: "
        "`GSI1`, `partition`: [`A:S`, `B:N`], `projection`: {`include`: [`X`]}}]}, `entities`: "
        "[{`from`: {`query`: `SELECT 1`, `as`: `q`}, `where`: `x = 1`, `items`: [{`key`: {`PK`: "
        "`a`}}, {`key`: {`PK`: `b`}, `when`: `x = 1`}], `columns`: {`except`: [`y`]}, `join`: "
        "{`j`: "
        "{`from`: `s.t`, `on`: `true`}}, `policy`: {`a`: `omit`}, `embed`: {`E`: {`from`: `u`, "
        "`on`: `x`, `limit`: 12, `order`: `y`, `as`: `set`}}}]}",
        arena, &map, &err);
    ck_assert_msg(ok, "%s", err.text);
    ck_assert(map->has_table && map->index_count == 1 && map->entity_count == 1);
    ck_assert(map->keys.sort[0].type == VALUE_N);
    ck_assert(map->indexes[0].keys.partition_count == 2 && map->indexes[0].include_count == 1);
    const struct map_entity *entity = &map->entities[0];
    ck_assert(str_equal(entity->name, STR("q")) && str_equal(entity->where.text, STR("x = 1")));
    ck_assert(entity->item_count == 2 && entity->items[1].when.json != NULL);
    ck_assert(entity->body.columns.kind == MAP_COLUMNS_EXCEPT);
    ck_assert(str_equal(entity->rows.joins[0].from.table, STR("s.t")));
    ck_assert(str_equal(entity->rows.joins[0].from.as, STR("j")));
    ck_assert(entity->rows.policies[0].policy == MAP_OMIT);
    const struct map_embed *embed = &entity->rows.embeds[0];
    ck_assert(embed->limit == 12 && embed->kind == MAP_EMBED_SET);
    ck_assert(str_equal(embed->order.text, STR("y")));
    ck_assert(embed->body.columns.kind == MAP_COLUMNS_ALL);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *a, *b;
    bool same;
} hashes[] = {
    {"spaces and comments", ENTITY(""), "/* x */ " ENTITY("  "), true},
    {"a template", ENTITY(", `set`: {`A`: `b`}"), ENTITY(", `set`: {`A`: `c`}"), false},
    {"a member more", ENTITY(""), ENTITY(", `where`: `x`"), false},
};

START_TEST(map_hash_is_of_what_the_map_says)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct map *a = NULL;
    const struct map *b = NULL;
    ck_assert_msg(map_of(hashes[_i].a, arena, &a, &err), "%s", err.text);
    ck_assert_msg(map_of(hashes[_i].b, arena, &b, &err), "%s", err.text);
    ck_assert_msg(str_equal(a->hash, b->hash) == hashes[_i].same, "%s", hashes[_i].says);
    ck_assert(str_begins(a->hash, STR("1:")) && a->hash.len == 66);
    arena_free(arena);
}
END_TEST

START_TEST(map_parse_takes_or_refuses_any_bytes)
{
    property_check("any bytes", rule_map_takes_or_refuses_any_bytes);
    property_check("a broken map", rule_map_says_where_it_is_broken);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/map");
    TCase *tcase = tcase_create("map");
    tcase_add_loop_test(tcase, map_parse_says_where_the_fault_is, 0, ROWS(faults));
    tcase_add_test(tcase, map_parse_reads_all_members);
    tcase_add_loop_test(tcase, map_hash_is_of_what_the_map_says, 0, ROWS(hashes));
    tcase_add_test(tcase, map_parse_takes_or_refuses_any_bytes);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
