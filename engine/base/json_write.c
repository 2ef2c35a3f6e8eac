#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/base/str.h"

#include <stddef.h>

/* The letter of a short escape, or NUL. */
static char short_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
        return c;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return '\0';
    }
}

static void write_escape(struct buffer *out, char c)
{
    char letter = short_escape(c);
    if (letter == '\0') {
        buffer_format(out, "\\u%04x", (unsigned)c);
        return;
    }
    buffer_add_char(out, '\\');
    buffer_add_char(out, letter);
}

void json_write_string(struct buffer *out, struct str s)
{
    char *place = buffer_reserve(out, s.len + 2);
    place[0] = '"';
    out->len++;
    size_t start = 0;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            buffer_add(out, (struct str){s.ptr + start, i - start});
            write_escape(out, s.ptr[i]);
            start = i + 1;
        }
    }
    if (start < s.len) {
        buffer_add(out, (struct str){s.ptr + start, s.len - start});
    }
    buffer_add_char(out, '"');
}
