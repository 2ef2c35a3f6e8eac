#include "engine/base/buffer.h"
#include "engine/item/item.h"
#include "engine/store/lmdb/lmdb_internal.h"
#include "engine/store/lmdb/lmdb_label_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"
#include "engine/undo/undo.h"

#include <inttypes.h>
#include <string.h>

enum { UNDO_LIMIT = 64 << 20 };

struct verify {
    struct lmdb_store *store;
    struct lmdb_schema schema;
    void (*finding)(void *context, const char *text);
    void *context;
    MDB_txn *txn;
    MDB_cursor *items;
    MDB_cursor *lookup; /* in the items, while `items` walks */
    MDB_cursor *indexes[INDEXES_MAX];
    uint64_t expected[INDEXES_MAX]; /* entries */
    uint64_t size_bytes;
    struct arena *arena;     /* of the item at hand */
    struct entry_key key;    /* of the item at hand */
    struct entry_key before; /* of the one before */
};

static void find(struct verify *verify, struct str text)
{
    verify->finding(verify->context, text.ptr);
}

static struct str item_name(struct verify *verify, const struct key *key)
{
    return key_print(&verify->schema.keys, key, verify->arena);
}

/* --- an item's record --- */

/* The place of a record against its key; a cut key also against the record before. */
static bool is_in_place(struct verify *verify, MDB_val at)
{
    const struct entry_key *key = &verify->key;
    const struct entry_key *before = &verify->before;
    if (!entry_key_is_cut(key)) {
        return at.mv_size == key->head_len + key->sort_len &&
               memcmp(at.mv_data, key->bytes, at.mv_size) == 0;
    }
    if (!label_in_group(key, at) || at.mv_size != key->head_len + SORT_INLINE_MAX + LABEL_BYTES) {
        return false;
    }
    size_t len = before->head_len + before->sort_len;
    size_t key_len = key->head_len + key->sort_len;
    int order = memcmp(before->bytes, key->bytes, len < key_len ? len : key_len);
    return order < 0 || (order == 0 && len < key_len);
}

static int check_entry(struct verify *verify, size_t place, const struct key *table_key,
                       struct value item)
{
    struct lmdb_index *index = &verify->schema.indexes[place];
    struct tree tree = index_tree(&verify->schema, index);
    struct error ignored;
    struct key index_key;
    bool present = false;
    if (index->desc.state != INDEX_ACTIVE ||
        !key_of_index(tree.index, item, &index_key, &present, &ignored) || !present) {
        return 0;
    }
    verify->expected[place]++;
    struct buffer encoded = {0};
    key_encode(table_key, &encoded);
    struct entry_key key;
    MDB_val at;
    MDB_val entry;
    entry_key_index(&key, tree.index, &index_key, buffer_str(&encoded));
    int rc = entry_find(verify->indexes[place], &tree, &key, &at, &entry);
    if (rc == MDB_NOTFOUND) {
        find(verify,
             arena_format(verify->arena, "index %.*s has no entry for item %.*s",
                          STR_ARG(index->desc.name), STR_ARG(item_name(verify, table_key))));
    } else if (rc == 0 && !str_equal(entry_table_key(&tree, entry), buffer_str(&encoded))) {
        find(verify,
             arena_format(verify->arena, "index %.*s leads elsewhere from item %.*s",
                          STR_ARG(index->desc.name), STR_ARG(item_name(verify, table_key))));
    }
    buffer_free(&encoded);
    return rc == MDB_NOTFOUND || rc == MDB_CORRUPTED ? 0 : rc;
}

static int check_item(struct verify *verify, MDB_val at, struct value item)
{
    struct error err;
    struct key key;
    if (!value_check(item, &err) || value_type(item) != VALUE_M) {
        find(verify, arena_format(verify->arena, "an item is not well formed: %s", err.text));
        return 0;
    }
    if (!key_of_item(&verify->schema.keys, item, &key, &err)) {
        find(verify, arena_format(verify->arena, "an item has no key: %s", err.text));
        return 0;
    }
    if (!item_check_limits(item, &err)) {
        find(verify, arena_format(verify->arena, "item %.*s: %s", STR_ARG(item_name(verify, &key)),
                                  err.text));
    }
    entry_key_item(&verify->key, &verify->schema.keys, &key);
    if (!is_in_place(verify, at)) {
        find(verify, arena_format(verify->arena, "item %.*s is in the wrong place",
                                  STR_ARG(item_name(verify, &key))));
    }
    verify->before = verify->key;
    verify->size_bytes += item_size_bytes(item);
    int rc = 0;
    for (size_t i = 0; i < verify->schema.index_count && rc == 0; i++) {
        rc = check_entry(verify, i, &key, item);
    }
    return rc;
}

static int check_items(struct verify *verify)
{
    MDB_val at;
    MDB_val record;
    int rc = mdb_cursor_get(verify->items, &at, &record, MDB_FIRST);
    while (rc == 0) {
        struct stored_item item;
        struct error err;
        arena_reset(verify->arena);
        if (record_read(record, &item)) {
            rc = check_item(verify, at, item.item);
        } else {
            lmdb_damaged_record(verify->store, at, &err);
            verify->finding(verify->context, err.text);
        }
        rc = rc == 0 ? mdb_cursor_get(verify->items, &at, &record, MDB_NEXT) : rc;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* --- index entries --- */

/* The entry leads to an item whose index key leads to the entry. */
static int leads_back(struct verify *verify, const struct tree *tree, MDB_val at, MDB_val entry,
                      bool *back)
{
    struct tree items = items_tree(verify->store, &verify->schema);
    size_t parts = tree->table->partition_count + tree->table->sort_count;
    struct str table_key = entry_table_key(tree, entry);
    struct stored_item item = {0};
    struct error ignored;
    struct key key;
    bool present = false;
    *back = false;
    if (table_key.ptr == NULL || !key_decode(table_key, parts, &key, &ignored)) {
        return 0;
    }
    int rc = find_item(&items, verify->lookup, &key, &verify->key, &item);
    if (rc != 0) {
        return rc == MDB_NOTFOUND || rc == MDB_CORRUPTED ? 0 : rc;
    }
    struct entry_key *expected = &verify->key;
    if (!key_of_index(tree->index, item.item, &key, &present, &ignored) || !present) {
        return 0;
    }
    entry_key_index(expected, tree->index, &key, table_key);
    if (entry_key_is_cut(expected)) {
        *back = label_in_group(expected, at);
    } else {
        MDB_val whole = entry_key_whole(expected);
        *back = str_equal(str_of(whole), str_of(at));
    }
    return 0;
}

static int check_entries(struct verify *verify, size_t place)
{
    const struct lmdb_index *index = &verify->schema.indexes[place];
    struct tree tree = index_tree(&verify->schema, index);
    MDB_cursor *cursor = verify->indexes[place];
    uint64_t count = 0;
    MDB_val at;
    MDB_val entry;
    int rc = mdb_cursor_get(cursor, &at, &entry, MDB_FIRST);
    for (; rc == 0; rc = rc == 0 ? mdb_cursor_get(cursor, &at, &entry, MDB_NEXT) : rc) {
        bool back = false;
        count++;
        rc = leads_back(verify, &tree, at, entry, &back);
        if (rc == 0 && !back) {
            find(verify, arena_format(verify->arena,
                                      "index %.*s: entry %" PRIu64 " leads to no item that has it",
                                      STR_ARG(index->desc.name), count));
        }
    }
    if (rc == MDB_NOTFOUND && count != verify->expected[place]) {
        find(verify, arena_format(verify->arena,
                                  "index %.*s has %" PRIu64 " entries, the items have %" PRIu64,
                                  STR_ARG(index->desc.name), count, verify->expected[place]));
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* --- the rest --- */

static int check_size(struct verify *verify)
{
    uint64_t size_bytes = 0;
    int rc = meta_get_u64(verify->store, verify->txn, "size_bytes", &size_bytes);
    if (rc == 0 && size_bytes != verify->size_bytes) {
        find(verify, arena_format(verify->arena,
                                  "the table counts %" PRIu64 " bytes, its items have %" PRIu64,
                                  size_bytes, verify->size_bytes));
    }
    return rc;
}

static int check_undo(struct verify *verify)
{
    MDB_cursor *cursor = NULL;
    MDB_val name;
    MDB_val frame;
    int rc = mdb_cursor_open(verify->txn, verify->store->undo, &cursor);
    rc = rc == 0 ? mdb_cursor_get(cursor, &name, &frame, MDB_FIRST) : rc;
    for (; rc == 0; rc = mdb_cursor_get(cursor, &name, &frame, MDB_NEXT)) {
        struct error err;
        struct str records;
        arena_reset(verify->arena);
        if (!undo_unpack(str_of(frame), UNDO_LIMIT, verify->arena, &records, &err)) {
            find(verify, arena_format(verify->arena, "a frame of the undo log: %s", err.text));
        }
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int open_cursors(struct verify *verify)
{
    int rc = mdb_cursor_open(verify->txn, verify->store->items, &verify->items);
    rc = rc == 0 ? mdb_cursor_open(verify->txn, verify->store->items, &verify->lookup) : rc;
    for (size_t i = 0; i < verify->schema.index_count && rc == 0; i++) {
        rc = mdb_cursor_open(verify->txn, verify->schema.indexes[i].dbi, &verify->indexes[i]);
    }
    return rc;
}

static void close_cursors(struct verify *verify)
{
    mdb_cursor_close(verify->items);
    mdb_cursor_close(verify->lookup);
    for (size_t i = 0; i < verify->schema.index_count; i++) {
        mdb_cursor_close(verify->indexes[i]);
    }
    mdb_txn_abort(verify->txn);
}

/* LMDB may only walk what is sound; a fault in the pages is a finding that ends the check. */
static bool check_pages(struct verify *verify, bool *sound, struct error *err)
{
    *sound = file_check(verify->store, &verify->txn, err);
    if (!*sound && err->code == ERROR_DAMAGED) {
        verify->finding(verify->context, err->text);
        return true;
    }
    return *sound;
}

static int check_all(struct verify *verify)
{
    int rc = check_items(verify);
    for (size_t i = 0; i < verify->schema.index_count && rc == 0; i++) {
        const struct index_desc *index = &verify->schema.indexes[i].desc;
        if (index->state == INDEX_ACTIVE) {
            rc = check_entries(verify, i);
        } else {
            arena_reset(verify->arena);
            find(verify, arena_format(verify->arena,
                                      "index %.*s is not up to date: a run that changes it has not "
                                      "come to its end",
                                      STR_ARG(index->name)));
        }
    }
    rc = rc == 0 ? check_size(verify) : rc;
    return rc == 0 ? check_undo(verify) : rc;
}

bool lmdb_verify(struct store *base, void (*finding)(void *context, const char *text),
                 void *context, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct verify *verify = heap_alloc(sizeof *verify);
    verify->store = store;
    verify->finding = finding;
    verify->context = context;
    verify->arena = arena_new();
    bool ok = schema_load(store, &verify->schema, err);
    if (ok) {
        bool sound = false;
        ok = check_pages(verify, &sound, err);
        int rc = ok && sound ? open_cursors(verify) : 0;
        rc = rc == 0 && ok && sound ? check_all(verify) : rc;
        ok = rc == 0 ? ok : lmdb_error(store, rc, "verifying", err);
        close_cursors(verify);
    }
    schema_free(&verify->schema);
    arena_free(verify->arena);
    heap_free(verify);
    return ok;
}
