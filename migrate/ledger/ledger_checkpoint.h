/* ledger_checkpoint — how far each segment of a pass has come: control records
 * "checkpoint/<version>/<segment>", committed with the writes that they speak of. */
#ifndef MIGRATE_LEDGER_LEDGER_CHECKPOINT_H
#define MIGRATE_LEDGER_LEDGER_CHECKPOINT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/ledger/ledger_counts.h"

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

/* Ranges of collections that are read apart from their segments; they are numbered behind these. */
enum { CHECKPOINT_RANGES_MAX = 256 };

struct checkpoint {
    uint32_t segment;
    struct str record; /* as it was read; ptr NULL: there is none */
    struct str owner;  /* id of the process that took the segment; empty: nobody did */
    uint64_t claim;    /* how often it was taken: the last to take it may write it */
    struct str cursor; /* empty: the segment's start */
    struct str until;  /* not empty: a range of a collection, which ends with this key */
    bool done;
    uint64_t items;             /* met so far */
    struct store_usage used;    /* capacity, by those who wrote it */
    struct step_counts *counts; /* by step */
    struct fault_list faults;   /* examples of item errors */
    struct fault_list gone;     /* and of items that were gone */
    uint64_t failed;            /* item errors of all steps; only of checkpoint_glance() */
};

/* The checkpoint of a segment as a control, for the owner of its last claim. */
struct control checkpoint_control(const struct checkpoint_run *run,
                                  const struct checkpoint *checkpoint, struct arena *arena);

/* Fills `out`, one for each of the run's segments and then CHECKPOINT_RANGES_MAX for ranges; what
 * is without a record begins at its start. ERROR_DAMAGED: a record cannot be read. ERROR_STORE: it
 * belongs to another run. */
MUST_CHECK bool checkpoint_read(struct store_reader *reader, const struct checkpoint_run *run,
                                struct arena *arena, struct checkpoint *out, struct error *err);

/* Reads the one of checkpoint->segment again; without a record it begins at its start. */
MUST_CHECK bool checkpoint_read_again(struct store_reader *reader, const struct checkpoint_run *run,
                                      struct arena *arena, struct checkpoint *checkpoint,
                                      struct error *err);

struct checkpoint_list {
    struct checkpoint *list;
    size_t count;
};

/* All checkpoints of a plan, whatever run they are of: segment, owner, claim, cursor, done, items
 * and failed only, in the arena. ERROR_DAMAGED. */
MUST_CHECK bool checkpoint_glance(struct store_reader *reader, uint32_t version,
                                  struct arena *arena, struct checkpoint_list *out,
                                  struct error *err);

#endif
