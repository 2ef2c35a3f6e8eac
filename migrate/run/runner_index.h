/* runner_index — the table steps of a run: making, filling and dropping indexes so that a kill at
 * any instant leaves what the next attempt can go on with. */
#ifndef MIGRATE_RUN_RUNNER_INDEX_H
#define MIGRATE_RUN_RUNNER_INDEX_H

#include "engine/base/error.h"
#include "engine/scan/index_check.h"
#include "migrate/ledger/ledger_record.h"
#include "migrate/run/kept_reading.h"
#include "migrate/run/runner_session.h"
#include "plans/plan.h"

#include <stdbool.h>

struct index_stage {
    const struct stage *stage;
    struct ledger_record *record;
    struct kept_reading *reading; /* borrowed: what of the check a kill leaves; NULL: nothing */
};

/* Reads the table for items that violate the index's keys. Examples are added to the faults. */
MUST_CHECK bool runner_index_check(struct runner_session *session, const struct index_stage *stage,
                                   struct index_counts *out, struct error *err);

/* Declares the index, after it is in the record. */
MUST_CHECK bool runner_index_create(struct runner_session *session, const struct stage *stage,
                                    struct ledger_record *record, struct error *err);

/* Drops the index, after what it was is in the record. */
MUST_CHECK bool runner_index_drop(struct runner_session *session, const struct stage *stage,
                                  struct ledger_record *record, struct error *err);

/* Fills the indexes that are declared only, and makes them ACTIVE; those that the record's plan has
 * made, too; and refreshes the rest. ERROR_STOPPED: the same call goes on. */
MUST_CHECK bool runner_index_finish(struct runner_session *session,
                                    const struct ledger_record *record, struct error *err);

/* Makes anew the indexes that the store left behind while it took many writes: every run does that
 * before it ends. Describes the table anew. ERROR_STOPPED. */
MUST_CHECK bool runner_index_refresh(struct runner_session *session, struct error *err);

/* Takes back the record's changes: first drops what was made, then makes and fills what was
 * dropped. Repeatable. */
MUST_CHECK bool runner_index_drop_made(struct runner_session *session,
                                       const struct ledger_record *record, struct error *err);
MUST_CHECK bool runner_index_make_dropped(struct runner_session *session,
                                          const struct ledger_record *record, struct error *err);

#endif
