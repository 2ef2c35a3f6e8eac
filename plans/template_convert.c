#include "plans/template_internal.h"

#include "engine/item/item_json.h"
#include "plans/template.h"

bool template_words(struct value v, struct arena *arena, struct str *out)
{
    switch (value_type(v)) {
    case VALUE_S:
        *out = value_bytes(v);
        return true;
    case VALUE_N: {
        struct number n = value_number(v);
        char *text = arena_bytes(arena, NUMBER_TEXT_MAX);
        *out = (struct str){text, number_format(&n, text)};
        return true;
    }
    case VALUE_BOOL:
        *out = value_bool(v) ? STR("true") : STR("false");
        return true;
    default:
        return false;
    }
}

struct value template_empty_set(enum value_type type)
{
    /* tag, one byte of body, no members */
    static const unsigned char sets[][3] = {{VALUE_SS, 1, 0}, {VALUE_NS, 1, 0}, {VALUE_BS, 1, 0}};
    return (struct value){sets[type - VALUE_SS], sizeof sets[0]};
}

bool template_is_nothing(struct value v)
{
    enum value_type type = value_type(v);
    return type == VALUE_MISSING || (type >= VALUE_SS && type <= VALUE_BS && value_count(v) == 0);
}

static bool refuse(struct value v, enum value_type type, struct error *err)
{
    return error_set(err, ERROR_ITEM, "expected a value that makes %s, found %s",
                     value_type_name(type), value_type_name(value_type(v)));
}

static bool convert_to_string(struct value v, struct arena *arena, struct value *out,
                              struct error *err)
{
    struct str words;
    if (!template_words(v, arena, &words)) {
        return refuse(v, VALUE_S, err);
    }
    *out = value_string(arena, words);
    return true;
}

static bool convert_to_number(struct value v, struct arena *arena, struct value *out,
                              struct error *err)
{
    struct number n;
    if (value_type(v) != VALUE_S) {
        return refuse(v, VALUE_N, err);
    }
    if (!number_parse(value_bytes(v), &n, err)) {
        return false;
    }
    *out = value_from_number(arena, &n);
    return true;
}

static bool convert_to_binary(struct value v, struct arena *arena, struct value *out,
                              struct error *err)
{
    struct str bytes;
    if (value_type(v) != VALUE_S) {
        return refuse(v, VALUE_B, err);
    }
    if (!base64_read(value_bytes(v), arena, &bytes, err)) {
        err->code = ERROR_ITEM;
        return false;
    }
    *out = value_binary(arena, bytes);
    return true;
}

static bool convert_to_bool(struct value v, struct value *out, struct error *err)
{
    bool is_string = value_type(v) == VALUE_S;
    if (is_string && str_equal(value_bytes(v), STR("true"))) {
        *out = value_from_bool(true);
    } else if (is_string && str_equal(value_bytes(v), STR("false"))) {
        *out = value_from_bool(false);
    } else {
        return error_set(err, ERROR_ITEM, "expected true, false, 'true' or 'false', found %s",
                         is_string ? "another text" : value_type_name(value_type(v)));
    }
    return true;
}

static bool convert_to_set(struct value v, enum value_type type, struct arena *arena,
                           struct value *out, struct error *err)
{
    bool is_list = value_type(v) == VALUE_L;
    size_t count = is_list ? value_count(v) : 0;
    if (template_is_nothing(v) || (is_list && count == 0)) {
        *out = template_empty_set(type);
        return true;
    }
    if (!is_list) {
        return refuse(v, type, err);
    }
    enum value_type member_type = VALUE_S + (type - VALUE_SS);
    struct value *members = arena_alloc(arena, count * sizeof *members);
    struct attribute member;
    struct value_iter iter = value_members(v);
    for (size_t i = 0; value_next(&iter, &member); i++) {
        if (!template_convert(member.value, member_type, arena, &members[i], err)) {
            return false;
        }
    }
    return value_set_merged(arena, members, count, out, err);
}

bool template_convert(struct value v, enum value_type type, struct arena *arena, struct value *out,
                      struct error *err)
{
    if (value_type(v) == type) {
        *out = v;
        return true;
    }
    switch (type) {
    case VALUE_S:
        return convert_to_string(v, arena, out, err);
    case VALUE_N:
        return convert_to_number(v, arena, out, err);
    case VALUE_B:
        return convert_to_binary(v, arena, out, err);
    case VALUE_BOOL:
        return convert_to_bool(v, out, err);
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return convert_to_set(v, type, arena, out, err);
    default:
        return refuse(v, type, err);
    }
}

bool template_convert_key(const struct template *template, struct value v, struct arena *arena,
                          struct value *out, struct error *err)
{
    enum value_type from = value_type(v);
    enum value_type type = template->key_type;
    bool converts = template->kind == TEMPLATE_EXPR &&
                    ((from == VALUE_N && type == VALUE_S) || (from == VALUE_S && type == VALUE_N));
    struct value key = v;
    if (converts && !template_convert(v, type, arena, &key, err)) {
        return false;
    }
    if (value_type(key) != type) {
        return error_set(err, ERROR_ITEM, "expected %s for a key attribute, found %s",
                         value_type_name(type), value_type_name(value_type(key)));
    }
    if (value_bytes(key).len == 0) {
        return error_set(err, ERROR_ITEM, "expected a value for a key attribute, found an empty %s",
                         value_type_name(type));
    }
    *out = key;
    return true;
}
