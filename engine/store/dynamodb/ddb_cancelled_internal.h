/* ddb_cancelled — why a transaction was cancelled, of the CancellationReasons of its reply: one of
 * each part, in their order. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_CANCELLED_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_CANCELLED_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/item/value.h"
#include "engine/store/dynamodb/client/ddb_client.h"

#include <stdbool.h>
#include <stddef.h>

/* A condition failed, or the server gives no reasons. */
bool cancelled_by_condition(const struct json *reasons);

/* Makes of the request's DDB_CANCELLED the error that one of its parts would be by itself; one that
 * is not known is left as it is. */
void cancelled_as_error(const struct json *reasons, struct ddb_request *request);

/* The item that a part's condition met, in the arena; missing where that did not fail, met none, or
 * the server does not tell. */
MUST_CHECK bool cancelled_item(const struct json *reasons, size_t part, struct arena *arena,
                               struct value *out, struct error *err);

#endif
