/* dry_run — what apply would do, by the same code, with a committer that cannot write. Plans are
 * one list of passes: each sees what the ones before would leave. */
#ifndef MIGRATE_RUN_DRY_RUN_H
#define MIGRATE_RUN_DRY_RUN_H

#include "engine/base/error.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner_compile.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>

/* Rehearses the pending plans and reports. Sets the exit status: 0 nothing to do, 4 changes are
 * pending, 3 there are problems.
 *   session  opened for reading
 *   stages   by plan, each compiled against the table that the ones before leave
 * ERROR_STOPPED; what reading returns. */
MUST_CHECK bool dry_run(struct runner_session *session, const struct plan_list *plans,
                        const struct compiled_stages *stages, struct error *err);

#endif
