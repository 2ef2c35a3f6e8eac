/* key_middle — a sort key between two others, about half way: for dividing a collection. */
#ifndef ENGINE_ITEM_KEY_MIDDLE_H
#define ENGINE_ITEM_KEY_MIDDLE_H

#include "engine/base/arena.h"
#include "engine/item/value.h"

#include <stdbool.h>

/* Finds a value that is greater than `low` and less than `high`, both of one type: S, N or B. The
 * characters of texts, or bytes, from the first that differ are taken for digits.
 *   out  in the arena; a text is valid UTF-8; no longer than a sort key may be
 * False where there is none; of numbers, also where none of 38 digits is half way. */
bool key_middle(struct value low, struct value high, struct arena *arena, struct value *out);

#endif
