/* lmdb_items — items within the write transaction: found, put, replaced, deleted, with the index
 * entries that follow from them and the table's size. Functions return LMDB's codes. */
#ifndef ENGINE_STORE_LMDB_LMDB_ITEMS_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_ITEMS_INTERNAL_H

#include "engine/store/lmdb/lmdb_internal.h"

/* What stands under a key; the writer's item cursor is on it until the next call. */
struct standing {
    struct key key;
    struct stored_item item; /* missing: nothing stands */
};

/* `known` is a version that was read whole before, or 0. */
int items_find(struct lmdb_store *store, const struct key *key, uint64_t known,
               struct standing *out);

/* Puts `item` where items_find() has just found nothing, or in the place of what it found. */
int items_put(struct lmdb_store *store, const struct standing *standing, uint64_t pass,
              struct value item);

/* Deletes what items_find() has just found. */
int items_delete(struct lmdb_store *store, const struct standing *standing);

/* Changes the entries of all active indexes: the item `before` under its key (missing: none) has
 * become `after` under that key (missing: none). */
int index_change(struct lmdb_store *store, const struct key *key, struct value before,
                 struct value after);

#endif
