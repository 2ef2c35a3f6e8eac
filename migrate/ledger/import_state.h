/* import_state — the ledger record of an import: control record "import". It says loading from
 * before the first write until the last is durable, so that no half of an import is taken for a
 * whole one. */
#ifndef MIGRATE_LEDGER_IMPORT_STATE_H
#define MIGRATE_LEDGER_IMPORT_STATE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct import_record {
    bool loading;        /* else done */
    bool created;        /* the table was made by this import */
    bool was_empty;      /* the table held nothing before it */
    uint64_t pass;       /* what its items are written under */
    struct str map;      /* hash of the map; empty: none */
    struct str source;   /* where from, without a password */
    struct str snapshot; /* what moment it shows, and when that was; may be empty */
    struct str snapshot_time;
    struct str started; /* UTC, ISO 8601 */
    struct str ended;   /* empty while it is loading */
    struct str who;
    uint64_t rows, items;
};

/* The record of the last import, in the arena; *found is false where there was none.
 * ERROR_DAMAGED. */
MUST_CHECK bool import_state_read(struct store_reader *reader, struct arena *arena,
                                  struct import_record *out, bool *found, struct error *err);

/* Writes it durably. */
MUST_CHECK bool import_state_write(struct store *store, const struct import_record *record,
                                   struct error *err);

/* Deletes it durably: the import came to nothing. */
MUST_CHECK bool import_state_forget(struct store *store, struct error *err);

/* For other commands: whether an import was broken off, and if so a sentence about it. */
MUST_CHECK bool import_is_unfinished(struct store_reader *reader, struct arena *arena,
                                     bool *unfinished, struct str *detail, struct error *err);

#endif
