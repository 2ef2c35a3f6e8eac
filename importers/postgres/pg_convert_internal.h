/* pg_convert_internal — the conversions, for the table in pg_type.c. */
#ifndef IMPORTERS_POSTGRES_PG_CONVERT_INTERNAL_H
#define IMPORTERS_POSTGRES_PG_CONVERT_INTERNAL_H

#include "importers/postgres/pg_type.h"

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

#endif
