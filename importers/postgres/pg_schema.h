/* pg_schema — all tables of a database with their keys and foreign keys, for a first map. */
#ifndef IMPORTERS_POSTGRES_PG_SCHEMA_H
#define IMPORTERS_POSTGRES_PG_SCHEMA_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "plans/schema.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Reads the catalogue in a read-only transaction; no table is touched.
 *   conninfo  as psql takes it
 *   schemas   names joined by commas; NULL: all but PostgreSQL's own
 *   arena     owns *out
 * ERROR_SOURCE; ERROR_STOPPED; ERROR_USAGE: no such schema. */
struct pg_schema_options {
    const char *conninfo;
    const char *schemas;
    const atomic_bool *stop;
};
MUST_CHECK bool pg_schema_read(const struct pg_schema_options *options, struct arena *arena,
                               struct schema *out, struct error *err);

#endif
