#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"
#include "engine/item/value.h"

/* Both forms of JSON differ only in what stands around a value. */
enum form { TYPED, PLAIN };

static void write_number(struct str encoded, struct buffer *out)
{
    struct number n;
    (void)number_decode((const unsigned char *)encoded.ptr, encoded.len, &n);
    out->len += number_format(&n, buffer_reserve(out, NUMBER_TEXT_MAX));
}

/* S, N or B content, also as the member of a set. */
static void write_scalar(enum value_type type, struct str bytes, enum form form, struct buffer *out)
{
    if (type == VALUE_S) {
        json_write_string(out, bytes);
        return;
    }
    if (type == VALUE_N && form == PLAIN) {
        write_number(bytes, out);
        return;
    }
    buffer_add_char(out, '"');
    if (type == VALUE_N) {
        write_number(bytes, out);
    } else {
        base64_write(bytes, out);
    }
    buffer_add_char(out, '"');
}

static void write_set(struct value set, enum form form, struct buffer *out)
{
    struct value_iter iter = value_members(set);
    struct str member;
    char mark = '[';
    while (value_next_member(&iter, &member)) {
        buffer_add_char(out, mark);
        write_scalar(iter.member, member, form, out);
        mark = ',';
    }
    buffer_add(out, value_count(set) == 0 ? STR("[]") : STR("]"));
}

static void write_value(struct value v, enum form form, struct buffer *out);

static void write_list(struct value list, enum form form, struct buffer *out)
{
    struct attribute element;
    buffer_add_char(out, '[');
    for (struct value_iter iter = value_members(list); value_next(&iter, &element);) {
        write_value(element.value, form, out);
        buffer_add_char(out, ',');
    }
    out->len -= value_count(list) > 0 ? 1 : 0;
    buffer_add_char(out, ']');
}

static void write_map(struct value map, enum form form, struct buffer *out)
{
    struct attribute member;
    buffer_add_char(out, '{');
    for (struct value_iter iter = value_members(map); value_next(&iter, &member);) {
        json_write_string(out, member.name);
        buffer_add_char(out, ':');
        write_value(member.value, form, out);
        buffer_add_char(out, ',');
    }
    out->len -= value_count(map) > 0 ? 1 : 0;
    buffer_add_char(out, '}');
}

static void write_content(struct value v, enum form form, struct buffer *out)
{
    switch (value_type(v)) {
    case VALUE_BOOL:
        buffer_add(out, value_bool(v) ? STR("true") : STR("false"));
        break;
    case VALUE_NULL:
        buffer_add(out, form == TYPED ? STR("true") : STR("null"));
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        write_set(v, form, out);
        break;
    case VALUE_L:
        write_list(v, form, out);
        break;
    case VALUE_M:
        write_map(v, form, out);
        break;
    default:
        write_scalar(value_type(v), value_bytes(v), form, out);
        break;
    }
}

/* By type: what stands before the content. */
static const struct str openings[] = {
    [VALUE_S] = STR_INIT("{\"S\":"),       [VALUE_N] = STR_INIT("{\"N\":"),
    [VALUE_B] = STR_INIT("{\"B\":"),       [VALUE_BOOL] = STR_INIT("{\"BOOL\":"),
    [VALUE_NULL] = STR_INIT("{\"NULL\":"), [VALUE_SS] = STR_INIT("{\"SS\":"),
    [VALUE_NS] = STR_INIT("{\"NS\":"),     [VALUE_BS] = STR_INIT("{\"BS\":"),
    [VALUE_L] = STR_INIT("{\"L\":"),       [VALUE_M] = STR_INIT("{\"M\":"),
};

static void write_value(struct value v, enum form form, struct buffer *out)
{
    if (form == PLAIN) {
        write_content(v, form, out);
        return;
    }
    buffer_add(out, openings[value_type(v)]);
    write_content(v, form, out);
    buffer_add_char(out, '}');
}

void item_json_write_value(struct value v, struct buffer *out)
{
    write_value(v, TYPED, out);
}

void item_json_write_item(struct value item, struct buffer *out)
{
    write_map(item, TYPED, out);
}

void item_json_write_plain(struct value v, struct buffer *out)
{
    write_value(v, PLAIN, out);
}
