/* map_make — items and embedded values out of one row's column values. Reentrant. */
#ifndef PLANS_MAP_MAKE_H
#define PLANS_MAP_MAKE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/expr/expr.h"
#include "engine/item/value.h"
#include "plans/map_bind.h"

#include <stdbool.h>
#include <stddef.h>

/* What a shape makes of a row. */
struct map_made {
    bool present; /* its conditions hold */
    struct value item;
    size_t left_out; /* attributes that came out missing */
};

/* Makes the M of a shape.
 *   scope  slots filled as map_bound_rows numbers them
 *   arena  owns the item
 * ERROR_ITEM: a value cannot be computed; a key attribute is missing. */
MUST_CHECK bool map_make(const struct map_shape *shape, const struct expr_scope *scope,
                         struct arena *arena, struct map_made *out, struct error *err);

/* What the rows of an embed made, in order. */
struct map_values {
    const struct value *list;
    size_t count;
};

/* Makes the value of an embed out of what its rows made: L of M, L of values, or a set; missing
 * where the map leaves it out. ERROR_ITEM: set members of mixed types. */
MUST_CHECK bool map_make_embed(const struct map_embed *embed, struct map_values rows,
                               struct arena *arena, struct value *out, struct error *err);

#endif
