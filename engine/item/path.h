/* path — a document path: a name, then .name and [place]. */
#ifndef ENGINE_ITEM_PATH_H
#define ENGINE_ITEM_PATH_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

struct path_step {
    bool is_place;   /* of a list */
    struct str name; /* where !is_place */
    size_t place;    /* from 0, where is_place */
};

/* steps[0] is always a name: the attribute. */
struct path {
    const struct path_step *steps;
    size_t count;
};

/* The value that the path leads to within `item`; missing if it leads nowhere. */
struct value path_value(struct path path, struct value item);

/* One path leads into the other, or they are equal (DynamoDB: "Two document paths overlap"). */
bool path_overlaps(struct path a, struct path b);

/* One path takes for a map what the other takes for a list (DynamoDB: "Two document paths
 * conflict"). */
bool path_conflicts(struct path a, struct path b);

/* As the language writes it: names that need quotes get them; a "quote" inside is doubled. */
struct str path_print(struct path path, struct arena *arena);

#endif
