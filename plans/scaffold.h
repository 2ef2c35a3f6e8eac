/* scaffold — a first map from a catalogue: each table with a key becomes an entity of its own.
 * docs/language.md, "A first map", has the rules. Pure: the same schema gives the same map.
 *
 * No two rows fold to one key. A sort key tells its entity: it is the entity's tag, or segments of
 * a tag and values joined by '#', and no tag has a '#'. Within an entity the values of its key tell
 * the row: a text that anything follows is written without '#'. */
#ifndef PLANS_SCAFFOLD_H
#define PLANS_SCAFFOLD_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "plans/schema.h"

#include <stdbool.h>
#include <stddef.h>

/* A table as an entity. */
struct scaffold_entity {
    const struct schema_table *table;
    const struct schema_key *key; /* NULL: the table is left out */
    struct str name;              /* in reports */
    struct str tag;               /* in keys */

    /* The reference to the entity in whose collection it is; NULL: it has one of its own. */
    const struct schema_reference *within;
    bool by_key;     /* within: its own key holds the other's */
    bool has_within; /* others are in its collection */

    /* What GSI1 lists it by. NULL: nothing, or itself where it is within and not by key. */
    const struct schema_reference *listed;

    struct str pk, sk;             /* templates */
    struct str index_pk, index_sk; /* of GSI1; empty where it is in none */
};

struct scaffold {
    const struct schema *schema;
    const struct scaffold_entity *entities; /* as schema.tables */
    const size_t *order;                    /* of those with a key: each after what it is within */
    size_t order_count;
};

/* Decides what becomes of each table.
 *   schema  borrowed by *out
 * ERROR_SOURCE: no table could be folded; the message says why not. */
MUST_CHECK bool scaffold_make(const struct schema *schema, struct arena *arena,
                              struct scaffold *out, struct error *err);

/* Appends the map's file, comments with the reasons included. */
void scaffold_print(const struct scaffold *scaffold, struct buffer *out);

#endif
