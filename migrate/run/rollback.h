/* rollback — takes one plan back: by the reverse steps that it gives, else by its undo log; then
 * the indexes are as they were before it. Killed at any instant, the same call goes on. */
#ifndef MIGRATE_RUN_ROLLBACK_H
#define MIGRATE_RUN_ROLLBACK_H

#include "engine/base/error.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/runner_session.h"
#include "plans/plan.h"

#include <stdbool.h>

/* Takes the plan back.
 *   plan    its file, or NULL where that is gone; needed only where the plan has reverse steps
 *   record  stands in the ledger; afterwards ROLLED_BACK, or still ROLLING_BACK where reverse steps
 *           met item errors
 * ERROR_STOPPED: asked to; the same call goes on. ERROR_PLAN: the file is gone but needed, or was
 * changed. What the store and the ledger return. */
MUST_CHECK bool rollback_plan(struct runner_session *session, const struct plan *plan,
                              struct ledger_record *record, struct error *err);

#endif
