/* runner_session — a table opened for a run: its store, lease, ledger and the options of apply and
 * rollback. */
#ifndef MIGRATE_RUN_RUNNER_SESSION_H
#define MIGRATE_RUN_RUNNER_SESSION_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/scan/scan.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"
#include "migrate/cli/control_file.h"
#include "migrate/cli/index_progress.h"
#include "migrate/ledger/ledger.h"

#include <stdbool.h>
#include <stdint.h>

struct runner_session {
    struct invocation *invocation;
    struct arena *arena; /* for the whole run */
    struct store *store;
    struct store_reader *reader;
    struct table_desc table;
    struct ledger ledger;
    bool shares;       /* where it can, it takes part in a run that another leads */
    bool leads;        /* holds the lease */
    struct str leader; /* who does, if another */
    uint64_t shuffle;  /* seed of the order in which segments are read; 0: as they are numbered */
    unsigned workers;
    uint32_t segments; /* of passes that begin now */
    uint64_t max_item_errors;
    size_t page_items;           /* --page-size; 0: the store's own choice */
    bool reads_stale;            /* --no-consistent-read, as long as this run has written nothing */
    const char *temp_dir;        /* --temp, else $TMPDIR, else /tmp */
    const char *state_dir;       /* --state; NULL: the store has its own choice */
    const char *wanted_temp_dir; /* --temp; NULL: the store has its own choice */
    bool is_run;                 /* has the options of one, and a control file */
    struct store_limits limits;  /* --max-rcu, --max-wcu */
    struct control_file *control;
    struct index_progress *making; /* of indexes */
    struct {
        struct str name;
        uint64_t items;
    } eligible[INDEXES_MAX]; /* for indexes, as they were counted before they were made */
    size_t eligible_count;
    struct store_usage counted; /* capacity that records have been told of */
};

/* Reads the options that runs have in common into *out. ERROR_USAGE. */
MUST_CHECK bool runner_session_options(struct invocation *invocation, struct runner_session *out,
                                       struct error *err);

/* Opens invocation->table and reads its ledger; STORE_WRITE also takes the lease, or with `shares`
 * takes part beside the one who has it. Keeps what runner_session_options() has set in *session,
 * after which the control file is watched too. runner_session_close() in any case.
 * ERROR_BUSY: another run holds the lease, and it or this one does not share. */
MUST_CHECK bool runner_session_open(struct invocation *invocation, enum store_mode mode,
                                    struct runner_session *session, struct error *err);
void runner_session_close(struct runner_session *session);

/* Looks for the lease again, which may be free by now: sets `leads` and `leader`. */
MUST_CHECK bool runner_session_join(struct runner_session *session, struct arena *arena,
                                    struct error *err);

/* Of a run that ended with `why`: true where all that went wrong is that this process was taken for
 * dead by those it shares the run with, or a record of its own was taken from it. That is said, and
 * what is left of its part given up: runner_session_join() makes it a new member. */
MUST_CHECK bool runner_session_give_up(struct runner_session *session, const struct error *why);

/* Describes the table and reads the ledger again. */
MUST_CHECK bool runner_session_read(struct runner_session *session, struct error *err);

/* ERROR_STORE: an import is not finished, and half of one is no table to work on. */
MUST_CHECK bool runner_session_check_import(const struct runner_session *session,
                                            struct error *err);

/* Describes the table anew, after an index was made or dropped. */
MUST_CHECK bool runner_session_describe(struct runner_session *session, struct error *err);

/* What every scan of the session has in common. */
struct scan_options runner_session_scan(const struct runner_session *session);

/* Adds the capacity that was used since the last call. */
void runner_session_count_usage(struct runner_session *session, struct store_usage *used);

/* True once SIGINT or SIGTERM has come. */
bool runner_session_stopped(const struct runner_session *session);

#endif
