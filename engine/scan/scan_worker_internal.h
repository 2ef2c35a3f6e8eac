/* scan_worker — reads pages and meets items; one for each thread. */
#ifndef ENGINE_SCAN_SCAN_WORKER_INTERNAL_H
#define ENGINE_SCAN_SCAN_WORKER_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/queue.h"
#include "engine/scan/page_batch_internal.h"
#include "engine/scan/scan.h"

#include <stdbool.h>

struct scan_worker {
    const struct scan_options *options;
    const struct scan_task *task;
    const struct key_schema *keys; /* of the table */
    struct queue *empty;           /* the page batches that it has to fill; NULL: none */
    struct store_reader *reader;
    void *own; /* the task's */
    struct arena *scratch;
    struct buffer undo;
    struct buffer cursor; /* of the page that was read last */
};

/* The fields up to `empty` are set; scan_worker_close() in any case. */
MUST_CHECK bool scan_worker_open(struct scan_worker *worker, struct error *err);
void scan_worker_close(struct scan_worker *worker);

/* Reads the page behind the turn's cursor and meets its items; the batch then holds what became of
 * them, and the new cursor. */
MUST_CHECK bool scan_worker_read(struct scan_worker *worker, const struct scan_turn *turn,
                                 struct page_batch *batch, struct error *err);

/* Meets the item that stands under a key now; *gone where there is none. */
MUST_CHECK bool scan_worker_meet_again(struct scan_worker *worker, const struct key *key,
                                       struct page_batch *batch, bool *gone, struct error *err);

#endif
