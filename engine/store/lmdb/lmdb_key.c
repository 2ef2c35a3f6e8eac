#include "engine/store/lmdb/lmdb_key_internal.h"

#include "engine/base/hash.h"

#include <assert.h>
#include <string.h>

enum { DIGEST_MARK = 0xff, JOINED_MAX = PARTITION_KEY_MAX_BYTES + KEY_PARTS_MAX * 8 };

static struct str encoded(struct value v)
{
    return (struct str){(const char *)v.bytes, v.len};
}

/* The encodings one after the other; one value is where it is. */
static struct str join(const struct value *values, size_t count, char *room)
{
    if (count == 1) {
        return encoded(values[0]);
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        assert(used + values[i].len <= JOINED_MAX);
        memcpy(room + used, values[i].bytes, values[i].len);
        used += values[i].len;
    }
    return (struct str){room, used};
}

void entry_key_head(struct entry_key *out, const struct value *partition, size_t count)
{
    char room[JOINED_MAX];
    struct str joined = join(partition, count, room);
    put_u64(out->bytes, hash_64(joined));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used += 1 + value_bytes(partition[i]).len;
    }
    out->sort_len = 0;
    out->tail_len = 0;
    if (used > PARTITION_INLINE_MAX) {
        out->bytes[HASH_BYTES] = DIGEST_MARK;
        hash_128(joined, out->bytes + HASH_BYTES + 1);
        out->head_len = HASH_BYTES + 1 + DIGEST_BYTES;
        return;
    }
    unsigned char *at = out->bytes + HASH_BYTES;
    for (size_t i = 0; i < count; i++) {
        struct str content = value_bytes(partition[i]);
        *at++ = (unsigned char)content.len;
        memcpy(at, content.ptr, content.len);
        at += content.len;
    }
    out->head_len = HASH_BYTES + used;
}

/* Each 0x00 becomes 0x00 0xff, so that the end, 0x00 0x00, is below all that may follow. */
static size_t escape(unsigned char *out, struct str content)
{
    if (!str_has(content, '\0')) {
        memcpy(out, content.ptr, content.len);
        return content.len;
    }
    size_t used = 0;
    for (size_t i = 0; i < content.len; i++) {
        out[used++] = (unsigned char)content.ptr[i];
        if (content.ptr[i] == '\0') {
            out[used++] = 0xff;
        }
    }
    return used;
}

static unsigned char *sort_end(struct entry_key *key)
{
    return key->bytes + key->head_len + key->sort_len;
}

void entry_key_add_prefix(struct entry_key *out, struct value v)
{
    struct str content = value_bytes(v);
    assert(content.len <= SORT_KEY_MAX_BYTES);
    out->sort_len += escape(sort_end(out), content);
}

void entry_key_add_sort(struct entry_key *out, struct value v)
{
    entry_key_add_prefix(out, v);
    unsigned char *end = sort_end(out);
    end[0] = 0;
    end[1] = 0;
    out->sort_len += 2;
}

void entry_key_item(struct entry_key *out, const struct key_schema *schema, const struct key *key)
{
    entry_key_head(out, key->parts, schema->partition_count);
    for (size_t i = 0; i < schema->sort_count; i++) {
        entry_key_add_sort(out, key->parts[schema->partition_count + i]);
    }
}

void entry_key_index(struct entry_key *out, const struct key_schema *index, const struct key *key,
                     struct str table_key)
{
    entry_key_item(out, index, key);
    hash_128(table_key, sort_end(out));
    out->tail_len = DIGEST_BYTES;
}

void entry_key_after(struct entry_key *key)
{
    sort_end(key)[key->tail_len++] = 0;
}

bool entry_key_past_prefix(struct entry_key *key)
{
    unsigned char *sort = key->bytes + key->head_len;
    while (key->sort_len > 0 && sort[key->sort_len - 1] == 0xff) {
        key->sort_len--;
    }
    if (key->sort_len == 0) {
        return true;
    }
    sort[key->sort_len - 1]++;
    return false;
}
