#include "migrate/query_merge.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"

/* Of one query at a time; a thousand shards then hold a few MB at most of small items. */
enum { PAGE_ITEMS = 256, PAGE_BYTES = 256 * 1024 };

/* One query and the page of it that is being read. */
struct stream {
    struct query *query;
    struct arena *arena; /* of the page */
    struct value *items;
    size_t count;
    size_t next;
    struct buffer cursor;
    bool last; /* no page follows */
};

struct query_merge {
    struct store_reader *reader;
    const struct key_schema *keys;
    struct stream *streams;
    size_t count;
};

struct query_merge *query_merge_open(struct store_reader *reader, const struct key_schema *keys,
                                     struct query *queries, size_t count)
{
    struct query_merge *merge = heap_alloc(sizeof *merge);
    merge->reader = reader;
    merge->keys = keys;
    merge->streams = heap_alloc(count * sizeof *merge->streams);
    merge->count = count;
    for (size_t i = 0; i < count; i++) {
        queries[i].limits = (struct page_limits){.items = PAGE_ITEMS, .bytes = PAGE_BYTES};
        merge->streams[i].query = &queries[i];
        merge->streams[i].arena = arena_new();
    }
    return merge;
}

/* The page is copied, so that one reader serves all streams. */
static bool read_page(struct query_merge *merge, struct stream *stream, struct error *err)
{
    struct page page = {0};
    if (!store_query(merge->reader, stream->query, &page, err)) {
        return false;
    }
    arena_reset(stream->arena);
    stream->items = arena_alloc(stream->arena, (page.count + 1) * sizeof *stream->items);
    for (size_t i = 0; i < page.count; i++) {
        stream->items[i] = value_copy(stream->arena, page.items[i].item);
    }
    stream->count = page.count;
    stream->next = 0;
    stream->last = page.last;
    stream->cursor.len = 0;
    buffer_add(&stream->cursor, page.cursor);
    stream->query->cursor = buffer_str(&stream->cursor);
    store_release(merge->reader);
    return true;
}

/* Reads on until an item is at hand or the query has ended: a page may be empty. */
static bool fill(struct query_merge *merge, struct stream *stream, struct error *err)
{
    while (stream->next == stream->count && !stream->last) {
        if (!read_page(merge, stream, err)) {
            return false;
        }
    }
    return true;
}

static bool comes_before(const struct query_merge *merge, const struct stream *a,
                         const struct stream *b)
{
    for (size_t i = 0; i < merge->keys->sort_count; i++) {
        struct str name = merge->keys->sort[i].name;
        int order = value_compare(value_member(a->items[a->next], name),
                                  value_member(b->items[b->next], name));
        if (order != 0) {
            return a->query->descending ? order > 0 : order < 0;
        }
    }
    return false;
}

bool query_merge_next(struct query_merge *merge, struct value *out, struct error *err)
{
    struct stream *first = NULL;
    for (size_t i = 0; i < merge->count; i++) {
        struct stream *stream = &merge->streams[i];
        if (!fill(merge, stream, err)) {
            return false;
        }
        bool has_item = stream->next < stream->count;
        if (has_item && (first == NULL || comes_before(merge, stream, first))) {
            first = stream;
        }
    }
    *out = (struct value){0};
    if (first != NULL) {
        *out = first->items[first->next];
        first->next++;
    }
    return true;
}

void query_merge_close(struct query_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        arena_free(merge->streams[i].arena);
        buffer_free(&merge->streams[i].cursor);
    }
    heap_free(merge->streams);
    heap_free(merge);
}
