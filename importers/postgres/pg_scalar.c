#include "importers/postgres/pg_type.h"

#include "engine/base/utf8.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"

#include <string.h>

/* For messages: no value is shown at length. */
enum { SHOWN_MAX = 60 };

static int shown(struct str text)
{
    return text.len > SHOWN_MAX ? SHOWN_MAX : (int)text.len;
}

bool pg_text_check(struct str text, struct error *err)
{
    size_t valid = utf8_valid_prefix(text);
    return valid == text.len || error_set(err, ERROR_ITEM, "the byte 0x%02x at %zu is no UTF-8",
                                          (unsigned)(unsigned char)text.ptr[valid], valid + 1);
}

bool pg_convert_text(const struct pg_type *type, struct str text, struct arena *arena,
                     struct value *out, struct error *err)
{
    (void)type;
    if (!pg_text_check(text, err)) {
        return false;
    }
    *out = value_string(arena, text);
    return true;
}

/* COPY pads char(n) with blanks that mean nothing. */
bool pg_convert_char(const struct pg_type *type, struct str text, struct arena *arena,
                     struct value *out, struct error *err)
{
    while (text.len > 0 && text.ptr[text.len - 1] == ' ') {
        text.len--;
    }
    return pg_convert_text(type, text, arena, out, err);
}

bool pg_convert_boolean(const struct pg_type *type, struct str text, struct arena *arena,
                        struct value *out, struct error *err)
{
    (void)type;
    (void)arena;
    if (text.len != 1 || (text.ptr[0] != 't' && text.ptr[0] != 'f')) {
        return error_set(err, ERROR_ITEM, "'%.*s' is no boolean", shown(text), text.ptr);
    }
    *out = value_from_bool(text.ptr[0] == 't');
    return true;
}

bool pg_convert_number(const struct pg_type *type, struct str text, struct arena *arena,
                       struct value *out, struct error *err)
{
    (void)type;
    struct number n;
    if (!number_parse(text, &n, err)) {
        return false;
    }
    *out = value_from_number(arena, &n);
    return true;
}

/* $1,234.50 and -$1,234.50, as lc_monetary C writes them. */
bool pg_convert_money(const struct pg_type *type, struct str text, struct arena *arena,
                      struct value *out, struct error *err)
{
    char *plain = arena_bytes(arena, text.len);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '$' && text.ptr[i] != ',') {
            plain[len++] = text.ptr[i];
        }
    }
    return pg_convert_number(type, (struct str){plain, len}, arena, out, err);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool pg_convert_bytea(const struct pg_type *type, struct str text, struct arena *arena,
                      struct value *out, struct error *err)
{
    (void)type;
    if (text.len < 2 || text.len % 2 != 0 || text.ptr[0] != '\\' || text.ptr[1] != 'x') {
        return error_set(err, ERROR_ITEM, "a bytea is not in hex");
    }
    size_t len = text.len / 2 - 1;
    char *bytes = arena_bytes(arena, len + 1);
    for (size_t i = 0; i < len; i++) {
        int high = hex_digit(text.ptr[2 * i + 2]);
        int low = hex_digit(text.ptr[2 * i + 3]);
        if (high < 0 || low < 0) {
            return error_set(err, ERROR_ITEM, "a bytea is not in hex");
        }
        bytes[i] = (char)(high << 4 | low);
    }
    *out = value_binary(arena, (struct str){bytes, len});
    return true;
}

bool pg_convert_jsonb(const struct pg_type *type, struct str text, struct arena *arena,
                      struct value *out, struct error *err)
{
    (void)type;
    struct json_options options = {.file = "jsonb"};
    struct json *json;
    if (!json_parse(text, &options, arena, &json, err)) {
        err->code = ERROR_ITEM; /* JSON to PostgreSQL, but deeper than any item */
        return false;
    }
    return item_json_plain(json, arena, out, err);
}
