#include "importers/postgres/pg_explain.h"

#include "engine/base/json.h"

/* A table of fewer pages is read again and again without harm. */
enum { LONG_TABLE_PAGES = 100 };

/* True if the plan has a node that reads the relation of that alias from end to end. */
static bool has_whole_read(const struct json *node, struct str alias)
{
    const struct json *kind = json_member(node, "Node Type");
    const struct json *name = json_member(node, "Alias");
    if (kind != NULL && name != NULL && str_equal(kind->text, STR("Seq Scan")) &&
        str_equal(name->text, alias)) {
        return true;
    }
    const struct json *plans = json_member(node, "Plans");
    for (size_t i = 0; plans != NULL && i < plans->count; i++) {
        if (has_whole_read(&plans->items[i], alias)) {
            return true;
        }
    }
    return false;
}

static bool refuse(const struct pg_relation *relation, const struct pg_rows_plan *parent,
                   const char *what, struct str name, struct error *err)
{
    struct str outer = parent->bound->relations[0].name;
    return error_set(
        err, ERROR_PLAN,
        "%s %.*s: PostgreSQL would read the whole of %.*s for each row of %.*s\n"
        "hint: let \"on\" be equal columns of one type joined by AND, as in %.*s.x = %.*s.y, "
        "or make an index that it can use",
        what, STR_ARG(name), STR_ARG(relation->name), STR_ARG(outer), STR_ARG(relation->name),
        STR_ARG(outer));
}

/* Embeds nest at most MAP_EMBED_MAX_DEPTH deep. */
static bool check_laterals(const struct json *root, const struct pg_rows_plan *plan,
                           struct error *err)
{
    const struct map_rows *rows = plan->bound->rows;
    for (size_t i = 0; i < rows->join_count; i++) {
        const struct pg_relation *relation = pg_plan_relation(plan, i + 1);
        struct str alias = rows->joins[i].alias;
        if (plan->joins[i].mode == PG_JOIN_LATERAL && relation->pages > LONG_TABLE_PAGES &&
            has_whole_read(root, alias)) {
            return refuse(relation, plan, "join", alias, err);
        }
    }
    for (size_t i = 0; i < rows->embed_count; i++) {
        const struct pg_embed_plan *embed = &plan->embeds[i];
        const struct pg_relation *relation = pg_plan_relation(&embed->rows, 0);
        if (!embed->grouped && relation->pages > LONG_TABLE_PAGES &&
            has_whole_read(root, relation->name)) {
            return refuse(relation, plan, "embed", rows->embeds[i].name, err);
        }
        if (!check_laterals(root, &embed->rows, err)) {
            return false;
        }
    }
    return true;
}

static bool check_tree(const struct pg_rows_plan *plan, struct str text, struct arena *arena,
                       struct error *err)
{
    struct json_options options = {.file = "EXPLAIN"};
    struct json *json;
    if (!json_parse(text, &options, arena, &json, err)) {
        return false;
    }
    const struct json *root =
        json->kind == JSON_ARRAY && json->count == 1 ? json_member(&json->items[0], "Plan") : NULL;
    return root == NULL || check_laterals(root, plan, err);
}

bool pg_explain_check(struct pg_session *session, const struct pg_rows_plan *plan,
                      struct str select, struct error *err)
{
    struct arena *arena = arena_new();
    struct str sql = arena_format(arena, "EXPLAIN (FORMAT JSON) %.*s", STR_ARG(select));
    struct pg_statement statement = {sql.ptr, NULL, 0};
    struct pg_rows rows;
    bool ok = pg_session_query(session, &statement, arena, &rows, err);
    if (ok && rows.count == 1 && pg_plan_has_lateral(plan)) {
        ok = check_tree(plan, pg_cell(&rows, 0, 0), arena, err);
    }
    arena_free(arena);
    return ok;
}
