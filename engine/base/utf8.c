#include "engine/base/utf8.h"

#include "engine/base/utf8_case_table.h"

#include <string.h>

static bool is_continuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* The ranges of the second byte are those of RFC 3629, section 4. */
static bool is_second(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return is_continuation(second);
    }
}

/* Bytes of the character that starts with `first`; 0 if none does. */
static size_t character_size(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static size_t ascii_prefix(const unsigned char *bytes, size_t len)
{
    size_t at = 0;
    uint64_t word = 0;
    for (; len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, bytes + at, sizeof word);
        if ((word & UINT64_C(0x8080808080808080)) != 0) {
            break;
        }
    }
    while (at < len && bytes[at] < 0x80) {
        at++;
    }
    return at;
}

static size_t well_formed(const unsigned char *bytes, size_t len)
{
    size_t size = character_size(bytes[0]);
    if (size == 0 || size > len || (size > 1 && !is_second(bytes[0], bytes[1]))) {
        return 0;
    }
    for (size_t i = 2; i < size; i++) {
        if (!is_continuation(bytes[i])) {
            return 0;
        }
    }
    return size;
}

size_t utf8_valid_prefix(struct str s)
{
    const unsigned char *bytes = (const unsigned char *)s.ptr;
    size_t at = 0;
    while (at < s.len) {
        at += ascii_prefix(bytes + at, s.len - at);
        if (at == s.len) {
            break;
        }
        size_t size = well_formed(bytes + at, s.len - at);
        if (size == 0) {
            break;
        }
        at += size;
    }
    return at;
}

bool utf8_is_valid(struct str s)
{
    return utf8_valid_prefix(s) == s.len;
}

uint32_t utf8_next(struct str s, size_t *at)
{
    const unsigned char *bytes = (const unsigned char *)s.ptr + *at;
    size_t size = character_size(bytes[0]);
    *at += size;
    if (size == 1) {
        return bytes[0];
    }
    uint32_t character = bytes[0] & (0x7fU >> size);
    for (size_t i = 1; i < size; i++) {
        character = (character << 6) | (bytes[i] & 0x3fU);
    }
    return character;
}

size_t utf8_put(char out[4], uint32_t character)
{
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    out[0] = (char)((0xf00U >> size & 0xf0U) | character);
    return size;
}

struct str utf8_cut(struct str s, size_t max)
{
    size_t len = s.len < max ? s.len : max;
    while (len > 0 && len < s.len && is_continuation((unsigned char)s.ptr[len])) {
        len--;
    }
    return (struct str){s.ptr, len};
}

size_t utf8_count(struct str s)
{
    size_t count = 0;
    for (size_t i = 0; i < s.len; i++) {
        count += is_continuation((unsigned char)s.ptr[i]) ? 0 : 1;
    }
    return count;
}

/* Characters of four bytes are two units. */
size_t utf8_utf16_units(struct str s)
{
    size_t count = utf8_count(s);
    for (size_t i = 0; i < s.len; i++) {
        count += (unsigned char)s.ptr[i] >= 0xf0 ? 1 : 0;
    }
    return count;
}

static uint32_t map_case(const struct case_range *ranges, size_t count, uint32_t character)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (character > ranges[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == count || character < ranges[low].first ||
        (character - ranges[low].first) % ranges[low].step != 0) {
        return character;
    }
    return (uint32_t)((int32_t)character + ranges[low].delta);
}

uint32_t utf8_to_lower(uint32_t character)
{
    if (character < 0x80) {
        return character >= 'A' && character <= 'Z' ? character + ('a' - 'A') : character;
    }
    return map_case(lower_ranges, sizeof lower_ranges / sizeof *lower_ranges, character);
}

uint32_t utf8_to_upper(uint32_t character)
{
    if (character < 0x80) {
        return character >= 'a' && character <= 'z' ? character - ('a' - 'A') : character;
    }
    return map_case(upper_ranges, sizeof upper_ranges / sizeof *upper_ranges, character);
}
