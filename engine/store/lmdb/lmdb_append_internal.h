/* lmdb_append — filling a B-tree in key order, which is many times as fast as at random. */
#ifndef ENGINE_STORE_LMDB_LMDB_APPEND_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_APPEND_INTERNAL_H

#include "engine/sort/sorter.h"
#include "engine/store/lmdb/lmdb_internal.h"

/* Where in a group of cut keys the last one stood; {0} at the start. */
struct append_group {
    unsigned char stem[HEAD_MAX + SORT_INLINE_MAX];
    size_t stem_len;
    uint64_t label;
};

/* LMDB's key of the next record in order: of a cut key, with the next label of its group.
 * `room` holds LMDB_KEY_MAX bytes. */
MDB_val append_key(struct append_group *group, struct entry_key *key, unsigned char *room);

/* A sorter with this share of the store's memory. */
struct sorter *append_sorter(const struct lmdb_store *store, size_t shares);

/* Adds the item's entry in the index, if it has one, to a sorter. An item whose attributes are no
 * index key has none. */
MUST_CHECK bool append_collect(struct sorter *sorter, const struct tree *tree, struct value item,
                               struct buffer *scratch, struct error *err);

/* Tells of the growth, once in a while: at each whole interval that is done. The store's thread. */
enum { APPEND_INTERVAL = 1024 };
void append_tell(const struct lmdb_store *store, const struct index_growth *growth);

/* False, with ERROR_STOPPED, once the store is asked to stop. Any thread. */
MUST_CHECK bool append_goes_on(const struct lmdb_store *store, struct error *err);

/* From now on entries of so many sorters are written. */
void append_begin(struct lmdb_store *store, struct sorter *const *sorters, size_t count);

/* Writes all entries of `count` finished sorters to an empty index, in transactions of bounded
 * size; the last one is left open. ERROR_STOPPED. */
MUST_CHECK bool append_entries(struct lmdb_store *store, size_t index,
                               struct sorter *const *sorters, size_t count, struct error *err);

#endif
