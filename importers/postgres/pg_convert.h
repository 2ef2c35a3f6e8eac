/* pg_convert — the conversions of values, one a kind of type. docs/types.md lists what each makes.
 */
#ifndef IMPORTERS_POSTGRES_PG_CONVERT_H
#define IMPORTERS_POSTGRES_PG_CONVERT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

#include <stdbool.h>

struct pg_type;

/* Converts the text of one value that is not NULL.
 * ERROR_ITEM: the value has no place in an item ("NaN is no DynamoDB number"). */
typedef bool pg_convert(const struct pg_type *type, struct str text, struct arena *arena,
                        struct value *out, struct error *err);

/* ERROR_ITEM: not UTF-8. */
MUST_CHECK bool pg_text_check(struct str text, struct error *err);

pg_convert pg_convert_text;
pg_convert pg_convert_boolean;
pg_convert pg_convert_number;
pg_convert pg_convert_money;
pg_convert pg_convert_char;
pg_convert pg_convert_bytea;
pg_convert pg_convert_jsonb;
pg_convert pg_convert_hstore;
pg_convert pg_convert_date;
pg_convert pg_convert_time;
pg_convert pg_convert_timestamp;
pg_convert pg_convert_timestamptz;

/* Of types that are made of others: pg_type.element and pg_type.fields say which. */
pg_convert pg_convert_array;
pg_convert pg_convert_composite;
pg_convert pg_convert_range;
pg_convert pg_convert_multirange;

#endif
