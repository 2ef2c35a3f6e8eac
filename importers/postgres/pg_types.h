/* pg_types — the types of one database by OID, read from its catalogue when first met. */
#ifndef IMPORTERS_POSTGRES_PG_TYPES_H
#define IMPORTERS_POSTGRES_PG_TYPES_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "importers/postgres/pg_session.h"
#include "importers/postgres/pg_type.h"

#include <stdint.h>

struct pg_types;

/* Borrows the session; types live in the arena. */
struct pg_types *pg_types_new(struct pg_session *session, struct arena *arena);

/* The type of an OID; domains are their base type. A type without a conversion is given all the
 * same: see pg_type_refused(). ERROR_SOURCE. */
MUST_CHECK bool pg_types_find(struct pg_types *types, uint32_t oid, const struct pg_type **out,
                              struct error *err);

#endif
