#include "importers/postgres/pg_plan.h"

/* Planning one entity. */
struct planner {
    struct arena *arena;
    size_t embeds; /* so far */
};

/* What says which of a column's values are equal. */
struct equality {
    const struct pg_type *type; /* NULL: there is no such column */
    uint32_t collation;
};

static struct equality column_equality(const struct pg_relation *relation, struct str column)
{
    for (size_t i = 0; i < relation->column_count; i++) {
        if (str_equal(relation->columns[i], column)) {
            return (struct equality){relation->types[i], relation->collations[i]};
        }
    }
    return (struct equality){NULL, 0};
}

static struct equality outer_equality(const struct pg_rows_plan *plan,
                                      const struct pg_column_name *outer)
{
    const struct map_bound_rows *bound = plan->bound;
    for (size_t i = 0; i <= bound->rows->join_count; i++) {
        if (str_equal(bound->relations[i].name, outer->relation)) {
            return column_equality(pg_plan_relation(plan, i), outer->column);
        }
    }
    return (struct equality){NULL, 0};
}

/* Types whose values PostgreSQL compares across without losing any of them. */
static size_t family(const struct pg_type *type)
{
    static const struct {
        struct str name;
        size_t family;
    } families[] = {
        {STR_INIT("int2"), 1},      {STR_INIT("int4"), 1},    {STR_INIT("int8"), 1},
        {STR_INIT("numeric"), 1},   {STR_INIT("float4"), 2},  {STR_INIT("float8"), 2},
        {STR_INIT("text"), 3},      {STR_INIT("varchar"), 3}, {STR_INIT("date"), 4},
        {STR_INIT("timestamp"), 4},
    };
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (str_equal(families[i].name, type->name)) {
            return families[i].family;
        }
    }
    return 0;
}

static bool are_alike(struct equality a, struct equality b)
{
    return a.type != NULL && b.type != NULL &&
           (a.type == b.type || (family(a.type) != 0 && family(a.type) == family(b.type))) &&
           a.collation == b.collation && a.collation != PG_COLLATION_UNKNOWN;
}

/* True if values of the inner columns that are equal among themselves are equal to the same outer
 * values. citext groups 'a' with 'A', but text = citext compares as text; and a collation that
 * ignores case, of one column, holds for the comparison. */
static bool compares_alike(const struct pg_rows_plan *plan, const struct pg_on *on,
                           const struct pg_relation *inner)
{
    for (size_t i = 0; i < on->count; i++) {
        if (!are_alike(column_equality(inner, on->inner[i].column),
                       outer_equality(plan, &on->outer[i]))) {
            return false;
        }
    }
    return true;
}

static bool unique_is_fixed(const struct pg_relation *relation, const struct pg_unique *unique,
                            const struct pg_on *on)
{
    for (size_t i = 0; i < unique->count; i++) {
        bool found = false;
        for (size_t k = 0; k < on->count; k++) {
            found = found || str_equal(on->inner[k].column, relation->columns[unique->columns[i]]);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool matches_once(const struct pg_relation *relation, const struct pg_on *on)
{
    for (size_t i = 0; i < relation->unique_count && !relation->inherits; i++) {
        if (unique_is_fixed(relation, &relation->uniques[i], on)) {
            return true;
        }
    }
    return false;
}

static void plan_joins(struct planner *planner, struct pg_rows_plan *plan)
{
    const struct map_rows *rows = plan->bound->rows;
    struct pg_join_plan *joins = arena_zero(planner->arena, (rows->join_count + 1) * sizeof *joins);
    for (size_t i = 0; i < rows->join_count; i++) {
        const struct map_join *join = &rows->joins[i];
        joins[i].mode = PG_JOIN_LATERAL;
        if (pg_on_parse(join->on.text, join->alias, planner->arena, &joins[i].on) &&
            compares_alike(plan, &joins[i].on, pg_plan_relation(plan, i + 1))) {
            joins[i].mode = matches_once(pg_plan_relation(plan, i + 1), &joins[i].on)
                                ? PG_JOIN_ONCE
                                : PG_JOIN_COUNTED;
        }
    }
    plan->joins = joins;
}

/* Rows of a table can be guarded by octet_length(), which reads no TOAST. */
static bool needs_guard(const struct pg_relation *relation, const struct pg_type *type)
{
    bool measurable = str_equal(type->name, STR("text")) || str_equal(type->name, STR("varchar")) ||
                      str_equal(type->name, STR("bytea"));
    for (size_t i = 0; i < relation->leaf_count && measurable; i++) {
        if (relation->leaves[i].toast_bytes > PG_VALUE_MAX_BYTES) {
            return true;
        }
    }
    return false;
}

static bool refuse_type(const struct pg_rows_plan *plan, const struct map_slot *slot,
                        const struct pg_type *refused, struct error *err)
{
    const struct map_relation *relation = &plan->bound->relations[slot->relation];
    return place_error(&plan->bound->rows->place, plan->bound->rows->from.offset, err,
                       "column %.*s.%.*s has the type %.*s, which has no conversion\n"
                       "hint: leave the column out, or say \"policy\": {\"%.*s\": \"text\"}",
                       STR_ARG(relation->name), STR_ARG(relation->columns[slot->column]),
                       STR_ARG(refused->name), STR_ARG(relation->columns[slot->column]));
}

static bool plan_columns(struct planner *planner, struct pg_rows_plan *plan, struct error *err)
{
    const struct map_bound_rows *bound = plan->bound;
    const struct pg_type **types =
        arena_zero(planner->arena, (bound->slot_count + 1) * sizeof(struct pg_type *));
    bool *guarded = arena_zero(planner->arena, bound->slot_count + 1);
    for (size_t i = 0; i < bound->slot_count; i++) {
        const struct map_slot *slot = &bound->slots[i];
        const struct pg_relation *relation = pg_plan_relation(plan, slot->relation);
        types[i] = relation->types[slot->column];
        const struct pg_type *refused = pg_type_refused(types[i]);
        if (refused != NULL && slot->policy == MAP_REFUSE) {
            return refuse_type(plan, slot, refused, err);
        }
        guarded[i] = needs_guard(relation, types[i]);
        plan->has_guards = plan->has_guards || guarded[i];
    }
    plan->types = types;
    plan->guarded = guarded;
    return true;
}

static void add_flags(struct planner *planner, struct pg_rows_plan *plan)
{
    const struct map_rows *rows = plan->bound->rows;
    size_t most = rows->join_count + rows->embed_count + 1;
    struct pg_flag *flags = arena_zero(planner->arena, most * sizeof *flags);
    size_t count = 0;
    for (size_t i = 0; i < rows->join_count; i++) {
        if (plan->joins[i].mode != PG_JOIN_ONCE) {
            flags[count++] = (struct pg_flag){PG_FLAG_JOIN, i};
        }
    }
    for (size_t i = 0; i < rows->embed_count; i++) {
        flags[count++] = (struct pg_flag){PG_FLAG_EMBED, i};
    }
    if (plan->has_guards) {
        flags[count++] = (struct pg_flag){PG_FLAG_COLUMNS, 0};
    }
    plan->flags = flags;
    plan->flag_count = count;
}

static bool is_own_join(const struct map_embed *embed, struct str relation)
{
    for (size_t i = 0; i < embed->rows.join_count; i++) {
        if (str_equal(relation, embed->rows.joins[i].alias)) {
            return true;
        }
    }
    return false;
}

/* Grouping needs every outer column to stand outside the embed: none of its own joins. */
static bool can_group(const struct pg_rows_plan *parent, const struct map_bound_embed *bound,
                      struct planner *planner, struct pg_on *on)
{
    const struct map_embed *wanted = bound->embed;
    const struct map_bound_rows *embed = &bound->rows;
    const struct pg_relation *inner = embed->relations[0].table;
    if (!pg_on_parse(wanted->on.text, embed->relations[0].name, planner->arena, on) ||
        !compares_alike(parent, on, inner)) {
        return false;
    }
    for (size_t i = 0; i < on->count; i++) {
        if (is_own_join(wanted, on->outer[i].relation)) {
            return false;
        }
    }
    return true;
}

/* Embeds nest at most MAP_EMBED_MAX_DEPTH deep. */
static bool plan_rows(struct planner *planner, struct pg_rows_plan *plan, struct error *err)
{
    const struct map_bound_rows *bound = plan->bound;
    size_t embed_count = bound->rows->embed_count;
    plan_joins(planner, plan);
    if (!plan_columns(planner, plan, err)) {
        return false;
    }
    struct pg_embed_plan *embeds = arena_zero(planner->arena, (embed_count + 1) * sizeof *embeds);
    for (size_t i = 0; i < embed_count; i++) {
        const struct map_bound_embed *embed = &bound->embeds[i];
        embeds[i].embed = embed->embed;
        embeds[i].number = planner->embeds++;
        embeds[i].grouped = can_group(plan, embed, planner, &embeds[i].on);
        embeds[i].rows.bound = &embed->rows;
        if (!plan_rows(planner, &embeds[i].rows, err)) {
            return false;
        }
    }
    plan->embeds = embeds;
    add_flags(planner, plan);
    return true;
}

bool pg_plan_rows(const struct map_bound_rows *bound, struct arena *arena, struct pg_rows_plan *out,
                  struct error *err)
{
    struct planner planner = {.arena = arena};
    struct pg_rows_plan plan = {.bound = bound};
    if (!plan_rows(&planner, &plan, err)) {
        return false;
    }
    *out = plan;
    return true;
}

bool pg_plan_has_lateral(const struct pg_rows_plan *plan)
{
    bool found = false;
    for (size_t i = 0; i < plan->bound->rows->join_count; i++) {
        found = found || plan->joins[i].mode == PG_JOIN_LATERAL;
    }
    for (size_t i = 0; i < plan->bound->rows->embed_count; i++) {
        found = found || !plan->embeds[i].grouped || pg_plan_has_lateral(&plan->embeds[i].rows);
    }
    return found;
}
