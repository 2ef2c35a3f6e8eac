#include "engine/item/key_middle.h"

#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "engine/item/number.h"

#include <stdint.h>
#include <string.h>

enum { DIGITS = 3, CHARACTER_BYTES = 4 }; /* so many of the most characters make 61 bits */

/* The Unicode Standard, 3.9: of these there are no characters. */
enum { SURROGATES_FIRST = 0xd800, SURROGATES = 0x800 };

/* ---------------------------------------------------------------- numbers */

static bool middle_number(struct value low, struct value high, struct arena *arena,
                          struct value *out)
{
    struct number a = value_number(low);
    struct number b = value_number(high);
    struct number half;
    struct number sum;
    struct number middle;
    struct error err = {0};
    if (!number_parse(STR("0.5"), &half, &err) || !number_add(&a, &b, &sum, &err) ||
        !number_multiply(&sum, &half, &middle, &err)) {
        return false;
    }
    *out = value_from_number(arena, &middle);
    return number_compare(&a, &middle) < 0 && number_compare(&middle, &b) < 0;
}

/* ---------------------------------------------------------------- texts and bytes */

/* What is looked at behind what two strings have in common: bytes, or characters by their place
 * among all, without the gap of the surrogates. That is the order of their UTF-8, too. */
struct digits {
    uint32_t list[DIGITS]; /* what is not there is 0 */
};

static struct digits read_digits(struct str s, size_t at, bool is_text)
{
    struct digits out = {{0}};
    for (size_t i = 0; i < DIGITS && at < s.len; i++) {
        uint32_t digit = is_text ? utf8_next(s, &at) : (unsigned char)s.ptr[at++];
        out.list[i] = is_text && digit >= SURROGATES_FIRST ? digit - SURROGATES : digit;
    }
    return out;
}

/* More than any digit, and not more than is needed: what comes between is to look like the two. */
static uint32_t base_of(const struct digits *low, const struct digits *high, bool is_text)
{
    static const uint32_t bases[] = {0x80, 0x800, 0x10000 - SURROGATES, 0x110000 - SURROGATES};
    size_t base = 0;
    for (size_t i = 0; is_text && i < DIGITS; i++) {
        while (low->list[i] >= bases[base] || high->list[i] >= bases[base]) {
            base++;
        }
    }
    return is_text ? bases[base] : 256;
}

static uint64_t number_of(const struct digits *digits, uint32_t base)
{
    uint64_t n = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        n = n * base + digits->list[i];
    }
    return n;
}

static struct digits digits_between(const struct digits *low, const struct digits *high,
                                    uint32_t base)
{
    struct digits out;
    uint64_t a = number_of(low, base);
    uint64_t b = number_of(high, base);
    uint64_t middle = a + (b > a ? (b - a) / 2 : 0);
    for (size_t i = DIGITS; i > 0; i--) {
        out.list[i - 1] = (uint32_t)(middle % base);
        middle /= base;
    }
    return out;
}

/* Bytes that both begin with; in texts, of whole characters. */
static size_t find_alike(struct str low, struct str high, bool is_text)
{
    size_t len = 0;
    while (len < low.len && len < high.len && low.ptr[len] == high.ptr[len]) {
        len++;
    }
    return is_text ? utf8_cut(low, len).len : len;
}

/* Some bytes of `low` and digits, as long as a key may be. */
static struct str join(struct str low, const struct digits *digits, bool is_text,
                       struct arena *arena)
{
    char *bytes = arena_bytes(arena, low.len + (size_t)DIGITS * CHARACTER_BYTES);
    size_t len = low.len;
    size_t count = DIGITS;
    memcpy(bytes, low.ptr, low.len);
    while (count > 0 && digits->list[count - 1] == 0) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t digit = digits->list[i];
        if (is_text) {
            len += utf8_put(bytes + len, digit >= SURROGATES_FIRST ? digit + SURROGATES : digit);
        } else {
            bytes[len++] = (char)(unsigned char)digit;
        }
    }
    size_t most = len < SORT_KEY_MAX_BYTES ? len : SORT_KEY_MAX_BYTES;
    return is_text ? utf8_cut((struct str){bytes, len}, most) : (struct str){bytes, most};
}

static bool is_between(struct str low, struct str middle, struct str high)
{
    return str_compare(low, middle) < 0 && str_compare(middle, high) < 0;
}

/* Where the digits do not tell the two apart: the least that is greater than `low`. */
static struct str next_after(struct str low, struct arena *arena)
{
    char *bytes = arena_bytes(arena, low.len + 1);
    memcpy(bytes, low.ptr, low.len);
    bytes[low.len] = '\0';
    return (struct str){bytes, low.len < SORT_KEY_MAX_BYTES ? low.len + 1 : low.len};
}

static bool middle_string(struct str low, struct str high, bool is_text, struct arena *arena,
                          struct str *out)
{
    size_t alike = find_alike(low, high, is_text);
    struct digits a = read_digits(low, alike, is_text);
    struct digits b = read_digits(high, alike, is_text);
    struct digits middle = digits_between(&a, &b, base_of(&a, &b, is_text));
    *out = join((struct str){low.ptr, alike}, &middle, is_text, arena);
    if (!is_between(low, *out, high)) {
        *out = next_after(low, arena);
    }
    return is_between(low, *out, high);
}

bool key_middle(struct value low, struct value high, struct arena *arena, struct value *out)
{
    enum value_type type = value_type(low);
    struct str middle;
    if (type == VALUE_N) {
        return middle_number(low, high, arena, out);
    }
    bool is_text = type == VALUE_S;
    if (!middle_string(value_bytes(low), value_bytes(high), is_text, arena, &middle)) {
        return false;
    }
    *out = is_text ? value_string(arena, middle) : value_binary(arena, middle);
    return true;
}
