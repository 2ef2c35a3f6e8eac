#include "engine/store/lmdb/lmdb_entry_internal.h"

#include "engine/base/hash.h"
#include "engine/base/varint.h"
#include "engine/store/lmdb/lmdb_label_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

#include <assert.h>
#include <string.h>

static size_t tail_len(const struct tree *tree)
{
    return tree->index == NULL ? 0 : DIGEST_BYTES;
}

MDB_val entry_labelled(const struct entry_key *key, uint64_t label, unsigned char *room)
{
    size_t stem = key->head_len + SORT_INLINE_MAX;
    memcpy(room, key->bytes, stem);
    put_u64(room + stem, label);
    memcpy(room + stem + LABEL_BYTES, key->bytes + key->head_len + key->sort_len, key->tail_len);
    return (MDB_val){stem + LABEL_BYTES + key->tail_len, room};
}

bool entry_in_partition(const struct entry_key *target, MDB_val key)
{
    return key.mv_size > target->head_len
               ? memcmp(key.mv_data, target->bytes, target->head_len) == 0
               : key.mv_size == target->head_len &&
                     memcmp(key.mv_data, target->bytes, key.mv_size) == 0;
}

static int compare_bytes(const unsigned char *a, size_t a_len, const unsigned char *b, size_t b_len)
{
    int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
    if (order == 0 && a_len != b_len) {
        return a_len < b_len ? -1 : 1;
    }
    return order < 0 ? -1 : order > 0;
}

/* The length of the encoded key parts at the start of an index record; 0 where they are not. */
static size_t parts_len(MDB_val record, size_t count)
{
    const unsigned char *bytes = record.mv_data;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t len = 0;
        if (used >= record.mv_size) {
            return 0;
        }
        size_t read = varint_get(bytes + used + 1, record.mv_size - used - 1, &len);
        if (read == 0 || len > record.mv_size - used - 1 - read) {
            return 0;
        }
        used += 1 + read + (size_t)len;
    }
    return used;
}

void entry_add_sort(const struct key_schema *index, const struct key *index_key,
                    struct buffer *value)
{
    for (size_t i = index->partition_count; i < index_key->count; i++) {
        struct value part = index_key->parts[i];
        buffer_add(value, (struct str){(const char *)part.bytes, part.len});
    }
}

struct str entry_table_key(const struct tree *tree, MDB_val record)
{
    size_t len = parts_len(record, tree->table->partition_count + tree->table->sort_count);
    return (struct str){len == 0 ? NULL : record.mv_data, len};
}

/* The escaped value at the start of `in`, as it was; its length with the closing zeros, or 0. */
static size_t unescape(const unsigned char *in, size_t len, unsigned char *out, size_t *out_len)
{
    *out_len = 0;
    for (size_t i = 0; i + 1 < len && *out_len < SORT_KEY_MAX_BYTES; i++) {
        if (in[i] == 0 && in[i + 1] == 0) {
            return i + 2;
        }
        out[(*out_len)++] = in[i];
        i += in[i] == 0 ? 1 : 0;
    }
    return 0;
}

static void add_value(struct buffer *out, enum value_type type, const unsigned char *bytes,
                      size_t len)
{
    buffer_add_char(out, (char)type);
    buffer_add_varint(out, len);
    buffer_add(out, (struct str){(const char *)bytes, len});
}

int entry_index_sort(const struct tree *tree, size_t head_len, MDB_val key, MDB_val record,
                     struct buffer *out)
{
    if (key.mv_size - head_len > SORT_INLINE_MAX + DIGEST_BYTES) {
        size_t table_len = entry_table_key(tree, record).len;
        buffer_add(out, (struct str){(const char *)record.mv_data + table_len,
                                     record.mv_size - table_len});
        return 0;
    }
    const unsigned char *at = (const unsigned char *)key.mv_data + head_len;
    size_t left = key.mv_size - head_len;
    for (size_t i = 0; i < tree->index->sort_count; i++) {
        unsigned char value[SORT_KEY_MAX_BYTES];
        size_t len = 0;
        size_t used = unescape(at, left, value, &len);
        if (used == 0) {
            return MDB_CORRUPTED;
        }
        add_value(out, tree->index->sort[i].type, value, len);
        at += used;
        left -= used;
    }
    return 0;
}

/* Types and sizes of a key that was read from outside. */
static bool is_key_of(const struct key_schema *keys, const struct key *key)
{
    size_t sizes[2] = {0, 0};
    for (size_t i = 0; i < key->count; i++) {
        bool sort = i >= keys->partition_count;
        const struct key_attribute *attribute =
            sort ? &keys->sort[i - keys->partition_count] : &keys->partition[i];
        if (value_type(key->parts[i]) != attribute->type) {
            return false;
        }
        sizes[sort] += value_bytes(key->parts[i]).len;
    }
    return sizes[0] <= PARTITION_KEY_MAX_BYTES && sizes[1] <= SORT_KEY_MAX_BYTES;
}

static bool read_key(const struct key_schema *keys, struct str *rest, struct key *out,
                     struct error *err)
{
    size_t count = keys->partition_count + keys->sort_count;
    size_t len = parts_len(val_of(*rest), count);
    if (!key_decode((struct str){rest->ptr, len}, count, out, err)) {
        return error_wrap(err, "a page's cursor");
    }
    if (!is_key_of(keys, out)) {
        return error_set(err, ERROR_DAMAGED, "a page's cursor is not of this table");
    }
    *rest = (struct str){rest->ptr + len, rest->len - len};
    return true;
}

bool entry_key_of_cursor(struct entry_key *out, const struct tree *tree, struct str cursor,
                         struct error *err)
{
    struct key index_key;
    struct key table_key;
    struct str rest = cursor;
    if (tree->index != NULL && !read_key(tree->index, &rest, &index_key, err)) {
        return false;
    }
    struct str table = rest;
    if (!read_key(tree->table, &rest, &table_key, err)) {
        return false;
    }
    if (rest.len > 0) {
        return error_set(err, ERROR_DAMAGED, "a page's cursor is not of this table");
    }
    if (tree->index == NULL) {
        entry_key_item(out, tree->table, &table_key);
    } else {
        entry_key_index(out, tree->index, &index_key, table);
    }
    return true;
}

/* The whole sort part and tail of an index record whose key is cut. */
static int read_index_sort(const struct tree *tree, MDB_val record, struct entry_key *out)
{
    struct error ignored;
    struct key sort;
    struct str table_key = entry_table_key(tree, record);
    if (table_key.ptr == NULL) {
        return MDB_CORRUPTED;
    }
    struct str rest = {table_key.ptr + table_key.len, record.mv_size - table_key.len};
    if (!key_decode(rest, tree->index->sort_count, &sort, &ignored)) {
        return MDB_CORRUPTED;
    }
    for (size_t i = 0; i < sort.count; i++) {
        entry_key_add_sort(out, sort.parts[i]);
    }
    hash_128(table_key, out->bytes + out->head_len + out->sort_len);
    out->tail_len = DIGEST_BYTES;
    return 0;
}

static int read_item_sort(const struct tree *tree, MDB_val record, struct entry_key *out)
{
    struct error ignored;
    struct stored_item item;
    struct key key;
    if (!record_peek(record, &item) || !key_of_item(tree->table, item.item, &key, &ignored)) {
        return MDB_CORRUPTED;
    }
    for (size_t i = tree->table->partition_count; i < key.count; i++) {
        entry_key_add_sort(out, key.parts[i]);
    }
    return 0;
}

/* The whole sort part and tail of a record whose key is cut, at the start of out->bytes. */
static int read_sort(const struct tree *tree, MDB_val record, struct entry_key *out)
{
    out->head_len = 0;
    out->sort_len = 0;
    out->tail_len = 0;
    return tree->index == NULL ? read_item_sort(tree, record, out)
                               : read_index_sort(tree, record, out);
}

int entry_compare(const struct tree *tree, const struct entry_key *target, MDB_val key,
                  MDB_val record, int *order)
{
    assert(entry_in_partition(target, key));
    const unsigned char *rest = (const unsigned char *)key.mv_data + target->head_len;
    size_t rest_len = key.mv_size - target->head_len;
    const unsigned char *sort = target->bytes + target->head_len;
    bool cut = rest_len > SORT_INLINE_MAX + tail_len(tree);
    if (!cut || !entry_key_is_cut(target)) {
        *order = compare_bytes(rest, rest_len, sort, target->sort_len + target->tail_len);
        return 0;
    }
    *order = memcmp(rest, sort, SORT_INLINE_MAX);
    if (*order != 0) {
        *order = *order < 0 ? -1 : 1;
        return 0;
    }
    struct entry_key whole;
    int rc = read_sort(tree, record, &whole);
    if (rc == 0) {
        *order = compare_bytes(whole.bytes, whole.sort_len + whole.tail_len, sort,
                               target->sort_len + target->tail_len);
    }
    return rc;
}

int entry_seek(MDB_cursor *cursor, const struct tree *tree, struct entry_key *target, MDB_val *key,
               MDB_val *record)
{
    if (entry_key_is_cut(target)) {
        return label_seek(cursor, tree, target, key, record);
    }
    *key = entry_key_whole(target);
    return mdb_cursor_get(cursor, key, record, MDB_SET_RANGE);
}

int entry_find(MDB_cursor *cursor, const struct tree *tree, struct entry_key *target, MDB_val *key,
               MDB_val *record)
{
    if (!entry_key_is_cut(target)) {
        *key = entry_key_whole(target);
        return mdb_cursor_get(cursor, key, record, MDB_SET);
    }
    int rc = label_seek(cursor, tree, target, key, record);
    if (rc != 0 || !label_in_group(target, *key)) {
        return rc == 0 ? MDB_NOTFOUND : rc;
    }
    int order = 0;
    rc = entry_compare(tree, target, *key, *record, &order);
    return rc == 0 && order != 0 ? MDB_NOTFOUND : rc;
}

int entry_insert(MDB_cursor *cursor, const struct tree *tree, struct entry_key *target,
                 MDB_val *record, size_t *moved)
{
    if (entry_key_is_cut(target)) {
        return label_insert(cursor, tree, target, record, moved);
    }
    MDB_val key = entry_key_whole(target);
    return mdb_cursor_put(cursor, &key, record, MDB_NOOVERWRITE | MDB_RESERVE);
}
