/* sweep — applied plans put through the table again, after writers that did not know of them. */
#ifndef MIGRATE_RUN_SWEEP_H
#define MIGRATE_RUN_SWEEP_H

#include "engine/base/error.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>

/* Sweeps the newest applied plan, or all from --from on, and reports. Sets the exit status: 3 where
 * item errors are met. With --dry-run it only looks, and 4 says that there is something to write.
 *   session  opened for writing, or with --dry-run for reading
 *   pending  what apply would run: a plan that is under way or failed has to be ended first
 * ERROR_USAGE: --from is no applied plan. ERROR_PLAN; ERROR_STOPPED; what the store returns. */
MUST_CHECK bool sweep(struct runner_session *session, const struct plan_list *plans,
                      const struct plan_list *pending, struct error *err);

#endif
