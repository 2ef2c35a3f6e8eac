/* pair — how a (key, value) pair lies in memory and in runs: varint key length, varint value
 * length, key, value. */
#ifndef ENGINE_SORT_PAIR_INTERNAL_H
#define ENGINE_SORT_PAIR_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/base/varint.h"

#include <stddef.h>
#include <string.h>

/* Appends a pair. */
static inline void pair_write(struct str key, struct str value, struct buffer *out)
{
    char *start = buffer_reserve(out, (size_t)2 * VARINT_MAX_BYTES + key.len + value.len);
    char *at = start + varint_put((unsigned char *)start, key.len);
    at += varint_put((unsigned char *)at, value.len);
    if (key.len > 0) {
        memcpy(at, key.ptr, key.len);
    }
    if (value.len > 0) {
        memcpy(at + key.len, value.ptr, value.len);
    }
    out->len += (size_t)(at - start) + key.len + value.len;
}

/* Reads the pair at the start of `bytes`; returns its length, or 0 where it is cut short. */
static inline size_t pair_read(struct str bytes, struct str *key, struct str *value)
{
    const unsigned char *in = (const unsigned char *)bytes.ptr;
    uint64_t key_len = 0, value_len = 0;
    size_t first = varint_get(in, bytes.len, &key_len);
    size_t second = first == 0 ? 0 : varint_get(in + first, bytes.len - first, &value_len);
    size_t left = bytes.len - first - second;
    if (second == 0 || key_len > left || value_len > left - key_len) {
        return 0;
    }
    *key = (struct str){bytes.ptr + first + second, (size_t)key_len};
    *value = (struct str){key->ptr + key->len, (size_t)value_len};
    return first + second + key->len + value->len;
}

#endif
