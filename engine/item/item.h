/* item — what DynamoDB says of whole items: their size and what it refuses to store. */
#ifndef ENGINE_ITEM_ITEM_H
#define ENGINE_ITEM_ITEM_H

#include "engine/base/error.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes as DynamoDB counts them (Developer Guide, "DynamoDB item sizes and formats"): names and
 * strings in UTF-8; B as it is; N 1 + half its significant digits, rounded up, + 1 if negative;
 * BOOL and NULL 1; L and M 3 + 1 for each member + their content; sets the sum of their members. */
size_t item_size_bytes(struct value item);

/* What one attribute has in that. */
size_t item_attribute_bytes(const struct attribute *attribute);

/* ERROR_LIMIT: over ITEM_MAX_BYTES, or nested over VALUE_MAX_DEPTH, or a name over its limit. */
MUST_CHECK bool item_check_limits(struct value item, struct error *err);

#endif
