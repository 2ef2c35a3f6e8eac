/* rollback_undo — takes back what a plan wrote, from its undo log: newest first, each write only
 * where what it left still stands. Progress is part of each commit, so that a kill loses nothing
 * and repeats nothing. */
#ifndef MIGRATE_RUN_ROLLBACK_UNDO_H
#define MIGRATE_RUN_ROLLBACK_UNDO_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/pause.h"
#include "engine/item/key.h"
#include "engine/store/store.h"
#include "migrate/cli/report.h"
#include "migrate/ledger/ledger.h"

struct rollback_undo {
    struct store *store;
    struct store_reader *reader;
    const struct key_schema *keys;
    struct ledger_record *record; /* ROLLING_BACK; undo_…, undone, left and faults advance */
    struct arena *arena;          /* for what the record comes to point to */
    struct progress *progress;    /* NULL: none */
    struct pause pause;
};

/* Where a rollback begins: behind the newest frame. */
MUST_CHECK bool rollback_undo_begin(struct store_reader *reader, struct ledger_record *record,
                                    struct error *err);

/* Goes on to the end of the log. ERROR_STOPPED: asked to; what is done is durable. ERROR_DAMAGED,
 * and what the store returns. */
MUST_CHECK bool rollback_undo_run(const struct rollback_undo *undo, struct error *err);

#endif
