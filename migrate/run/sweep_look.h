/* sweep_look — what a sweep's first round would write, without writing it. */
#ifndef MIGRATE_RUN_SWEEP_LOOK_H
#define MIGRATE_RUN_SWEEP_LOOK_H

#include "engine/base/error.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_session.h"

/* Reads the table once for each pass of the plan, up to one with item errors.
 *   out  counts and faults; no rounds
 * ERROR_STOPPED; what reading and sorting return. */
MUST_CHECK bool sweep_look(struct runner_session *session, const struct plan *plan,
                           const struct compiled_stages *stages, struct runner_swept *out,
                           struct error *err);

#endif
