/* ddb_body — a reply's body as it came over the wire: proved, then inflated. Pure. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_BODY_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_BODY_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* As it was sent. */
struct ddb_body {
    struct str raw;
    struct str crc32;    /* the x-amz-crc32 header, decimal; empty: none */
    struct str encoding; /* the Content-Encoding header; empty: none */
};

/* The checksum is of the bytes as sent: so it is compared before anything is inflated.
 *   max  bytes, inflated
 * False: the checksum differs, the encoding is not known or broken, or it is not one JSON object
 * from '{' to '}'. */
bool ddb_body_read(const struct ddb_body *body, size_t max, struct arena *arena, struct str *out);

#endif
