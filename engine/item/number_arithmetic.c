#include "engine/base/error.h"
#include "engine/item/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One decimal digit a cell, least significant first; cell 0 stands for 10^low. A sum spans from
 * 1E125 down to the last digit of 9.99E-130, and has one digit more. */
enum { CELLS_MAX = NUMBER_EXPONENT_MAX - NUMBER_EXPONENT_MIN + NUMBER_DIGITS_MAX + 2 };

_Static_assert(CELLS_MAX >= 2 * NUMBER_DIGITS_MAX, "a product fits too");

struct cells {
    int low;
    size_t count;
    int32_t digit[CELLS_MAX];
};

/* The exponent of the last digit. */
static int low_of(const struct number *n)
{
    return n->exponent - n->count + 1;
}

static void add_digits(struct cells *cells, const struct number *n, int32_t sign)
{
    size_t shift = (size_t)(low_of(n) - cells->low);
    for (size_t i = 0; i < n->count; i++) {
        cells->digit[shift + n->count - 1 - i] += sign * n->digits[i];
    }
}

/* Brings every cell to 0..9; the value must not be negative and must fit the cells. */
static void carry(struct cells *cells)
{
    int32_t over = 0;
    for (size_t i = 0; i < cells->count; i++) {
        int32_t sum = cells->digit[i] + over;
        over = sum >= 0 ? sum / 10 : -((9 - sum) / 10);
        cells->digit[i] = sum - over * 10;
    }
}

static bool cells_number(struct cells *cells, bool negative, struct number *out, struct error *err)
{
    carry(cells);
    size_t top = cells->count;
    while (top > 0 && cells->digit[top - 1] == 0) {
        top--;
    }
    size_t bottom = 0;
    while (bottom < top && cells->digit[bottom] == 0) {
        bottom++;
    }
    if (top == 0) {
        *out = (struct number){0};
        return true;
    }
    if (top - bottom > NUMBER_DIGITS_MAX) {
        return error_set(err, ERROR_ITEM, "the result has over %d significant digits",
                         NUMBER_DIGITS_MAX);
    }
    int exponent = cells->low + (int)top - 1;
    if (exponent < NUMBER_EXPONENT_MIN || exponent > NUMBER_EXPONENT_MAX) {
        return error_set(err, ERROR_ITEM, "the result is out of the range of numbers");
    }
    struct number n = {.negative = negative, .exponent = (int16_t)exponent};
    for (size_t i = top; i > bottom; i--) {
        n.digits[n.count++] = (uint8_t)cells->digit[i - 1];
    }
    *out = n;
    return true;
}

bool number_add(const struct number *a, const struct number *b, struct number *out,
                struct error *err)
{
    if (a->count == 0 || b->count == 0) {
        *out = a->count == 0 ? *b : *a;
        return true;
    }
    struct number left = *a;
    struct number right = *b;
    left.negative = right.negative = false;
    bool swapped = number_compare(&left, &right) < 0;
    const struct number *larger = swapped ? b : a;
    const struct number *smaller = swapped ? a : b;

    struct cells cells;
    cells.low = low_of(a) < low_of(b) ? low_of(a) : low_of(b);
    cells.count = (size_t)(larger->exponent - cells.low) + 2;
    memset(cells.digit, 0, cells.count * sizeof *cells.digit);
    add_digits(&cells, larger, 1);
    add_digits(&cells, smaller, larger->negative == smaller->negative ? 1 : -1);
    return cells_number(&cells, larger->negative, out, err);
}

bool number_subtract(const struct number *a, const struct number *b, struct number *out,
                     struct error *err)
{
    struct number negated = number_negate(b);
    return number_add(a, &negated, out, err);
}

bool number_multiply(const struct number *a, const struct number *b, struct number *out,
                     struct error *err)
{
    if (a->count == 0 || b->count == 0) {
        *out = (struct number){0};
        return true;
    }
    struct cells cells;
    cells.low = low_of(a) + low_of(b);
    cells.count = (size_t)a->count + b->count;
    memset(cells.digit, 0, cells.count * sizeof *cells.digit);
    for (size_t i = 0; i < a->count; i++) {
        for (size_t j = 0; j < b->count; j++) {
            cells.digit[cells.count - 2 - i - j] += a->digits[i] * b->digits[j];
        }
    }
    return cells_number(&cells, a->negative != b->negative, out, err);
}
