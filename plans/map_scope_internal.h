/* map_scope_internal — the columns that the paths of one entity or embed lead to, and their slots;
 * only plans/map_bind_shape.c and plans/map_scope.c include it. */
#ifndef PLANS_MAP_SCOPE_INTERNAL_H
#define PLANS_MAP_SCOPE_INTERNAL_H

#include "plans/map_bind.h"

/* What all of a map is bound with. */
struct map_binder {
    const struct map_bind_options *options;
    struct arena *arena;
};

/* Binding the rows of one entity or embed: columns get slots when they are first named. */
struct map_scope {
    const struct map_binder *binder;
    const struct map_rows *rows;
    struct map_relation *relations;
    size_t relation_count;
    size_t **slot_of; /* by relation and column: 1 + index in `slots`, 0: none yet */
    struct map_slot *slots;
    size_t slot_count, slot_capacity;
};

/* Finds the relations of the rows. ERROR_PLAN: an alias that is also a column, or the rows' own
 * name. */
MUST_CHECK bool map_scope_open(struct map_scope *scope, struct error *err);

/* ERROR_PLAN: `policy` names what is no column. */
MUST_CHECK bool map_scope_check_policies(const struct map_scope *scope, struct error *err);

/* False if the relation has no such column. */
bool map_relation_column(const struct map_relation *relation, struct str name, size_t *column);

/* "column" or "alias.column", as in `columns` and `policy`; false if there is none. */
bool map_scope_column(const struct map_scope *scope, struct str text, struct map_slot *out);

/* The slot of a column, which gets one if it has none. */
size_t map_scope_slot(struct map_scope *scope, struct map_slot slot);

/* An expr_resolve; its context is the scope. */
int map_scope_resolve(void *context, struct path path, size_t *used, struct error *err);

#endif
