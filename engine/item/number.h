/* number — DynamoDB's N: exact decimals of up to 38 significant digits, 1E-130 to 9.99…E+125.
 * Amazon DynamoDB Developer Guide, "Supported data types", Number.
 *
 * One number has one struct number and one encoding: 1000, 1e3 and +1000.0 are the same. */
#ifndef ENGINE_ITEM_NUMBER_H
#define ENGINE_ITEM_NUMBER_H

#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NUMBER_DIGITS_MAX = 38,
    NUMBER_EXPONENT_MIN = -130, /* of the first digit: 1E-130 */
    NUMBER_EXPONENT_MAX = 125,
    NUMBER_ENCODED_MAX = 21, /* bytes of number_encode() */
    NUMBER_TEXT_MAX = 180    /* characters of number_format(), with the closing NUL */
};

/* value = sign * d.ddd… * 10^exponent; zero has no digits, exponent 0, not negative. The first and
 * the last digit are never 0. */
struct number {
    bool negative;
    int16_t exponent;
    uint8_t count;                     /* of digits, 0..38 */
    uint8_t digits[NUMBER_DIGITS_MAX]; /* 0..9 each, most significant first */
};

/* Reads [+-]digits[.digits][(e|E)[+-]digits], also ".5" and "5.", nothing around it.
 * ERROR_ITEM: not a number; over 38 significant digits after zeros are trimmed; out of range.
 * Too small to hold is an error too, never rounded to 0. */
MUST_CHECK bool number_parse(struct str text, struct number *out, struct error *err);

/* Plain digits, never an exponent: "150", "-0.5". Writes at most NUMBER_TEXT_MAX characters with
 * the closing NUL; returns the length without it. */
size_t number_format(const struct number *n, char out[NUMBER_TEXT_MAX]);

/* The order-preserving encoding: memcmp (shorter first on a common prefix) orders encodings as the
 * numbers, and no encoding is a prefix of another. Returns the bytes written. */
size_t number_encode(const struct number *n, unsigned char out[NUMBER_ENCODED_MAX]);

/* Reads one encoding at the start of `in`; returns its length, or 0 if it is not a canonical one.
 */
size_t number_decode(const unsigned char *in, size_t len, struct number *out);

/* Bytes as DynamoDB counts a number, from its encoding: 1, and one for each two digits, and one for
 * the sign of a negative (Developer Guide, "DynamoDB item sizes and formats"). */
size_t number_size_bytes(struct str encoded);

/* <0, 0, >0 */
int number_compare(const struct number *a, const struct number *b);

/* Exact results. ERROR_ITEM: the result needs more than 38 digits or is out of range. */
MUST_CHECK bool number_add(const struct number *a, const struct number *b, struct number *out,
                           struct error *err);
MUST_CHECK bool number_subtract(const struct number *a, const struct number *b, struct number *out,
                                struct error *err);
MUST_CHECK bool number_multiply(const struct number *a, const struct number *b, struct number *out,
                                struct error *err);
struct number number_negate(const struct number *n);

/* The number that an integer is. */
struct number number_from_int(int64_t n);

/* True and *out set if n is a whole number within int64_t. */
bool number_to_int(const struct number *n, int64_t *out);

#endif
