/* runner_pass — a pass that writes: from its checkpoints, or from the start, to its end. */
#ifndef MIGRATE_RUN_RUNNER_PASS_H
#define MIGRATE_RUN_RUNNER_PASS_H

#include "engine/base/error.h"
#include "migrate/ledger/ledger_checkpoint.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/runner_effect.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>
#include <stdint.h>

struct runner_pass {
    struct runner_session *session;
    const struct runner_rules *rules;
    struct checkpoint_run run;
    uint64_t undo_log;         /* 0: no undo is kept */
    const char *phase;         /* for the progress line */
    struct ledger_step *steps; /* out: the counts of the pass */
    struct fault_list *faults; /* out: examples of item errors are added */
    struct fault_list *gone;   /* out: and of items that were gone */
    struct store_usage *used;  /* out: by all who took part in the pass */
};

/* Runs the pass. When it returns true the pass is through, and its checkpoints still stand.
 * ERROR_STOPPED: asked to stop; the checkpoints are durable. ERROR_ITEM: more item errors than
 * --max-item-errors. ERROR_STORE, ERROR_DAMAGED: checkpoints of another run, or unreadable. */
MUST_CHECK bool runner_pass_run(const struct runner_pass *pass, struct error *err);

#endif
