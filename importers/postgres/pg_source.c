#include "importers/postgres/pg_source.h"

#include "importers/postgres/pg_catalog.h"
#include "importers/postgres/pg_explain.h"
#include "importers/postgres/pg_source_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A part is worth a COPY of its own from PART_MIN_BYTES on; enough parts of a table that readers
 * end together. Each part of an entity with embeds groups anew: fewer of them. */
enum { PART_MIN_BYTES = 8 << 20, PARTS_MAX = 64, PARTS_WITH_EMBEDS = 4 };

static void close_source(struct source *source)
{
    struct pg_source *pg = (struct pg_source *)source;
    pg_session_close(pg->session);
    arena_free(pg->arena);
    heap_free(pg);
}

/* "customers (id=7, region=EU)", "events (ctid=(0,1))", "totals (row 3)". */
static struct str row_name(const struct source *source, const struct source_row *row,
                           struct arena *arena)
{
    const struct pg_source *pg = (const struct pg_source *)source;
    const struct pg_entity *entity = &pg->entities[row->entity];
    const struct pg_relation *relation = entity->relation;
    struct str rest = row->identity;
    if (entity->identity_count == 0) {
        bool ctid = rest.len > 0 && rest.ptr[0] == '(';
        return arena_format(arena, "%.*s (%s%.*s)", STR_ARG(relation->name),
                            ctid ? "ctid=" : "row ", STR_ARG(rest));
    }
    struct buffer text = {0};
    buffer_format(&text, "%.*s (", STR_ARG(relation->name));
    for (size_t i = 0; i < entity->identity_count; i++) {
        const char *tab = rest.len == 0 ? NULL : memchr(rest.ptr, '\t', rest.len);
        size_t len =
            tab == NULL || i + 1 == entity->identity_count ? rest.len : (size_t)(tab - rest.ptr);
        struct str column = relation->columns[relation->uniques[0].columns[i]];
        buffer_format(&text, "%s%.*s=%.*s", i > 0 ? ", " : "", STR_ARG(column), (int)len, rest.ptr);
        size_t used = len < rest.len ? len + 1 : len;
        rest = (struct str){rest.ptr + used, rest.len - used};
    }
    buffer_add_char(&text, ')');
    struct str name = arena_copy(arena, buffer_str(&text));
    buffer_free(&text);
    return name;
}

static const struct source_ops pg_ops = {
    .close = close_source,
    .reader_open = pg_reader_open,
    .read = pg_reader_read,
    .reader_close = pg_reader_close,
    .row_name = row_name,
};

/* Which fields name a row: those of the primary key, fetched if the map does not name them. */
static void plan_identity(struct pg_source *pg, struct pg_entity *entity)
{
    const struct pg_relation *relation = entity->relation;
    const struct map_bound_rows *bound = &entity->bound->rows;
    size_t count = relation->has_primary ? relation->uniques[0].count : 0;
    size_t *identity = arena_zero(pg->arena, (count + 1) * sizeof *identity);
    size_t *more = arena_zero(pg->arena, (count + 1) * sizeof *more);
    for (size_t i = 0; i < count; i++) {
        size_t column = relation->uniques[0].columns[i];
        size_t slot = 0;
        while (slot < bound->slot_count &&
               (bound->slots[slot].relation != 0 || bound->slots[slot].column != column)) {
            slot++;
        }
        if (slot < bound->slot_count) {
            identity[i] = bound->rows->embed_count + slot;
        } else {
            identity[i] = pg_plan_field_count(&entity->plan) + entity->select.more_count;
            more[entity->select.more_count++] = column;
        }
    }
    entity->identity = identity;
    entity->identity_count = count;
    entity->select.more_columns = more;
    entity->select.with_ctid = count == 0;
}

static bool plan_entity(struct pg_source *pg, const struct map_bound_entity *bound,
                        struct pg_entity *out, struct error *err)
{
    out->bound = bound;
    out->relation = bound->rows.relations[0].table;
    if (!pg_plan_rows(&bound->rows, pg->arena, &out->plan, err)) {
        return false;
    }
    out->select.plan = &out->plan;
    out->select.where = bound->entity->where.text;
    plan_identity(pg, out);
    struct pg_range all = {.leaf = NULL};
    struct buffer sql = {0};
    pg_select_write(&out->select, &all, &sql);
    bool ok = pg_explain_check(pg->session, &out->plan, buffer_str(&sql), err);
    buffer_free(&sql);
    return ok || (err->code == ERROR_PLAN &&
                  place_wrap(&bound->rows.rows->place, bound->entity->offset, err));
}

static void add_part(struct pg_source *pg, const struct pg_part *part)
{
    if (pg->part_count == pg->part_capacity) {
        pg->parts = arena_grow(pg->arena, pg->parts, sizeof *pg->parts, &pg->part_capacity);
    }
    pg->parts[pg->part_count++] = *part;
}

/* Page ranges of about equal bytes; the last one is open: it takes pages that are added. */
static void split_leaf(struct pg_source *pg, size_t entity, const struct pg_leaf *leaf)
{
    const struct map_rows *rows = pg->entities[entity].bound->rows.rows;
    uint64_t most = rows->embed_count > 0 ? PARTS_WITH_EMBEDS : PARTS_MAX;
    uint64_t count = leaf->bytes / PART_MIN_BYTES + 1;
    count = count > most ? most : count;
    count = count > leaf->pages ? leaf->pages : count;
    if (!leaf->has_pages || count <= 1) {
        struct pg_part part = {entity, {.leaf = leaf}, leaf->bytes};
        add_part(pg, &part);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        struct pg_part part = {entity,
                               {.leaf = leaf,
                                .by_page = true,
                                .first = leaf->pages * i / count,
                                .end = i + 1 == count ? 0 : leaf->pages * (i + 1) / count},
                               leaf->bytes / count};
        add_part(pg, &part);
    }
}

/* Heavy parts first, so that no reader is left with one at the end. */
static int compare_parts(const void *a, const void *b)
{
    const struct pg_part *left = a;
    const struct pg_part *right = b;
    if (left->weight != right->weight) {
        return left->weight > right->weight ? -1 : 1;
    }
    return left < right ? -1 : 1;
}

static void make_parts(struct pg_source *pg)
{
    for (size_t i = 0; i < pg->source.entity_count; i++) {
        const struct pg_relation *relation = pg->entities[i].relation;
        if (relation->leaf_count == 0) {
            struct pg_part part = {i, {.leaf = NULL}, UINT64_MAX};
            add_part(pg, &part);
        }
        for (size_t k = 0; k < relation->leaf_count; k++) {
            split_leaf(pg, i, &relation->leaves[k]);
        }
    }
    if (pg->part_count > 0) {
        qsort(pg->parts, pg->part_count, sizeof *pg->parts, compare_parts);
    }
    pg->source.readers_max = pg->part_count > 0 ? pg->part_count : 1;
}

static bool take_snapshot(struct pg_source *pg, struct error *err)
{
    struct pg_statement statement = {
        "SELECT pg_export_snapshot(), pg_current_snapshot(),"
        " to_char(transaction_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
        NULL, 0};
    struct pg_rows rows;
    if (!pg_session_run(pg->session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err) ||
        !pg_session_query(pg->session, &statement, pg->arena, &rows, err)) {
        return false;
    }
    pg->snapshot_id = pg_cell(&rows, 0, 0);
    pg->source.snapshot = pg_cell(&rows, 0, 1);
    pg->source.time = pg_cell(&rows, 0, 2);
    return true;
}

/* Columns that "*" passes over, told once for each entity that has "*". */
static size_t note_unlisted(struct pg_source *pg, size_t entity, struct str *notices)
{
    const struct pg_entity *one = &pg->entities[entity];
    const struct pg_relation *relation = one->relation;
    enum map_columns_kind kind = one->bound->entity->body.columns.kind;
    size_t count = 0;
    if (kind != MAP_COLUMNS_ALL && kind != MAP_COLUMNS_EXCEPT) {
        return 0;
    }
    for (size_t i = 0; i < relation->column_count; i++) {
        if (relation->unlisted[i]) {
            notices[count++] =
                arena_format(pg->arena, "%.*s: column %.*s (%.*s) is left out: name it to keep it",
                             STR_ARG(pg->source.entities[entity].name),
                             STR_ARG(relation->columns[i]), STR_ARG(relation->types[i]->name));
        }
    }
    return count;
}

static void make_notices(struct pg_source *pg)
{
    size_t most = 0;
    for (size_t i = 0; i < pg->source.entity_count; i++) {
        most += pg->entities[i].relation->column_count;
    }
    struct str *notices = arena_zero(pg->arena, (most + 1) * sizeof *notices);
    for (size_t i = 0; i < pg->source.entity_count; i++) {
        pg->source.notice_count += note_unlisted(pg, i, notices + pg->source.notice_count);
    }
    pg->source.notices = notices;
}

static bool bind(struct pg_source *pg, const struct pg_source_options *options, struct error *err)
{
    struct pg_catalog *catalog = pg_catalog_new(pg->session, pg->arena);
    struct map_bind_options binding_options = {options->map, options->table, pg_catalog_describe,
                                               catalog};
    const struct map_binding *binding;
    if (!map_bind(&binding_options, pg->arena, &binding, err) || !pg_catalog_lock(catalog, err)) {
        return false;
    }
    size_t count = binding->entity_count;
    pg->source.entity_count = count;
    pg->source.entities = arena_zero(pg->arena, count * sizeof *pg->source.entities);
    pg->entities = arena_zero(pg->arena, count * sizeof *pg->entities);
    for (size_t i = 0; i < count; i++) {
        if (!plan_entity(pg, &binding->entities[i], &pg->entities[i], err)) {
            return false;
        }
        int64_t estimate = pg->entities[i].relation->rows_estimate;
        pg->source.entities[i].name = binding->entities[i].entity->name;
        pg->source.entities[i].rows_estimate = estimate < 0 ? 0 : (uint64_t)estimate;
    }
    make_notices(pg);
    make_parts(pg);
    return pg_catalog_settle(catalog, &pg->lock, err);
}

bool pg_source_open(const struct pg_source_options *options, struct source **out, struct error *err)
{
    struct pg_source *pg = heap_alloc(sizeof *pg);
    pg->source.ops = &pg_ops;
    pg->arena = arena_new();
    pg->conninfo = options->conninfo;
    pg->stop = options->stop;
    if (!pg_session_open(pg->conninfo, pg->stop, &pg->session, err) || !take_snapshot(pg, err) ||
        !bind(pg, options, err)) {
        close_source(&pg->source);
        return false;
    }
    pg->source.name = pg_session_name(pg->session, pg->arena);
    *out = &pg->source;
    return true;
}

bool pg_source_is(const char *text)
{
    return pg_session_is_conninfo(text);
}
