/* pg_select — the one SELECT that fetches an entity's rows: its columns, what is joined, and what
 * is nested as array_agg(ROW(…)), which keeps each value's own text form. */
#ifndef IMPORTERS_POSTGRES_PG_SELECT_H
#define IMPORTERS_POSTGRES_PG_SELECT_H

#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/item/value.h"
#include "importers/postgres/pg_plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which of an entity's rows. */
struct pg_range {
    const struct pg_leaf *leaf; /* NULL: all of the relation, by its own name */
    bool by_page;               /* only the pages [first, end) of the leaf */
    uint64_t first, end;        /* end 0: to the last one there is, however many there are by now */
};

struct pg_select {
    const struct pg_rows_plan *plan;
    struct str where;           /* the map's; empty: none */
    const size_t *more_columns; /* of the relation, fetched behind the plan's fields */
    size_t more_count;
    bool with_ctid; /* behind those */
};

/* Appends the SELECT. */
void pg_select_write(const struct pg_select *select, const struct pg_range *range,
                     struct buffer *out);

#endif
