/* pg_catalog — what PostgreSQL's own tables say of the relations that a map names. */
#ifndef IMPORTERS_POSTGRES_PG_CATALOG_H
#define IMPORTERS_POSTGRES_PG_CATALOG_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "importers/postgres/pg_session.h"
#include "importers/postgres/pg_type.h"
#include "plans/map_bind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table that holds rows itself: the relation, a partition or a child by inheritance. */
struct pg_leaf {
    struct str sql;   /* "schema"."table", to be read with ONLY where has_pages */
    bool has_pages;   /* rows can be read by page (ctid) */
    bool is_lockable; /* LOCK TABLE takes it */
    uint64_t pages;
    uint64_t bytes; /* with TOAST */
    uint64_t toast_bytes;
};

/* Of a query's column nobody tells it. */
enum { PG_COLLATION_UNKNOWN = 1 };

struct pg_unique {
    const size_t *columns; /* indices of pg_relation.columns */
    size_t count;
};

struct pg_relation {
    struct str name;       /* in SQL, not quoted */
    struct str sql;        /* "schema"."table" or (query) */
    bool is_query;         /* a query of the map's, or a view: no pages, no identity */
    bool inherits;         /* has children by inheritance: unique only in each */
    int64_t rows_estimate; /* -1: unknown */
    uint64_t pages;        /* of all leaves */
    const struct str *columns;
    const struct pg_type *const *types;
    const bool *unlisted;
    const uint32_t *collations; /* under which texts that differ can be equal; 0: none differ so */
    size_t column_count;
    const struct pg_unique *uniques; /* the primary key first, where there is one */
    size_t unique_count;
    bool has_primary;
    const struct pg_leaf *leaves; /* none of a query or view, or where they cannot be read */
    size_t leaf_count;
};

struct pg_catalog;

/* Borrows the session; what it finds lives in the arena. */
struct pg_catalog *pg_catalog_new(struct pg_session *session, struct arena *arena);

/* A map_describe; its context is the catalogue. out->table is a struct pg_relation.
 * ERROR_PLAN: no such relation, nothing that has rows, two columns of one name. */
map_describe pg_catalog_describe;

/* Locks what was described so that nobody empties or rewrites it. ERROR_SOURCE. */
MUST_CHECK bool pg_catalog_lock(struct pg_catalog *catalog, struct error *err);

/* Checks that nobody emptied or rewrote a table that the transaction has locked by now, since its
 * snapshot was taken: those described, and those under views and queries once these are planned.
 *   lock  gets the statement that takes the same locks, empty if there are none */
MUST_CHECK bool pg_catalog_settle(struct pg_catalog *catalog, struct str *lock, struct error *err);

#endif
