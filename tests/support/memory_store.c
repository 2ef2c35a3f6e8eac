#include "tests/support/memory_store.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "engine/base/str.h"
#include "tests/support/memory_store_internal.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

enum { PAGE_ITEMS = 100 };

struct memory_reader {
    struct store_reader base;
    struct arena *page;
};

struct memory_store *memory_of(struct store *store)
{
    return (struct memory_store *)store;
}

static struct memory_reader *reader_of(struct store_reader *reader)
{
    return (struct memory_reader *)reader;
}

static void lock(struct memory_store *store)
{
    (void)pthread_mutex_lock(&store->lock);
}

static void unlock(struct memory_store *store)
{
    (void)pthread_mutex_unlock(&store->lock);
}

/* ---------------------------------------------------------------- records */

/* A hash of the partition key, then the key: segments are ranges of the hash. */
static struct str order_of(const struct key *key, struct arena *arena)
{
    const struct value *partition = &key->parts[0];
    uint64_t hash = htobe64(hash_64((struct str){(const char *)partition->bytes, partition->len}));
    struct buffer order = {0};
    buffer_add(&order, (struct str){(const char *)&hash, sizeof hash});
    key_encode(key, &order);
    struct str copy = arena_copy(arena, buffer_str(&order));
    buffer_free(&order);
    return copy;
}

struct key memory_key(const struct memory_store *store, struct value item)
{
    struct key key = {0};
    struct error err = {0};
    bool ok = key_of_item(&store->keys, item, &key, &err);
    assert(ok);
    (void)ok;
    return key;
}

/* The place of the first record that is not before `order`. */
static size_t place_of(const struct memory_store *store, struct str order)
{
    size_t low = 0, high = store->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_compare(store->records[middle].order, order) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct record *memory_find(struct memory_store *store, const struct key *key)
{
    struct str order = order_of(key, store->arena);
    size_t place = place_of(store, order);
    bool found = place < store->count && str_equal(store->records[place].order, order);
    return found ? &store->records[place] : NULL;
}

void memory_set(struct memory_store *store, struct value item, uint64_t pass)
{
    struct key key = memory_key(store, item);
    struct str order = order_of(&key, store->arena);
    size_t place = place_of(store, order);
    struct record *record = &store->records[place];
    if (place == store->count || !str_equal(record->order, order)) {
        assert(store->count < ITEMS_MAX);
        memmove(record + 1, record, (store->count - place) * sizeof *record);
        store->count++;
        record->order = order;
    }
    record->stored =
        (struct stored_item){value_copy(store->arena, item), ++store->last_stamp, pass};
}

void memory_remove(struct memory_store *store, struct record *record)
{
    size_t behind = store->count - (size_t)(record - store->records) - 1;
    memmove(record, record + 1, behind * sizeof *record);
    store->count--;
}

/* ---------------------------------------------------------------- reading */

static bool reader_open(struct store *base, struct store_reader **out, struct error *err)
{
    (void)err;
    struct memory_reader *reader = heap_alloc(sizeof *reader);
    reader->base.store = base;
    reader->page = arena_new();
    *out = &reader->base;
    return true;
}

static void reader_close(struct store_reader *base)
{
    arena_free(reader_of(base)->page);
    heap_free(base);
}

/* Where a segment begins, by the hash that its records' orders begin with. */
static size_t segment_start(const struct memory_store *store, struct segment segment)
{
    uint64_t bound = UINT64_MAX / segment.total * segment.index;
    uint64_t bytes = htobe64(bound);
    return segment.index == segment.total
               ? store->count
               : place_of(store, (struct str){(const char *)&bytes, sizeof bytes});
}

static bool start_of_page(struct memory_store *store, struct segment segment, struct str cursor,
                          size_t *out, struct error *err)
{
    *out = segment_start(store, segment);
    if (cursor.len > 0) {
        struct key key;
        size_t parts = store->keys.partition_count + store->keys.sort_count;
        if (!key_decode(cursor, parts, &key, err)) {
            return false;
        }
        struct str order = order_of(&key, store->arena);
        *out = place_of(store, order);
        *out += *out < store->count && str_equal(store->records[*out].order, order) ? 1 : 0;
    }
    return true;
}

static void fill_page(struct memory_store *store, struct memory_reader *reader, size_t first,
                      size_t count, struct page *out)
{
    struct stored_item *items = arena_alloc(reader->page, (count + 1) * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        items[i] = store->records[first + i].stored;
        items[i].item = value_copy(reader->page, items[i].item);
    }
    out->items = items;
    out->count = count;
    if (count > 0) {
        struct key key = memory_key(store, items[count - 1].item);
        struct buffer cursor = {0};
        key_encode(&key, &cursor);
        out->cursor = arena_copy(reader->page, buffer_str(&cursor));
        buffer_free(&cursor);
    }
}

static bool read_page(struct store_reader *base, const struct page_place *from, struct page *out,
                      struct error *err)
{
    struct memory_store *store = memory_of(base->store);
    struct memory_reader *reader = reader_of(base);
    if (store->hooks.before_page != NULL &&
        !store->hooks.before_page(store->hooks.context, from->segment, err)) {
        return false;
    }
    arena_reset(reader->page);
    lock(store);
    size_t first = 0;
    struct segment segment = from->segment;
    bool ok = start_of_page(store, segment, from->cursor, &first, err);
    if (ok) {
        size_t end = segment_start(store, (struct segment){segment.index + 1, segment.total});
        size_t most = from->limits->items == 0 ? PAGE_ITEMS : from->limits->items;
        size_t left = end > first ? end - first : 0;
        size_t count = left < most ? left : most;
        *out =
            (struct page){.last = count == left, .cursor = arena_copy(reader->page, from->cursor)};
        fill_page(store, reader, first, count, out);
    }
    unlock(store);
    return ok;
}

static void release(struct store_reader *base)
{
    arena_reset(reader_of(base)->page);
}

static bool get(struct store_reader *base, struct key_list keys, struct arena *arena,
                struct stored_item *out, struct error *err)
{
    (void)err;
    struct memory_store *store = memory_of(base->store);
    lock(store);
    for (size_t i = 0; i < keys.count; i++) {
        const struct record *record = memory_find(store, &keys.list[i]);
        out[i] = record == NULL ? (struct stored_item){0} : record->stored;
        out[i].item = value_copy(arena, out[i].item);
    }
    unlock(store);
    return true;
}

static bool flush(struct store *base, struct error *err)
{
    (void)base;
    (void)err;
    return true;
}

/* ---------------------------------------------------------------- control records and undo */

size_t memory_control_place(const struct memory_store *store, struct str name)
{
    size_t place = 0;
    while (place < store->control_count && str_compare(store->controls[place].name, name) < 0) {
        place++;
    }
    return place;
}

struct control *memory_control(const struct memory_store *store, struct str name)
{
    size_t place = memory_control_place(store, name);
    bool found = place < store->control_count && str_equal(store->controls[place].name, name);
    return found ? &store->controls[place] : NULL;
}

static bool control_get(struct store_reader *base, struct str name, struct arena *arena,
                        struct str *out, struct error *err)
{
    (void)err;
    struct memory_store *store = memory_of(base->store);
    lock(store);
    const struct control *control = memory_control(store, name);
    *out = control == NULL ? (struct str){NULL, 0} : arena_copy(arena, control->value);
    unlock(store);
    return true;
}

static bool control_list(struct store_reader *base, struct str prefix, struct arena *arena,
                         struct control_list *out, struct error *err)
{
    (void)err;
    struct memory_store *store = memory_of(base->store);
    lock(store);
    out->list = arena_alloc(arena, (store->control_count + 1) * sizeof *out->list);
    out->count = 0;
    for (size_t i = memory_control_place(store, prefix); i < store->control_count; i++) {
        if (str_begins(store->controls[i].name, prefix)) {
            out->list[out->count++] = store->controls[i];
        }
    }
    unlock(store);
    return true;
}

static bool undo_last(struct store_reader *base, struct undo_place place, struct arena *arena,
                      struct undo_frame *out, struct error *err)
{
    (void)err;
    struct memory_store *store = memory_of(base->store);
    lock(store);
    *out = (struct undo_frame){{NULL, 0}, 0};
    for (size_t i = store->frame_count; out->bytes.ptr == NULL && i-- > 0;) {
        if (store->frames[i].log == place.log && i + 1 < place.before) {
            out->bytes = arena_copy(arena, store->frames[i].bytes);
            out->sequence = i + 1;
        }
    }
    unlock(store);
    return true;
}

static bool undo_drop(struct store *base, uint64_t log, struct error *err)
{
    (void)err;
    struct memory_store *store = memory_of(base);
    lock(store);
    for (size_t i = 0; i < store->frame_count; i++) {
        store->frames[i].log = store->frames[i].log == log ? 0 : store->frames[i].log;
    }
    unlock(store);
    return true;
}

/* ---------------------------------------------------------------- the store itself */

static void close_store(struct store *base)
{
    struct memory_store *store = memory_of(base);
    (void)pthread_mutex_destroy(&store->lock);
    arena_free(store->arena);
    heap_free(store->records);
    heap_free(store->controls);
    heap_free(store->frames);
    heap_free(store);
}

static bool describe(struct store *base, struct arena *arena, struct table_desc *out,
                     struct error *err)
{
    (void)arena;
    (void)err;
    const struct memory_store *store = memory_of(base);
    *out = (struct table_desc){.name = STR("memory"),
                               .identity = STR("memory-1"),
                               .keys = store->keys,
                               .item_count = store->count};
    return true;
}

static bool lease_take(struct store *base, const char *owner, struct error *err)
{
    (void)owner;
    struct memory_store *store = memory_of(base);
    if (store->leased) {
        return error_set(err, ERROR_BUSY, "the lease is taken");
    }
    store->leased = true;
    return true;
}

static void lease_release(struct store *base)
{
    memory_of(base)->leased = false;
}

static void order_key(const struct store *base, const struct key *key, struct buffer *out)
{
    (void)base;
    struct arena *arena = arena_new();
    buffer_add(out, order_of(key, arena));
    arena_free(arena);
}

static const struct store_ops ops = {.close = close_store,
                                     .describe = describe,
                                     .reader_open = reader_open,
                                     .reader_close = reader_close,
                                     .read_page = read_page,
                                     .release = release,
                                     .get = get,
                                     .commit = memory_commit,
                                     .flush = flush,
                                     .control_get = control_get,
                                     .control_list = control_list,
                                     .undo_last = undo_last,
                                     .undo_drop = undo_drop,
                                     .lease_take = lease_take,
                                     .lease_release = lease_release,
                                     .order_key = order_key,
                                     .keeps_pass = true};

struct store *memory_store_new(const struct key_schema *keys,
                               const struct memory_store_hooks *hooks)
{
    struct memory_store *store = heap_alloc(sizeof *store);
    store->base.ops = &ops;
    store->keys = *keys;
    store->hooks = hooks == NULL ? (struct memory_store_hooks){0} : *hooks;
    (void)pthread_mutex_init(&store->lock, NULL);
    store->arena = arena_new();
    store->records = heap_alloc(ITEMS_MAX * sizeof *store->records);
    store->controls = heap_alloc(CONTROLS_MAX * sizeof *store->controls);
    store->frames = heap_alloc(FRAMES_MAX * sizeof *store->frames);
    return &store->base;
}

void memory_store_put(struct store *store, struct value item)
{
    struct memory_store *memory = memory_of(store);
    lock(memory);
    memory_set(memory, item, 0);
    unlock(memory);
}

void memory_store_remove(struct store *store, const struct key *key)
{
    struct memory_store *memory = memory_of(store);
    lock(memory);
    struct record *record = memory_find(memory, key);
    if (record != NULL) {
        memory_remove(memory, record);
    }
    unlock(memory);
}

size_t memory_store_count(struct store *store)
{
    return memory_of(store)->count;
}

struct stored_item memory_store_at(struct store *store, size_t place)
{
    return memory_of(store)->records[place].stored;
}
