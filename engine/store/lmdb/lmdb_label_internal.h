/* lmdb_label — groups of records whose sort parts are cut: see lmdb_entry_internal.h. */
#ifndef ENGINE_STORE_LMDB_LMDB_LABEL_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_LABEL_INTERNAL_H

#include "engine/store/lmdb/lmdb_entry_internal.h"

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>

/* The record's key is in the group of a target whose sort part is cut. */
bool label_in_group(const struct entry_key *target, MDB_val key);

/* entry_seek() and entry_insert() for a target that is cut. */
int label_seek(MDB_cursor *cursor, const struct tree *tree, const struct entry_key *target,
               MDB_val *key, MDB_val *record);
int label_insert(MDB_cursor *cursor, const struct tree *tree, const struct entry_key *target,
                 MDB_val *record, size_t *moved);

#endif
