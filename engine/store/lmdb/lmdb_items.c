#include "engine/store/lmdb/lmdb_items_internal.h"

#include "engine/item/item.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

#include <string.h>

/* A digest in the B-tree's key may stand for another partition key: the record tells. */
static bool is_same_partition(const struct tree *items, const struct entry_key *target,
                              const struct key *key, struct value item)
{
    return !entry_key_is_digest(target) ||
           value_equal(value_member(item, items->table->partition[0].name), key->parts[0]);
}

int find_item(const struct tree *items, MDB_cursor *cursor, const struct key *key,
              struct entry_key *scratch, struct stored_item *out)
{
    MDB_val at;
    MDB_val record;
    entry_key_item(scratch, items->table, key);
    int rc = entry_find(cursor, items, scratch, &at, &record);
    if (rc != 0) {
        return rc;
    }
    struct stored_item item;
    bool whole = record_peek(record, &item) &&
                 ((item.stamp == out->stamp && item.stamp != 0) || record_read(record, &item));
    if (!whole || !is_same_partition(items, scratch, key, item.item)) {
        return MDB_CORRUPTED;
    }
    *out = item;
    return 0;
}

int items_find(struct lmdb_store *store, const struct key *key, uint64_t known,
               struct standing *out)
{
    struct writer *writer = &store->writer;
    struct tree tree = items_tree(store, &store->schema);
    struct stored_item item = {.stamp = known};
    int rc = find_item(&tree, writer->items, key, &writer->key, &item);
    out->key = *key;
    out->item = rc == 0 ? item : (struct stored_item){0};
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* The record as it will stand, in the writer's scratch. */
static MDB_val make_record(struct writer *writer, uint64_t pass, struct value item)
{
    size_t size = record_size(pass, item);
    writer->scratch.len = 0;
    unsigned char *bytes = (unsigned char *)buffer_reserve(&writer->scratch, size);
    record_write(bytes, pass, item);
    return (MDB_val){size, bytes};
}

/* LMDB's own key of the record under the cursor, copied: the page that holds it is about to change.
 */
static int current_key(struct writer *writer, unsigned char *room, MDB_val *out)
{
    if (!entry_key_is_cut(&writer->key)) {
        *out = entry_key_whole(&writer->key);
        return 0;
    }
    MDB_val record;
    int rc = mdb_cursor_get(writer->items, out, &record, MDB_GET_CURRENT);
    if (rc == 0) {
        memcpy(room, out->mv_data, out->mv_size);
        out->mv_data = room;
    }
    return rc;
}

static int replace(struct lmdb_store *store, uint64_t pass, struct value item)
{
    struct writer *writer = &store->writer;
    unsigned char room[LMDB_KEY_MAX];
    MDB_val key;
    MDB_val record = make_record(writer, pass, item);
    int rc = current_key(writer, room, &key);
    rc = rc == 0 ? mdb_cursor_put(writer->items, &key, &record, MDB_CURRENT) : rc;
    if (rc == 0) {
        rc = mdb_cursor_get(writer->items, &key, &record, MDB_GET_CURRENT);
        writer_touched(store, record.mv_data, record.mv_size);
    }
    return rc;
}

static int insert(struct lmdb_store *store, uint64_t pass, struct value item)
{
    struct writer *writer = &store->writer;
    struct tree tree = items_tree(store, &store->schema);
    MDB_val record = {record_size(pass, item), NULL};
    size_t moved = 0;
    int rc = entry_insert(writer->items, &tree, &writer->key, &record, &moved);
    if (rc == 0) {
        record_write(record.mv_data, pass, item);
        writer_touched(store, record.mv_data, record.mv_size + moved);
    }
    return rc;
}

int items_put(struct lmdb_store *store, const struct standing *standing, uint64_t pass,
              struct value item)
{
    struct value before = standing->item.item;
    struct writer *writer = &store->writer;
    bool stands = !value_is_missing(before);
    size_t size_before = stands ? item_size_bytes(before) : 0;
    int rc = index_change(store, &standing->key, before, item);
    if (rc == 0) {
        rc = stands ? replace(store, pass, item) : insert(store, pass, item);
    }
    writer->size_bytes += item_size_bytes(item) - size_before;
    return rc;
}

int items_delete(struct lmdb_store *store, const struct standing *standing)
{
    struct writer *writer = &store->writer;
    struct value before = standing->item.item;
    writer->size_bytes -= item_size_bytes(before);
    int rc = index_change(store, &standing->key, before, (struct value){NULL, 0});
    writer_touched(store, before.bytes, before.len);
    return rc == 0 ? mdb_cursor_del(writer->items, 0) : rc;
}
