#include "importers/postgres/pg_select.h"

#include <assert.h>
#include <inttypes.h>

static void add_column(struct buffer *out, struct str relation, struct str column)
{
    buffer_add_quoted(out, relation, '"');
    buffer_add_char(out, '.');
    buffer_add_quoted(out, column, '"');
}

static void add_slot(const struct pg_rows_plan *plan, size_t slot, struct buffer *out)
{
    const struct map_slot *column = &plan->bound->slots[slot];
    const struct map_relation *relation = &plan->bound->relations[column->relation];
    add_column(out, relation->name, relation->columns[column->column]);
}

/* The user's SQL; the line feed ends a comment that it may end with. */
static void add_condition(struct buffer *out, struct str sql)
{
    buffer_format(out, "(%.*s\n)", STR_ARG(sql));
}

static void add_too_long(const struct pg_rows_plan *plan, size_t slot, struct buffer *out)
{
    buffer_add(out, STR("octet_length("));
    add_slot(plan, slot, out);
    buffer_format(out, ") > %d", PG_VALUE_MAX_BYTES);
}

static void add_first_too_long(const struct pg_rows_plan *plan, struct buffer *out)
{
    buffer_add(out, STR("CASE"));
    for (size_t i = 0; i < plan->bound->slot_count; i++) {
        if (plan->guarded[i]) {
            buffer_add(out, STR(" WHEN "));
            add_too_long(plan, i, out);
            buffer_format(out, " THEN %zu", i);
        }
    }
    buffer_add(out, STR(" END"));
}

static void add_flag(const struct pg_rows_plan *plan, const struct pg_flag *flag,
                     struct buffer *out)
{
    switch (flag->kind) {
    case PG_FLAG_JOIN:
        add_column(out, plan->bound->rows->joins[flag->index].alias, STR("refold_matches"));
        buffer_add(out, STR(" > 1"));
        break;
    case PG_FLAG_EMBED:
        buffer_format(out, "refold_e%zu.too_large", plan->embeds[flag->index].number);
        break;
    case PG_FLAG_COLUMNS:
        add_first_too_long(plan, out);
        break;
    }
}

static void add_fields(const struct pg_rows_plan *plan, struct buffer *out)
{
    size_t written = 0;
    for (size_t i = 0; i < plan->bound->rows->embed_count; i++) {
        buffer_format(out, "%srefold_e%zu.rows", written++ > 0 ? ", " : "", plan->embeds[i].number);
    }
    for (size_t i = 0; i < plan->bound->slot_count; i++) {
        buffer_add(out, written++ > 0 ? STR(", ") : STR(""));
        if (plan->guarded[i]) {
            buffer_add(out, STR("CASE WHEN NOT "));
            add_too_long(plan, i, out);
            buffer_add(out, STR(" THEN "));
        }
        add_slot(plan, i, out);
        buffer_add(out, plan->guarded[i] ? STR(" END") : STR(""));
    }
    for (size_t i = 0; i < plan->flag_count; i++) {
        buffer_add(out, written++ > 0 ? STR(", ") : STR(""));
        add_flag(plan, &plan->flags[i], out);
    }
}

static void add_join(const struct pg_rows_plan *plan, size_t index, struct buffer *out)
{
    const struct map_join *join = &plan->bound->rows->joins[index];
    const struct pg_join_plan *how = &plan->joins[index];
    struct str sql = pg_plan_relation(plan, index + 1)->sql;
    if (how->mode == PG_JOIN_ONCE) {
        buffer_format(out, " LEFT JOIN %.*s AS ", STR_ARG(sql));
        buffer_add_quoted(out, join->alias, '"');
        buffer_add(out, STR(" ON "));
        add_condition(out, join->on.text);
        return;
    }
    bool lateral = how->mode == PG_JOIN_LATERAL;
    buffer_format(out, " LEFT JOIN %s(SELECT ", lateral ? "LATERAL " : "");
    buffer_add_quoted(out, join->alias, '"');
    buffer_add(out, STR(".*, count(*) OVER ("));
    for (size_t i = 0; i < how->on.count && !lateral; i++) {
        buffer_add(out, i == 0 ? STR("PARTITION BY ") : STR(", "));
        add_column(out, join->alias, how->on.inner[i].column);
    }
    buffer_format(out, ") AS refold_matches FROM %.*s AS ", STR_ARG(sql));
    buffer_add_quoted(out, join->alias, '"');
    if (lateral) {
        buffer_add(out, STR(" WHERE "));
        add_condition(out, join->on.text);
    }
    buffer_add(out, STR(") AS "));
    buffer_add_quoted(out, join->alias, '"');
    buffer_add(out, STR(" ON "));
    add_condition(out, lateral ? STR("true") : join->on.text);
}

/* An order of its own makes two imports of the same rows equal. */
static void add_order(const struct pg_rows_plan *plan, const struct map_embed *embed,
                      struct buffer *out)
{
    const struct pg_relation *relation = pg_plan_relation(plan, 0);
    if (embed->order.text.len > 0) {
        buffer_format(out, " ORDER BY %.*s\n", STR_ARG(embed->order.text));
        return;
    }
    for (size_t i = 0; relation->has_primary && i < relation->uniques[0].count; i++) {
        buffer_add(out, i == 0 ? STR(" ORDER BY ") : STR(", "));
        add_column(out, relation->name, relation->columns[relation->uniques[0].columns[i]]);
    }
}

/* True where the rows could never fit an item: then they are not made. */
static void add_too_large(const struct pg_rows_plan *plan, struct buffer *out)
{
    buffer_format(out, "count(*) > %d OR coalesce(sum(0", ITEM_MAX_BYTES);
    for (size_t i = 0; i < plan->bound->slot_count; i++) {
        if (plan->types[i]->is_long) {
            buffer_add(out, STR(" + coalesce(pg_column_size("));
            add_slot(plan, i, out);
            buffer_add(out, STR("), 0)"));
        }
    }
    for (size_t i = 0; i < plan->bound->rows->embed_count; i++) {
        buffer_format(out, " + coalesce(pg_column_size(refold_e%zu.rows), 0)",
                      plan->embeds[i].number);
    }
    buffer_format(out, "), 0) > %d", PG_VALUE_MAX_BYTES);
}

static void add_rows(const struct pg_rows_plan *plan, const struct map_embed *embed,
                     struct buffer *out)
{
    bool limited = embed->limit > 0;
    if (limited) {
        buffer_add_char(out, '(');
    } else {
        buffer_add(out, STR("CASE WHEN NOT ("));
        add_too_large(plan, out);
        buffer_add(out, STR(") THEN "));
    }
    buffer_add(out, STR("array_agg(ROW("));
    add_fields(plan, out);
    buffer_add_char(out, ')');
    add_order(plan, embed, out);
    buffer_add_char(out, ')');
    if (limited) {
        buffer_format(out, ")[1:%" PRIu64 "] AS rows, false AS too_large", embed->limit);
        return;
    }
    buffer_add(out, STR(" END AS rows, "));
    add_too_large(plan, out);
    buffer_add(out, STR(" AS too_large"));
}

static void add_source(const struct pg_rows_plan *plan, struct str sql,
                       const struct pg_range *range, struct buffer *out);

static void add_pages(struct str relation, const struct pg_range *range, struct buffer *out)
{
    buffer_add_quoted(out, relation, '"');
    buffer_format(out, ".ctid >= '(%" PRIu64 ",0)'", range->first);
    if (range->end != 0) {
        buffer_add(out, STR(" AND "));
        buffer_add_quoted(out, relation, '"');
        buffer_format(out, ".ctid < '(%" PRIu64 ",0)'", range->end);
    }
}

/* Groups only what the pages at hand refer to, or each range would group everything. */
static void add_only_referred(const struct pg_rows_plan *parent, const struct pg_on *on,
                              const struct pg_range *range, struct buffer *out)
{
    assert(range->leaf != NULL);
    struct str relation = parent->bound->relations[0].name;
    for (size_t i = 0; i < on->count; i++) {
        if (!str_equal(on->outer[i].relation, relation)) {
            return;
        }
    }
    buffer_add(out, STR(" WHERE ("));
    for (size_t i = 0; i < on->count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(", "));
        add_column(out, on->inner[i].relation, on->inner[i].column);
    }
    buffer_add(out, STR(") IN (SELECT "));
    for (size_t i = 0; i < on->count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(", "));
        add_column(out, relation, on->outer[i].column);
    }
    buffer_format(out, " FROM ONLY %.*s AS ", STR_ARG(range->leaf->sql));
    buffer_add_quoted(out, relation, '"');
    buffer_add(out, STR(" WHERE "));
    add_pages(relation, range, out);
    buffer_add_char(out, ')');
}

static void add_grouped(const struct pg_rows_plan *parent, const struct pg_embed_plan *embed,
                        const struct pg_range *range, struct buffer *out)
{
    buffer_add(out, STR(" LEFT JOIN (SELECT "));
    for (size_t i = 0; i < embed->on.count; i++) {
        add_column(out, embed->on.inner[i].relation, embed->on.inner[i].column);
        buffer_format(out, " AS k%zu, ", i);
    }
    add_rows(&embed->rows, embed->embed, out);
    add_source(&embed->rows, pg_plan_relation(&embed->rows, 0)->sql, NULL, out);
    if (range != NULL && range->by_page) {
        add_only_referred(parent, &embed->on, range, out);
    }
    for (size_t i = 0; i < embed->on.count; i++) {
        buffer_format(out, "%s%zu", i == 0 ? " GROUP BY " : ", ", i + 1);
    }
    buffer_format(out, ") AS refold_e%zu ON ", embed->number);
    for (size_t i = 0; i < embed->on.count; i++) {
        buffer_format(out, "%srefold_e%zu.k%zu = ", i == 0 ? "" : " AND ", embed->number, i);
        add_column(out, embed->on.outer[i].relation, embed->on.outer[i].column);
    }
}

static void add_lateral(const struct pg_embed_plan *embed, struct buffer *out)
{
    buffer_add(out, STR(" LEFT JOIN LATERAL (SELECT "));
    add_rows(&embed->rows, embed->embed, out);
    add_source(&embed->rows, pg_plan_relation(&embed->rows, 0)->sql, NULL, out);
    buffer_add(out, STR(" WHERE "));
    add_condition(out, embed->embed->on.text);
    buffer_format(out, ") AS refold_e%zu ON true", embed->number);
}

/* FROM and all joins. Recurses no deeper than embeds nest. */
static void add_source(const struct pg_rows_plan *plan, struct str sql,
                       const struct pg_range *range, struct buffer *out)
{
    buffer_format(out, " FROM %.*s AS ", STR_ARG(sql));
    buffer_add_quoted(out, plan->bound->relations[0].name, '"');
    for (size_t i = 0; i < plan->bound->rows->join_count; i++) {
        add_join(plan, i, out);
    }
    for (size_t i = 0; i < plan->bound->rows->embed_count; i++) {
        if (plan->embeds[i].grouped) {
            add_grouped(plan, &plan->embeds[i], range, out);
        } else {
            add_lateral(&plan->embeds[i], out);
        }
    }
}

static void add_leaf_source(const struct pg_rows_plan *plan, const struct pg_range *range,
                            struct buffer *out)
{
    struct buffer only = {0};
    buffer_format(&only, "ONLY %.*s", STR_ARG(range->leaf->sql));
    add_source(plan, buffer_str(&only), range, out);
    buffer_free(&only);
}

/* What is fetched behind the plan's fields. */
static void add_more_fields(const struct pg_select *select, const struct pg_range *range,
                            struct buffer *out)
{
    const struct pg_relation *relation = pg_plan_relation(select->plan, 0);
    size_t written = pg_plan_field_count(select->plan);
    for (size_t i = 0; i < select->more_count; i++) {
        buffer_add(out, written++ > 0 ? STR(", ") : STR(""));
        add_column(out, relation->name, relation->columns[select->more_columns[i]]);
    }
    if (select->with_ctid && range->leaf != NULL && range->leaf->has_pages) {
        buffer_add(out, written > 0 ? STR(", ") : STR(""));
        add_column(out, relation->name, STR("ctid"));
    }
}

void pg_select_write(const struct pg_select *select, const struct pg_range *range,
                     struct buffer *out)
{
    const struct pg_rows_plan *plan = select->plan;
    const struct pg_relation *relation = pg_plan_relation(plan, 0);
    buffer_add(out, STR("SELECT "));
    add_fields(plan, out);
    add_more_fields(select, range, out);
    if (range->leaf == NULL) {
        add_source(plan, relation->sql, range, out);
    } else {
        add_leaf_source(plan, range, out);
    }
    if (range->by_page) {
        buffer_add(out, STR(" WHERE "));
        add_pages(relation->name, range, out);
    }
    if (select->where.len > 0) {
        buffer_add(out, range->by_page ? STR(" AND ") : STR(" WHERE "));
        add_condition(out, select->where);
    }
}
