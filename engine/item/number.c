#include "engine/item/number.h"

#include "engine/base/utf8.h"

#include <string.h>

/* The encoding: a class byte; zero has nothing else. Then the exponent, biased to 0..255, then
 * pairs of digits, 2 * pair + 1 for each but the last, which is 2 * pair: so a number that ends
 * sorts before one that goes on. All bytes behind the class of a negative are complemented. */
enum { CLASS_NEGATIVE = 1, CLASS_ZERO = 2, CLASS_POSITIVE = 3, PAIRS_MAX = 19 };

_Static_assert(NUMBER_EXPONENT_MAX - NUMBER_EXPONENT_MIN == 255, "an exponent is one byte");
_Static_assert(2 + PAIRS_MAX == NUMBER_ENCODED_MAX, "class, exponent, pairs");

/* A text as it is read: digits without the zeros around them. */
struct reading {
    struct number number;
    size_t zeros;     /* read but not yet taken: they count only if another digit follows */
    bool too_long;    /* more digits than a number holds */
    bool any;         /* a digit, if only 0 */
    int64_t exponent; /* of the first digit that is not 0 */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void take_digit(struct reading *reading, uint8_t digit)
{
    struct number *n = &reading->number;
    if (digit == 0) {
        reading->zeros++;
        return;
    }
    if (reading->zeros >= NUMBER_DIGITS_MAX || n->count + reading->zeros >= NUMBER_DIGITS_MAX) {
        reading->too_long = true;
        return;
    }
    n->count = (uint8_t)(n->count + reading->zeros);
    n->digits[n->count++] = digit;
    reading->zeros = 0;
}

/* Reads digits from `at` on, those before the point or those behind it; returns where they end. */
static size_t read_digits(struct reading *reading, struct str text, size_t at, bool fraction)
{
    for (; at < text.len && is_digit(text.ptr[at]); at++) {
        reading->any = true;
        bool first = reading->number.count == 0;
        bool zero = text.ptr[at] == '0';
        if (!fraction && !(first && zero)) {
            reading->exponent++;
        }
        if (first && zero) {
            reading->exponent -= fraction ? 1 : 0;
            continue;
        }
        take_digit(reading, (uint8_t)(text.ptr[at] - '0'));
    }
    return at;
}

/* Reads an optional sign; true if it is a minus. */
static bool read_minus(struct str text, size_t *at)
{
    if (*at == text.len || (text.ptr[*at] != '-' && text.ptr[*at] != '+')) {
        return false;
    }
    return text.ptr[(*at)++] == '-';
}

/* Reads [(e|E)[+-]digits]; a huge exponent is cut to one that is out of range anyhow. */
static bool read_exponent(struct str text, size_t *at, int64_t *exponent)
{
    if (*at == text.len || (text.ptr[*at] | 0x20) != 'e') {
        return true;
    }
    ++*at;
    bool negative = read_minus(text, at);
    size_t start = *at;
    int64_t value = 0;
    for (; *at < text.len && is_digit(text.ptr[*at]); ++*at) {
        value = value * 10 + (text.ptr[*at] - '0');
        value = value > INT32_MAX ? INT32_MAX : value;
    }
    *exponent += negative ? -value : value;
    return *at > start;
}

static bool read_number(struct str text, struct reading *reading)
{
    size_t at = 0;
    reading->number.negative = read_minus(text, &at);
    at = read_digits(reading, text, at, false);
    if (at < text.len && text.ptr[at] == '.') {
        at = read_digits(reading, text, at + 1, true);
    }
    return reading->any && read_exponent(text, &at, &reading->exponent) && at == text.len;
}

enum { SHOWN_MAX_BYTES = 60 };

bool number_parse(struct str text, struct number *out, struct error *err)
{
    struct reading reading = {.exponent = -1};
    struct str shown = utf8_cut(text, SHOWN_MAX_BYTES);
    const char *more = shown.len < text.len ? "..." : "";
    if (!read_number(text, &reading)) {
        return error_set(err, ERROR_ITEM, "'%.*s%s' is not a number", STR_ARG(shown), more);
    }
    if (reading.number.count == 0) {
        *out = (struct number){0};
        return true;
    }
    if (reading.too_long) {
        return error_set(err, ERROR_ITEM, "%.*s%s has over %d significant digits", STR_ARG(shown),
                         more, NUMBER_DIGITS_MAX);
    }
    if (reading.exponent < NUMBER_EXPONENT_MIN || reading.exponent > NUMBER_EXPONENT_MAX) {
        return error_set(err, ERROR_ITEM, "%.*s%s is out of the range of numbers", STR_ARG(shown),
                         more);
    }
    reading.number.exponent = (int16_t)reading.exponent;
    *out = reading.number;
    return true;
}

size_t number_format(const struct number *n, char out[NUMBER_TEXT_MAX])
{
    size_t len = 0;
    if (n->negative) {
        out[len++] = '-';
    }
    if (n->count == 0 || n->exponent < 0) {
        out[len++] = '0';
    }
    if (n->exponent < 0) {
        out[len++] = '.';
        size_t zeros = (size_t)(-n->exponent - 1);
        memset(out + len, '0', zeros);
        len += zeros;
    }
    for (int i = 0; i < n->count; i++) {
        out[len++] = (char)('0' + n->digits[i]);
        if (i == n->exponent && i + 1 < n->count) {
            out[len++] = '.';
        }
    }
    for (int i = n->count; n->count > 0 && i <= n->exponent; i++) {
        out[len++] = '0';
    }
    out[len] = '\0';
    return len;
}

size_t number_encode(const struct number *n, unsigned char out[NUMBER_ENCODED_MAX])
{
    if (n->count == 0) {
        out[0] = CLASS_ZERO;
        return 1;
    }
    unsigned flip = n->negative ? 0xff : 0;
    out[0] = n->negative ? CLASS_NEGATIVE : CLASS_POSITIVE;
    out[1] = (unsigned char)((unsigned)(n->exponent - NUMBER_EXPONENT_MIN) ^ flip);
    size_t len = 2;
    for (size_t i = 0; i < n->count; i += 2) {
        unsigned tens = n->digits[i];
        unsigned ones = i + 1 < n->count ? n->digits[i + 1] : 0;
        unsigned more = i + 2 < n->count ? 1 : 0;
        out[len++] = (unsigned char)(((tens * 10 + ones) * 2 + more) ^ flip);
    }
    return len;
}

/* Reads the pairs; returns their count, or 0 where they are not canonical. */
static size_t decode_pairs(const unsigned char *in, size_t len, unsigned flip, struct number *out)
{
    for (size_t i = 0; i < len && i < PAIRS_MAX; i++) {
        unsigned byte = in[i] ^ flip;
        unsigned pair = byte / 2;
        bool last = byte % 2 == 0;
        if (pair > 99 || (i == 0 && pair < 10) || (last && pair == 0)) {
            return 0;
        }
        out->digits[out->count++] = (uint8_t)(pair / 10);
        out->digits[out->count++] = (uint8_t)(pair % 10);
        if (last) {
            out->count = (uint8_t)(out->count - (pair % 10 == 0 ? 1 : 0));
            return i + 1;
        }
    }
    return 0;
}

size_t number_decode(const unsigned char *in, size_t len, struct number *out)
{
    if (len == 0) {
        return 0;
    }
    struct number n = {0};
    if (in[0] == CLASS_ZERO) {
        *out = n;
        return 1;
    }
    if (len < 3 || (in[0] != CLASS_NEGATIVE && in[0] != CLASS_POSITIVE)) {
        return 0;
    }
    unsigned flip = in[0] == CLASS_NEGATIVE ? 0xff : 0;
    n.negative = in[0] == CLASS_NEGATIVE;
    n.exponent = (int16_t)((int)(in[1] ^ flip) + NUMBER_EXPONENT_MIN);
    size_t pairs = decode_pairs(in + 2, len - 2, flip, &n);
    if (pairs == 0) {
        return 0;
    }
    *out = n;
    return 2 + pairs;
}

size_t number_size_bytes(struct str encoded)
{
    bool negative = encoded.ptr[0] == CLASS_NEGATIVE;
    return encoded.len == 1 ? 1 : encoded.len - 1 + (negative ? 1 : 0);
}

static int compare_magnitudes(const struct number *a, const struct number *b)
{
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -1 : 1;
    }
    size_t common = a->count < b->count ? a->count : b->count;
    int order = memcmp(a->digits, b->digits, common);
    return order != 0 ? order : a->count - b->count;
}

static int sign(const struct number *n)
{
    return n->count == 0 ? 0 : n->negative ? -1 : 1;
}

int number_compare(const struct number *a, const struct number *b)
{
    if (sign(a) != sign(b)) {
        return sign(a) - sign(b);
    }
    return sign(a) < 0 ? compare_magnitudes(b, a) : compare_magnitudes(a, b);
}

struct number number_negate(const struct number *n)
{
    struct number negated = *n;
    negated.negative = n->count > 0 && !n->negative;
    return negated;
}

struct number number_from_int(int64_t n)
{
    struct number number = {.negative = n < 0};
    uint64_t rest = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    uint8_t reversed[20] = {0};
    int count = 0;
    while (rest > 0) {
        reversed[count++] = (uint8_t)(rest % 10);
        rest /= 10;
    }
    int zeros = 0;
    while (zeros < count && reversed[zeros] == 0) {
        zeros++;
    }
    for (int i = count - 1; i >= zeros; i--) {
        number.digits[number.count++] = reversed[i];
    }
    number.exponent = (int16_t)(count > 0 ? count - 1 : 0);
    return number;
}

bool number_to_int(const struct number *n, int64_t *out)
{
    if (n->exponent < 0 || n->exponent > 18 || n->count > n->exponent + 1) {
        return false;
    }
    uint64_t magnitude = 0; /* 19 digits fit */
    for (int i = 0; i <= n->exponent; i++) {
        magnitude = magnitude * 10 + (i < n->count ? n->digits[i] : 0);
    }
    if (magnitude > (uint64_t)INT64_MAX + (n->negative ? 1 : 0)) {
        return false;
    }
    *out = (int64_t)(n->negative ? 0 - magnitude : magnitude);
    return true;
}
