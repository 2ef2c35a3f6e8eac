/* undo_bytes — how a record lies in bytes: its kind, the length of its body in four bytes, the
 * body.
 *
 *   PUT     key, digest of the item after
 *   UPDATE  key, changes
 *   DELETE  image
 *   MOVE    new key, digest of the item after, image, changes
 *
 * A key is a varint length and key_encode(). Changes go to the end of the body: varint name length,
 * name, digest of the value after and, for UPDATE, the value before (MOVE has it in its image).
 * Numbers are little-endian. */
#ifndef ENGINE_UNDO_UNDO_BYTES_INTERNAL_H
#define ENGINE_UNDO_UNDO_BYTES_INTERNAL_H

#include "engine/base/hash.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

#include <stdint.h>

enum {
    UNDO_HEAD_BYTES = 1 + sizeof(uint32_t),
    UNDO_MISSING = 0 /* one byte where a value would stand; no type has this tag */
};

/* What a record holds of a value that stands after the write. */
static inline uint64_t undo_digest(struct value v)
{
    return value_is_missing(v) ? 0 : hash_64((struct str){(const char *)v.bytes, v.len});
}

#endif
