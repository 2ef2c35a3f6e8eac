#include "engine/base/hash.h"
#include "engine/undo/undo.h"

#include <assert.h>
#include <endian.h>
#include <lz4.h>
#include <string.h>

/* Magic and version, checksum of what follows it, unpacked size; then one lz4 block. Numbers are
 * little-endian. */
enum { MAGIC_BYTES = 4, CHECKSUM_BYTES = 8, SIZE_BYTES = 4 };
enum { CHECKED_FROM = MAGIC_BYTES + CHECKSUM_BYTES, HEAD_BYTES = CHECKED_FROM + SIZE_BYTES };

static const char magic[MAGIC_BYTES] = {'R', 'F', 'U', 1};

static uint64_t checksum(struct str frame)
{
    return htole64(hash_64((struct str){frame.ptr + CHECKED_FROM, frame.len - CHECKED_FROM}));
}

void undo_pack(struct str records, struct buffer *frame)
{
    assert(records.len <= LZ4_MAX_INPUT_SIZE);
    int bound = LZ4_compressBound((int)records.len);
    char *head = buffer_reserve(frame, HEAD_BYTES + (size_t)bound);
    uint32_t size = htole32((uint32_t)records.len);
    memcpy(head, magic, MAGIC_BYTES);
    memcpy(head + CHECKED_FROM, &size, SIZE_BYTES);
    int packed = LZ4_compress_default(records.ptr, head + HEAD_BYTES, (int)records.len, bound);
    size_t whole = HEAD_BYTES + (size_t)packed;
    uint64_t sum = checksum((struct str){head, whole});
    memcpy(head + MAGIC_BYTES, &sum, CHECKSUM_BYTES);
    frame->len += whole;
}

static bool damaged(struct error *err, const char *what)
{
    return error_set(err, ERROR_DAMAGED, "damaged undo frame: %s", what);
}

bool undo_unpack(struct str frame, size_t limit, struct arena *arena, struct str *records,
                 struct error *err)
{
    if (frame.len < HEAD_BYTES || frame.len - HEAD_BYTES > LZ4_MAX_INPUT_SIZE ||
        memcmp(frame.ptr, magic, MAGIC_BYTES) != 0) {
        return damaged(err, "it does not begin as one");
    }
    uint64_t sum = 0;
    uint32_t size = 0;
    memcpy(&sum, frame.ptr + MAGIC_BYTES, CHECKSUM_BYTES);
    memcpy(&size, frame.ptr + CHECKED_FROM, SIZE_BYTES);
    size = le32toh(size);
    if (sum != checksum(frame)) {
        return damaged(err, "its checksum is wrong");
    }
    if (size > limit || size > LZ4_MAX_INPUT_SIZE) {
        return damaged(err, "it is too large");
    }
    char *bytes = arena_bytes(arena, size);
    int packed = (int)(frame.len - HEAD_BYTES);
    if (LZ4_decompress_safe(frame.ptr + HEAD_BYTES, bytes, packed, (int)size) != (int)size) {
        return damaged(err, "it does not unpack");
    }
    *records = (struct str){bytes, size};
    return true;
}
