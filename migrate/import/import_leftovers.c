#include "migrate/import/import_leftovers.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"

enum { PAGE_ITEMS = 1000 };

/* Walks the table and, where records carry pass numbers, the stream side by side: both stand in the
 * store's order. */
struct walk {
    const struct import_load_options *options;
    struct import_stream *stream; /* NULL where there are notes */
    struct import_item derived;   /* the next one of the stream */
    struct buffer order;          /* of the item of the table at hand */
    struct arena *arena;          /* of one page */
    struct effect effects[PAGE_ITEMS];
    struct write writes[PAGE_ITEMS];
    size_t count;
    uint64_t removed;
};

/* True in *is_derived if the stream holds the key; moves the stream up to it. */
static bool find_derived(struct walk *walk, const struct key *key, bool *is_derived,
                         struct error *err)
{
    walk->order.len = 0;
    store_order_key(walk->options->store, key, &walk->order);
    int order = 1;
    while (!value_is_missing(walk->derived.item) && order > 0) {
        order = str_compare(buffer_str(&walk->order), walk->derived.order);
        if (order > 0 && !import_stream_next(walk->stream, &walk->derived, err)) {
            return false;
        }
    }
    *is_derived = order == 0 && !value_is_missing(walk->derived.item);
    return true;
}

/* By the pass number that the store keeps, or by what earlier attempts noted. */
static bool is_leftover(struct walk *walk, const struct stored_item *stored, const struct key *key,
                        bool *out, struct error *err)
{
    const struct import_own *own = walk->options->own;
    bool is_derived = false;
    *out = own != NULL && import_own_is_left(own, stored->item);
    if (own != NULL || stored->pass != walk->options->pass) {
        return true;
    }
    if (!find_derived(walk, key, &is_derived, err)) {
        return false;
    }
    *out = !is_derived;
    return true;
}

static bool look_at(struct walk *walk, const struct stored_item *stored, struct error *err)
{
    struct key key;
    bool is_left = false;
    if (!key_of_item(walk->options->stream.keys, stored->item, &key, err) ||
        !is_leftover(walk, stored, &key, &is_left, err)) {
        return false;
    }
    if (is_left) {
        size_t at = walk->count++;
        walk->writes[at] = (struct write){.kind = WRITE_DELETE,
                                          .key = key_copy(&key, walk->arena),
                                          .stamp = stored->stamp,
                                          .before = value_copy(walk->arena, stored->item)};
        walk->effects[at] = (struct effect){.writes = &walk->writes[at], .count = 1};
    }
    return true;
}

static bool commit_removals(struct walk *walk, struct error *err)
{
    struct batch batch = {.effects = walk->effects,
                          .count = walk->count,
                          .pass = walk->options->pass,
                          .arena = walk->arena};
    bool ok = walk->count == 0 || store_commit(walk->options->store, &batch, err);
    for (size_t i = 0; ok && i < walk->count; i++) {
        walk->removed += walk->effects[i].outcome == OUTCOME_APPLIED;
    }
    walk->count = 0;
    arena_reset(walk->arena);
    return ok;
}

static bool walk_table(struct walk *walk, struct store_reader *reader, struct error *err)
{
    struct page page = {.last = false};
    struct page_limits limits = {.items = PAGE_ITEMS};
    struct buffer cursor = {0};
    bool ok = walk->stream == NULL || import_stream_next(walk->stream, &walk->derived, err);
    while (ok && !page.last) {
        ok = store_read_page(
            reader, &(struct page_place){(struct segment){0, 1}, buffer_str(&cursor), &limits},
            &page, err);
        for (size_t i = 0; ok && i < page.count; i++) {
            ok = look_at(walk, &page.items[i], err);
        }
        if (ok) {
            cursor.len = 0;
            buffer_add(&cursor, page.cursor);
            store_release(reader);
            ok = commit_removals(walk, err);
        }
    }
    buffer_free(&cursor);
    return ok;
}

bool import_remove_leftovers(const struct import_load_options *options, struct import_written *out,
                             struct error *err)
{
    struct walk *walk = heap_alloc(sizeof *walk);
    struct store_reader *reader = NULL;
    walk->options = options;
    walk->arena = arena_new();
    bool ok = store_reader_open(options->store, &reader, err) &&
              (options->own != NULL || import_stream_open(&options->stream, &walk->stream, err)) &&
              walk_table(walk, reader, err) && store_flush(options->store, err);
    out->removed += walk->removed;
    import_stream_close(walk->stream);
    if (reader != NULL) {
        store_reader_close(reader);
    }
    buffer_free(&walk->order);
    arena_free(walk->arena);
    heap_free(walk);
    return ok;
}

bool import_take_back(struct store *store, struct store_reader *reader,
                      const struct key_schema *keys, struct error *err)
{
    struct import_load_options options = {.store = store, .stream = {.keys = keys}};
    struct import_written ignored = {0};
    /* Nothing was derived yet: all that is noted is left. */
    bool ok = import_own_open(reader, &options.own, err) &&
              import_remove_leftovers(&options, &ignored, err) &&
              import_own_forget(store, reader, err);
    import_own_close(options.own);
    return ok;
}
