#include "engine/store/lmdb/lmdb_internal.h"

#include <string.h>

bool index_open_tree(struct lmdb_store *store, struct lmdb_index *index, struct error *err)
{
    const char *name = schema_index_dbi(index, store->arena);
    if (!writer_commit(store, err) || !writer_begin(store, err)) {
        return false;
    }
    MDB_stat stat;
    MDB_txn *txn = store->writer.txn;
    store->writer.wrote = true;
    (void)pthread_mutex_lock(&store->dbi_mutex);
    int rc = mdb_dbi_open(txn, name, MDB_CREATE, &index->dbi);
    rc = rc == 0 ? mdb_stat(txn, index->dbi, &stat) : rc;
    if (rc == 0 && stat.ms_entries > 0) {
        rc = mdb_drop(txn, index->dbi, 0);
    }
    bool ok = rc == 0 ? writer_commit(store, err) : writer_fail(store, rc, "making an index", err);
    (void)pthread_mutex_unlock(&store->dbi_mutex);
    return ok;
}

bool lmdb_index_create(struct store *base, const struct index_desc *index, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct lmdb_schema changed = store->schema;
    if (!index_check(&store->schema, index, err)) {
        return false;
    }
    struct lmdb_index *added = &changed.indexes[changed.index_count++];
    *added = (struct lmdb_index){.desc = *index};
    added->desc.state = INDEX_CREATING;
    return index_open_tree(store, added, err) && writer_begin(store, err) &&
           schema_write(store, &changed, err) && schema_load(store, &store->schema, err);
}

/* What is left of making it anew, if that was broken off. */
static bool drop_next(struct lmdb_store *store, const struct lmdb_index *index, struct error *err)
{
    struct lmdb_index next = *index;
    next.generation++;
    const char *name = schema_index_dbi(&next, store->arena);
    if (!writer_commit(store, err) || !writer_begin(store, err)) {
        return false;
    }
    (void)pthread_mutex_lock(&store->dbi_mutex);
    int rc = mdb_dbi_open(store->writer.txn, name, 0, &next.dbi);
    store->writer.wrote = rc == 0;
    rc = rc == 0 ? mdb_drop(store->writer.txn, next.dbi, 1) : rc;
    bool ok = rc == 0 || rc == MDB_NOTFOUND ? writer_commit(store, err)
                                            : writer_fail(store, rc, "dropping an index", err);
    (void)pthread_mutex_unlock(&store->dbi_mutex);
    return ok;
}

bool lmdb_index_drop(struct store *base, struct str name, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct lmdb_schema changed = store->schema;
    struct lmdb_index *index = schema_index(&changed, name);
    if (index == NULL) {
        return error_set(err, ERROR_PLAN, "%s has no index %.*s", store->path, STR_ARG(name));
    }
    if (!drop_next(store, index, err) || !writer_begin(store, err)) {
        return false;
    }
    int rc = mdb_drop(store->writer.txn, index->dbi, 1);
    if (rc != 0) {
        return writer_fail(store, rc, "dropping an index", err);
    }
    size_t place = (size_t)(index - changed.indexes);
    changed.index_count--;
    memmove(index, index + 1, (changed.index_count - place) * sizeof *index);
    memset(store->index_changes, 0, sizeof store->index_changes);
    return schema_write(store, &changed, err) && schema_load(store, &store->schema, err);
}
