/* Functions that convert: lists and sets, scalars, JSON, digests. */
#include "engine/expr/expr_functions_internal.h"

#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"
#include "engine/expr/expr_literal_internal.h"
#include "engine/item/item_json.h"

#include <string.h>
#include <zlib.h>

/* S as it is, N in plain digits, B as bytes; `digits` holds what is made. */
static struct str text_of(struct value v, char digits[NUMBER_TEXT_MAX])
{
    if (value_type(v) != VALUE_N) {
        return value_bytes(v);
    }
    struct number n = value_number(v);
    return (struct str){digits, number_format(&n, digits)};
}

bool expr_function_new_text(struct evaluation *in, struct str text, struct value *out)
{
    if (!expr_check_room(text.len, in->err)) {
        return false;
    }
    *out = value_string(in->scratch, text);
    return true;
}

/* --- lists and sets --- */

bool expr_function_to_list(struct evaluation *in, const struct value *arguments, struct value *out)
{
    if (value_type(arguments[0]) == VALUE_L) {
        *out = arguments[0];
        return true;
    }
    size_t count = value_count(arguments[0]);
    struct value *values = arena_alloc(in->scratch, count * sizeof *values);
    struct value_iter iter = value_members(arguments[0]);
    struct str member;
    for (size_t i = 0; value_next_member(&iter, &member); i++) {
        values[i] = value_from_member(in->scratch, iter.member, member);
    }
    *out = value_list(in->scratch, values, count);
    return true;
}

static size_t put_elements(struct value list, struct value *values)
{
    size_t count = 0;
    struct value_iter iter = value_members(list);
    struct attribute element;
    while (value_next(&iter, &element)) {
        values[count++] = element.value;
    }
    return count;
}

bool expr_function_to_set(struct evaluation *in, const struct value *arguments, struct value *out)
{
    if (value_type(arguments[0]) != VALUE_L) {
        *out = arguments[0];
        return true;
    }
    size_t count = value_count(arguments[0]);
    if (count == 0) {
        *out = expr_empty_set();
        return true;
    }
    struct value *values = arena_alloc(in->scratch, count * sizeof *values);
    return value_set_merged(in->scratch, values, put_elements(arguments[0], values), out, in->err);
}

bool expr_function_list_append(struct evaluation *in, const struct value *arguments,
                               struct value *out)
{
    if (!expr_check_room(arguments[0].len + arguments[1].len, in->err)) {
        return false;
    }
    size_t count = value_count(arguments[0]) + value_count(arguments[1]);
    struct value *values = arena_alloc(in->scratch, count * sizeof *values);
    size_t first = put_elements(arguments[0], values);
    (void)put_elements(arguments[1], values + first);
    *out = value_list(in->scratch, values, count);
    return true;
}

/* --- scalars --- */

static bool string_of_binary(struct evaluation *in, struct value v, struct value *out)
{
    if (!utf8_is_valid(value_bytes(v))) {
        return error_set(in->err, ERROR_ITEM, "%s is not UTF-8 text", expr_literal_shown(v).text);
    }
    *out = value_string(in->scratch, value_bytes(v));
    return true;
}

bool expr_function_string(struct evaluation *in, const struct value *arguments, struct value *out)
{
    char digits[NUMBER_TEXT_MAX];
    switch (value_type(arguments[0])) {
    case VALUE_S:
        *out = arguments[0];
        return true;
    case VALUE_B:
        return string_of_binary(in, arguments[0], out);
    case VALUE_BOOL:
        *out = value_string(in->scratch, value_bool(arguments[0]) ? STR("true") : STR("false"));
        return true;
    default:
        *out = value_string(in->scratch, text_of(arguments[0], digits));
        return true;
    }
}

bool expr_function_number(struct evaluation *in, const struct value *arguments, struct value *out)
{
    if (value_type(arguments[0]) == VALUE_N) {
        *out = arguments[0];
        return true;
    }
    struct number n;
    if (!number_parse(value_bytes(arguments[0]), &n, in->err)) {
        return false;
    }
    *out = value_from_number(in->scratch, &n);
    return true;
}

bool expr_function_binary(struct evaluation *in, const struct value *arguments, struct value *out)
{
    *out = value_binary(in->scratch, value_bytes(arguments[0]));
    return true;
}

bool expr_function_base64(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct buffer text = {0};
    base64_write(value_bytes(arguments[0]), &text);
    bool ok = expr_function_new_text(in, buffer_str(&text), out);
    buffer_free(&text);
    return ok;
}

bool expr_function_unbase64(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct str bytes;
    struct error why;
    if (!base64_read(value_bytes(arguments[0]), in->scratch, &bytes, &why)) {
        return error_set(in->err, ERROR_ITEM, "%s is not base64",
                         expr_literal_shown(arguments[0]).text);
    }
    *out = value_binary(in->scratch, bytes);
    return true;
}

/* --- JSON --- */

bool expr_function_json(struct evaluation *in, const struct value *arguments, struct value *out)
{
    struct buffer text = {0};
    item_json_write_plain(arguments[0], &text);
    bool ok = expr_function_new_text(in, buffer_str(&text), out);
    buffer_free(&text);
    return ok;
}

bool expr_function_parse_json(struct evaluation *in, const struct value *arguments,
                              struct value *out)
{
    static const struct json_options options = {.file = "JSON"};
    struct json *json = NULL;
    bool ok = json_parse(value_bytes(arguments[0]), &options, in->scratch, &json, in->err) &&
              item_json_plain(json, in->scratch, out, in->err);
    return ok || error_wrap(in->err, "%s", expr_literal_shown(arguments[0]).text);
}

/* --- digests --- */

bool expr_function_shard(struct evaluation *in, const struct value *arguments, struct value *out)
{
    char digits[NUMBER_TEXT_MAX];
    struct str text = text_of(arguments[0], digits);
    uint64_t sum = crc32_z(0, (const unsigned char *)text.ptr, text.len);
    uint64_t shards = (uint64_t)expr_function_whole(arguments[1]);
    struct number n = number_from_int((int64_t)(sum % shards));
    *out = value_from_number(in->scratch, &n);
    return true;
}

static struct value hex_digest(struct evaluation *in, struct value v, size_t digit_count)
{
    char digits[NUMBER_TEXT_MAX];
    unsigned char digest[HASH_DIGITS_MAX / 2];
    char hex[HASH_DIGITS_MAX + 1];
    hash_sha256(text_of(v, digits), digest);
    hash_hex(digest, sizeof digest, hex);
    return value_string(in->scratch, (struct str){hex, digit_count});
}

bool expr_function_hash(struct evaluation *in, const struct value *arguments, struct value *out)
{
    *out = hex_digest(in, arguments[0], HASH_DIGITS_MAX);
    return true;
}

bool expr_function_hash_digits(struct evaluation *in, const struct value *arguments,
                               struct value *out)
{
    *out = hex_digest(in, arguments[0], (size_t)expr_function_whole(arguments[1]));
    return true;
}
