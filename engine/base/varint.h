/* varint — unsigned integers in 1 to 10 bytes, seven bits each, low bits first (LEB128). */
#ifndef ENGINE_BASE_VARINT_H
#define ENGINE_BASE_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX_BYTES = 10 };

/* The bytes that varint_put() writes for n. */
static inline size_t varint_size(uint64_t n)
{
    size_t size = 1;
    while (n >= 0x80) {
        n >>= 7;
        size++;
    }
    return size;
}

/* Writes n at `out`, which has room for VARINT_MAX_BYTES; returns the bytes written. */
static inline size_t varint_put(unsigned char *out, uint64_t n)
{
    size_t size = 0;
    while (n >= 0x80) {
        out[size++] = (unsigned char)(n | 0x80);
        n >>= 7;
    }
    out[size++] = (unsigned char)n;
    return size;
}

/* Reads a number from at most `len` bytes; returns the bytes read, or 0 where they are cut short,
 * too long, or not the shortest form (so that equal numbers have equal bytes). */
static inline size_t varint_get(const unsigned char *in, size_t len, uint64_t *n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len && i < VARINT_MAX_BYTES; i++) {
        if (i == VARINT_MAX_BYTES - 1 && in[i] > 1) {
            return 0;
        }
        value |= (uint64_t)(in[i] & 0x7f) << (7 * i);
        if (in[i] < 0x80) {
            bool shortest = i == 0 || in[i] != 0;
            *n = shortest ? value : *n;
            return shortest ? i + 1 : 0;
        }
    }
    return 0;
}

#endif
