/* runner_effect — what becomes of one item in a pass: what the plan's steps make of it, and what
 * the verdicts on colliding keys leave of that. The same for apply, dry run and probe. */
#ifndef MIGRATE_RUN_RUNNER_EFFECT_H
#define MIGRATE_RUN_RUNNER_EFFECT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/ledger/ledger_counts.h"
#include "migrate/run/probe_verdicts.h"
#include "plans/pass.h"

#include <stdbool.h>
#include <stddef.h>

/* Threads share it. */
struct runner_rules {
    const struct pass *pass;
    const struct pass_facts *facts;
    const struct table_desc *table;
    const struct probe_verdicts *verdicts; /* NULL: none yet */
};

/* What one thread puts items through. */
struct runner_meeter {
    const struct runner_rules *rules;
    struct store_reader *reader; /* for look-ups */
};

struct runner_effect {
    struct pass_result result; /* of the steps; all outcomes are final */
    struct write *writes;      /* puts first, then the item's own */
    size_t write_count;
    bool stands; /* it is left for another to overwrite, and not counted */
};

/* Puts the item through the pass. What *out holds is in the arena or in the item.
 * Returns false only for what is no item error. */
MUST_CHECK bool runner_effect_of(const struct runner_meeter *meeter, const struct stored_item *item,
                                 struct arena *arena, struct runner_effect *out, struct error *err);

/* Adds each step's outcome to its counts, or takes it out again. */
void runner_effect_count(const unsigned char *outcomes, size_t step_count,
                         struct step_counts *counts);
void runner_effect_uncount(const unsigned char *outcomes, size_t step_count,
                           struct step_counts *counts);

/* The step that a refusal by the store is put down to: the first that wrote. */
size_t runner_effect_writer(const unsigned char *outcomes, size_t step_count);

#endif
