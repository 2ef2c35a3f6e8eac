#include "engine/base/buffer.h"
#include "engine/item/item.h"
#include "engine/store/lmdb/lmdb_append_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

/* In "meta": the number of a load that was begun and neither closed nor aborted. */
static const char loading_mark[] = "loading";

struct load {
    uint64_t pass;
    struct append_group group;
    struct sorter *sorters[INDEXES_MAX];
    size_t count;
    struct buffer scratch;
};

void load_free(struct load *load)
{
    if (load == NULL) {
        return;
    }
    for (size_t i = 0; i < load->count; i++) {
        sorter_free(load->sorters[i]);
    }
    buffer_free(&load->scratch);
    heap_free(load);
}

/* Marks the load in the table; refuses one that is not empty. */
static bool mark(struct lmdb_store *store, uint64_t pass, struct error *err)
{
    MDB_stat stat;
    uint64_t loading = 0;
    if (!writer_commit(store, err) || !writer_begin(store, err)) {
        return false;
    }
    int rc = mdb_stat(store->writer.txn, store->items, &stat);
    rc = rc == 0 ? meta_get_u64(store, store->writer.txn, loading_mark, &loading) : rc;
    if (rc == 0 && (stat.ms_entries > 0 || loading != 0)) {
        writer_abort(store);
        return error_set(err, ERROR_STORE, "%s is not empty", store->path);
    }
    rc = rc == 0 ? meta_put_u64(store, store->writer.txn, loading_mark, pass) : rc;
    if (rc != 0) {
        return writer_fail(store, rc, "beginning a load", err);
    }
    store->writer.wrote = true;
    return writer_commit(store, err);
}

bool lmdb_load_open(struct store *base, uint64_t pass, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    if (!mark(store, pass, err)) {
        return false;
    }
    struct load *load = heap_alloc(sizeof *load);
    load->pass = pass;
    load->count = store->schema.index_count;
    for (size_t i = 0; i < load->count; i++) {
        load->sorters[i] = append_sorter(store, load->count);
    }
    store->load = load;
    return true;
}

/* An index key that DynamoDB would refuse is refused; a missing one is no entry. */
static bool collect_entries(struct lmdb_store *store, struct value item, struct error *err)
{
    for (size_t i = 0; i < store->load->count; i++) {
        const struct lmdb_index *index = &store->schema.indexes[i];
        struct tree tree = index_tree(&store->schema, index);
        struct key key;
        bool present = false;
        if (!key_of_index(tree.index, item, &key, &present, err)) {
            return error_wrap(err, "index %.*s", STR_ARG(index->desc.name));
        }
        if (present &&
            !append_collect(store->load->sorters[i], &tree, item, &store->load->scratch, err)) {
            return false;
        }
    }
    return true;
}

static int append_item(struct lmdb_store *store, const struct key *key, struct value item)
{
    struct load *load = store->load;
    struct writer *writer = &store->writer;
    unsigned char room[LMDB_KEY_MAX];
    MDB_val record = {record_size(load->pass, item), NULL};
    entry_key_item(&writer->key, &store->schema.keys, key);
    MDB_val at = append_key(&load->group, &writer->key, room);
    int rc = mdb_cursor_put(writer->items, &at, &record, MDB_APPEND | MDB_RESERVE);
    if (rc == 0) {
        record_write(record.mv_data, load->pass, item);
        writer_appended(store, at.mv_size + record.mv_size);
        writer->size_bytes += item_size_bytes(item);
    }
    return rc;
}

bool lmdb_load_item(struct store *base, const struct key *key, struct value item, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    if (!item_check_limits(item, err) || !collect_entries(store, item, err) ||
        !writer_begin(store, err)) {
        return false;
    }
    int rc = append_item(store, key, item);
    if (rc != 0) {
        return writer_fail(store, rc, "loading", err);
    }
    return !writer_is_full(store) || writer_commit(store, err);
}

static bool fill_indexes(struct lmdb_store *store, struct error *err)
{
    struct load *load = store->load;
    append_begin(store, load->sorters, load->count);
    for (size_t i = 0; i < load->count; i++) {
        if (!sorter_finish(load->sorters[i], err) ||
            !append_entries(store, i, &load->sorters[i], 1, err)) {
            return error_wrap(err, "filling index %.*s",
                              STR_ARG(store->schema.indexes[i].desc.name));
        }
        sorter_free(load->sorters[i]);
        load->sorters[i] = NULL;
    }
    return true;
}

bool lmdb_load_close(struct store *base, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    if (!fill_indexes(store, err) || !writer_begin(store, err)) {
        writer_abort(store);
        return false;
    }
    int rc = meta_delete(store, store->writer.txn, loading_mark);
    if (rc != 0) {
        return writer_fail(store, rc, "ending a load", err);
    }
    store->writer.wrote = true;
    if (!writer_commit(store, err)) {
        return false;
    }
    load_free(store->load);
    store->load = NULL;
    return true;
}

bool lmdb_load_abort(struct store *base, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    load_free(store->load);
    store->load = NULL;
    writer_abort(store);
    if (!writer_begin(store, err)) {
        return false;
    }
    MDB_txn *txn = store->writer.txn;
    int rc = mdb_drop(txn, store->items, 0);
    for (size_t i = 0; i < store->schema.index_count && rc == 0; i++) {
        rc = mdb_drop(txn, store->schema.indexes[i].dbi, 0);
    }
    rc = rc == 0 ? meta_delete(store, txn, loading_mark) : rc;
    if (rc != 0) {
        return writer_fail(store, rc, "emptying it", err);
    }
    store->writer.size_bytes = 0;
    store->writer.wrote = true;
    return writer_commit(store, err);
}
