/* edit — an item with some document paths set or removed, as one UpdateItem would leave it. */
#ifndef ENGINE_ITEM_EDIT_H
#define ENGINE_ITEM_EDIT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/item/path.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

/* Sets the path to `value`, or removes it where `value` is missing. */
struct edit {
    struct path path;
    struct value value;
};

/* All places are as found, all edits at once; set past the end of a list appends, in the order of
 * places; remove of what is not there does nothing. Paths must not overlap.
 * Untouched parts are copied as bytes.
 * ERROR_ITEM: the parent of a path is not there, or is not a map (for a name) or list (a place).
 * (UpdateItem: "The document path provided in the update expression is invalid for update".) */
MUST_CHECK bool edit_apply(struct value item, const struct edit *edits, size_t count,
                           struct arena *arena, struct value *out, struct error *err);

#endif
