/* runner — one plan applied to a table, stage by stage, each begun after the one before is done.
 * Whatever instant it is killed at, the same call goes on from there. */
#ifndef MIGRATE_RUN_RUNNER_H
#define MIGRATE_RUN_RUNNER_H

#include "engine/base/error.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/runner_compile.h"
#include "migrate/run/runner_session.h"
#include "plans/plan.h"

#include <stdbool.h>

/* Applies a plan: new, interrupted or failed.
 *   stages  its steps, compiled against the table as it stands
 *   out     its record afterwards: APPLIED, or FAILED by item errors or index violations
 * ERROR_STOPPED: asked to; the same call goes on. Else what the store and the ledger return. */
MUST_CHECK bool runner_apply(struct runner_session *session, const struct plan *plan,
                             const struct compiled_stages *stages, struct ledger_record **out,
                             struct error *err);

/* Takes segments of the pass that another process leads, until none is left; nothing where it is in
 * another stage, or has not begun. The session does not lead.
 *   record  as the ledger has it, RUNNING; its counts are spoilt
 * ERROR_BUSY: the pass was ended, or this process was taken for dead. Else as runner_apply(). */
MUST_CHECK bool runner_take_part(struct runner_session *session, const struct plan *plan,
                                 const struct compiled_stages *stages, struct ledger_record *record,
                                 struct error *err);

/* Runs the explicit rollback steps of a plan whose record is ROLLING_BACK; no undo is kept.
 * *failed is true where item errors were met: the record has them, and the same call takes the pass
 * up again. */
MUST_CHECK bool runner_roll_back(struct runner_session *session, const struct plan *plan,
                                 const struct compiled_stages *stages, bool *failed,
                                 struct error *err);

/* What a sweep came to. */
struct runner_swept {
    uint64_t rounds;
    uint64_t written;            /* by all steps in all rounds */
    struct ledger_record record; /* counts of the last round, and its item errors; what was gone in
                                    any */
};

/* Runs the passes of an applied plan again, round by round until one writes nothing or meets item
 * errors: so items are met that others created or put back where a pass had been already. Table
 * steps are left out. A sweep that was interrupted is begun anew. ERROR_STOPPED: asked to. */
MUST_CHECK bool runner_sweep(struct runner_session *session, const struct plan *plan,
                             const struct compiled_stages *stages, struct runner_swept *out,
                             struct error *err);

/* Steps with their labels and no counts yet. */
struct ledger_step *runner_steps(const struct compiled_stages *stages, struct arena *arena);

#endif
