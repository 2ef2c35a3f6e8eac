#include "engine/store/dynamodb/client/ddb_body_internal.h"

#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_profile_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

/* zlib: 32 KB of window, with the header of gzip. */
enum { GZIP_WINDOW = 15 + 16, INFLATE_STEP = 64 * 1024 };

static bool is_proved(struct str raw, struct str crc)
{
    char digits[16] = "";
    if (crc.len == 0 || crc.len >= sizeof digits) {
        return crc.len == 0;
    }
    memcpy(digits, crc.ptr, crc.len);
    uLong sum = crc32_z(crc32_z(0, NULL, 0), (const Bytef *)raw.ptr, raw.len);
    return strtoull(digits, NULL, 10) == sum;
}

static bool inflate_all(z_stream *stream, size_t max, struct buffer *out)
{
    int code = Z_OK;
    while (code == Z_OK && out->len <= max) {
        stream->next_out = (Bytef *)buffer_reserve(out, INFLATE_STEP);
        stream->avail_out = INFLATE_STEP;
        code = inflate(stream, Z_NO_FLUSH);
        out->len += INFLATE_STEP - stream->avail_out;
    }
    return code == Z_STREAM_END && stream->avail_in == 0 && out->len <= max;
}

static bool gunzip(struct str raw, size_t max, struct arena *arena, struct str *out)
{
    struct arena *scratch = arena_new();
    char *input = arena_bytes(scratch, raw.len);
    memcpy(input, raw.ptr, raw.len);
    z_stream stream = {.next_in = (Bytef *)input, .avail_in = (uInt)raw.len};
    struct buffer inflated = {0};
    bool ok = raw.len <= UINT32_MAX && inflateInit2(&stream, GZIP_WINDOW) == Z_OK;
    if (ok) {
        ok = inflate_all(&stream, max, &inflated);
        (void)inflateEnd(&stream);
    }
    if (ok) {
        *out = arena_copy(arena, buffer_str(&inflated));
    }
    buffer_free(&inflated);
    arena_free(scratch);
    return ok;
}

/* A reply that broke off where no length was given may pass for a whole one. */
static bool is_object(struct str text)
{
    struct str inner = ddb_trim(text);
    return inner.len >= 2 && inner.ptr[0] == '{' && inner.ptr[inner.len - 1] == '}';
}

bool ddb_body_read(const struct ddb_body *body, size_t max, struct arena *arena, struct str *out)
{
    struct str text = {NULL, 0};
    if (body->raw.len == 0 || !is_proved(body->raw, body->crc32)) {
        return false;
    }
    if (str_equal(body->encoding, STR("gzip"))) {
        if (!gunzip(body->raw, max, arena, &text)) {
            return false;
        }
    } else if (body->encoding.len > 0 && !str_equal(body->encoding, STR("identity"))) {
        return false;
    } else {
        text = arena_copy(arena, body->raw);
    }
    if (!is_object(text)) {
        return false;
    }
    *out = text;
    return true;
}
