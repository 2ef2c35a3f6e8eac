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

struct edits {
    struct edit *list;
    size_t count;
};

/* All places are as found, all edits at once; set past the end of a list appends, in the order of
 * places; remove of what is not there does nothing. Paths must not overlap.
 * Untouched parts are copied as bytes. The arena owns *out.
 * ERROR_ITEM: the parent of a path is not there, or is not a map (for a name) or list (a place).
 * (UpdateItem: "The document path provided in the update expression is invalid for update".) */
MUST_CHECK bool edit_apply(struct value item, const struct edits *edits, struct arena *arena,
                           struct value *out, struct error *err);

#endif
