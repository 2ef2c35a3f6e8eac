#include "engine/base/hash.h"
#include "engine/store/lmdb/lmdb_internal.h"

#include <string.h>
#include <sys/random.h>

int meta_get_u64(const struct lmdb_store *store, MDB_txn *txn, const char *name, uint64_t *out)
{
    MDB_val key = val_of((struct str){name, strlen(name)});
    MDB_val value;
    int rc = mdb_get(txn, store->meta, &key, &value);
    *out = 0;
    if (rc == 0 && value.mv_size == HASH_BYTES) {
        *out = get_u64(value.mv_data);
        return 0;
    }
    return rc == MDB_NOTFOUND ? 0 : rc == 0 ? MDB_CORRUPTED : rc;
}

int meta_put_u64(const struct lmdb_store *store, MDB_txn *txn, const char *name, uint64_t n)
{
    unsigned char bytes[HASH_BYTES];
    put_u64(bytes, n);
    MDB_val key = val_of((struct str){name, strlen(name)});
    MDB_val value = {sizeof bytes, bytes};
    return mdb_put(txn, store->meta, &key, &value, 0);
}

int meta_delete(const struct lmdb_store *store, MDB_txn *txn, const char *name)
{
    MDB_val key = val_of((struct str){name, strlen(name)});
    int rc = mdb_del(txn, store->meta, &key, NULL);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Random, so that a table made again under the same name is not taken for the old one. */
static struct str new_identity(struct arena *arena)
{
    unsigned char random[16];
    ssize_t got = getrandom(random, sizeof random, 0);
    char *text = arena_bytes(arena, 2 * sizeof random + 1);
    hash_hex(random, got > 0 ? (size_t)got : 0, text);
    return (struct str){text, strlen(text)};
}

static int create_in(struct lmdb_store *store, MDB_txn *txn, struct lmdb_schema *schema)
{
    int rc = mdb_dbi_open(txn, "meta", MDB_CREATE, &store->meta);
    rc = rc == 0 ? mdb_dbi_open(txn, "items", MDB_CREATE, &store->items) : rc;
    rc = rc == 0 ? mdb_dbi_open(txn, "control", MDB_CREATE, &store->control) : rc;
    rc = rc == 0 ? mdb_dbi_open(txn, "undo", MDB_CREATE, &store->undo) : rc;
    for (size_t i = 0; i < schema->index_count && rc == 0; i++) {
        struct lmdb_index *index = &schema->indexes[i];
        rc = mdb_dbi_open(txn, schema_index_dbi(index, store->arena), MDB_CREATE, &index->dbi);
    }
    rc = rc == 0 ? meta_put_u64(store, txn, "format", LMDB_FORMAT) : rc;
    rc = rc == 0 ? meta_put_u64(store, txn, "size_bytes", 0) : rc;
    return rc == 0 ? schema_put(store, txn, schema) : rc;
}

bool schema_make(const struct table_desc *table, struct arena *arena, struct lmdb_schema *out,
                 struct error *err)
{
    *out = (struct lmdb_schema){
        .name = table->name, .identity = new_identity(arena), .keys = table->keys};
    for (size_t i = 0; i < table->index_count; i++) {
        if (!index_check(out, &table->indexes[i], err)) {
            return false;
        }
        struct lmdb_index *index = &out->indexes[out->index_count++];
        index->desc = table->indexes[i];
        index->desc.state = INDEX_ACTIVE;
    }
    return true;
}

bool schema_create(struct lmdb_store *store, struct lmdb_schema *schema, struct error *err)
{
    MDB_txn *txn = NULL;
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
    rc = rc == 0 ? create_in(store, txn, schema) : rc;
    if (rc == 0) {
        rc = mdb_txn_commit(txn);
    } else {
        mdb_txn_abort(txn);
    }
    return rc == 0 || lmdb_error(store, rc, "creating it", err);
}

bool schema_write(struct lmdb_store *store, const struct lmdb_schema *schema, struct error *err)
{
    store->writer.wrote = true;
    int rc = schema_put(store, store->writer.txn, schema);
    if (rc != 0) {
        return writer_fail(store, rc, "writing its schema", err);
    }
    return writer_commit(store, err);
}

static int count_in(struct lmdb_store *store, MDB_txn *txn, const struct lmdb_schema *schema,
                    struct index_desc *indexes, struct table_desc *out)
{
    MDB_stat stat;
    int rc = mdb_stat(txn, store->items, &stat);
    out->item_count = rc == 0 ? stat.ms_entries : 0;
    for (size_t i = 0; i < schema->index_count && rc == 0; i++) {
        rc = mdb_stat(txn, schema->indexes[i].dbi, &stat);
        indexes[i].entry_count = stat.ms_entries;
    }
    return rc == 0 ? meta_get_u64(store, txn, "size_bytes", &out->size_bytes) : rc;
}

static struct key_schema copy_keys(const struct key_schema *keys, struct arena *arena)
{
    struct key_schema copy = *keys;
    for (size_t i = 0; i < keys->partition_count; i++) {
        copy.partition[i].name = arena_copy(arena, keys->partition[i].name);
    }
    for (size_t i = 0; i < keys->sort_count; i++) {
        copy.sort[i].name = arena_copy(arena, keys->sort[i].name);
    }
    return copy;
}

static struct index_desc copy_index(const struct index_desc *index, struct arena *arena)
{
    struct index_desc copy = *index;
    struct str *include = arena_alloc(arena, (index->include_count + 1) * sizeof *include);
    for (size_t i = 0; i < index->include_count; i++) {
        include[i] = arena_copy(arena, index->include[i]);
    }
    copy.name = arena_copy(arena, index->name);
    copy.keys = copy_keys(&index->keys, arena);
    copy.include = include;
    return copy;
}

bool lmdb_describe(struct store *base, struct arena *arena, struct table_desc *out,
                   struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct lmdb_schema schema = {0};
    if (!schema_load(store, &schema, err)) {
        schema_free(&schema);
        return false;
    }
    struct index_desc *indexes = arena_alloc(arena, INDEXES_MAX * sizeof *indexes);
    for (size_t i = 0; i < schema.index_count; i++) {
        indexes[i] = copy_index(&schema.indexes[i].desc, arena);
    }
    struct table_desc table = {.name = arena_copy(arena, schema.name),
                               .identity = arena_copy(arena, schema.identity),
                               .keys = copy_keys(&schema.keys, arena),
                               .indexes = indexes,
                               .index_count = schema.index_count};
    MDB_txn *txn = NULL;
    int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    rc = rc == 0 ? count_in(store, txn, &schema, indexes, &table) : rc;
    mdb_txn_abort(txn);
    schema_free(&schema);
    if (rc != 0) {
        return lmdb_error(store, rc, "counting", err);
    }
    *out = table;
    return true;
}
