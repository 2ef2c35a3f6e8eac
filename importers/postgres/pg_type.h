/* pg_type — what a PostgreSQL type becomes: one row a type, one conversion each. docs/types.md
 * lists them. Text comes in as every session writes it (pg_session.h). */
#ifndef IMPORTERS_POSTGRES_PG_TYPE_H
#define IMPORTERS_POSTGRES_PG_TYPE_H

#include "engine/base/str.h"
#include "importers/postgres/pg_convert.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_type;

struct pg_field {
    struct str name;
    const struct pg_type *type;
};

struct pg_type {
    uint32_t oid;
    struct str name;               /* as PostgreSQL writes it: "numeric", "shop.colour" */
    pg_convert *convert;           /* NULL: refused */
    bool unlisted;                 /* "*" passes over such columns */
    char delimiter;                /* between elements of an array of it */
    bool is_long;                  /* values of any length */
    bool is_collated;              /* a collation says which of its values are equal */
    const struct pg_type *element; /* of an array; subtype of a range or multirange */
    const struct pg_field *fields; /* of a composite */
    size_t field_count;
};

/* The conversion of a base type by its name in pg_type; false if there is none. Sets `convert` and
 * `unlisted`. */
bool pg_type_base(struct str name, struct pg_type *out);

/* The type inside that has no conversion, or NULL if all have one. */
const struct pg_type *pg_type_refused(const struct pg_type *type);

#endif
