#include "engine/expr/expr_literal_internal.h"

#include "engine/base/utf8.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

void expr_literal_write_string(struct str s, struct buffer *out)
{
    buffer_add_quoted(out, s, '\'');
}

static void write_number(const struct number *n, struct buffer *out)
{
    char text[NUMBER_TEXT_MAX];
    buffer_add(out, (struct str){text, number_format(n, text)});
}

static void write_binary(struct str bytes, struct buffer *out)
{
    buffer_add(out, STR("b64'"));
    base64_write(bytes, out);
    buffer_add_char(out, '\'');
}

/* S, N or B from its bytes: also as a member of a set. */
static void write_scalar(enum value_type type, struct str bytes, struct buffer *out)
{
    struct number n;
    if (type == VALUE_S) {
        expr_literal_write_string(bytes, out);
    } else if (type == VALUE_B) {
        write_binary(bytes, out);
    } else if (number_decode((const unsigned char *)bytes.ptr, bytes.len, &n) > 0) {
        write_number(&n, out);
    }
}

static void write_set(struct value v, struct buffer *out)
{
    struct value_iter iter = value_members(v);
    struct str member;
    buffer_add(out, STR("<<"));
    for (bool first = true; value_next_member(&iter, &member); first = false) {
        buffer_add(out, first ? STR("") : STR(", "));
        write_scalar(iter.member, member, out);
    }
    buffer_add(out, STR(">>"));
}

static void write_members(struct value v, struct buffer *out)
{
    bool named = value_type(v) == VALUE_M;
    struct value_iter iter = value_members(v);
    struct attribute member;
    buffer_add_char(out, named ? '{' : '[');
    for (bool first = true; value_next(&iter, &member); first = false) {
        buffer_add(out, first ? STR("") : STR(", "));
        if (named) {
            expr_literal_write_string(member.name, out);
            buffer_add(out, STR(": "));
        }
        expr_literal_write(member.value, out);
    }
    buffer_add_char(out, named ? '}' : ']');
}

void expr_literal_write(struct value v, struct buffer *out)
{
    switch (value_type(v)) {
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        write_scalar(value_type(v), value_bytes(v), out);
        break;
    case VALUE_BOOL:
        buffer_add(out, value_bool(v) ? STR("true") : STR("false"));
        break;
    case VALUE_L:
    case VALUE_M:
        write_members(v, out);
        break;
    case VALUE_MISSING:
    case VALUE_NULL:
        buffer_add(out, STR("null"));
        break;
    default:
        write_set(v, out);
    }
}

static void show_text(struct shown *shown, const char *quote, struct str s)
{
    struct str start = utf8_cut(s, SHOWN_MAX_BYTES);
    size_t used = strlen(shown->text);
    (void)snprintf(shown->text + used, sizeof shown->text - used, " %s%.*s%s%s", quote,
                   STR_ARG(start), start.len < s.len ? "..." : "", quote);
    for (char *c = shown->text; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            *c = '?';
        }
    }
}

struct shown expr_literal_shown(struct value v)
{
    char digits[NUMBER_TEXT_MAX];
    struct number n;
    struct shown shown;
    (void)snprintf(shown.text, sizeof shown.text, "%s", value_type_name(value_type(v)));
    size_t used = strlen(shown.text);
    switch (value_type(v)) {
    case VALUE_MISSING:
    case VALUE_NULL:
        break;
    case VALUE_S:
        show_text(&shown, "'", value_bytes(v));
        break;
    case VALUE_N:
        n = value_number(v);
        show_text(&shown, "", (struct str){digits, number_format(&n, digits)});
        break;
    case VALUE_BOOL:
        show_text(&shown, "", value_bool(v) ? STR("true") : STR("false"));
        break;
    case VALUE_B:
        (void)snprintf(shown.text + used, sizeof shown.text - used, " of %zu bytes",
                       value_bytes(v).len);
        break;
    default:
        (void)snprintf(shown.text + used, sizeof shown.text - used, " of %zu members",
                       value_count(v));
    }
    return shown;
}

struct types_text expr_literal_types(unsigned types)
{
    struct types_text out = {""};
    if (types == 0) {
        return (struct types_text){"nothing"};
    }
    for (enum value_type type = VALUE_S; type <= VALUE_M; type++) {
        unsigned later = types >> type >> 1;
        if ((types & 1U << type) == 0) {
            continue;
        }
        size_t used = strlen(out.text);
        const char *joint = used == 0 ? "" : later == 0 ? " or " : ", ";
        (void)snprintf(out.text + used, sizeof out.text - used, "%s%s", joint,
                       value_type_name(type));
    }
    return out;
}
