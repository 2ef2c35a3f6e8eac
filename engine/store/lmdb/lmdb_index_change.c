#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_items_internal.h"

#include <string.h>

/* An item's key in an index; false where it has none: an attribute is missing or, in an index that
 * was made over standing items, is no key. */
static bool entry_of(const struct index_desc *index, struct value item, struct key *out)
{
    struct error ignored;
    bool present = false;
    return !value_is_missing(item) && key_of_index(&index->keys, item, out, &present, &ignored) &&
           present;
}

static int delete_entry(struct lmdb_store *store, size_t index, const struct key *index_key,
                        struct str table_key)
{
    struct entry_key key;
    MDB_cursor *cursor = NULL;
    MDB_val at;
    MDB_val entry;
    struct tree tree = index_tree(&store->schema, &store->schema.indexes[index]);
    entry_key_index(&key, tree.index, index_key, table_key);
    int rc = writer_index_cursor(store, index, &cursor);
    rc = rc == 0 ? entry_find(cursor, &tree, &key, &at, &entry) : rc;
    if (rc != 0) {
        return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
    }
    writer_touched(store, entry.mv_data, 0);
    return mdb_cursor_del(cursor, 0);
}

static int put_entry(struct lmdb_store *store, size_t index, const struct key *index_key,
                     struct str table_key)
{
    struct entry_key key;
    MDB_cursor *cursor = NULL;
    struct tree tree = index_tree(&store->schema, &store->schema.indexes[index]);
    entry_key_index(&key, tree.index, index_key, table_key);
    struct buffer *value = &store->writer.scratch;
    value->len = 0;
    buffer_add(value, table_key);
    if (entry_key_is_cut(&key)) {
        entry_add_sort(tree.index, index_key, value);
    }
    MDB_val entry = {value->len, NULL};
    size_t moved = 0;
    int rc = writer_index_cursor(store, index, &cursor);
    rc = rc == 0 ? entry_insert(cursor, &tree, &key, &entry, &moved) : rc;
    if (rc == 0) {
        memcpy(entry.mv_data, value->bytes, value->len);
        writer_touched(store, entry.mv_data, moved);
    }
    return rc == MDB_KEYEXIST ? MDB_CORRUPTED : rc;
}

static int change_one(struct lmdb_store *store, size_t index, struct str table_key,
                      struct value before, struct value after)
{
    const struct index_desc *desc = &store->schema.indexes[index].desc;
    struct key old_key;
    struct key new_key;
    bool was_in = entry_of(desc, before, &old_key);
    bool is_in = entry_of(desc, after, &new_key);
    if (was_in && is_in && key_equal(&old_key, &new_key)) {
        return 0;
    }
    store->index_changes[index] += (was_in ? 1U : 0U) + (is_in ? 1U : 0U);
    int rc = was_in ? delete_entry(store, index, &old_key, table_key) : 0;
    return rc == 0 && is_in ? put_entry(store, index, &new_key, table_key) : rc;
}

int index_change(struct lmdb_store *store, const struct key *key, struct value before,
                 struct value after)
{
    struct buffer *table_key = &store->writer.table_key;
    table_key->len = 0;
    int rc = 0;
    for (size_t i = 0; i < store->schema.index_count && rc == 0; i++) {
        if (store->schema.indexes[i].desc.state != INDEX_ACTIVE) {
            continue;
        }
        if (table_key->len == 0) {
            key_encode(key, table_key);
        }
        rc = change_one(store, i, buffer_str(table_key), before, after);
    }
    return rc;
}

/* A random entry costs as much as twenty in order; a small index fits a few pages anyway. */
enum { BEHIND_SHARE = 20, BEHIND_MIN = 20000 };

static bool has_fallen_behind(struct lmdb_store *store, size_t place, MDB_txn *txn)
{
    MDB_stat stat;
    const struct lmdb_index *index = &store->schema.indexes[place];
    return index->desc.state == INDEX_ACTIVE && store->index_changes[place] >= BEHIND_MIN &&
           mdb_stat(txn, index->dbi, &stat) == 0 &&
           store->index_changes[place] >= stat.ms_entries / BEHIND_SHARE;
}

bool index_fall_behind(struct lmdb_store *store, uint64_t pass, struct error *err)
{
    if (pass != store->index_changes_pass) {
        store->index_changes_pass = pass;
        memset(store->index_changes, 0, sizeof store->index_changes);
        return true;
    }
    struct lmdb_schema changed = store->schema;
    bool behind = false;
    for (size_t i = 0; i < changed.index_count; i++) {
        if (has_fallen_behind(store, i, store->writer.txn)) {
            changed.indexes[i].desc.state = INDEX_BEHIND;
            behind = true;
        }
    }
    return !behind ||
           (schema_write(store, &changed, err) && schema_load(store, &store->schema, err));
}
