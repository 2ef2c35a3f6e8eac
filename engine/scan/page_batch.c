#include "engine/scan/page_batch_internal.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

struct page_batch *page_batch_new(size_t tally_bytes)
{
    struct page_batch *batch = heap_alloc(sizeof *batch);
    batch->arena = arena_new();
    batch->tally = heap_alloc(tally_bytes);
    batch->tally_bytes = tally_bytes;
    return batch;
}

void page_batch_free(struct page_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    arena_free(batch->arena);
    heap_free(batch->tally);
    heap_free(batch->effects);
    heap_free(batch->sources);
    heap_free(batch->notes);
    heap_free(batch);
}

void page_batch_reset(struct page_batch *batch)
{
    arena_reset(batch->arena);
    memset(batch->tally, 0, batch->tally_bytes);
    batch->cursor = STR("");
    batch->until = STR("");
    batch->last = batch->again = false;
    batch->items = 0;
    batch->count = 0;
    batch->note_count = 0;
}

struct effect *page_batch_add(struct page_batch *batch, const struct key *source,
                              size_t write_count, struct str tag)
{
    if (batch->count == batch->capacity) {
        batch->capacity = batch->capacity == 0 ? FIRST_CAPACITY : 2 * batch->capacity;
        batch->effects = heap_resize(batch->effects, batch->capacity * sizeof *batch->effects);
        batch->sources = heap_resize(batch->sources, batch->capacity * sizeof *batch->sources);
    }
    batch->sources[batch->count] = key_copy(source, batch->arena);
    struct effect *effect = &batch->effects[batch->count++];
    *effect = (struct effect){.count = write_count};
    effect->writes = arena_alloc(batch->arena, write_count * sizeof *effect->writes);
    if (tag.len > 0) {
        effect->tag = memcpy(arena_alloc(batch->arena, tag.len), tag.ptr, tag.len);
    }
    return effect;
}

void page_batch_note(struct page_batch *batch, struct str note)
{
    if (batch->note_count == batch->note_capacity) {
        batch->note_capacity =
            batch->note_capacity == 0 ? FIRST_CAPACITY : 2 * batch->note_capacity;
        batch->notes = heap_resize(batch->notes, batch->note_capacity * sizeof *batch->notes);
    }
    batch->notes[batch->note_count++] = arena_copy(batch->arena, note);
}
