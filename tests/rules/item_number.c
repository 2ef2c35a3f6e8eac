#include "tests/rules/item_number.h"

#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdint.h>
#include <string.h>

struct number draw_number(struct draw *draw)
{
    static const uint32_t digit_limits[] = {2, 10, NUMBER_DIGITS_MAX + 1};
    struct number n = {0};
    uint32_t count = draw_below(draw, digit_limits[draw_below(draw, 3)]);
    for (uint32_t i = 0; i < count; i++) {
        bool end = i == 0 || i + 1 == count;
        n.digits[i] = (uint8_t)(end ? 1 + draw_below(draw, 9) : draw_below(draw, 10));
    }
    n.count = (uint8_t)count;
    if (count > 0) {
        bool any = draw_below(draw, 4) == 0;
        n.negative = draw_below(draw, 2) == 1;
        int least = any ? NUMBER_EXPONENT_MIN : -3;
        n.exponent = (int16_t)(least + (int)draw_below(draw, any ? 256 : 8));
    }
    return n;
}

static bool same(const struct number *a, const struct number *b)
{
    return a->negative == b->negative && a->exponent == b->exponent && a->count == b->count &&
           memcmp(a->digits, b->digits, a->count) == 0;
}

bool rule_number_comes_back(struct draw *draw)
{
    struct number n = draw_number(draw);
    char text[NUMBER_TEXT_MAX];
    struct str plain = {text, number_format(&n, text)};
    struct number parsed;
    struct error err;
    unsigned char bytes[NUMBER_ENCODED_MAX];
    size_t len = number_encode(&n, bytes);
    struct number decoded;
    return number_parse(plain, &parsed, &err) && same(&n, &parsed) && len <= sizeof bytes &&
           number_decode(bytes, len, &decoded) == len && same(&n, &decoded) &&
           number_compare(&n, &decoded) == 0;
}

static int sign(int order)
{
    return order < 0 ? -1 : order > 0 ? 1 : 0;
}

/* A neighbour of n: all but the last digit are equal as far as they go. */
static struct number draw_near(struct draw *draw, const struct number *n)
{
    struct number near = draw_number(draw);
    if (near.count > 0 && n->count > 0) {
        memcpy(near.digits, n->digits, near.count - 1U);
        near.digits[0] = n->digits[0];
        near.exponent = n->exponent;
    }
    return near;
}

bool rule_number_encoding_keeps_order(struct draw *draw)
{
    struct number a = draw_number(draw);
    struct number b = draw_below(draw, 2) == 1 ? draw_near(draw, &a) : draw_number(draw);
    unsigned char left[NUMBER_ENCODED_MAX];
    unsigned char right[NUMBER_ENCODED_MAX];
    struct str left_str = {(const char *)left, number_encode(&a, left)};
    struct str right_str = {(const char *)right, number_encode(&b, right)};
    int order = number_compare(&a, &b);
    if (sign(order) != sign(str_compare(left_str, right_str)) ||
        sign(order) != -sign(number_compare(&b, &a))) {
        return false;
    }
    return order == 0 || (!str_begins(left_str, right_str) && !str_begins(right_str, left_str));
}

bool rule_number_decodes_only_canonical_bytes(struct draw *draw)
{
    struct number n;
    unsigned char bytes[NUMBER_ENCODED_MAX];
    size_t read = number_decode(draw->next, draw->left, &n);
    return read == 0 || (number_encode(&n, bytes) == read && memcmp(bytes, draw->next, read) == 0);
}

/* A text of the characters that numbers have, so that many are one. */
static struct str draw_number_text(struct draw *draw, char *out, size_t max)
{
    static const char characters[] = "0123456789019900000-+.eE x";
    size_t len = draw_below(draw, (uint32_t)max);
    for (size_t i = 0; i < len; i++) {
        out[i] = characters[draw_below(draw, sizeof characters - 1)];
    }
    return (struct str){out, len};
}

bool rule_number_parses_any_text_or_refuses(struct draw *draw)
{
    char given[60];
    struct str text = draw_number_text(draw, given, sizeof given);
    struct number n = {.count = 99};
    struct error err = {0};
    if (!number_parse(text, &n, &err)) {
        return err.code == ERROR_ITEM && n.count == 99;
    }
    char plain[NUMBER_TEXT_MAX];
    struct number again;
    return number_parse((struct str){plain, number_format(&n, plain)}, &again, &err) &&
           same(&n, &again);
}

bool rule_number_arithmetic_obeys_its_laws(struct draw *draw)
{
    struct number a = draw_number(draw);
    struct number b = draw_number(draw);
    struct number sum;
    struct number swapped;
    struct number back;
    struct error err;
    if (number_add(&a, &b, &sum, &err)) {
        if (!number_add(&b, &a, &swapped, &err) || !same(&sum, &swapped) ||
            !number_subtract(&sum, &b, &back, &err) || !same(&a, &back)) {
            return false;
        }
    }
    struct number product;
    struct number negated = number_negate(&a);
    if (number_multiply(&a, &b, &product, &err)) {
        struct number expected = number_negate(&product);
        return number_multiply(&b, &a, &swapped, &err) && same(&product, &swapped) &&
               number_multiply(&negated, &b, &back, &err) && same(&expected, &back);
    }
    return !number_multiply(&b, &a, &swapped, &err);
}

static int64_t draw_int(struct draw *draw)
{
    int64_t limit = draw_below(draw, 2) == 1 ? 1000 : UINT32_MAX;
    return (int64_t)draw_below(draw, (uint32_t)limit) - limit / 2;
}

static bool is_int(const struct number *n, int64_t expected)
{
    int64_t value = 0;
    return number_to_int(n, &value) && value == expected;
}

bool rule_number_agrees_with_integers(struct draw *draw)
{
    int64_t left = draw_int(draw);
    int64_t right = draw_int(draw);
    struct number a = number_from_int(left);
    struct number b = number_from_int(right);
    struct number sum;
    struct number difference;
    struct number product;
    struct error err;
    return is_int(&a, left) && number_add(&a, &b, &sum, &err) && is_int(&sum, left + right) &&
           number_subtract(&a, &b, &difference, &err) && is_int(&difference, left - right) &&
           number_multiply(&a, &b, &product, &err) && is_int(&product, left * right) &&
           sign(number_compare(&a, &b)) == (left > right) - (left < right);
}
