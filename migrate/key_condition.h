/* key_condition — from "PK = 'CUSTOMER#1' AND begins_with(SK, 'ORDER#')" to what a store queries
 * by. Amazon DynamoDB Developer Guide, "Key condition expressions for the Query operation". */
#ifndef MIGRATE_KEY_CONDITION_H
#define MIGRATE_KEY_CONDITION_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"

/* The keys of the index of that name, or of the table where it is empty; NULL: there is no such
 * index. */
const struct key_schema *key_condition_keys(const struct table_desc *table, struct str index);

/* Fills partition, sort_equal, low and high of *out, and leaves the rest as it is.
 *   text   conditions joined by AND: = on each partition attribute; on sort attributes, from the
 *          first on and without gaps, = and at last one of < <= > >= BETWEEN begins_with
 *   table  out->index names one of its indexes, or none: the table itself is queried
 *   arena  owns the values
 * ERROR_PLAN: not an expression, or BETWEEN upside down, with the column. ERROR_USAGE: not a key
 * condition of these keys, a value of the wrong type, or empty. */
MUST_CHECK bool key_condition_parse(struct str text, const struct table_desc *table,
                                    struct arena *arena, struct query *out, struct error *err);

#endif
