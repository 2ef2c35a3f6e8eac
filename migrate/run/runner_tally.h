/* runner_tally — what a page of a pass comes to: counts by step, and examples of item errors as
 * notes. */
#ifndef MIGRATE_RUN_RUNNER_TALLY_H
#define MIGRATE_RUN_RUNNER_TALLY_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/scan/scan.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/probe_verdicts.h"
#include "migrate/run/runner_effect.h"

#include <stddef.h>
#include <stdint.h>

struct runner_tally {
    uint64_t faults; /* item errors of the page */
    struct step_counts counts[];
};

/* Of a tally with so many steps. */
size_t runner_tally_bytes(size_t step_count);

/* Counts the effect in the page's tally, and gives an item error as the result's note, unless the
 * page has enough of them. */
void runner_tally_add(const struct runner_rules *rules, const struct runner_effect *effect,
                      const struct stored_item *item, struct scan_result *result);

/* The item error that a note tells of; it points into both. */
struct item_fault runner_tally_fault(const struct pass_facts *facts, struct str note);

/* Corrects the counts of a whole pass: puts that found their item standing are no writes, and who
 * lost a place is counted apart. */
void runner_tally_settle(const struct probe_verdicts *verdicts, size_t step_count,
                         struct ledger_step *steps);

#endif
