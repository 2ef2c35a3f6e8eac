/* import_load — sorted items into the table: appended where it is empty and nobody else writes,
 * else compared with what stands and written in batches. */
#ifndef MIGRATE_IMPORT_IMPORT_LOAD_H
#define MIGRATE_IMPORT_IMPORT_LOAD_H

#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"
#include "migrate/cli/index_progress.h"
#include "migrate/import/import_own.h"
#include "migrate/import/import_stream.h"

#include <stdbool.h>
#include <stdint.h>

enum import_conflict { IMPORT_FAIL, IMPORT_SKIP, IMPORT_OVERWRITE };

struct import_load_options {
    struct invocation *invocation; /* for progress and the stop flag */
    struct store *store;
    struct index_progress *making; /* of its indexes */
    struct import_stream_options stream;
    uint64_t items; /* about how many, for progress */
    uint64_t pass;
    enum import_conflict conflict;
    bool empty;             /* the table was, when the import began: what stands is looked at only
                               where a write meets something */
    bool alone;             /* the import has made the table: nobody else has items in it */
    bool resumes;           /* an attempt before this one has written under the same pass */
    struct import_own *own; /* what it wrote, where the store keeps no pass numbers; else NULL */
};

struct import_written {
    uint64_t written;     /* new, or the import's own of an attempt before */
    uint64_t unchanged;   /* stood already with the same content */
    uint64_t skipped;     /* stood with other content and was left */
    uint64_t overwritten; /* stood with other content and was replaced */
    uint64_t removed;     /* written by an attempt before and derived no more */
};

/* Loads an empty table of a store that keeps pass numbers. On failure nothing of it stays.
 * ERROR_CONFLICT, ERROR_STOPPED, ERROR_FULL, … */
MUST_CHECK bool import_load(const struct import_load_options *options, struct import_written *out,
                            struct error *err);

/* Reads everything and compares it with the table, without writing: what import_merge() would do.
 * ERROR_CONFLICT: an item stands with other content, and `conflict` is IMPORT_FAIL. */
MUST_CHECK bool import_compare(const struct import_load_options *options,
                               struct import_written *out, struct error *err);

/* Makes anew the indexes that the store left behind while it took many writes. ERROR_STOPPED. */
MUST_CHECK bool import_finish_indexes(const struct import_load_options *options, struct error *err);

/* Writes into a table that others may write to: what they write meanwhile is met as what stood
 * there before. import_finish_indexes() follows. */
MUST_CHECK bool import_merge(const struct import_load_options *options, struct import_written *out,
                             struct error *err);

#endif
