/* import_replay — the plans of one table's ledger, applied to another table. */
#ifndef MIGRATE_IMPORT_IMPORT_REPLAY_H
#define MIGRATE_IMPORT_IMPORT_REPLAY_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "migrate/cli/command.h"
#include "migrate/ledger/ledger.h"

#include <stdbool.h>

/* Applies to invocation->table, oldest first, the plans that stand in `ledger` and were begun at
 * `since` or later (empty: all). ERROR_PLAN: one is not in the folder, or was changed; ERROR_ITEM:
 * one failed; ERROR_STORE: one is not finished. */
MUST_CHECK bool import_replay(struct invocation *invocation, const struct ledger *ledger,
                              struct str since, struct error *err);

#endif
