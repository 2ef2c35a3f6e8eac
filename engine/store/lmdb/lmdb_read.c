#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

#include <string.h>

/* Measured: larger pages gain nothing, smaller ones pay for their transaction. */
enum { PAGE_ITEMS = 256, PAGE_MAX_BYTES = 256 * 1024, FIRST_CAPACITY = 256 };

/* --- the reader's two transactions --- */

/* A snapshot as of now, with its cursor. */
static int txn_begin(const struct lmdb_store *store, MDB_txn **txn, MDB_cursor **cursor)
{
    if (*txn != NULL) {
        int rc = mdb_txn_renew(*txn);
        return rc == 0 ? mdb_cursor_renew(*txn, *cursor) : rc;
    }
    int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, txn);
    if (rc == 0) {
        rc = mdb_cursor_open(*txn, store->items, cursor);
    }
    if (rc != 0) {
        mdb_txn_abort(*txn);
        *txn = NULL;
    }
    return rc;
}

bool get_begin(struct lmdb_reader *reader, struct error *err)
{
    struct lmdb_store *store = lmdb_of(reader->base.store);
    int rc = reader->held ? 0 : txn_begin(store, &reader->get_txn, &reader->get_items);
    return rc == 0 || lmdb_error(store, rc, "beginning to read", err);
}

void get_end(struct lmdb_reader *reader)
{
    if (!reader->held) {
        mdb_txn_reset(reader->get_txn);
    }
}

static bool say_written(const struct lmdb_store *store, struct error *err)
{
    return error_set(err, ERROR_BUSY,
                     "%s was written while it was read, without the right to write %s-lock\n"
                     "hint: read it again when the run is over",
                     store->path, store->path);
}

bool page_begin(struct lmdb_reader *reader, struct error *err)
{
    struct lmdb_store *store = lmdb_of(reader->base.store);
    lmdb_release(&reader->base);
    int rc = reader->held ? 0 : txn_begin(store, &reader->page_txn, &reader->page_items);
    if (rc != 0) {
        return lmdb_error(store, rc, "beginning to read", err);
    }
    reader->page_open = true;
    if (reader->moment != 0 && reader->moment != mdb_txn_id(reader->page_txn)) {
        lmdb_release(&reader->base);
        return say_written(store, err);
    }
    return true;
}

bool page_keep(struct lmdb_reader *reader, const struct page *page, struct error *err)
{
    const struct lmdb_store *store = lmdb_of(reader->base.store);
    MDB_envinfo info;
    if (reader->moment == 0) {
        return true;
    }
    for (size_t i = 0; i < page->count; i++) {
        reader->items[i].item = value_copy(reader->arena, reader->items[i].item);
    }
    (void)mdb_env_info(store->env, &info);
    return info.me_last_txnid == reader->moment || say_written(store, err);
}

bool schema_is_current(const struct lmdb_reader *reader, bool *out, struct error *err)
{
    const struct lmdb_store *store = lmdb_of(reader->base.store);
    MDB_val name = val_of(STR("schema"));
    MDB_val text;
    int rc = mdb_get(reader->page_txn, store->meta, &name, &text);
    *out = rc == 0 && str_equal(str_of(text), reader->schema.text);
    return rc == 0 || lmdb_error(store, rc, "reading its schema", err);
}

void lmdb_release(struct store_reader *base)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    if (reader->page_open && !reader->held) {
        mdb_txn_reset(reader->page_txn);
        reader->page_open = false;
    }
}

/* Both transactions, and whether they are as of one moment, of which the schema is, too. */
static bool begin_both(struct lmdb_reader *reader, bool *same, struct error *err)
{
    if (!page_begin(reader, err) || !get_begin(reader, err) ||
        !schema_is_current(reader, same, err)) {
        return false;
    }
    *same = *same && mdb_txn_id(reader->page_txn) == mdb_txn_id(reader->get_txn);
    return true;
}

static void end_both(struct lmdb_reader *reader)
{
    lmdb_release(&reader->base);
    get_end(reader);
}

/* A run may commit in between: then once more. */
static bool hold(struct lmdb_reader *reader, struct error *err)
{
    bool same = false;
    bool ok = begin_both(reader, &same, err);
    while (ok && !same) {
        end_both(reader);
        ok = schema_load(lmdb_of(reader->base.store), &reader->schema, err) &&
             begin_both(reader, &same, err);
    }
    if (!ok) {
        return false;
    }
    reader->held = !lmdb_of(reader->base.store)->unlocked;
    reader->moment = reader->held ? 0 : mdb_txn_id(reader->page_txn);
    end_both(reader);
    return true;
}

bool lmdb_reader_open(struct store *base, struct store_reader **out, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct lmdb_reader *reader = heap_alloc(sizeof *reader);
    reader->base.store = base;
    reader->arena = arena_new();
    if (!schema_load(store, &reader->schema, err) ||
        (store->mode == STORE_READ && !hold(reader, err))) {
        lmdb_reader_close(&reader->base);
        return false;
    }
    *out = &reader->base;
    return true;
}

void lmdb_reader_close(struct store_reader *base)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    mdb_cursor_close(reader->page_items);
    mdb_txn_abort(reader->page_txn);
    mdb_cursor_close(reader->get_items);
    mdb_txn_abort(reader->get_txn);
    schema_free(&reader->schema);
    buffer_free(&reader->cursor);
    heap_free(reader->items);
    arena_free(reader->arena);
    heap_free(reader);
}

/* --- pages --- */

struct page_limits page_limits_or_default(const struct page_limits *limits)
{
    struct page_limits out = {.items = PAGE_ITEMS, .bytes = PAGE_MAX_BYTES};
    if (limits != NULL && limits->items > 0) {
        out.items = limits->items;
    }
    if (limits != NULL && limits->bytes > 0) {
        out.bytes = limits->bytes;
    }
    return out;
}

struct stored_item *page_slot(struct lmdb_reader *reader, size_t count)
{
    if (count == reader->capacity) {
        reader->capacity = count == 0 ? FIRST_CAPACITY : 2 * count;
        reader->items = heap_resize(reader->items, reader->capacity * sizeof *reader->items);
    }
    return &reader->items[count];
}

/* The first hash of a segment: index * 2^64 / total; that of the last + 1 is 2^64, given as 0. */
static uint64_t segment_start(uint64_t index, uint64_t total)
{
    if (index == total) {
        return 0;
    }
    uint64_t whole = UINT64_MAX / total;
    uint64_t rest = UINT64_MAX % total + 1;
    if (rest == total) {
        whole++;
        rest = 0;
    }
    return whole * index + rest * index / total;
}

/* A walk through the hashes from `start` up to, but without `end` (0: 2^64). */
struct segment_walk {
    uint64_t start;
    uint64_t end;
    MDB_val key; /* of the record at hand; empty: there is none */
    MDB_val record;
};

/* To the first record of the segment behind the cursor. */
static bool seek_segment(struct lmdb_reader *reader, struct str cursor, struct segment_walk *walk,
                         struct error *err)
{
    struct lmdb_store *store = lmdb_of(reader->base.store);
    struct tree tree = items_tree(store, &reader->schema);
    int rc = 0;
    if (cursor.len == 0) {
        unsigned char first[HASH_BYTES];
        put_u64(first, walk->start);
        MDB_val at = {sizeof first, first};
        rc = mdb_cursor_get(reader->page_items, &at, &walk->record, MDB_SET_RANGE);
        walk->key = rc == 0 ? at : (MDB_val){0, NULL};
    } else {
        if (!entry_key_of_cursor(&reader->key, &tree, cursor, err)) {
            return false;
        }
        entry_key_after(&reader->key);
        rc = entry_seek(reader->page_items, &tree, &reader->key, &walk->key, &walk->record);
    }
    if (rc == MDB_NOTFOUND) {
        walk->key = (MDB_val){0, NULL};
        return true;
    }
    return rc == 0 || lmdb_error(store, rc, "reading", err);
}

static bool is_past(MDB_val key, uint64_t end)
{
    return key.mv_size < HASH_BYTES || (end != 0 && get_u64(key.mv_data) >= end);
}

static bool set_cursor(struct lmdb_reader *reader, struct value item, struct str *out,
                       struct error *err)
{
    struct key key;
    if (!key_of_item(&reader->schema.keys, item, &key, err)) {
        err->code = ERROR_DAMAGED;
        return error_wrap(err, "%s is damaged", lmdb_of(reader->base.store)->path);
    }
    reader->cursor.len = 0;
    key_encode(&key, &reader->cursor);
    *out = buffer_str(&reader->cursor);
    return true;
}

/* Fills the page from the record at hand on; the first that is not taken shows whether the segment
 * ends here. */
static bool fill_page(struct lmdb_reader *reader, struct segment_walk *walk,
                      struct page_limits limits, struct page *out, struct error *err)
{
    struct lmdb_store *store = lmdb_of(reader->base.store);
    size_t count = 0;
    size_t bytes = 0;
    int rc = 0;
    while (rc == 0 && !is_past(walk->key, walk->end) && count < limits.items &&
           bytes < limits.bytes) {
        if (!record_read(walk->record, page_slot(reader, count))) {
            return lmdb_damaged_record(store, walk->key, err);
        }
        count++;
        bytes += walk->record.mv_size;
        rc = mdb_cursor_get(reader->page_items, &walk->key, &walk->record, MDB_NEXT);
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return lmdb_error(store, rc, "reading", err);
    }
    out->items = reader->items;
    out->count = count;
    out->last = rc == MDB_NOTFOUND || is_past(walk->key, walk->end);
    return true;
}

bool lmdb_read_page(struct store_reader *base, const struct page_place *from, struct page *out,
                    struct error *err)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    struct segment segment = from->segment;
    struct page page = {.cursor = from->cursor};
    struct segment_walk walk = {.start = segment_start(segment.index, segment.total),
                                .end = segment_start((uint64_t)segment.index + 1, segment.total)};
    if (!file_check_once(lmdb_of(base->store), err)) {
        return false;
    }
    arena_reset(reader->arena);
    if (!page_begin(reader, err) || !seek_segment(reader, from->cursor, &walk, err) ||
        !fill_page(reader, &walk, page_limits_or_default(from->limits), &page, err)) {
        lmdb_release(base);
        return false;
    }
    if (!page_keep(reader, &page, err) ||
        (page.count > 0 &&
         !set_cursor(reader, page.items[page.count - 1].item, &page.cursor, err))) {
        lmdb_release(base);
        return false;
    }
    *out = page;
    return true;
}

bool lmdb_get(struct store_reader *base, struct key_list keys, struct arena *arena,
              struct stored_item *out, struct error *err)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    struct lmdb_store *store = lmdb_of(base->store);
    struct tree tree = items_tree(store, &reader->schema);
    if (!get_begin(reader, err)) {
        return false;
    }
    int rc = 0;
    for (size_t i = 0; i < keys.count && rc == 0; i++) {
        out[i] = (struct stored_item){0};
        rc = find_item(&tree, reader->get_items, &keys.list[i], &reader->key, &out[i]);
        if (rc == 0) {
            out[i].item = value_copy(arena, out[i].item);
        }
        rc = rc == MDB_NOTFOUND ? 0 : rc;
    }
    get_end(reader);
    return rc == 0 || lmdb_error(store, rc, "reading", err);
}

void lmdb_order_key(const struct store *base, const struct key *key, struct buffer *out)
{
    const struct lmdb_store *store = (const struct lmdb_store *)base;
    struct entry_key entry;
    entry_key_item(&entry, &store->schema.keys, key);
    buffer_add(out, (struct str){(const char *)entry.bytes, entry.head_len + entry.sort_len});
    if (entry_key_is_digest(&entry)) {
        struct value partition = key->parts[0];
        buffer_add(out, (struct str){(const char *)partition.bytes, partition.len});
    }
}
