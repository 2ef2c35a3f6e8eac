/* sorter — any number of (key, value) pairs in key order, in bounded memory: what does not fit goes
 * to sorted lz4 runs in unlinked files. For loads, index fills and the probe for collisions. */
#ifndef ENGINE_SORT_SORTER_H
#define ENGINE_SORT_SORTER_H

#include "engine/base/error.h"
#include "engine/base/str.h"

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

/* Pairs that were added. */
uint64_t sorter_count(const struct sorter *sorter);

/* The pairs of several finished sorters, which stay until it is closed, as one sorted stream: by
 * key (unsigned bytes, shorter first); equal keys in the order of the sorters, then as they were
 * added. */
struct sorted;

/* ERROR_DAMAGED, ERROR_STORE: a run cannot be read. */
MUST_CHECK bool sorted_open(struct sorter *const *sorters, size_t count, struct sorted **out,
                            struct error *err);
void sorted_close(struct sorted *sorted);

/* The next pair, valid until the next call; *more is false after the last.
 * ERROR_DAMAGED: a run fails its checksum; ERROR_STORE: it cannot be read. */
MUST_CHECK bool sorted_next(struct sorted *sorted, struct str *key, struct str *value, bool *more,
                            struct error *err);

#endif
