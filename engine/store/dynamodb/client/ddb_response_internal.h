/* ddb_response — one reply of HTTP/1.1, from bytes as they come. Strict: what could be read in two
 * ways is broken. RFC 9112. Pure. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_RESPONSE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_RESPONSE_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* A value that is longer is none that is known: it becomes "?". */
enum { DDB_RESPONSE_VALUE_SIZE = 32 };

/* What is read next. */
enum ddb_response_state {
    DDB_RESPONSE_STATUS_LINE,
    DDB_RESPONSE_FIELD,
    DDB_RESPONSE_COUNTED, /* `left` bytes of a body whose length was given */
    DDB_RESPONSE_TO_END,  /* a body until the connection ends */
    DDB_RESPONSE_CHUNK_SIZE,
    DDB_RESPONSE_CHUNK, /* `left` bytes of a chunk */
    DDB_RESPONSE_CHUNK_END,
    DDB_RESPONSE_TRAILER,
    DDB_RESPONSE_WHOLE,
    DDB_RESPONSE_BROKEN
};

/* All zero is one of which nothing has come, but for body_max. */
struct ddb_response {
    size_t body_max; /* bytes */
    enum ddb_response_state state;
    int status;
    bool keeps_alive; /* the connection may be used again; counts once it is whole */
    char crc32[DDB_RESPONSE_VALUE_SIZE]; /* x-amz-crc32; "": none, as the others */
    char encoding[DDB_RESPONSE_VALUE_SIZE];
    char date[DDB_RESPONSE_VALUE_SIZE];
    struct buffer body; /* as it was sent, without chunks */

    /* ddb_response.c's own */
    struct buffer line; /* one that has not ended yet */
    size_t head_bytes;  /* of the header's lines, and of the trailer's */
    size_t left;
    bool is_old; /* HTTP/1.0 */
    bool has_length;
    bool is_chunked;
};

/* Forgets what has come, but keeps the buffers. */
void ddb_response_reset(struct ddb_response *response);
void ddb_response_free(struct ddb_response *response);

/* Takes bytes that came, as far as the reply goes. Returns how many: fewer than all once it is
 * whole or broken. */
size_t ddb_response_take(struct ddb_response *response, struct str bytes);

/* The connection has ended: what waited for that is whole, what did not is broken. */
void ddb_response_end(struct ddb_response *response);

/* Whether nothing more is wanted. */
bool ddb_response_is_over(const struct ddb_response *response);

#endif
