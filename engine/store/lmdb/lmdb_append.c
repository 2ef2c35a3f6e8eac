#include "engine/store/lmdb/lmdb_append_internal.h"

#include "engine/base/buffer.h"

#include <string.h>

MDB_val append_key(struct append_group *group, struct entry_key *key, unsigned char *room)
{
    if (!entry_key_is_cut(key)) {
        return entry_key_whole(key);
    }
    size_t stem_len = key->head_len + SORT_INLINE_MAX;
    if (stem_len == group->stem_len && memcmp(group->stem, key->bytes, stem_len) == 0) {
        group->label += LABEL_STEP;
    } else {
        memcpy(group->stem, key->bytes, stem_len);
        group->stem_len = stem_len;
        group->label = LABEL_FIRST;
    }
    return entry_labelled(key, group->label, room);
}

struct sorter *append_sorter(const struct lmdb_store *store, size_t shares)
{
    struct sorter_options options = {.memory_bytes = store->memory_bytes / shares,
                                     .temp_dir = store->temp_dir,
                                     .stop = store->stop};
    return sorter_new(&options);
}

void append_tell(const struct lmdb_store *store, const struct index_growth *growth)
{
    if (store->voice.index_grows != NULL && growth->done % APPEND_INTERVAL == 0) {
        store->voice.index_grows(store->voice.context, growth);
    }
}

bool append_goes_on(const struct lmdb_store *store, struct error *err)
{
    bool stopped = store->stop != NULL && atomic_load_explicit(store->stop, memory_order_relaxed);
    return !stopped || error_set(err, ERROR_STOPPED, "stopped");
}

void append_begin(struct lmdb_store *store, struct sorter *const *sorters, size_t count)
{
    store->growth = (struct index_growth){.reads = false};
    for (size_t i = 0; i < count; i++) {
        store->growth.total += sorter_count(sorters[i]);
    }
}

/* A sorter's key is the whole entry key: it sorts as labels will. */
bool append_collect(struct sorter *sorter, const struct tree *tree, struct value item,
                    struct buffer *scratch, struct error *err)
{
    struct error ignored;
    struct key index_key;
    struct key table_key;
    bool present = false;
    if (!key_of_index(tree->index, item, &index_key, &present, &ignored) || !present) {
        return true;
    }
    if (!key_of_item(tree->table, item, &table_key, err)) {
        return false;
    }
    struct entry_key key;
    scratch->len = 0;
    key_encode(&table_key, scratch);
    entry_key_index(&key, tree->index, &index_key, buffer_str(scratch));
    if (entry_key_is_cut(&key)) {
        entry_add_sort(tree->index, &index_key, scratch);
    }
    MDB_val whole = entry_key_whole(&key);
    return sorter_add(sorter, str_of(whole), buffer_str(scratch), err);
}

/* Takes the entry key apart that append_collect() has put together. */
static void split_key(const struct key_schema *index, struct str whole, struct entry_key *out)
{
    memcpy(out->bytes, whole.ptr, whole.len);
    out->head_len = HASH_BYTES;
    if (entry_key_is_digest(out)) {
        out->head_len += 1 + DIGEST_BYTES;
    } else {
        for (size_t i = 0; i < index->partition_count; i++) {
            out->head_len += 1 + (size_t)out->bytes[out->head_len];
        }
    }
    out->tail_len = DIGEST_BYTES;
    out->sort_len = whole.len - out->head_len - out->tail_len;
}

static bool append_entry(struct lmdb_store *store, size_t index, MDB_val at, struct str value,
                         struct error *err)
{
    MDB_cursor *cursor = NULL;
    MDB_val entry = val_of(value);
    if (!writer_begin(store, err)) {
        return false;
    }
    int rc = writer_index_cursor(store, index, &cursor);
    rc = rc == 0 ? mdb_cursor_put(cursor, &at, &entry, MDB_APPEND) : rc;
    if (rc != 0) {
        return writer_fail(store, rc, "filling an index", err);
    }
    writer_appended(store, at.mv_size + entry.mv_size);
    return !writer_is_full(store) || writer_commit(store, err);
}

static bool append_sorted(struct lmdb_store *store, size_t index, struct sorted *sorted,
                          struct error *err)
{
    struct append_group group = {.stem_len = 0};
    struct entry_key key;
    unsigned char room[LMDB_KEY_MAX];
    struct str whole;
    struct str value;
    bool more = false;
    const struct key_schema *keys = &store->schema.indexes[index].desc.keys;
    for (;;) {
        if (!sorted_next(sorted, &whole, &value, &more, err)) {
            return false;
        }
        if (!more) {
            return writer_begin(store, err);
        }
        split_key(keys, whole, &key);
        if (!append_goes_on(store, err) ||
            !append_entry(store, index, append_key(&group, &key, room), value, err)) {
            return false;
        }
        store->growth.done++;
        append_tell(store, &store->growth);
    }
}

bool append_entries(struct lmdb_store *store, size_t index, struct sorter *const *sorters,
                    size_t count, struct error *err)
{
    struct sorted *sorted = NULL;
    if (!sorted_open(sorters, count, &sorted, err)) {
        return false;
    }
    bool ok = append_sorted(store, index, sorted, err);
    sorted_close(sorted);
    return ok;
}
