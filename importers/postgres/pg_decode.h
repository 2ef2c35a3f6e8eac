/* pg_decode — the fields of a fetched row as the values of its slots, embedded rows and all. */
#ifndef IMPORTERS_POSTGRES_PG_DECODE_H
#define IMPORTERS_POSTGRES_PG_DECODE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/value.h"
#include "importers/postgres/pg_plan.h"

/* Converts a row.
 *   fields  pg_plan_field_count() of them, ptr NULL where NULL
 *   values  out, one for each slot: embeds, then columns; missing where NULL
 *   arena   owns the values
 * ERROR_ITEM: a value is refused and no policy says what to do; a join matched twice; an embed is
 * far beyond an item. The message names the column. ERROR_SOURCE: text that is not of its type. */
MUST_CHECK bool pg_decode_row(const struct pg_rows_plan *plan, const struct str *fields,
                              struct arena *arena, struct value *values, struct error *err);

#endif
