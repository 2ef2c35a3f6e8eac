#include "importers/postgres/pg_catalog.h"

#include "engine/base/buffer.h"
#include "importers/postgres/pg_types.h"

#include <stdlib.h>
#include <string.h>

/* A relation that was described, for the locks. */
struct described {
    const struct pg_relation *relation;
    struct described *next;
};

struct pg_catalog {
    struct pg_session *session;
    struct arena *arena;
    struct pg_types *types;
    struct described *described;
};

/* What pg_class says of a relation. */
struct class_row {
    struct str oid, schema, name;
    char kind;
    int64_t rows_estimate;
};

struct pg_catalog *pg_catalog_new(struct pg_session *session, struct arena *arena)
{
    struct pg_catalog *catalog = arena_zero(arena, sizeof *catalog);
    catalog->session = session;
    catalog->arena = arena;
    catalog->types = pg_types_new(session, arena);
    return catalog;
}

static uint64_t cell_number(const struct pg_rows *rows, size_t row, size_t column)
{
    struct str cell = pg_cell(rows, row, column);
    return cell.ptr == NULL ? 0 : strtoull(cell.ptr, NULL, 10);
}

static bool cell_true(const struct pg_rows *rows, size_t row, size_t column)
{
    return str_equal(pg_cell(rows, row, column), STR("t"));
}

static struct str sql_name(struct pg_catalog *catalog, struct str schema, struct str name)
{
    struct str left = pg_quote_name(schema, catalog->arena);
    struct str right = pg_quote_name(name, catalog->arena);
    return arena_format(catalog->arena, "%.*s.%.*s", STR_ARG(left), STR_ARG(right));
}

/* "a.b" is a table a.b on the search path, or else b in the schema a. */
static bool find_class(struct pg_catalog *catalog, struct str table, struct class_row *out,
                       struct error *err)
{
    struct str whole = pg_quote_name(table, catalog->arena);
    const char *dot = memchr(table.ptr, '.', table.len);
    const char *parameters[] = {whole.ptr, NULL, str_has(table, '"') ? table.ptr : NULL};
    if (dot != NULL) {
        size_t len = (size_t)(dot - table.ptr);
        parameters[1] = sql_name(catalog, (struct str){table.ptr, len},
                                 (struct str){dot + 1, table.len - len - 1})
                            .ptr;
    }
    struct pg_statement statement = {
        "SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples::bigint"
        " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.oid = coalesce(to_regclass($1), to_regclass($2), to_regclass($3))",
        parameters, 3};
    struct pg_rows rows;
    if (!pg_session_query(catalog->session, &statement, catalog->arena, &rows, err)) {
        return false;
    }
    if (rows.count == 0) {
        return error_set(err, ERROR_PLAN, "there is no table \"%.*s\"%s", STR_ARG(table),
                         dot == NULL ? " on the search path" : "");
    }
    *out = (struct class_row){pg_cell(&rows, 0, 0), pg_cell(&rows, 0, 1), pg_cell(&rows, 0, 2),
                              pg_cell(&rows, 0, 3).ptr[0],
                              strtoll(pg_cell(&rows, 0, 4).ptr, NULL, 10)};
    return true;
}

static size_t column_index(const struct pg_relation *relation, struct str name)
{
    size_t i = 0;
    while (i < relation->column_count && !str_equal(relation->columns[i], name)) {
        i++;
    }
    return i;
}

static bool check_columns(const struct pg_relation *relation, struct error *err)
{
    for (size_t i = 0; i < relation->column_count; i++) {
        if (column_index(relation, relation->columns[i]) < i) {
            return error_set(err, ERROR_PLAN, "the query has two columns \"%.*s\"",
                             STR_ARG(relation->columns[i]));
        }
    }
    return true;
}

static bool find_columns(struct pg_catalog *catalog, struct pg_relation *out, struct error *err)
{
    struct arena *arena = catalog->arena;
    struct str sql = arena_format(arena, "SELECT * FROM %.*s AS refold_rows", STR_ARG(out->sql));
    struct pg_result_columns columns;
    if (!pg_session_describe(catalog->session, sql.ptr, arena, &columns, err)) {
        return false;
    }
    size_t count = columns.count;
    struct str *names = arena_zero(arena, (count + 1) * sizeof *names);
    const struct pg_type **types = arena_zero(arena, (count + 1) * sizeof(struct pg_type *));
    bool *unlisted = arena_zero(arena, count + 1);
    for (size_t i = 0; i < count; i++) {
        names[i] = columns.list[i].name;
        if (!pg_types_find(catalog->types, columns.list[i].type, &types[i], err)) {
            return false;
        }
        unlisted[i] = types[i]->unlisted;
    }
    out->columns = names;
    out->types = types;
    out->unlisted = unlisted;
    out->column_count = count;
    return !out->is_query || check_columns(out, err);
}

/* Collations that find texts equal which differ, as those that ignore case; PostgreSQL has them
 * since version 12. */
#define FINDS_EQUAL " to_jsonb(c) ->> 'collisdeterministic' = 'false'"

static bool find_collations(struct pg_catalog *catalog, struct str oid, struct pg_relation *out,
                            struct error *err)
{
    struct pg_statement statement = {
        "SELECT a.attname, c.oid FROM pg_catalog.pg_attribute a"
        " JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation"
        " WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped AND" FINDS_EQUAL,
        &oid.ptr, 1};
    struct pg_rows rows;
    if (!pg_session_query(catalog->session, &statement, catalog->arena, &rows, err)) {
        return false;
    }
    uint32_t *collations = arena_zero(catalog->arena, (out->column_count + 1) * sizeof *collations);
    for (size_t i = 0; i < rows.count; i++) {
        collations[column_index(out, pg_cell(&rows, i, 0))] = (uint32_t)cell_number(&rows, i, 1);
    }
    out->collations = collations;
    return true;
}

static bool suspect_collations(struct pg_catalog *catalog, struct pg_relation *out,
                               struct error *err)
{
    struct pg_statement statement = {
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_collation c WHERE" FINDS_EQUAL ")", NULL, 0};
    struct pg_rows rows;
    if (!pg_session_query(catalog->session, &statement, catalog->arena, &rows, err)) {
        return false;
    }
    uint32_t *collations = arena_zero(catalog->arena, (out->column_count + 1) * sizeof *collations);
    for (size_t i = 0; i < out->column_count && cell_true(&rows, 0, 0); i++) {
        collations[i] = out->types[i]->is_collated ? PG_COLLATION_UNKNOWN : 0;
    }
    out->collations = collations;
    return true;
}

/* Unique indexes over plain columns, the primary key first. One under which more texts differ than
 * under the column's own collation says nothing. */
static bool find_uniques(struct pg_catalog *catalog, struct str oid, struct pg_relation *out,
                         struct error *err)
{
    struct pg_statement statement = {
        "SELECT i.indexrelid, i.indisprimary, a.attname"
        " FROM pg_catalog.pg_index i"
        " CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place)"
        " JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number"
        " WHERE i.indrelid = $1::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL"
        " AND i.indexprs IS NULL AND k.place <= i.indnkeyatts"
        " AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute o"
        " JOIN pg_catalog.pg_collation c ON c.oid = o.attcollation"
        " CROSS JOIN LATERAL unnest(i.indkey::int2[], i.indcollation::oid[]) AS x(number, oid)"
        " WHERE o.attrelid = i.indrelid AND o.attnum = x.number AND x.oid <> 0"
        " AND x.oid <> o.attcollation AND" FINDS_EQUAL ")"
        " ORDER BY NOT i.indisprimary, i.indexrelid, k.place",
        &oid.ptr, 1};
    struct pg_rows rows;
    if (!pg_session_query(catalog->session, &statement, catalog->arena, &rows, err)) {
        return false;
    }
    struct pg_unique *uniques = arena_zero(catalog->arena, (rows.count + 1) * sizeof *uniques);
    size_t *columns = arena_zero(catalog->arena, (rows.count + 1) * sizeof *columns);
    size_t count = 0;
    for (size_t i = 0; i < rows.count; i++) {
        if (i == 0 || !str_equal(pg_cell(&rows, i, 0), pg_cell(&rows, i - 1, 0))) {
            uniques[count++].columns = &columns[i];
        }
        columns[i] = column_index(out, pg_cell(&rows, i, 2));
        uniques[count - 1].count++;
    }
    out->uniques = uniques;
    out->unique_count = count;
    out->has_primary = rows.count > 0 && cell_true(&rows, 0, 1);
    return true;
}

static const char leaves_sql[] =
    "WITH RECURSIVE tree(oid) AS (SELECT $1::oid UNION SELECT i.inhrelid"
    " FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.oid)"
    " SELECT n.nspname, c.relname, coalesce(m.amname = 'heap', false),"
    " coalesce(pg_relation_size(c.oid), 0), coalesce(pg_table_size(c.oid), 0),"
    " has_table_privilege(c.oid, 'SELECT'), current_setting('block_size'),"
    " c.oid <> $1::oid AND NOT c.relispartition, c.relkind = 'r'"
    " FROM tree JOIN pg_catalog.pg_class c ON c.oid = tree.oid"
    " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " LEFT JOIN pg_catalog.pg_am m ON m.oid = c.relam"
    " WHERE c.relkind IN ('r', 'm', 'f') ORDER BY c.oid";

static void read_leaf(struct pg_catalog *catalog, const struct pg_rows *rows, size_t row,
                      struct pg_leaf *out)
{
    uint64_t block = cell_number(rows, row, 6);
    uint64_t heap = cell_number(rows, row, 3);
    out->sql = sql_name(catalog, pg_cell(rows, row, 0), pg_cell(rows, row, 1));
    out->has_pages = cell_true(rows, row, 2);
    out->is_lockable = cell_true(rows, row, 8);
    out->pages = block == 0 ? 0 : heap / block;
    out->bytes = cell_number(rows, row, 4);
    out->toast_bytes = out->bytes > heap ? out->bytes - heap : 0;
}

/* The tables that hold the rows. Where one may not be read by itself, all are read as one. */
static bool find_leaves(struct pg_catalog *catalog, struct str oid, struct pg_relation *out,
                        struct error *err)
{
    struct pg_statement statement = {leaves_sql, &oid.ptr, 1};
    struct pg_rows rows;
    if (!pg_session_query(catalog->session, &statement, catalog->arena, &rows, err)) {
        return false;
    }
    struct pg_leaf *leaves = arena_zero(catalog->arena, (rows.count + 1) * sizeof *leaves);
    bool readable = true;
    for (size_t i = 0; i < rows.count; i++) {
        read_leaf(catalog, &rows, i, &leaves[i]);
        readable = readable && cell_true(&rows, i, 5);
        out->inherits = out->inherits || cell_true(&rows, i, 7);
        out->pages += leaves[i].pages;
    }
    out->leaves = leaves;
    out->leaf_count = readable ? rows.count : 0;
    return true;
}

static bool describe_table(struct pg_catalog *catalog, const struct map_from *from,
                           struct pg_relation *out, struct error *err)
{
    struct class_row row;
    if (!find_class(catalog, from->table, &row, err)) {
        return false;
    }
    if (strchr("rpvmf", row.kind) == NULL) {
        return error_set(err, ERROR_PLAN, "%.*s is no table or view", STR_ARG(from->table));
    }
    out->name = from->as.len > 0 ? from->as : row.name;
    out->sql = sql_name(catalog, row.schema, row.name);
    out->rows_estimate = row.rows_estimate;
    return find_columns(catalog, out, err) && find_collations(catalog, row.oid, out, err) &&
           find_uniques(catalog, row.oid, out, err) &&
           (row.kind == 'v' || find_leaves(catalog, row.oid, out, err));
}

static bool describe_query(struct pg_catalog *catalog, const struct map_from *from,
                           struct pg_relation *out, struct error *err)
{
    out->name = from->as;
    /* The line feed ends a comment that the query may end with. */
    out->sql = arena_format(catalog->arena, "(%.*s\n)", STR_ARG(from->query));
    out->is_query = true;
    out->rows_estimate = -1;
    return find_columns(catalog, out, err) && suspect_collations(catalog, out, err);
}

bool pg_catalog_describe(void *context, const struct map_from *from, struct map_relation *out,
                         struct error *err)
{
    struct pg_catalog *catalog = context;
    struct pg_relation *relation = arena_zero(catalog->arena, sizeof *relation);
    struct described *described = arena_zero(catalog->arena, sizeof *described);
    bool found = from->table.len > 0 ? describe_table(catalog, from, relation, err)
                                     : describe_query(catalog, from, relation, err);
    if (!found) {
        return false;
    }
    described->relation = relation;
    described->next = catalog->described;
    catalog->described = described;
    *out = (struct map_relation){.name = relation->name,
                                 .columns = relation->columns,
                                 .column_count = relation->column_count,
                                 .unlisted = relation->unlisted,
                                 .table = relation};
    return true;
}

static void add_table(struct str sql, struct buffer *list)
{
    buffer_format(list, "%sONLY %.*s", list->len > 0 ? ", " : "", STR_ARG(sql));
}

/* Of a list of tables, which it frees; empty where it is. */
static struct str lock_statement(struct buffer *list, struct arena *arena)
{
    struct str lock = list->len == 0 ? STR("")
                                     : arena_format(arena, "LOCK TABLE %.*s IN ACCESS SHARE MODE",
                                                    STR_ARG(buffer_str(list)));
    buffer_free(list);
    return lock;
}

static void list_leaves(const struct pg_relation *relation, struct buffer *list)
{
    for (size_t i = 0; i < relation->leaf_count; i++) {
        if (relation->leaves[i].is_lockable) {
            add_table(relation->leaves[i].sql, list);
        }
    }
}

bool pg_catalog_lock(struct pg_catalog *catalog, struct error *err)
{
    struct buffer list = {0};
    for (const struct described *one = catalog->described; one != NULL; one = one->next) {
        list_leaves(one->relation, &list);
    }
    struct str lock = lock_statement(&list, catalog->arena);
    return lock.len == 0 || pg_session_run(catalog->session, lock.ptr, err);
}

static const char locked_sql[] =
    "SELECT DISTINCT n.nspname, c.relname, c.oid::regclass,"
    " c.relfilenode IS DISTINCT FROM pg_relation_filenode(c.oid),"
    " c.relkind = 'r' AND has_table_privilege(c.oid, 'SELECT')"
    " FROM pg_catalog.pg_locks l"
    " JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()"
    " JOIN pg_catalog.pg_class c ON c.oid = l.relation"
    " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE l.pid = pg_backend_pid() AND l.locktype = 'relation' AND c.relkind IN ('r', 'm')"
    " AND c.relfilenode <> 0 AND n.nspname <> 'pg_catalog'";

bool pg_catalog_settle(struct pg_catalog *catalog, struct str *lock, struct error *err)
{
    struct pg_statement statement = {locked_sql, NULL, 0};
    struct pg_rows rows;
    if (!pg_session_query(catalog->session, &statement, catalog->arena, &rows, err)) {
        return false;
    }
    struct buffer list = {0};
    for (size_t i = 0; i < rows.count; i++) {
        if (cell_true(&rows, i, 3)) {
            buffer_free(&list);
            return error_set(err, ERROR_SOURCE,
                             "table %.*s was emptied or rewritten as the import began\n"
                             "hint: start the import again",
                             STR_ARG(pg_cell(&rows, i, 2)));
        }
        if (cell_true(&rows, i, 4)) {
            add_table(sql_name(catalog, pg_cell(&rows, i, 0), pg_cell(&rows, i, 1)), &list);
        }
    }
    *lock = lock_statement(&list, catalog->arena);
    return true;
}
