/* pg_plan — how the rows of a bound map are fetched: which joins are known to match once, which
 * embeds are grouped, and what each field of a fetched row is. pg_select.h writes it as SQL,
 * pg_decode.h reads the rows. */
#ifndef IMPORTERS_POSTGRES_PG_PLAN_H
#define IMPORTERS_POSTGRES_PG_PLAN_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "importers/postgres/pg_catalog.h"
#include "importers/postgres/pg_on.h"
#include "plans/map_bind.h"

#include <stdbool.h>
#include <stddef.h>

/* A value over this is refused before it is fetched: it is far beyond an item, and templates that
 * cut a piece out of it have room. */
enum { PG_VALUE_MAX_BYTES = 16 << 20 };

enum pg_join_mode {
    PG_JOIN_ONCE,    /* a unique index shows that at most one row matches */
    PG_JOIN_COUNTED, /* rows with equal join columns are counted */
    PG_JOIN_LATERAL  /* matching rows are counted for each row */
};

struct pg_join_plan {
    enum pg_join_mode mode;
    struct pg_on on; /* COUNTED */
};

/* A field that says that a row is refused: true of its join or embed, or the slot of the first
 * column that is too long. One field for all columns: a SELECT has room for few beside 1,600 of
 * them. */
enum pg_flag_kind { PG_FLAG_JOIN, PG_FLAG_EMBED, PG_FLAG_COLUMNS };

struct pg_flag {
    enum pg_flag_kind kind;
    size_t index; /* of the join or the embed */
};

struct pg_embed_plan;

/* Fields of a row, in order: embeds, columns, flags. */
struct pg_rows_plan {
    const struct map_bound_rows *bound;
    const struct pg_join_plan *joins;
    const struct pg_embed_plan *embeds;
    const struct pg_type **types; /* by column slot */
    const bool *guarded;          /* by column slot: PG_FLAG_COLUMNS says if it is too long */
    bool has_guards;
    const struct pg_flag *flags;
    size_t flag_count;
};

struct pg_embed_plan {
    const struct map_embed *embed;
    struct pg_rows_plan rows;
    size_t number; /* tells the embeds of an entity apart */
    bool grouped;  /* else LATERAL */
    struct pg_on on;
};

static inline size_t pg_plan_field_count(const struct pg_rows_plan *plan)
{
    return plan->bound->rows->embed_count + plan->bound->slot_count + plan->flag_count;
}

static inline const struct pg_relation *pg_plan_relation(const struct pg_rows_plan *plan,
                                                         size_t relation)
{
    return plan->bound->relations[relation].table;
}

/* Plans the rows of an entity. ERROR_PLAN: a column's type has no conversion and no policy. */
MUST_CHECK bool pg_plan_rows(const struct map_bound_rows *bound, struct arena *arena,
                             struct pg_rows_plan *out, struct error *err);

/* True if some join or embed under it is LATERAL. */
bool pg_plan_has_lateral(const struct pg_rows_plan *plan);

#endif
