/* ledger_checkpoint — how far each segment of a pass has come: control records
 * "checkpoint/<version>/<segment>", committed with the writes that they speak of. */
#ifndef MIGRATE_LEDGER_CHECKPOINT_H
#define MIGRATE_LEDGER_CHECKPOINT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/ledger_counts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a checkpoint is good for: this pass of this plan over this table in so many segments. */
struct checkpoint_run {
    uint32_t version;
    struct str hash;
    struct str table; /* its identity */
    uint32_t stage;
    uint64_t pass;
    uint32_t segments;
    size_t step_count;
};

struct checkpoint {
    struct str cursor; /* empty: the segment's start */
    bool done;
    uint64_t items;             /* met so far */
    struct step_counts *counts; /* by step */
    struct item_fault *faults;  /* examples */
    size_t fault_count;
};

/* "checkpoint/<version>/", what all of a plan's begin with. */
struct str checkpoint_prefix(uint32_t version, struct arena *arena);

/* The checkpoint of a segment as a control. */
struct control checkpoint_control(const struct checkpoint_run *run, uint32_t segment,
                                  const struct checkpoint *checkpoint, struct arena *arena);

/* Fills `out`, one for each of the run's segments; those without a record begin at their start.
 * ERROR_DAMAGED: a record cannot be read. ERROR_STORE: it belongs to another run. */
MUST_CHECK bool checkpoint_read(struct store_reader *reader, const struct checkpoint_run *run,
                                struct arena *arena, struct checkpoint *out, struct error *err);

/* How far a plan's pass has come, whatever run it is: items met, and segments that are done.
 * ERROR_DAMAGED. */
MUST_CHECK bool checkpoint_progress(struct store_reader *reader, uint32_t version, uint64_t *items,
                                    uint32_t *done, struct error *err);

#endif
