/* ledger — the record of plans and their runs, kept beside the data that it describes: control
 * record "plan/<version>" is one plan, "pass" holds the number of the last pass.
 * What a run keeps besides: ledger_checkpoint.h, probe_verdicts.h. */
#ifndef MIGRATE_LEDGER_LEDGER_H
#define MIGRATE_LEDGER_LEDGER_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/ledger/ledger_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ledger {
    struct ledger_record *records; /* by version */
    size_t count;
};

/* All records, in the arena. ERROR_DAMAGED: one cannot be read; it is never taken for absent. */
MUST_CHECK bool ledger_read(struct store_reader *reader, struct arena *arena, struct ledger *out,
                            struct error *err);

/* The record of a version, or NULL. */
struct ledger_record *ledger_find(const struct ledger *ledger, uint32_t version);

/* True if the plan has changed the table and was not wholly taken back. */
bool ledger_stands(const struct ledger_record *record);

/* The record of a version if it stands, or NULL. */
struct ledger_record *ledger_standing(const struct ledger *ledger, uint32_t version);

/* The newest record that stands, or NULL. */
struct ledger_record *ledger_newest(const struct ledger *ledger);

/* The record as a control, to be committed with what it speaks of. */
struct control ledger_control(const struct ledger_record *record, struct arena *arena);

/* Commits controls alone and makes them durable. */
MUST_CHECK bool ledger_commit(struct store *store, const struct control *controls, size_t count,
                              struct error *err);

/* Writes one record durably. */
MUST_CHECK bool ledger_write(struct store *store, const struct ledger_record *record,
                             struct error *err);

/* Takes the next pass number; it is durable before it is used. */
MUST_CHECK bool ledger_next_pass(struct store *store, struct store_reader *reader, uint64_t *out,
                                 struct error *err);

/* Deletes every record whose name begins with `prefix`, durably. */
MUST_CHECK bool ledger_forget(struct store *store, struct store_reader *reader, struct str prefix,
                              struct error *err);

/* What tells that the table is being read at that stage, before anything is written:
 * kept_reading.h.
 */
struct str ledger_reading_name(uint32_t version, uint32_t stage, struct arena *arena);

/* Writes the record and deletes what its pass kept, checkpoints and verdicts, in one commit; and
 * what tells of readings, but for that of the stage at which it is running. */
MUST_CHECK bool ledger_settle(struct store *store, struct store_reader *reader,
                              const struct ledger_record *record, struct error *err);

/* Now in UTC, "2026-04-18T03:04:05Z"; this host; and "user@host, process 123". */
struct str ledger_now(struct arena *arena);
struct str ledger_host(struct arena *arena);
struct str ledger_who(struct arena *arena);

#endif
