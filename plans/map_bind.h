/* map_bind — a map bound to the columns that its relations have: paths become slots, and each item
 * a list of attributes sorted by name. What map_make() needs, and what a SELECT must fetch.
 * Immutable once bound: threads may share it. */
#ifndef PLANS_MAP_BIND_H
#define PLANS_MAP_BIND_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/store/store.h"
#include "plans/map.h"
#include "plans/template.h"

#include <stdbool.h>
#include <stddef.h>

/* A relation as the catalogue knows it. */
struct map_relation {
    struct str name;           /* in SQL */
    const struct str *columns; /* names as the catalogue spells them */
    size_t column_count;
    const bool *unlisted; /* by column: "*" passes over it; NULL: over none */
    void *table;          /* the catalogue's own; not looked at */
};

/* Finds a relation. ERROR_PLAN, ERROR_SOURCE: there is none, or it cannot be read. */
typedef bool map_describe(void *context, const struct map_from *from, struct map_relation *out,
                          struct error *err);

/* One column that is fetched. */
struct map_slot {
    size_t relation; /* 0: the rows' own, 1 + i: join i */
    size_t column;
    enum map_policy policy;
};

/* An attribute: either a template or what a slot holds. */
struct map_member {
    struct str name;
    const struct template *template; /* NULL: the slot's value as it is */
    size_t slot;
    const struct expr *when; /* NULL: always */
    bool is_key;             /* must not be missing */
};

struct map_shape {
    const struct expr *whens[2];      /* of the entity, of the item; NULL: always */
    const struct map_member *members; /* sorted by name */
    size_t member_count;
};

struct map_bound_embed;

/* Slots are numbered: embeds first, then columns, each in order. */
struct map_bound_rows {
    const struct map_rows *rows;
    const struct map_relation *relations; /* the rows' own, then the joins' */
    const struct map_slot *slots;
    size_t slot_count;
    const struct map_bound_embed *embeds; /* as map_rows.embeds */
    const struct map_shape *shapes;       /* one for each item of an entity; of an embed: one */
    size_t shape_count;
};

struct map_bound_embed {
    const struct map_embed *embed;
    struct map_bound_rows rows;
};

struct map_bound_entity {
    const struct map_entity *entity;
    struct map_bound_rows rows;
};

struct map_binding {
    const struct map_bound_entity *entities; /* as map.entities */
    size_t entity_count;
};

struct map_bind_options {
    const struct map *map;
    const struct table_desc *table; /* its index-key attributes are converted to their types */
    map_describe *describe;         /* called for each relation that the map names */
    void *context;
};

/* Binds a map; what *options points to is borrowed by *out.
 * ERROR_PLAN: a path or column that no relation has, an attribute made twice, a key that is not
 * the table's; and what describe() returns. */
MUST_CHECK bool map_bind(const struct map_bind_options *options, struct arena *arena,
                         const struct map_binding **out, struct error *err);

#endif
