/* pg_on — an "on" that is nothing but equal columns: a.x = b.y AND … Such a join can be grouped,
 * and shown to match once. */
#ifndef IMPORTERS_POSTGRES_PG_ON_H
#define IMPORTERS_POSTGRES_PG_ON_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { PG_ON_MAX = 8 };

struct pg_column_name {
    struct str relation, column; /* as the catalogue spells them */
};

struct pg_on {
    struct pg_column_name inner[PG_ON_MAX]; /* of the relation that is joined */
    struct pg_column_name outer[PG_ON_MAX];
    size_t count;
};

/* Reads `sql` as equalities between a column of `relation` and one of another relation each.
 *   arena  owns the names
 * False if it is anything else: that is no error. */
bool pg_on_parse(struct str sql, struct str relation, struct arena *arena, struct pg_on *out);

#endif
