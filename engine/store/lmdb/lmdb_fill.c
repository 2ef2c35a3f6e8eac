#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_append_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

#include <string.h>

/* Each reads its own range of hashes and sorts what it finds. */
enum { FILL_THREADS = 2 };

struct fill_part {
    struct lmdb_store *store;
    atomic_uint_fast64_t *read; /* items, by all parts together */
    bool tells;                 /* of how many were read: the part of the store's thread */
    uint64_t total;
    struct tree tree;
    uint64_t first; /* hashes from first to last */
    uint64_t last;
    struct sorter *sorter;
    bool ok;
    struct error err;
};

static bool collect_record(struct fill_part *part, struct buffer *scratch, MDB_val key,
                           MDB_val record)
{
    struct stored_item item;
    if (!record_read(record, &item)) {
        return lmdb_damaged_record(part->store, key, &part->err);
    }
    return append_collect(part->sorter, &part->tree, item.item, scratch, &part->err);
}

static void count_items(const struct fill_part *part)
{
    uint64_t read = atomic_fetch_add(part->read, APPEND_INTERVAL) + APPEND_INTERVAL;
    if (part->tells) {
        append_tell(part->store,
                    &(struct index_growth){.reads = true, .done = read, .total = part->total});
    }
}

static bool collect_range(struct fill_part *part, MDB_cursor *cursor, struct buffer *scratch)
{
    uint64_t met = 0;
    unsigned char first[HASH_BYTES];
    put_u64(first, part->first);
    MDB_val key = {sizeof first, first};
    MDB_val record;
    int rc = mdb_cursor_get(cursor, &key, &record, MDB_SET_RANGE);
    while (rc == 0 && key.mv_size >= HASH_BYTES && get_u64(key.mv_data) <= part->last) {
        if (!append_goes_on(part->store, &part->err) ||
            !collect_record(part, scratch, key, record)) {
            return false;
        }
        if (++met % APPEND_INTERVAL == 0) {
            count_items(part);
        }
        rc = mdb_cursor_get(cursor, &key, &record, MDB_NEXT);
    }
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return lmdb_error(part->store, rc, "reading", &part->err);
    }
    return sorter_finish(part->sorter, &part->err);
}

static void *collect(void *context)
{
    struct fill_part *part = context;
    MDB_txn *txn = NULL;
    MDB_cursor *cursor = NULL;
    MDB_stat stat = {0};
    struct buffer scratch = {0};
    int rc = mdb_txn_begin(part->store->env, NULL, MDB_RDONLY, &txn);
    rc = rc == 0 ? mdb_cursor_open(txn, part->store->items, &cursor) : rc;
    rc = rc == 0 ? mdb_stat(txn, part->store->items, &stat) : rc;
    part->total = stat.ms_entries;
    part->ok = rc == 0 ? collect_range(part, cursor, &scratch)
                       : lmdb_error(part->store, rc, "reading", &part->err);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    buffer_free(&scratch);
    return NULL;
}

/* The last part is read by the calling thread, which may tell how far all are. */
static bool run_parts(struct fill_part *parts, struct error *err)
{
    pthread_t threads[FILL_THREADS - 1];
    size_t started = 0;
    while (started < FILL_THREADS - 1 &&
           pthread_create(&threads[started], NULL, collect, &parts[started]) == 0) {
        started++;
    }
    bool ok =
        started == FILL_THREADS - 1 || error_set(err, ERROR_STORE, "a thread cannot be started");
    if (ok) {
        (void)collect(&parts[FILL_THREADS - 1]);
    }
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return ok;
}

static bool collect_all(struct lmdb_store *store, const struct tree *tree,
                        struct sorter *const *sorters, struct error *err)
{
    struct fill_part parts[FILL_THREADS];
    atomic_uint_fast64_t read = 0;
    uint64_t width = UINT64_MAX / FILL_THREADS;
    for (size_t i = 0; i < FILL_THREADS; i++) {
        bool is_last = i == FILL_THREADS - 1;
        parts[i] = (struct fill_part){.store = store,
                                      .read = &read,
                                      .tells = is_last,
                                      .tree = *tree,
                                      .first = i * width + (i > 0 ? 1 : 0),
                                      .last = is_last ? UINT64_MAX : (i + 1) * width,
                                      .sorter = sorters[i]};
    }
    bool ok = run_parts(parts, err);
    for (size_t i = 0; ok && i < FILL_THREADS; i++) {
        if (!parts[i].ok) {
            *err = parts[i].err;
            ok = false;
        }
    }
    return ok;
}

static bool write_entries(struct lmdb_store *store, size_t place, struct sorter *const *sorters,
                          struct error *err)
{
    append_begin(store, sorters, FILL_THREADS);
    return append_entries(store, place, sorters, FILL_THREADS, err);
}

static bool fill(struct lmdb_store *store, size_t place, struct error *err)
{
    struct sorter *sorters[FILL_THREADS];
    struct tree tree = index_tree(&store->schema, &store->schema.indexes[place]);
    for (size_t i = 0; i < FILL_THREADS; i++) {
        sorters[i] = append_sorter(store, FILL_THREADS);
    }
    bool ok = collect_all(store, &tree, sorters, err) && write_entries(store, place, sorters, err);
    for (size_t i = 0; i < FILL_THREADS; i++) {
        sorter_free(sorters[i]);
    }
    return ok;
}

/* Fills the index's tree, which is empty, and makes it the one that is queried. */
static bool fill_and_switch(struct lmdb_store *store, size_t place, bool drop, MDB_dbi old,
                            struct error *err)
{
    if (!fill(store, place, err)) {
        return false;
    }
    int rc = drop ? mdb_drop(store->writer.txn, old, 1) : 0;
    if (rc != 0) {
        return writer_fail(store, rc, "dropping the old index", err);
    }
    store->schema.indexes[place].desc.state = INDEX_ACTIVE;
    return schema_write(store, &store->schema, err);
}

/* An index that is behind stays as it is, to be queried, while the next generation is filled. */
bool lmdb_index_finish(struct store *base, struct str name, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct lmdb_index *index = schema_index(&store->schema, name);
    if (index == NULL) {
        return error_set(err, ERROR_PLAN, "%s has no index %.*s", store->path, STR_ARG(name));
    }
    if (index->desc.state == INDEX_ACTIVE) {
        return true;
    }
    bool behind = index->desc.state == INDEX_BEHIND;
    MDB_dbi old = index->dbi;
    index->generation += behind ? 1 : 0;
    size_t place = (size_t)(index - store->schema.indexes);
    bool ok = index_open_tree(store, index, err) && fill_and_switch(store, place, behind, old, err);
    if (!ok) {
        writer_abort(store);
        (void)error_wrap(err, "filling index %.*s", STR_ARG(name));
    }
    /* What the file says holds, whichever way it went. */
    struct error ignored;
    memset(store->index_changes, 0, sizeof store->index_changes);
    return schema_load(store, &store->schema, ok ? err : &ignored) && ok;
}
