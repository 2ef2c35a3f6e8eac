#include "engine/base/buffer.h"

#include "engine/base/arena.h"
#include "engine/base/varint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* 2^64 has 20 digits. */
enum { FIRST_CAPACITY = 256, DIGITS_MAX = 20 };

void buffer_free(struct buffer *buffer)
{
    heap_free(buffer->bytes);
    *buffer = (struct buffer){0};
}

char *buffer_reserve(struct buffer *buffer, size_t extra)
{
    if (buffer->bytes == NULL || buffer->capacity - buffer->len < extra) {
        size_t wanted = buffer->capacity == 0 ? FIRST_CAPACITY : buffer->capacity * 2;
        if (wanted - buffer->len < extra) {
            wanted = buffer->len + extra;
        }
        buffer->bytes = heap_resize(buffer->bytes, wanted);
        buffer->capacity = wanted;
    }
    return buffer->bytes + buffer->len;
}

void buffer_add(struct buffer *buffer, struct str s)
{
    if (s.len > 0) {
        memcpy(buffer_reserve(buffer, s.len), s.ptr, s.len);
        buffer->len += s.len;
    }
}

void buffer_add_char(struct buffer *buffer, char c)
{
    *buffer_reserve(buffer, 1) = c;
    buffer->len++;
}

void buffer_add_number(struct buffer *buffer, uint64_t n)
{
    char digits[DIGITS_MAX];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    buffer_add(buffer, (struct str){digits + at, sizeof digits - at});
}

void buffer_add_varint(struct buffer *buffer, uint64_t n)
{
    unsigned char bytes[VARINT_MAX_BYTES];
    size_t len = varint_put(bytes, n);
    memcpy(buffer_reserve(buffer, len), bytes, len);
    buffer->len += len;
}

void buffer_add_quoted(struct buffer *buffer, struct str s, char quote)
{
    buffer_add_char(buffer, quote);
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == quote) {
            buffer_add_char(buffer, quote);
        }
        buffer_add_char(buffer, s.ptr[i]);
    }
    buffer_add_char(buffer, quote);
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len > 0) {
        char *place = buffer_reserve(buffer, (size_t)len + 1);
        buffer->len += (size_t)vsnprintf(place, (size_t)len + 1, format, again);
    }
    va_end(again);
}
