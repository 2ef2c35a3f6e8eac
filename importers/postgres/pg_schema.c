#include "importers/postgres/pg_schema.h"

#include "engine/base/utf8.h"
#include "importers/postgres/pg_schema_internal.h"
#include "importers/postgres/pg_session.h"
#include "importers/postgres/pg_types.h"

#include <stdlib.h>

/* Which relations are meant: $1 names schemas, or is NULL. Partitions go with their tables. */
#define RELATIONS                                                                          \
    "WITH relation AS (SELECT c.oid, n.oid AS schema, n.nspname, c.relname, c.relkind,"    \
    " row_number() OVER (ORDER BY n.nspname::text COLLATE \"C\","                          \
    " c.relname::text COLLATE \"C\") AS place"                                             \
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace" \
    " WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND NOT c.relispartition"               \
    " AND c.relpersistence <> 't' AND n.nspname <> 'information_schema'"                   \
    " AND n.nspname !~ '^pg_'"                                                             \
    " AND ($1::text IS NULL OR n.nspname::text = ANY (string_to_array($1, ',')))) "

static const char unknown_sql[] =
    "SELECT named FROM unnest(string_to_array($1, ',')) AS named"
    " WHERE named NOT IN (SELECT nspname::text FROM pg_catalog.pg_namespace)";

static const char tables_sql[] = RELATIONS
    "SELECT nspname, relname, quote_ident(relname), relkind IN ('v', 'm'),"
    " has_schema_privilege(schema, 'USAGE') AND has_table_privilege(oid, 'SELECT'),"
    " row_security_active(oid),"
    " relkind <> 'p' AND EXISTS (SELECT FROM pg_catalog.pg_inherits WHERE inhparent = oid),"
    " EXISTS (SELECT FROM pg_catalog.pg_depend WHERE classid = 'pg_catalog.pg_class'::regclass"
    " AND objid = oid AND deptype = 'e')"
    " FROM relation ORDER BY place";

/* A domain's modifier is its own; its type is found by pg_types_find(). */
static const char columns_sql[] =
    RELATIONS "SELECT place, attname, quote_ident(attname), atttypid, attnotnull,"
              " CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE atttypmod END"
              " FROM relation JOIN pg_catalog.pg_attribute ON attrelid = relation.oid"
              " JOIN pg_catalog.pg_type t ON t.oid = atttypid"
              " WHERE attnum > 0 AND NOT attisdropped ORDER BY place, attnum";

/* The primary key before others, then the shorter. */
static const char keys_sql[] = RELATIONS
    "SELECT place, i.indexrelid, a.attname"
    " FROM relation JOIN pg_catalog.pg_index i ON i.indrelid = relation.oid"
    " JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid"
    " CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, at)"
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number"
    " WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL"
    " AND k.at <= i.indnkeyatts"
    " ORDER BY place, NOT i.indisprimary, i.indnkeyatts, x.relname::text COLLATE \"C\", k.at";

static const char references_sql[] = RELATIONS
    "SELECT here.place, con.oid, there.place, con.confdeltype = 'c', a.attname, b.attname"
    " FROM relation here JOIN pg_catalog.pg_constraint con"
    " ON con.conrelid = here.oid AND con.contype = 'f'"
    " JOIN relation there ON there.oid = con.confrelid"
    " CROSS JOIN LATERAL unnest(con.conkey, con.confkey) WITH ORDINALITY AS k(own, other, at)"
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = here.oid AND a.attnum = k.own"
    " JOIN pg_catalog.pg_attribute b ON b.attrelid = there.oid AND b.attnum = k.other"
    " ORDER BY here.place, con.conname::text COLLATE \"C\", con.oid, k.at";

/* The catalogue as it is read. Rows that describe tables come in the tables' order. */
struct reading {
    struct pg_session *session;
    const char *schemas;
    struct arena *arena;
    struct pg_types *types;
    struct str name; /* of the database */
    struct schema_table *tables;
    size_t count;
};

static bool query(const struct reading *reading, const char *sql, struct pg_rows *out,
                  struct error *err)
{
    struct pg_statement statement = {sql, &reading->schemas, 1};
    return pg_session_query(reading->session, &statement, reading->arena, out, err);
}

static bool is_true(const struct pg_rows *rows, size_t row, size_t column)
{
    return str_equal(pg_cell(rows, row, column), STR("t"));
}

static long number(const struct pg_rows *rows, size_t row, size_t column)
{
    return strtol(pg_cell(rows, row, column).ptr, NULL, 10);
}

/* The table of a row by its place, which counts from 1. */
static size_t table_at(const struct pg_rows *rows, size_t row, size_t column)
{
    return (size_t)number(rows, row, column) - 1;
}

/* Behind the last row of the table that row `first` speaks of. */
static size_t table_end(const struct pg_rows *rows, size_t first)
{
    size_t end = first;
    while (end < rows->count && str_equal(pg_cell(rows, end, 0), pg_cell(rows, first, 0))) {
        end++;
    }
    return end;
}

/* A database of no encoding (SQL_ASCII) can have any bytes in a name; a map is UTF-8. */
static bool check_name(struct str name, struct error *err)
{
    return utf8_is_valid(name) || error_set(err, ERROR_SOURCE,
                                            "the database has a name that is not UTF-8\n"
                                            "hint: --schema leaves out the other schemas");
}

static enum schema_access access_of(const struct pg_rows *rows, size_t row)
{
    if (is_true(rows, row, 7)) {
        return SCHEMA_OF_EXTENSION;
    }
    if (is_true(rows, row, 3)) {
        return SCHEMA_VIEW;
    }
    if (!is_true(rows, row, 4)) {
        return SCHEMA_FORBIDDEN;
    }
    return is_true(rows, row, 5) ? SCHEMA_ROW_SECURITY : SCHEMA_READABLE;
}

static bool check_schemas(const struct reading *reading, struct error *err)
{
    struct pg_rows rows = {0};
    if (reading->schemas == NULL) {
        return true;
    }
    if (!query(reading, unknown_sql, &rows, err)) {
        return false;
    }
    return rows.count == 0 || error_set(err, ERROR_USAGE, "--schema: there is no schema \"%.*s\"",
                                        STR_ARG(pg_cell(&rows, 0, 0)));
}

static bool read_name(struct reading *reading, struct error *err)
{
    struct pg_statement statement = {"SELECT current_database()", NULL, 0};
    struct pg_rows rows;
    if (!pg_session_query(reading->session, &statement, reading->arena, &rows, err)) {
        return false;
    }
    reading->name = pg_cell(&rows, 0, 0);
    return check_name(reading->name, err);
}

static bool read_tables(struct reading *reading, struct error *err)
{
    struct pg_rows rows;
    if (!query(reading, tables_sql, &rows, err)) {
        return false;
    }
    reading->count = rows.count;
    reading->tables = arena_zero(reading->arena, (rows.count + 1) * sizeof *reading->tables);
    for (size_t i = 0; i < rows.count; i++) {
        reading->tables[i] = (struct schema_table){.schema = pg_cell(&rows, i, 0),
                                                   .name = pg_cell(&rows, i, 1),
                                                   .sql = pg_cell(&rows, i, 2),
                                                   .access = access_of(&rows, i),
                                                   .is_inherited = is_true(&rows, i, 6)};
        if (!check_name(reading->tables[i].schema, err) ||
            !check_name(reading->tables[i].name, err)) {
            return false;
        }
    }
    return true;
}

static bool read_column(const struct reading *reading, const struct pg_rows *rows, size_t row,
                        struct schema_column *out, struct error *err)
{
    const struct pg_type *type;
    uint32_t oid = (uint32_t)strtoul(pg_cell(rows, row, 3).ptr, NULL, 10);
    if (!pg_types_find(reading->types, oid, &type, err)) {
        return false;
    }
    *out = (struct schema_column){.name = pg_cell(rows, row, 1),
                                  .sql = pg_cell(rows, row, 2),
                                  .not_null = is_true(rows, row, 4)};
    pg_schema_kind(type, number(rows, row, 5), out);
    return check_name(out->name, err) && check_name(out->type, err);
}

static bool read_columns(struct reading *reading, struct error *err)
{
    struct pg_rows rows;
    if (!query(reading, columns_sql, &rows, err)) {
        return false;
    }
    struct schema_column *columns = arena_zero(reading->arena, (rows.count + 1) * sizeof *columns);
    for (size_t i = 0; i < rows.count; i++) {
        if (!read_column(reading, &rows, i, &columns[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < rows.count;) {
        struct schema_table *table = &reading->tables[table_at(&rows, i, 0)];
        size_t end = table_end(&rows, i);
        table->columns = &columns[i];
        table->column_count = end - i;
        i = end;
    }
    return true;
}

static size_t column_index(const struct schema_table *table, struct str name)
{
    size_t i = 0;
    while (i + 1 < table->column_count && !str_equal(table->columns[i].name, name)) {
        i++;
    }
    return i;
}

static bool is_not_null(const struct schema_table *table, const struct schema_key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        if (!table->columns[key->columns[i]].not_null) {
            return false;
        }
    }
    return true;
}

/* The keys of one table, of the rows from `first` to `end`. */
static void take_keys(const struct reading *reading, const struct pg_rows *rows, size_t first,
                      size_t end)
{
    struct schema_table *table = &reading->tables[table_at(rows, first, 0)];
    size_t *columns = arena_zero(reading->arena, (end - first) * sizeof *columns);
    struct schema_key *keys = arena_zero(reading->arena, (end - first) * sizeof *keys);
    size_t count = 0;
    for (size_t i = first; i < end;) {
        struct schema_key key = {&columns[i - first], 0};
        struct str index = pg_cell(rows, i, 1);
        for (; i < end && str_equal(pg_cell(rows, i, 1), index); i++) {
            columns[i - first] = column_index(table, pg_cell(rows, i, 2));
            key.count++;
        }
        if (is_not_null(table, &key)) {
            keys[count++] = key;
        }
    }
    table->keys = keys;
    table->key_count = count;
}

static bool read_keys(struct reading *reading, struct error *err)
{
    struct pg_rows rows;
    if (!query(reading, keys_sql, &rows, err)) {
        return false;
    }
    for (size_t i = 0; i < rows.count;) {
        size_t end = table_end(&rows, i);
        take_keys(reading, &rows, i, end);
        i = end;
    }
    return true;
}

/* The foreign keys of one table, of the rows from `first` to `end`. */
static void take_references(const struct reading *reading, const struct pg_rows *rows, size_t first,
                            size_t end)
{
    struct schema_table *table = &reading->tables[table_at(rows, first, 0)];
    size_t *columns = arena_zero(reading->arena, 2 * (end - first) * sizeof *columns);
    size_t *to_columns = columns + (end - first);
    struct schema_reference *list = arena_zero(reading->arena, (end - first) * sizeof *list);
    size_t count = 0;
    for (size_t i = first; i < end;) {
        struct schema_reference *one = &list[count++];
        struct str constraint = pg_cell(rows, i, 1);
        *one = (struct schema_reference){.to = table_at(rows, i, 2),
                                         .columns = &columns[i - first],
                                         .to_columns = &to_columns[i - first],
                                         .cascades = is_true(rows, i, 3)};
        for (; i < end && str_equal(pg_cell(rows, i, 1), constraint); i++) {
            columns[i - first] = column_index(table, pg_cell(rows, i, 4));
            to_columns[i - first] = column_index(&reading->tables[one->to], pg_cell(rows, i, 5));
            one->count++;
        }
    }
    table->references = list;
    table->reference_count = count;
}

static bool read_references(struct reading *reading, struct error *err)
{
    struct pg_rows rows;
    if (!query(reading, references_sql, &rows, err)) {
        return false;
    }
    for (size_t i = 0; i < rows.count;) {
        size_t end = table_end(&rows, i);
        take_references(reading, &rows, i, end);
        i = end;
    }
    return true;
}

/* All of one moment. */
static bool read_all(struct reading *reading, struct error *err)
{
    return pg_session_run(reading->session, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                          err) &&
           check_schemas(reading, err) && read_name(reading, err) && read_tables(reading, err) &&
           read_columns(reading, err) && read_keys(reading, err) && read_references(reading, err);
}

bool pg_schema_read(const struct pg_schema_options *options, struct arena *arena,
                    struct schema *out, struct error *err)
{
    struct reading reading = {.schemas = options->schemas, .arena = arena};
    if (!pg_session_open(options->conninfo, options->stop, &reading.session, err)) {
        return false;
    }
    reading.types = pg_types_new(reading.session, arena);
    bool ok = read_all(&reading, err);
    if (ok) {
        *out = (struct schema){reading.name, reading.tables, reading.count};
    }
    pg_session_close(reading.session);
    return ok;
}
