/* ddb_store — a table behind the DynamoDB API: AWS, ScyllaDB Alternator, or any server that speaks
 * it. docs/architecture.md says what is guaranteed under concurrent writers. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_STORE_H
#define ENGINE_STORE_DYNAMODB_DDB_STORE_H

#include "engine/base/error.h"
#include "engine/store/store.h"

#include <stdbool.h>

/* Opens "TABLE?region=…&endpoint=…". STORE_READ sends nothing that writes.
 * ERROR_USAGE: not such a text. ERROR_STORE: no such table, no credentials, no connection. */
MUST_CHECK bool ddb_store_open(const char *place, const struct store_options *options,
                               struct store **out, struct error *err);

/* Whether the server has such a table. Errors as ddb_store_open(), but for the missing table. */
MUST_CHECK bool ddb_store_exists(const char *place, bool *out, struct error *err);

#endif
