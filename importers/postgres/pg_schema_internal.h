/* What the values of a type are in a key. */
#ifndef IMPORTERS_POSTGRES_PG_SCHEMA_INTERNAL_H
#define IMPORTERS_POSTGRES_PG_SCHEMA_INTERNAL_H

#include "importers/postgres/pg_type.h"
#include "plans/schema.h"

/* Fills type, kind, digits and refused.
 *   modifier  pg_attribute.atttypmod: of numeric its precision and scale; -1: none */
void pg_schema_kind(const struct pg_type *type, long modifier, struct schema_column *out);

#endif
