/* probe — reads the table before a pass with rekey or put writes to it: who wants which key, sorted
 * on disk, so that collisions are found across segments and without holding the table in memory. */
#ifndef MIGRATE_RUN_PROBE_H
#define MIGRATE_RUN_PROBE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "migrate/run/kept_reading.h"
#include "migrate/run/probe_verdicts.h"
#include "migrate/run/runner_effect.h"
#include "migrate/run/runner_session.h"

struct probe_scope {
    uint64_t pass; /* items that an earlier attempt at it wrote want no keys any more */
    struct kept_reading *reading; /* borrowed: what of it a kill leaves; NULL: nothing */
};

/* Finds the verdicts, in the session's arena; nothing is written to the table's items.
 *   rules  `verdicts` must be NULL
 * ERROR_STOPPED: asked to stop. What reading and sorting return. */
MUST_CHECK bool probe_run(const struct runner_session *session, const struct runner_rules *rules,
                          const struct probe_scope *scope, struct probe_verdicts *out,
                          struct error *err);

#endif
