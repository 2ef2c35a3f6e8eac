/* dry_run_pass — a pass whose results are counted, and dropped or kept in an overlay only. */
#ifndef MIGRATE_RUN_DRY_RUN_PASS_H
#define MIGRATE_RUN_DRY_RUN_PASS_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/runner_effect.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Examples of what would be written, a step. */
enum { DRY_RUN_SAMPLES = 2 };

struct dry_run_pass {
    const struct runner_session *session; /* its store is what is read, and written if `keep` */
    const struct runner_rules *rules;
    uint64_t pass; /* items that carry this number are not met */
    bool keep;     /* later passes read what this one writes */
    const char *phase;
    /* out: */
    struct ledger_step *steps; /* labels are set */
    struct fault_list faults;  /* item errors */
    struct str *samples;       /* room for DRY_RUN_SAMPLES a step */
    size_t sample_count;
    int64_t entries[INDEXES_KNOWN_MAX]; /* by index of the rules' table: entries that come or go */
};

/* ERROR_STOPPED: asked to stop. What reading returns. */
MUST_CHECK bool dry_run_pass(struct dry_run_pass *pass, struct error *err);

#endif
