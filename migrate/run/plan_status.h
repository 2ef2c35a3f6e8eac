/* plan_status — where each plan stands: what the ledger says of it, what its file says, and whether
 * somebody is at work on it. */
#ifndef MIGRATE_RUN_PLAN_STATUS_H
#define MIGRATE_RUN_PLAN_STATUS_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "migrate/ledger/ledger.h"
#include "migrate/run/plan_folder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plan_state {
    PLAN_PENDING,
    PLAN_RUNNING,
    PLAN_INTERRUPTED, /* running, but nobody is at it */
    PLAN_APPLIED,
    PLAN_FAILED,
    PLAN_ROLLING_BACK,
    PLAN_HALF_BACK,   /* rolling back, but nobody is at it */
    PLAN_ROLLED_BACK, /* and its file is gone; else it is pending again */
};

struct plan_status {
    uint32_t version;
    struct str name;
    enum plan_state state;
    const struct ledger_record *record; /* NULL: never begun */
    bool changed;                       /* its file is not what was applied */
    bool file_missing;                  /* it stands, but its file is gone */
    bool out_of_order;                  /* never applied, but newer ones are */
};

/* "pending", "interrupted", … */
const char *plan_state_name(enum plan_state state);

/* All plans of ledger and folder by version, in the arena.
 *   plans  NULL: there is no folder, so no file is missed
 *   live   somebody holds the lease */
struct plan_status *plan_status_all(const struct ledger *ledger, const struct plan_list *plans,
                                    bool live, struct arena *arena, size_t *count);

#endif
