#include "engine/store/lmdb/lmdb_internal.h"

#include <string.h>

/* --- declaring --- */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/* Amazon DynamoDB Developer Guide, "Naming rules": 3 to 255 of a-z A-Z 0-9 _ - . */
static bool check_name(struct str name, struct error *err)
{
    bool ok = name.len >= INDEX_NAME_MIN && name.len <= INDEX_NAME_MAX;
    for (size_t i = 0; i < name.len && ok; i++) {
        ok = is_name_char(name.ptr[i]);
    }
    return ok || error_set(err, ERROR_PLAN,
                           "index name '%.*s': 3 to 255 of a-z, A-Z, 0-9, '_', '-' and '.'",
                           STR_ARG(name));
}

static bool check_attribute(const struct key_schema *declared,
                            const struct key_attribute *attribute, struct error *err)
{
    const struct key_attribute *other = key_schema_find(declared, attribute->name);
    if (other != NULL && other->type != attribute->type) {
        return error_set(err, ERROR_PLAN, "attribute %.*s is declared %s, and %s elsewhere",
                         STR_ARG(attribute->name), value_type_name(attribute->type),
                         value_type_name(other->type));
    }
    return true;
}

/* An attribute has one declared type in the whole table. */
static bool check_types(const struct key_schema *declared, const struct key_schema *keys,
                        struct error *err)
{
    for (size_t i = 0; i < keys->partition_count; i++) {
        if (!check_attribute(declared, &keys->partition[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < keys->sort_count; i++) {
        if (!check_attribute(declared, &keys->sort[i], err)) {
            return false;
        }
    }
    return true;
}

bool index_check(struct lmdb_schema *schema, const struct index_desc *index, struct error *err)
{
    if (!check_name(index->name, err) || !check_types(&schema->keys, &index->keys, err) ||
        !check_types(&index->keys, &index->keys, err)) {
        return false;
    }
    if (schema_index(schema, index->name) != NULL) {
        return error_set(err, ERROR_PLAN, "index %.*s is there already", STR_ARG(index->name));
    }
    if (schema->index_count == INDEXES_MAX) {
        return error_set(err, ERROR_PLAN, "a table has at most %d indexes", INDEXES_MAX);
    }
    for (size_t i = 0; i < schema->index_count; i++) {
        if (!check_types(&schema->indexes[i].desc.keys, &index->keys, err)) {
            return error_wrap(err, "index %.*s", STR_ARG(index->name));
        }
    }
    return true;
}

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

bool lmdb_index_drop(struct store *base, struct str name, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    struct lmdb_schema changed = store->schema;
    struct lmdb_index *index = schema_index(&changed, name);
    if (index == NULL) {
        return error_set(err, ERROR_PLAN, "%s has no index %.*s", store->path, STR_ARG(name));
    }
    if (!writer_commit(store, err) || !writer_begin(store, err)) {
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
