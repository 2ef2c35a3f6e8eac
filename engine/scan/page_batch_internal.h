/* page_batch — what became of the items of one page, on its way from a worker to the committer. */
#ifndef ENGINE_SCAN_PAGE_BATCH_INTERNAL_H
#define ENGINE_SCAN_PAGE_BATCH_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/queue.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_batch {
    struct queue *home;  /* where it goes once it is committed */
    struct arena *arena; /* owns all but the arrays */
    uint32_t segment;
    struct str cursor;
    struct str until;
    bool last;
    bool again; /* of scan_page */
    size_t items;
    void *tally;
    size_t tally_bytes;
    struct effect *effects;
    struct key *sources; /* by effect: the item that it came of */
    size_t count;
    size_t capacity;
    struct str *notes;
    size_t note_count;
    size_t note_capacity;
};

/* An empty batch whose tally has so many bytes, all zero. */
struct page_batch *page_batch_new(size_t tally_bytes);
void page_batch_free(struct page_batch *batch);

/* Empties it, the tally too, and keeps the memory. */
void page_batch_reset(struct page_batch *batch);

/* Room for one more effect, its writes and its tag in the batch's arena. */
struct effect *page_batch_add(struct page_batch *batch, const struct key *source,
                              size_t write_count, struct str tag);

/* Keeps a copy of the note. */
void page_batch_note(struct page_batch *batch, struct str note);

#endif
