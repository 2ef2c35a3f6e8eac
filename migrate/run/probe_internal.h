/* probe_internal — what the two halves of a probe share: the table is read for claims, and claims
 * are judged. */
#ifndef MIGRATE_RUN_PROBE_INTERNAL_H
#define MIGRATE_RUN_PROBE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/sort/sorter.h"
#include "migrate/cli/report.h"
#include "migrate/run/probe_kept.h"
#include "migrate/run/probe_verdicts.h"
#include "migrate/run/runner_effect.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe {
    const struct runner_session *session;
    struct runner_rules rules;
    uint64_t pass;
    struct probe_kept *kept; /* NULL: nothing outlives the process */
    struct sorter **sorters; /* of claims: one a thread, or the kept one */
    size_t sorter_count;
    uint64_t items;
    struct progress *progress;
};

/* The verdicts, in the arena, of claims that are all there.
 *   ruled  what was decided before, while puts are counted; else NULL */
MUST_CHECK bool probe_judge(const struct probe *probe, const struct probe_verdicts *ruled,
                            struct arena *arena, struct probe_verdicts *out, struct error *err);

#endif
