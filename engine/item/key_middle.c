#include "engine/item/key_middle.h"

#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "engine/item/number.h"

#include <stdint.h>
#include <string.h>

enum { DIGITS = 6 }; /* bytes that are looked at, behind those that are alike */

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

/* The bytes from `at` on as digits of a number; those that are not there are 0. */
static uint64_t digits_of(struct str bytes, size_t at, unsigned base)
{
    uint64_t n = 0;
    for (size_t i = at; i < at + DIGITS; i++) {
        unsigned digit = i < bytes.len ? (unsigned char)bytes.ptr[i] : 0;
        n = n * base + (digit < base ? digit : base - 1);
    }
    return n;
}

static bool middle_bytes(struct str low, struct str high, unsigned base, struct arena *arena,
                         struct str *out)
{
    size_t alike = 0;
    while (alike < low.len && alike < high.len && low.ptr[alike] == high.ptr[alike]) {
        alike++;
    }
    uint64_t a = digits_of(low, alike, base);
    uint64_t b = digits_of(high, alike, base);
    uint64_t middle = a + (b > a ? (b - a) / 2 : 0);
    char *bytes = arena_bytes(arena, alike + DIGITS);
    memcpy(bytes, low.ptr, alike);
    for (size_t i = DIGITS; i > 0; i--) {
        bytes[alike + i - 1] = (char)(unsigned char)(middle % base);
        middle /= base;
    }
    *out = (struct str){bytes, alike + DIGITS};
    return str_compare(low, *out) < 0 && str_compare(*out, high) < 0;
}

bool key_middle(struct value low, struct value high, struct arena *arena, struct value *out)
{
    enum { ASCII = 128, BYTES = 256 };
    enum value_type type = value_type(low);
    struct str middle;
    if (type == VALUE_N) {
        return middle_number(low, high, arena, out);
    }
    bool is_text = type == VALUE_S;
    if (!middle_bytes(value_bytes(low), value_bytes(high), is_text ? ASCII : BYTES, arena,
                      &middle)) {
        return false;
    }
    *out = is_text ? value_string(arena, middle) : value_binary(arena, middle);
    return !is_text || utf8_is_valid(middle);
}
