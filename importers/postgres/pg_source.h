/* pg_source — a PostgreSQL database as a source of items: one snapshot, read by several connections
 * at once. */
#ifndef IMPORTERS_POSTGRES_PG_SOURCE_H
#define IMPORTERS_POSTGRES_PG_SOURCE_H

#include "engine/base/error.h"
#include "engine/store/store.h"
#include "importers/source.h"
#include "plans/map.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Connects, takes a snapshot, binds the map, and checks all that can be known before rows move.
 *   conninfo    as psql takes it
 *   map, table  borrowed until source_close()
 *   stop        looked at while the server lets this or a reader's opening wait
 * ERROR_SOURCE; ERROR_STOPPED; ERROR_PLAN: the map does not fit the database or the table. */
struct pg_source_options {
    const char *conninfo;
    const struct map *map;
    const struct table_desc *table;
    const atomic_bool *stop;
};
MUST_CHECK bool pg_source_open(const struct pg_source_options *options, struct source **out,
                               struct error *err);

/* True if the text is a connection string that pg_source_open() takes. */
bool pg_source_is(const char *text);

#endif
