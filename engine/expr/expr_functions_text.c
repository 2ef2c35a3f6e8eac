/* Functions on text: case, parts, padding. All count characters, not bytes. */
#include "engine/expr/expr_functions_internal.h"

#include "engine/base/utf8.h"
#include "engine/expr/expr_literal_internal.h"

#include <assert.h>
#include <string.h>

/* --- case and white space --- */

static bool map_characters(struct evaluation *in, struct str text, uint32_t (*map)(uint32_t),
                           struct value *out)
{
    char *bytes = arena_bytes(in->scratch, 4 * text.len);
    size_t len = 0;
    for (size_t at = 0; at < text.len;) {
        len += utf8_put(bytes + len, map(utf8_next(text, &at)));
    }
    return expr_function_new_text(in, (struct str){bytes, len}, out);
}

bool expr_function_lower(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return map_characters(in, value_bytes(arguments[0]), utf8_to_lower, out);
}

bool expr_function_upper(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return map_characters(in, value_bytes(arguments[0]), utf8_to_upper, out);
}

/* Unicode Character Database, PropList.txt, White_Space. */
static bool is_space(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } spaces[] = {{0x09, 0x0d},     {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},
                  {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f},
                  {0x205f, 0x205f}, {0x3000, 0x3000}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (c >= spaces[i].first && c <= spaces[i].last) {
            return true;
        }
    }
    return false;
}

bool expr_function_trim(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct str text = value_bytes(arguments[0]);
    size_t start = text.len;
    size_t end = text.len;
    for (size_t at = 0; at < text.len;) {
        size_t here = at;
        if (is_space(utf8_next(text, &at))) {
            continue;
        }
        start = start == text.len ? here : start;
        end = at;
    }
    return expr_function_new_text(in, (struct str){text.ptr + start, end - start}, out);
}

/* --- parts --- */

/* The byte offset of character `index`, or of the end. */
static size_t offset_of(struct str text, int64_t index)
{
    size_t at = 0;
    for (int64_t i = 0; i < index && at < text.len; i++) {
        (void)utf8_next(text, &at);
    }
    return at;
}

/* As in SQL, characters before the first count towards the length. */
bool expr_function_substring(struct evaluation *in, const struct value *arguments,
                             struct value *out)
{
    struct str text = value_bytes(arguments[0]);
    int64_t first = expr_function_whole(arguments[1]);
    int64_t len = expr_function_whole(arguments[2]);
    int64_t end = first > INT64_MAX - len ? INT64_MAX : first + len;
    int64_t from = first > 1 ? first - 1 : 0;
    int64_t to = end > 1 ? end - 1 : 0;
    size_t start = offset_of(text, from);
    struct str rest = {text.ptr + start, text.len - start};
    size_t taken = to > from ? offset_of(rest, to - from) : 0;
    return expr_function_new_text(in, (struct str){rest.ptr, taken}, out);
}

/* Where `wanted`, which is not empty, begins in `text`; text.len if nowhere. */
static size_t find(struct str text, struct str wanted)
{
    const char *found = memmem(text.ptr, text.len, wanted.ptr, wanted.len);
    return found == NULL ? text.len : (size_t)(found - text.ptr);
}

static struct str skip(struct str text, size_t len)
{
    return (struct str){text.ptr + len, text.len - len};
}

static size_t occurrences(struct str text, struct str wanted)
{
    size_t count = 0;
    for (size_t at = find(text, wanted); at < text.len; at = find(text, wanted)) {
        text = skip(text, at + wanted.len);
        count++;
    }
    return count;
}

/* Takes the part before the next separator off `rest`; false after the last. */
static bool next_part(struct str *rest, struct str separator, struct str *part)
{
    if (rest->ptr == NULL) {
        return false;
    }
    size_t at = find(*rest, separator);
    *part = (struct str){rest->ptr, at};
    *rest = at == rest->len ? (struct str){NULL, 0} : skip(*rest, at + separator.len);
    return true;
}

bool expr_function_split(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct str rest = value_bytes(arguments[0]);
    struct str separator = value_bytes(arguments[1]);
    size_t count = occurrences(rest, separator) + 1;
    struct value *parts = arena_alloc(in->scratch, count * sizeof *parts);
    struct str part;
    for (size_t i = 0; next_part(&rest, separator, &part); i++) {
        parts[i] = value_string(in->scratch, part);
    }
    *out = value_list(in->scratch, parts, count);
    return true;
}

bool expr_function_split_part(struct evaluation *in, const struct value *arguments,
                              struct value *out)
{
    struct str rest = value_bytes(arguments[0]);
    struct str separator = value_bytes(arguments[1]);
    int64_t wanted = expr_function_whole(arguments[2]);
    if (wanted < 0) {
        wanted += (int64_t)occurrences(rest, separator) + 2;
    }
    struct str part;
    for (int64_t i = 1; i <= wanted; i++) {
        if (!next_part(&rest, separator, &part)) {
            wanted = 0;
        }
    }
    if (wanted <= 0) {
        *out = expr_missing();
        return true;
    }
    return expr_function_new_text(in, part, out);
}

bool expr_function_before(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct str text = value_bytes(arguments[0]);
    size_t at = find(text, value_bytes(arguments[1]));
    if (at == text.len) {
        *out = expr_missing();
        return true;
    }
    return expr_function_new_text(in, (struct str){text.ptr, at}, out);
}

bool expr_function_after(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct str text = value_bytes(arguments[0]);
    struct str separator = value_bytes(arguments[1]);
    size_t at = find(text, separator);
    if (at == text.len) {
        *out = expr_missing();
        return true;
    }
    return expr_function_new_text(in, skip(text, at + separator.len), out);
}

bool expr_function_replace(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct str rest = value_bytes(arguments[0]);
    struct str old = value_bytes(arguments[1]);
    struct str new = value_bytes(arguments[2]);
    size_t count = occurrences(rest, old);
    size_t size = rest.len - count * old.len + count * new.len;
    if (!expr_check_room(size, in->err)) {
        return false;
    }
    char *bytes = arena_bytes(in->scratch, size);
    size_t len = 0;
    struct str part;
    while (next_part(&rest, old, &part)) {
        memcpy(bytes + len, part.ptr, part.len);
        len += part.len;
        if (rest.ptr != NULL) {
            memcpy(bytes + len, new.ptr, new.len);
            len += new.len;
        }
    }
    assert(len == size);
    return expr_function_new_text(in, (struct str){bytes, len}, out);
}

/* --- padding --- */

/* Digits of a whole number, zeros before them; of a negative one what is missing to all nines, so
 * that the greater one has the greater text, and a '-' before, which sorts before any digit. */
static bool pad(struct evaluation *in, const struct value *arguments, bool is_signed,
                struct value *out)
{
    struct number n = value_number(arguments[0]);
    size_t width = (size_t)expr_function_whole(arguments[1]);
    if (n.exponent + 1 < n.count || (n.negative && !is_signed)) {
        return error_set(in->err, ERROR_ITEM, "%s is not a whole number%s",
                         expr_literal_shown(arguments[0]).text, is_signed ? "" : " from 0 up");
    }
    char digits[NUMBER_TEXT_MAX];
    struct str text = {digits, number_format(&n, digits)};
    text = n.negative ? skip(text, 1) : text;
    if (text.len > width) {
        return error_set(in->err, ERROR_ITEM, "%s has over %zu digits",
                         expr_literal_shown(arguments[0]).text, width);
    }
    char padded[1 + PAD_WIDTH_MAX];
    size_t sign = n.negative ? 1 : 0;
    memset(padded, '-', sign);
    memset(padded + sign, '0', width - text.len);
    memcpy(padded + sign + width - text.len, text.ptr, text.len);
    for (size_t i = 1; n.negative && i <= width; i++) {
        padded[i] = (char)('0' + ('9' - padded[i]));
    }
    return expr_function_new_text(in, (struct str){padded, sign + width}, out);
}

bool expr_function_pad(struct evaluation *in, const struct value *arguments, struct value *out)
{
    return pad(in, arguments, false, out);
}

bool expr_function_pad_signed(struct evaluation *in, const struct value *arguments,
                              struct value *out)
{
    return pad(in, arguments, true, out);
}
