/* sorter — any number of (key, value) pairs in key order, in bounded memory: what does not fit goes
 * to sorted lz4 runs in unlinked files. For loads, index fills and the probe for collisions. */
#ifndef ENGINE_SORT_SORTER_H
#define ENGINE_SORT_SORTER_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/sort/sorted_run.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sorter;

struct sorter_options {
    size_t memory_bytes;     /* for the pairs at hand; at least 1 MiB is used */
    const char *temp_dir;    /* where runs go, without a name; borrowed as long as the sorter is */
    const atomic_bool *stop; /* ends writing a run, with ERROR_STOPPED; NULL: never */
};

/* One thread fills a sorter. sorter_free(NULL) is fine; runs vanish with it. */
struct sorter *sorter_new(const struct sorter_options *options);
void sorter_free(struct sorter *sorter);

/* Copies the pair. ERROR_FULL, ERROR_STORE: a run cannot be written; ERROR_LIMIT: over 512 MB;
 * ERROR_STOPPED. */
MUST_CHECK bool sorter_add(struct sorter *sorter, struct str key, struct str value,
                           struct error *err);

/* No more pairs come; the sorter may now be read, by any number of readers, any number of times,
 * in any threads. Errors as sorter_add(), and as sorted_next() where runs are merged. */
MUST_CHECK bool sorter_finish(struct sorter *sorter, struct error *err);

/* Runs that outlive the process. From now on, which is before the first pair, runs go to a file
 * that has a name and stays when the sorter goes. path  borrowed as long as the sorter is runs
 * which it holds already; what lies behind them is cut off. None: it is made anew ERROR_DAMAGED:
 * one is not what was written. ERROR_BUSY: another process has the file. ERROR_STORE: there is
 * none. ERROR_STOPPED. Then the sorter is as it was. */
MUST_CHECK bool sorter_keep_in(struct sorter *sorter, const char *path,
                               const struct sorted_run *runs, size_t count, struct error *err);

/* All pairs that were added are in that file, durably: the runs tell where, until more are added or
 * it is finished. Errors as sorter_add(); ERROR_BUSY: another process has put its own in the file's
 * place. */
MUST_CHECK bool sorter_keep(struct sorter *sorter, const struct sorted_run **runs, size_t *count,
                            struct error *err);

/* Pairs that were added. */
uint64_t sorter_count(const struct sorter *sorter);

/* The pairs of several finished sorters, which stay until it is closed, as one sorted stream: by
 * key (unsigned bytes, shorter first); equal keys in the order of the sorters, then as they were
 * added. */
struct sorted;

/* ERROR_DAMAGED, ERROR_STORE: a run cannot be read. A sorter that is kept in a file need not be
 * finished: what it has kept comes, and more may be added meanwhile. */
MUST_CHECK bool sorted_open(struct sorter *const *sorters, size_t count, struct sorted **out,
                            struct error *err);
void sorted_close(struct sorted *sorted);

/* The next pair, valid until the next call; *more is false after the last.
 * ERROR_DAMAGED: a run fails its checksum; ERROR_STORE: it cannot be read. */
MUST_CHECK bool sorted_next(struct sorted *sorted, struct str *key, struct str *value, bool *more,
                            struct error *err);

#endif
