/* scan — a pass over a table. Workers read segments page by page and say what becomes of each item;
 * the committer, which is the calling thread, writes it. Nothing here knows why items change.
 *
 * A segment is read by one worker at a time, and its pages reach the committer in their order.
 * Which comes next is the task's to say: others may be at work on the same table.
 * Pages in flight are bounded over all segments, so memory grows neither with segments nor with the
 * table. */
#ifndef ENGINE_SCAN_SCAN_H
#define ENGINE_SCAN_SCAN_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan_options {
    struct store *store;
    unsigned workers;          /* threads besides the committer, at least 1 */
    uint32_t segments;         /* fixed for a run, at least 1 */
    struct page_limits limits; /* of a page */
    size_t pages_a_worker;     /* read and not yet committed; 0: one where a crash may leave a page
                                  half written, so that no more of it is read again; else four */
    uint64_t pass;             /* the number written into records */
    bool skip_own_pass;        /* items that carry this number are not met */
    uint64_t undo_log;         /* 0: no undo is kept */
    unsigned rest_ms;          /* before an item that changes all the time is tried again, doubled
                                  with each try up to 32 times as long; 0: none */
    bool read_only;            /* what becomes of items is counted and dropped */
    const atomic_bool *stop;   /* set from outside to end early; NULL: never */
    const atomic_bool *paused; /* while it is set, nothing is read or written; NULL: never */
    uint64_t shuffle;          /* not 0: the seed of a random order of segments */
};

/* What becomes of one item. What is set may lie anywhere until the call returns: it is copied. */
struct scan_result {
    struct arena *arena;  /* in: for the call's own use, emptied after it */
    void *tally;          /* in: the page's, to count in; see scan_task */
    struct write *writes; /* they apply together or not at all */
    size_t write_count;   /* 0: nothing is to be written */
    struct str tag;       /* bytes that come with the effect as its tag */
    struct str note;      /* text for scan_page.notes; ptr NULL: none */
};

/* A page on its way to being committed. */
struct scan_page {
    uint32_t segment;
    struct str cursor; /* where the segment goes on behind this page */
    struct str until;  /* as its turn had it */
    bool last;         /* the segment ends with it */
    bool again;        /* what did not apply of the page before this: the same place */
    size_t items;      /* that were met, each the first time */
    const void *tally;
    const struct str *notes;
    size_t note_count;
};

/* What a worker is to read. */
struct scan_turn {
    const atomic_bool *halted; /* in: is set once the scan has failed, and nobody is to wait more */
    bool none; /* in: the worker has read nothing before; out: nothing is left to read */
    uint32_t segment;
    struct str cursor; /* where the segment goes on; empty: its start */
    struct str until;  /* not empty: a range of the cursor's collection, which ends with this key;
                          its number is none of the segments' */
};

struct scan_checkpoint {
    struct arena *arena; /* in: owns the rest */
    const struct control *controls;
    size_t count;
};

/* Who decides and counts. Each function returns false only for what ends the scan.
 *
 * Counting: item() counts in the page's tally, as if its effect applied. page() adds the tally to
 * what `context` holds and gives the checkpoint, which becomes durable with the page's writes where
 * all of them apply. The few effects that do not are handed to not_applied(), which takes them out
 * of the count; page() is called again, for the same place in the segment, to give the checkpoint
 * that becomes durable instead. */
struct scan_task {
    void *context;
    size_t tally_bytes; /* of a page's tally, which begins as zeros */

    /* What one thread needs; `reader` is its own, for look-ups. Both are called in the calling
     * thread. NULL where threads need nothing of their own: item() then gets `context`. */
    bool (*worker_open)(void *context, struct store_reader *reader, void **worker,
                        struct error *err);
    void (*worker_close)(void *worker);

    /* Any thread: what the worker reads next. It may wait, until `stop` or `halted` is set. The
     * cursor stays as it is until the scan ends. NULL: all segments, each from its start. */
    bool (*next)(void *context, struct scan_turn *out, struct error *err);

    /* Any thread, each with its own worker: the items that it is going to meet. NULL: it need not
     * know. */
    bool (*look_ahead)(void *worker, const struct page *page, struct error *err);
    /* The worker's thread, after a page that is not the turn's last: it may move the cursor on, or
     * draw nearer where the turn ends. What it sets, stays until the scan ends. NULL: it does not.
     */
    bool (*advance)(void *context, struct scan_turn *turn, struct error *err);

    /* Any thread, each with its own worker. A write of the item at hand is complete with kind, key,
     * item and stamp: its `before` is filled in, and every write gets its undo record from `before`
     * (of a PUT: what it overwrites, or missing) and `item`. What a MOVE overwrites has a DELETE of
     * its own before it. */
    bool (*item)(void *worker, const struct stored_item *item, struct scan_result *out,
                 struct error *err);

    /* The calling thread, in the order of commits. */
    bool (*page)(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                 struct error *err);

    /* The calling thread. UNCHANGED, CONFLICT and REJECTED are final. A STALE item is met again as
     * it stands then, unless somebody has deleted it since it was read: then `gone` is its key,
     * else NULL; one that changes each time becomes REJECTED. The function is NULL with read_only.
     */
    bool (*not_applied)(void *context, const struct effect *effect, const struct key *gone,
                        struct error *err);
};

/* Runs to the end of all segments; what was committed is flushed in any case.
 * ERROR_STOPPED: `stop` was set and something is left to read; what was read is committed.
 * Else the first error of any thread. */
MUST_CHECK bool scan_run(const struct scan_options *options, const struct scan_task *task,
                         struct error *err);

/* Fills `out` with 0 to count - 1; with a seed (not 0) in a random order. */
void scan_order(uint64_t seed, uint32_t count, uint32_t *out);

#endif
