#include "engine/item/item_json.h"

#include "engine/item/number.h"

#include <stddef.h>

/* Reads the content of {"TYPE": content}; `depth` counts the containers around it. */
struct input {
    struct arena *arena;
    struct error *err;
    int depth;
};

static bool refuse(const struct input *in, const char *fault)
{
    return error_set(in->err, ERROR_INPUT, "%s", fault);
}

static bool read_typed(struct input *in, const struct json *json, struct value *out);

/* S, N or B from its JSON string: also as a member of a set. */
static bool read_scalar(const struct input *in, const struct json *json, enum value_type type,
                        struct value *out)
{
    if (json->kind != JSON_STRING) {
        return error_set(in->err, ERROR_INPUT, "%s takes a string", value_type_name(type));
    }
    if (type == VALUE_S) {
        *out = value_string(in->arena, json->text);
        return true;
    }
    if (type == VALUE_N) {
        struct number n;
        if (!number_parse(json->text, &n, in->err)) {
            return false;
        }
        *out = value_from_number(in->arena, &n);
        return true;
    }
    struct str bytes;
    if (!base64_read(json->text, in->arena, &bytes, in->err)) {
        return false;
    }
    *out = value_binary(in->arena, bytes);
    return true;
}

static bool read_set(const struct input *in, const struct json *json, enum value_type member,
                     struct value *out)
{
    if (json->kind != JSON_ARRAY || json->count == 0) {
        return refuse(in, "a set takes an array that is not empty");
    }
    struct value *members = arena_alloc(in->arena, json->count * sizeof *members);
    for (size_t i = 0; i < json->count; i++) {
        if (!read_scalar(in, &json->items[i], member, &members[i])) {
            return error_wrap(in->err, "member %zu", i + 1);
        }
    }
    if (!value_set(in->arena, members, json->count, out, in->err)) {
        return refuse(in, "a set holds one member twice");
    }
    return true;
}

static bool read_list(struct input *in, const struct json *json, struct value *out)
{
    if (json->kind != JSON_ARRAY) {
        return refuse(in, "L takes an array");
    }
    struct value *values = arena_alloc(in->arena, json->count * sizeof *values);
    for (size_t i = 0; i < json->count; i++) {
        if (!read_typed(in, &json->items[i], &values[i])) {
            return error_wrap(in->err, "[%zu]", i);
        }
    }
    *out = value_list(in->arena, values, json->count);
    return true;
}

static bool read_map(struct input *in, const struct json *json, struct value *out)
{
    if (json->kind != JSON_OBJECT) {
        return refuse(in, "M takes an object");
    }
    struct attribute *members = arena_alloc(in->arena, json->count * sizeof *members);
    for (size_t i = 0; i < json->count; i++) {
        members[i].name = json->items[i].name;
        if (!read_typed(in, &json->items[i], &members[i].value)) {
            return error_wrap(in->err, "%.*s", STR_ARG(members[i].name));
        }
    }
    return value_map(in->arena, members, json->count, out, in->err);
}

static bool read_container(struct input *in, const struct json *json, enum value_type type,
                           struct value *out)
{
    if (in->depth == VALUE_MAX_DEPTH) {
        return error_set(in->err, ERROR_INPUT, "nested over %d levels", VALUE_MAX_DEPTH);
    }
    in->depth++;
    bool ok = type == VALUE_L ? read_list(in, json, out) : read_map(in, json, out);
    in->depth--;
    return ok;
}

/* So that a set's type gives that of its members. */
_Static_assert(VALUE_NS - VALUE_SS == VALUE_N - VALUE_S && VALUE_BS - VALUE_SS == VALUE_B - VALUE_S,
               "sets stand in the order of their members");

static bool read_content(struct input *in, const struct json *json, enum value_type type,
                         struct value *out)
{
    switch (type) {
    case VALUE_BOOL:
        *out = value_from_bool(json->boolean);
        return json->kind == JSON_BOOL || refuse(in, "BOOL takes true or false");
    case VALUE_NULL:
        *out = value_null();
        return json->boolean || refuse(in, "NULL takes true");
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return read_set(in, json, type - VALUE_SS + VALUE_S, out);
    case VALUE_L:
    case VALUE_M:
        return read_container(in, json, type, out);
    default:
        return read_scalar(in, json, type, out);
    }
}

static bool read_typed(struct input *in, const struct json *json, struct value *out)
{
    if (json->kind != JSON_OBJECT || json->count != 1) {
        return refuse(in, "expected {\"TYPE\": value}");
    }
    const struct json *content = &json->items[0];
    enum value_type type = value_type_named(content->name);
    if (type == VALUE_MISSING) {
        return error_set(in->err, ERROR_INPUT, "unknown type \"%.*s\"", STR_ARG(content->name));
    }
    return read_content(in, content, type, out);
}

bool item_json_item(const struct json *json, struct arena *arena, struct value *out,
                    struct error *err)
{
    struct input in = {arena, err, 0};
    if (json->kind != JSON_OBJECT) {
        return refuse(&in, "an item is an object");
    }
    return read_map(&in, json, out);
}

static bool read_plain(struct input *in, const struct json *json, struct value *out);

static bool plain_members(struct input *in, const struct json *json, struct value *out)
{
    struct attribute *members = arena_alloc(in->arena, json->count * sizeof *members);
    for (size_t i = 0; i < json->count; i++) {
        members[i].name = json->items[i].name;
        if (!read_plain(in, &json->items[i], &members[i].value)) {
            return error_wrap(in->err, "%.*s", STR_ARG(members[i].name));
        }
    }
    return value_map(in->arena, members, json->count, out, in->err);
}

static bool plain_elements(struct input *in, const struct json *json, struct value *out)
{
    struct value *values = arena_alloc(in->arena, json->count * sizeof *values);
    for (size_t i = 0; i < json->count; i++) {
        if (!read_plain(in, &json->items[i], &values[i])) {
            return error_wrap(in->err, "[%zu]", i);
        }
    }
    *out = value_list(in->arena, values, json->count);
    return true;
}

static bool plain_container(struct input *in, const struct json *json, struct value *out)
{
    if (in->depth == VALUE_MAX_DEPTH) {
        return error_set(in->err, ERROR_LIMIT, "nested over %d levels", VALUE_MAX_DEPTH);
    }
    in->depth++;
    bool ok =
        json->kind == JSON_ARRAY ? plain_elements(in, json, out) : plain_members(in, json, out);
    in->depth--;
    return ok;
}

static bool read_plain(struct input *in, const struct json *json, struct value *out)
{
    switch (json->kind) {
    case JSON_NULL:
        *out = value_null();
        return true;
    case JSON_BOOL:
        *out = value_from_bool(json->boolean);
        return true;
    case JSON_STRING:
    case JSON_NUMBER:
        break;
    default:
        return plain_container(in, json, out);
    }
    struct json string = {.kind = JSON_STRING, .text = json->text};
    return read_scalar(in, &string, json->kind == JSON_STRING ? VALUE_S : VALUE_N, out);
}

bool item_json_plain(const struct json *json, struct arena *arena, struct value *out,
                     struct error *err)
{
    struct input in = {arena, err, 0};
    struct value v;
    if (!read_plain(&in, json, &v)) {
        return false;
    }
    *out = v;
    return true;
}
