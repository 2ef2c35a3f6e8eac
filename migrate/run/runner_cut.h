/* runner_cut — where a collection that dwarfs the rest is divided, so that it is read in ranges. */
#ifndef MIGRATE_RUN_RUNNER_CUT_H
#define MIGRATE_RUN_RUNNER_CUT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Pages of one collection in a row, after which the rest of it is divided. */
enum { RUNNER_CUT_PAGES = 8 };

/* What a reader has met lately. Starts as {0}. */
struct runner_heat {
    uint64_t collection; /* digest of the partition key */
    unsigned pages;
};

/* Notes where a page has ended (as its cursor); true when it is time to divide, then it begins to
 * count anew. */
bool runner_heat_add(struct runner_heat *heat, const struct key_schema *keys, struct str cursor);

struct runner_cut {
    struct arena *arena; /* in: owns the rest */
    struct str middle;   /* a key, as a cursor; ptr NULL: there is nothing to divide */
    struct str end;      /* the last key of what is divided */
};

/* Divides what is left of a collection.
 *   range  the cursor behind which it lies, and where it ends; empty: its last item is looked for
 */
MUST_CHECK bool runner_cut_find(struct store_reader *reader, const struct key_schema *keys,
                                const struct str range[2], struct runner_cut *out,
                                struct error *err);

#endif
