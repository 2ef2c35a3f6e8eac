#include "importers/postgres/pg_types.h"

#include <inttypes.h>
#include <stdlib.h>

/* Arrays of composites of arrays …: deeper than an item could hold is refused. */
enum { TYPE_MAX_DEPTH = 40 };

struct known_type {
    uint32_t oid;
    const struct pg_type *type;
    struct known_type *next;
};

struct pg_types {
    struct pg_session *session;
    struct arena *arena;
    struct known_type *known;
    size_t depth;
};

/* A row of pg_type. */
struct type_row {
    struct str name, schema, kind, delimiter;
    uint32_t element, base, relation, subtype;
    bool varying; /* typlen < 0 */
    bool collated;
    bool is_array; /* of its element; int2vector and its like are none */
};

struct pg_types *pg_types_new(struct pg_session *session, struct arena *arena)
{
    struct pg_types *types = arena_zero(arena, sizeof *types);
    types->session = session;
    types->arena = arena;
    return types;
}

static uint32_t oid_of(struct str text)
{
    return text.ptr == NULL ? 0 : (uint32_t)strtoul(text.ptr, NULL, 10);
}

static bool query_oid(struct pg_types *types, const char *sql, uint32_t oid, struct pg_rows *out,
                      struct error *err)
{
    const char *parameter = arena_format(types->arena, "%" PRIu32, oid).ptr;
    struct pg_statement statement = {sql, &parameter, 1};
    return pg_session_query(types->session, &statement, types->arena, out, err);
}

static bool read_type_row(struct pg_types *types, uint32_t oid, struct type_row *out,
                          struct error *err)
{
    struct pg_rows rows;
    if (!query_oid(types,
                   "SELECT t.typname, n.nspname, t.typtype, t.typdelim, t.typelem,"
                   " t.typbasetype, t.typrelid, coalesce(r.rngsubtype, 0), t.typlen < 0,"
                   " coalesce(e.typarray = t.oid, false), t.typcollation <> 0"
                   " FROM pg_catalog.pg_type t"
                   " JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace"
                   " LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem"
                   " LEFT JOIN pg_catalog.pg_range r ON r.rngtypid = t.oid WHERE t.oid = $1",
                   oid, &rows, err)) {
        return false;
    }
    if (rows.count != 1) {
        return error_set(err, ERROR_SOURCE, "PostgreSQL has no type with OID %" PRIu32, oid);
    }
    *out = (struct type_row){
        .name = pg_cell(&rows, 0, 0),
        .schema = pg_cell(&rows, 0, 1),
        .kind = pg_cell(&rows, 0, 2),
        .delimiter = pg_cell(&rows, 0, 3),
        .element = oid_of(pg_cell(&rows, 0, 4)),
        .base = oid_of(pg_cell(&rows, 0, 5)),
        .relation = oid_of(pg_cell(&rows, 0, 6)),
        .subtype = oid_of(pg_cell(&rows, 0, 7)),
        .varying = str_equal(pg_cell(&rows, 0, 8), STR("t")),
        .is_array = str_equal(pg_cell(&rows, 0, 9), STR("t")),
        .collated = str_equal(pg_cell(&rows, 0, 10), STR("t")),
    };
    return true;
}

static bool find_fields(struct pg_types *types, uint32_t relation, struct pg_type *out,
                        struct error *err)
{
    struct pg_rows rows;
    if (!query_oid(types,
                   "SELECT attname, atttypid FROM pg_catalog.pg_attribute"
                   " WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                   relation, &rows, err)) {
        return false;
    }
    struct pg_field *fields = arena_zero(types->arena, (rows.count + 1) * sizeof *fields);
    for (size_t i = 0; i < rows.count; i++) {
        fields[i].name = pg_cell(&rows, i, 0);
        if (!pg_types_find(types, oid_of(pg_cell(&rows, i, 1)), &fields[i].type, err)) {
            return false;
        }
    }
    out->fields = fields;
    out->field_count = rows.count;
    return true;
}

/* The range of a multirange; pg_range has the column since PostgreSQL 14, as has the type. */
static bool find_multirange(struct pg_types *types, struct pg_type *out, struct error *err)
{
    struct pg_rows rows;
    return query_oid(types, "SELECT rngsubtype FROM pg_catalog.pg_range WHERE rngmultitypid = $1",
                     out->oid, &rows, err) &&
           (rows.count == 1 ? pg_types_find(types, oid_of(pg_cell(&rows, 0, 0)), &out->element, err)
                            : error_set(err, ERROR_SOURCE, "a multirange without a range"));
}

static bool find_base(struct pg_types *types, const struct type_row *row, struct pg_type *out,
                      struct error *err)
{
    if (row->is_array) {
        out->convert = pg_convert_array;
        return pg_types_find(types, row->element, &out->element, err);
    }
    (void)pg_type_base(row->name, out);
    return true;
}

/* Sets what `out` converts by. */
static bool find_conversion(struct pg_types *types, const struct type_row *row, struct pg_type *out,
                            struct error *err)
{
    switch (row->kind.ptr[0]) {
    case 'b':
        return find_base(types, row, out, err);
    case 'e':
        out->convert = pg_convert_text;
        return true;
    case 'c':
        out->convert = pg_convert_composite;
        return find_fields(types, row->relation, out, err);
    case 'r':
        out->convert = pg_convert_range;
        return pg_types_find(types, row->subtype, &out->element, err);
    case 'm':
        out->convert = pg_convert_multirange;
        return find_multirange(types, out, err);
    default:
        return true;
    }
}

static bool read_type(struct pg_types *types, uint32_t oid, const struct pg_type **out,
                      struct error *err)
{
    struct type_row row;
    if (!read_type_row(types, oid, &row, err)) {
        return false;
    }
    if (row.kind.ptr[0] == 'd') {
        return pg_types_find(types, row.base, out, err);
    }
    struct pg_type *type = arena_zero(types->arena, sizeof *type);
    type->oid = oid;
    type->name =
        str_equal(row.schema, STR("pg_catalog"))
            ? row.name
            : arena_format(types->arena, "%.*s.%.*s", STR_ARG(row.schema), STR_ARG(row.name));
    type->delimiter = row.delimiter.ptr[0];
    type->is_long = row.varying;
    type->is_collated = row.collated;
    *out = type;
    return find_conversion(types, &row, type, err);
}

bool pg_types_find(struct pg_types *types, uint32_t oid, const struct pg_type **out,
                   struct error *err)
{
    for (const struct known_type *known = types->known; known != NULL; known = known->next) {
        if (known->oid == oid) {
            *out = known->type;
            return true;
        }
    }
    if (types->depth == TYPE_MAX_DEPTH) {
        return error_set(err, ERROR_SOURCE, "a type is nested over %d deep", TYPE_MAX_DEPTH);
    }
    types->depth++;
    bool ok = read_type(types, oid, out, err);
    types->depth--;
    if (ok) {
        struct known_type *known = arena_zero(types->arena, sizeof *known);
        *known = (struct known_type){oid, *out, types->known};
        types->known = known;
    }
    return ok;
}
