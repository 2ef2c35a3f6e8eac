/* dry_run_report — what a dry run found, for people and for programs. */
#ifndef MIGRATE_RUN_DRY_RUN_REPORT_H
#define MIGRATE_RUN_DRY_RUN_REPORT_H

#include "engine/base/str.h"
#include "engine/scan/index_check.h"
#include "migrate/cli/command.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_record.h"
#include "plans/pass.h"
#include "plans/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dry_stage {
    const struct stage *stage;
    struct ledger_step *steps; /* of a pass */
    size_t step_count;
    const struct pass_step *sent; /* of a pass on a table behind the DynamoDB API: how its steps'
                                     writes are sent; else NULL */
    bool begun;                   /* an attempt has met items already: these are what is left */
    bool proved;                  /* the pass converges by its text; else each item was checked */
    size_t colliding;             /* items that a verdict speaks of */
    bool merges;                  /* puts find their items standing, or meet each other */
    struct str *samples;          /* of a pass: texts for people, or JSON objects */
    size_t sample_count;
    struct index_counts index; /* of create_index: how items stand to it when it is made */
    struct fault_list faults;  /* item errors, or violations */
    bool failed;               /* apply would stop here */
};

/* What an index that the plan makes would hold at its end. */
struct dry_index {
    struct str name;
    uint64_t entries;
    bool exact; /* else puts that meet each other may be counted twice */
};

struct dry_plan {
    const struct plan *plan;
    struct dry_stage *stages; /* those that were reached */
    size_t stage_count;
    struct dry_index *indexes;
    size_t index_count;
    bool failed;
};

/* `plans` are those that were reached, of `pending`. Where none are, people are told nothing. */
void dry_run_report(struct invocation *invocation, const struct dry_plan *plans, size_t count,
                    size_t pending);

#endif
