#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"

#include <stdbool.h>
#include <stddef.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { NO_DIGIT = 64 };

/* The last group, of one or two bytes. */
static size_t write_tail(const unsigned char *in, size_t left, char *out)
{
    unsigned second = left > 1 ? in[1] : 0;
    out[0] = alphabet[in[0] >> 2];
    out[1] = alphabet[(in[0] & 3U) << 4 | second >> 4];
    out[2] = '=';
    if (left > 1) {
        out[2] = alphabet[(second & 15) << 2];
    }
    out[3] = '=';
    return 4;
}

void base64_write(struct str bytes, struct buffer *out)
{
    const unsigned char *in = (const unsigned char *)bytes.ptr;
    char *text = buffer_reserve(out, (bytes.len + 2) / 3 * 4);
    size_t len = 0;
    size_t at = 0;
    for (; bytes.len - at >= 3; at += 3) {
        unsigned group = (unsigned)in[at] << 16 | (unsigned)in[at + 1] << 8 | in[at + 2];
        text[len++] = alphabet[group >> 18];
        text[len++] = alphabet[group >> 12 & 63];
        text[len++] = alphabet[group >> 6 & 63];
        text[len++] = alphabet[group & 63];
    }
    if (at < bytes.len) {
        len += write_tail(in + at, bytes.len - at, text + len);
    }
    out->len += len;
}

static unsigned digit_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (unsigned)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (unsigned)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0') + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : NO_DIGIT;
}

/* Three bytes from four digits, of which the last `padding` are '='. The bits that padding leaves
 * over must be 0, so that equal bytes have one text. */
static bool read_group(const char *text, size_t padding, char *out)
{
    unsigned group = 0;
    for (size_t i = 0; i < 4; i++) {
        unsigned digit = i < 4 - padding ? digit_value(text[i]) : 0;
        if (digit == NO_DIGIT) {
            return false;
        }
        group = group << 6 | digit;
    }
    for (size_t i = 0; i < 3 - padding; i++) {
        out[i] = (char)(group >> (16 - 8 * i) & 0xff);
    }
    return (group & ((1U << (8 * padding)) - 1)) == 0;
}

bool base64_read(struct str text, struct arena *arena, struct str *out, struct error *err)
{
    if (text.len % 4 != 0) {
        return error_set(err, ERROR_INPUT, "base64 of %zu characters, not a multiple of 4",
                         text.len);
    }
    size_t padding = 0;
    while (padding < 2 && text.len > 0 && text.ptr[text.len - 1 - padding] == '=') {
        padding++;
    }
    size_t len = text.len / 4 * 3 - padding;
    char *bytes = arena_bytes(arena, len);
    for (size_t at = 0; at < text.len; at += 4) {
        size_t here = at + 4 == text.len ? padding : 0;
        if (!read_group(text.ptr + at, here, bytes + at / 4 * 3)) {
            return error_set(err, ERROR_INPUT, "not canonical base64, at character %zu", at + 1);
        }
    }
    *out = (struct str){bytes, len};
    return true;
}
