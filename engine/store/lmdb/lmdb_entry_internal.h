/* lmdb_entry — finding and placing records, those whose sort part is cut too.
 *
 * Records that share head and cut sort part form a group. An 8-byte label in the key takes the
 * place of what was cut off; labels of a group ascend as the whole keys do, which stand in the
 * records. A new record takes a label between its neighbours'; where there is none left, a stretch
 * of neighbours is spread out anew. Functions return LMDB's codes; MDB_CORRUPTED: a damaged record.
 */
#ifndef ENGINE_STORE_LMDB_LMDB_ENTRY_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_ENTRY_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/store/lmdb/lmdb_key_internal.h"

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

/* One B-tree of records: the items, or an index. */
struct tree {
    MDB_dbi dbi;
    const struct key_schema *table;
    const struct key_schema *index; /* NULL: the items */
};

/* Labels of a group that is written in order: the first, and each after the one before. */
#define LABEL_FIRST (UINT64_C(1) << 63)
#define LABEL_STEP  (UINT64_C(1) << 32)

/* LMDB's key of a record whose sort part is cut: `room` holds LMDB_KEY_MAX bytes. */
MDB_val entry_labelled(const struct entry_key *key, uint64_t label, unsigned char *room);

/* To the first record that does not stand before `target`, whose sort part need not be whole. */
int entry_seek(MDB_cursor *cursor, const struct tree *tree, struct entry_key *target, MDB_val *key,
               MDB_val *record);

/* To the record of exactly this key; MDB_NOTFOUND. */
int entry_find(MDB_cursor *cursor, const struct tree *tree, struct entry_key *target, MDB_val *key,
               MDB_val *record);

/* Places a record that does not stand yet; record->mv_data is room for its mv_size bytes, valid
 * until the next write. MDB_KEYEXIST: it stands (only found out where the key is not cut).
 * *moved is raised by the bytes of other records that were written again. */
int entry_insert(MDB_cursor *cursor, const struct tree *tree, struct entry_key *target,
                 MDB_val *record, size_t *moved);

/* Whether a record is in the target's partition; and whether it stands before (-1), at (0) or
 * after (1) the target. */
bool entry_in_partition(const struct entry_key *target, MDB_val key);
int entry_compare(const struct tree *tree, const struct entry_key *target, MDB_val key,
                  MDB_val record, int *order);

/* What follows the encoded table key in the value of an index entry whose key is cut. */
void entry_add_sort(const struct key_schema *index, const struct key *index_key,
                    struct buffer *value);

/* The table key in an entry's value; ptr NULL where it is damaged. */
struct str entry_table_key(const struct tree *tree, MDB_val record);

/* Appends an entry's sort values, encoded, as they are read from where the entry stands; its head
 * takes `head_len` bytes of the key. */
int entry_index_sort(const struct tree *tree, size_t head_len, MDB_val key, MDB_val record,
                     struct buffer *out);

/* Reads a page's cursor, which may come from outside: an encoded table key, in an index behind the
 * index key. ERROR_DAMAGED: not one of this tree. */
MUST_CHECK bool entry_key_of_cursor(struct entry_key *out, const struct tree *tree,
                                    struct str cursor, struct error *err);

#endif
