#include "plans/place.h"

#include "engine/base/buffer.h"
#include "engine/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

enum { NAME_SHOWN_BYTES = 64 };

struct place place_member(struct place place, struct str name, struct arena *arena)
{
    struct str shown = utf8_cut(name, NAME_SHOWN_BYTES);
    place.path =
        arena_format(arena, "%.*s%s%.*s%s", STR_ARG(place.path), place.path.len == 0 ? "" : ".",
                     STR_ARG(shown), shown.len < name.len ? "..." : "");
    return place;
}

struct place place_element(struct place place, size_t index, struct arena *arena)
{
    place.path = arena_format(arena, "%.*s[%zu]", STR_ARG(place.path), index);
    return place;
}

bool place_wrap(const struct place *place, size_t offset, struct error *err)
{
    size_t line = 0;
    size_t column = 0;
    json_position(place->text, offset, &line, &column);
    err->code = ERROR_PLAN;
    if (place->path.len == 0) {
        return error_wrap(err, "%s:%zu:%zu", place->file, line, column);
    }
    return error_wrap(err, "%s:%zu:%zu: %.*s", place->file, line, column, STR_ARG(place->path));
}

bool place_error(const struct place *place, size_t offset, struct error *err, const char *format,
                 ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return place_wrap(place, offset, err);
}

static const char *kind_name(enum json_kind kind)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",     [JSON_OBJECT] = "an object",
    };
    return names[kind];
}

const char *place_found(const struct json *json)
{
    if (json->kind == JSON_BOOL) {
        return json->boolean ? "true" : "false";
    }
    return kind_name(json->kind);
}

bool place_expect(const struct place *place, const struct json *json, enum json_kind kind,
                  struct error *err)
{
    if (json->kind != kind) {
        return place_error(place, json->offset, err, "expected %s, found %s", kind_name(kind),
                           place_found(json));
    }
    return true;
}

bool place_text(const struct place *place, const struct json *json, struct str *out,
                struct error *err)
{
    if (!place_expect(place, json, JSON_STRING, err)) {
        return false;
    }
    if (json->text.len == 0) {
        return place_error(place, json->offset, err, "expected a string, found an empty one");
    }
    *out = json->text;
    return true;
}

static bool is_named(struct str name, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (str_equal(name, (struct str){*names, strlen(*names)})) {
            return true;
        }
    }
    return false;
}

static bool refuse_member(const struct place *place, const struct json *member,
                          const char *const *names, struct error *err)
{
    struct buffer list = {0};
    for (size_t i = 0; names[i] != NULL; i++) {
        buffer_format(&list, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    (void)place_error(place, member->name_offset, err, "expected one of %.*s, found \"%.*s\"",
                      STR_ARG(buffer_str(&list)), STR_ARG(member->name));
    buffer_free(&list);
    return false;
}

bool place_members(const struct place *place, const struct json *object, const char *const *names,
                   struct error *err)
{
    if (!place_expect(place, object, JSON_OBJECT, err)) {
        return false;
    }
    for (size_t i = 0; i < object->count; i++) {
        if (!is_named(object->items[i].name, names)) {
            return refuse_member(place, &object->items[i], names, err);
        }
    }
    return true;
}

bool place_condition(const struct placed_json *text, const struct place_names *names,
                     struct arena *arena, const struct expr **out, struct error *err)
{
    const struct place *place = &text->place;
    const struct json *json = text->json;
    if (!place_expect(place, json, JSON_STRING, err)) {
        return false;
    }
    struct expr_options options = {.resolve = names->resolve, .context = names->context};
    struct expr_parsed parsed = {0};
    if (!expr_parse(json->text, &options, arena, &parsed, err)) {
        return place_wrap(place, json_string_offset(place->text, json, parsed.fault), err);
    }
    if (!expr_is_condition(parsed.expr)) {
        struct path path;
        struct str found = expr_print(parsed.expr, arena);
        struct str hint = {"", 0};
        if (expr_is_path(parsed.expr, &path)) {
            hint = arena_format(arena, "\nhint: of a BOOL attribute write %.*s = true",
                                STR_ARG(found));
        }
        return place_error(place, json->offset, err,
                           "expected a condition, found the value %.*s%.*s", STR_ARG(found),
                           STR_ARG(hint));
    }
    *out = parsed.expr;
    return true;
}
