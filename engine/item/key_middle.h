/* key_middle — a sort key between two others, about half way: for dividing a collection. */
#ifndef ENGINE_ITEM_KEY_MIDDLE_H
#define ENGINE_ITEM_KEY_MIDDLE_H

#include "engine/base/arena.h"
#include "engine/item/value.h"

#include <stdbool.h>

/* Finds a value that is greater than `low` and less than `high`, both of one type: S, N or B. Of
 * texts and bytes the first that differ are taken for numbers.
 *   out  in the arena; a text is valid UTF-8
 * False where there is none, or none is found: no space between, characters beyond ASCII. */
bool key_middle(struct value low, struct value high, struct arena *arena, struct value *out);

#endif
