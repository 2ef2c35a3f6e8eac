/* key_condition — from "PK = 'CUSTOMER#1' AND begins_with(SK, 'ORDER#')" to what a store queries
 * by. Amazon DynamoDB Developer Guide, "Key condition expressions for the Query operation". */
#ifndef MIGRATE_KEY_CONDITION_H
#define MIGRATE_KEY_CONDITION_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"

/* Fills partition, sort_equal, low and high of *out, and leaves the rest as it is.
 *   text   conditions joined by AND: = on each partition attribute; on sort attributes, from the
 *          first on and without gaps, = and at last one of < <= > >= BETWEEN begins_with
 *   keys   of the table or index
 *   arena  owns the values
 * ERROR_PLAN: not an expression, or BETWEEN upside down, with the column. ERROR_USAGE: not a key
 * condition of these keys, a value of the wrong type, or empty. */
MUST_CHECK bool key_condition_parse(struct str text, const struct key_schema *keys,
                                    struct arena *arena, struct query *out, struct error *err);

#endif
