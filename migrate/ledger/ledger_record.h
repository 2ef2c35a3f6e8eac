/* ledger_record — one plan in the ledger: what was done of it, when, by whom. */
#ifndef MIGRATE_LEDGER_LEDGER_RECORD_H
#define MIGRATE_LEDGER_LEDGER_RECORD_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/ledger/ledger_counts.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "Pending" is no record at all; "interrupted" is RUNNING or ROLLING_BACK without a live owner. */
enum run_state {
    RUN_RUNNING,
    RUN_APPLIED,
    RUN_FAILED, /* by item errors, after a whole pass */
    RUN_ROLLING_BACK,
    RUN_ROLLED_BACK
};

struct ledger_step {
    struct str label;
    struct step_counts counts; /* of the last attempt at its pass; overwritten, gone: of all */
    uint64_t earlier;          /* written by attempts before that */
};

/* A table step that was done, with what it takes to undo it. */
struct index_change {
    bool created;            /* else dropped */
    struct index_desc index; /* created: as the plan has it; dropped: as it stood */
};

struct ledger_record {
    uint32_t version;
    struct str name;
    struct str hash;
    enum run_state state;
    uint32_t stage;          /* the one under way, from 0; the count of stages when all are done */
    uint64_t pass;           /* number that its pass writes under; 0: none is begun */
    uint32_t segments;       /* of that pass */
    uint32_t attempts;       /* how often a command took the plan up */
    struct store_usage used; /* capacity, by all who took part */
    struct str started;      /* UTC, ISO 8601 */
    struct str ended;        /* empty while it is under way */
    struct str who;          /* user@host, process */
    struct ledger_step *steps; /* all item steps of the plan, in order */
    size_t step_count;
    struct fault_list faults;     /* item errors; rolling back: what was left alone */
    struct fault_list gone;       /* of those that the steps count */
    uint64_t violating;           /* items that an index could not take, which was not made */
    struct index_change *changes; /* in the order in which they were made */
    size_t change_count;
    bool has_rollback;    /* the plan has reverse steps; else its undo log is the way back */
    uint64_t undo_before; /* rolling back: undo frames below this are still to do */
    uint64_t undo_skip;   /* of the newest of them, so many records are done */
    uint64_t undone;      /* rolling back: writes taken back */
    uint64_t left;        /* rolling back: what was left alone, as it was changed since */
};

/* Whether an item error was met at any of the steps. */
bool ledger_steps_failed(const struct ledger_step *steps, size_t count);

/* "running", "rolled back", … */
const char *run_state_name(enum run_state state);

/* As a JSON object, the caller's to delete; and back, into the arena, from what was printed.
 *   name  of the record, for messages
 * ERROR_DAMAGED. */
cJSON *ledger_record_to_json(const struct ledger_record *record);
MUST_CHECK bool ledger_record_parse(struct str text, struct str name, struct arena *arena,
                                    struct ledger_record *out, struct error *err);

#endif
