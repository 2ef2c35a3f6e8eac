/* buffer — bytes that grow, on the heap. */
#ifndef ENGINE_BASE_BUFFER_H
#define ENGINE_BASE_BUFFER_H

#include "engine/base/str.h"

#include <stddef.h>
#include <stdint.h>

struct buffer {
    char *bytes;
    size_t len;
    size_t capacity;
};

/* An empty buffer is {0}; buffer_free() releases the bytes and leaves it empty again. */
void buffer_free(struct buffer *buffer);

/* Room for `extra` more bytes behind what is there; the returned pointer is to the first of them.
 * The caller adds to `len` what it has written. */
char *buffer_reserve(struct buffer *buffer, size_t extra);

/* Each adds behind what is there; a number as decimal digits, a varint as varint_put() writes it.
 */
void buffer_add(struct buffer *buffer, struct str s);
void buffer_add_char(struct buffer *buffer, char c);
void buffer_add_number(struct buffer *buffer, uint64_t n);
void buffer_add_varint(struct buffer *buffer, uint64_t n);

/* Adds text made as by printf. */
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds s between two quotes, and doubles those within it. */
void buffer_add_quoted(struct buffer *buffer, struct str s, char quote);

/* What is in it, borrowed: valid until something is added. */
static inline struct str buffer_str(const struct buffer *buffer)
{
    return (struct str){buffer->bytes, buffer->len};
}

#endif
