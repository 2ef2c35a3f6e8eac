/* lmdb_key — where an item or index entry stands in its B-tree.
 *
 * head   8-byte hash of the partition values, then the values themselves or their digest
 * sort   the sort values, escaped so that memcmp orders them
 * tail   in an index: a digest of the table key, so that ties stay apart
 *
 * A sort part that is too long for LMDB is cut, and a label takes the place of the rest
 * (lmdb_entry). */
#ifndef ENGINE_STORE_LMDB_LMDB_KEY_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_KEY_INTERNAL_H

#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HASH_BYTES = 8,
    DIGEST_BYTES = 16,
    LABEL_BYTES = 8,
    PARTITION_INLINE_MAX = 129, /* a length byte before each value */
    HEAD_MAX = HASH_BYTES + PARTITION_INLINE_MAX,
    SORT_INLINE_MAX = 350,
    SORT_ESCAPED_MAX = 2 * SORT_KEY_MAX_BYTES + 2 * KEY_PARTS_MAX,
    LMDB_KEY_MAX = 511 /* mdb_env_get_maxkeysize() of a stock build */
};

_Static_assert(HEAD_MAX + SORT_INLINE_MAX + LABEL_BYTES + DIGEST_BYTES <= LMDB_KEY_MAX,
               "the longest key fits LMDB");

struct entry_key {
    size_t head_len;
    size_t sort_len;
    size_t tail_len;
    unsigned char bytes[HEAD_MAX + SORT_ESCAPED_MAX + DIGEST_BYTES + 1];
};

/* The hash and partition part of `count` values; no sort part, no tail. */
void entry_key_head(struct entry_key *out, const struct value *partition, size_t count);

/* Appends a sort value; or the start of one, with nothing behind it. */
void entry_key_add_sort(struct entry_key *out, struct value v);
void entry_key_add_prefix(struct entry_key *out, struct value v);

/* Of an item, and of an index entry: index key and encoded table key. */
void entry_key_item(struct entry_key *out, const struct key_schema *schema, const struct key *key);
void entry_key_index(struct entry_key *out, const struct key_schema *index, const struct key *key,
                     struct str table_key);

/* Makes a complete key the least one that is greater: nothing can stand between. */
void entry_key_after(struct entry_key *key);

/* Makes a sort part without tail the least one that is greater than all that begin with it: the
 * end of a range. True if there is none within the partition. */
bool entry_key_past_prefix(struct entry_key *key);

/* The partition values themselves are not in the key, only their digest. */
static inline bool entry_key_is_digest(const struct entry_key *key)
{
    return key->bytes[HASH_BYTES] == 0xff;
}

/* Whether the sort part is too long to stand in the key as a whole. */
static inline bool entry_key_is_cut(const struct entry_key *key)
{
    return key->sort_len > SORT_INLINE_MAX;
}

/* All of it as LMDB's key; only of one that is not cut. */
static inline MDB_val entry_key_whole(struct entry_key *key)
{
    return (MDB_val){key->head_len + key->sort_len + key->tail_len, key->bytes};
}

/* Bytes as LMDB takes them, and back. */
static inline MDB_val val_of(struct str s)
{
    union {
        const char *in;
        void *out;
    } ptr = {.in = s.ptr};
    return (MDB_val){s.len, ptr.out};
}

static inline struct str str_of(MDB_val val)
{
    return (struct str){val.mv_data, val.mv_size};
}

/* Eight bytes, big-endian: they sort as the numbers do. */
static inline void put_u64(unsigned char *out, uint64_t n)
{
    for (int i = 7; i >= 0; i--, n >>= 8) {
        out[i] = (unsigned char)n;
    }
}

static inline uint64_t get_u64(const unsigned char *in)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n = n << 8 | in[i];
    }
    return n;
}

#endif
