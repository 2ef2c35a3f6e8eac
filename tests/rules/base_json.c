#include "tests/rules/base_json.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/base/utf8.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void draw_text(struct draw *draw, struct buffer *out)
{
    static const uint32_t limits[] = {0x20, 0x80, 0x800, 0xd800, 0x110000 - 0xe000};
    size_t count = draw_below(draw, 40);
    for (size_t i = 0; i < count; i++) {
        uint32_t kind = draw_below(draw, sizeof limits / sizeof *limits);
        uint32_t character = draw_below(draw, limits[kind]) + (kind == 4 ? 0xe000 : 0);
        out->len += utf8_put(buffer_reserve(out, 4), character);
    }
}

/* Plain bytes stand in the source as they are; others as an escape. */
static bool offsets_lead_to(struct str source, const struct json *string)
{
    size_t before = 0;
    for (size_t at = 0; at < string->text.len; at++) {
        size_t offset = json_string_offset(source, string, at);
        if (offset < before || offset >= source.len ||
            (source.ptr[offset] != '\\' && source.ptr[offset] != string->text.ptr[at])) {
            return false;
        }
        before = offset;
    }
    return true;
}

bool rule_json_strings_come_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct buffer text = {0};
    struct buffer source = {0};
    draw_text(draw, &text);
    json_write_string(&source, buffer_str(&text));
    struct json *json = NULL;
    struct error err = {0};
    struct json_options options = {false, "f"};
    bool holds = json_parse(buffer_str(&source), &options, arena, &json, &err) &&
                 json->kind == JSON_STRING && str_equal(json->text, buffer_str(&text)) &&
                 offsets_lead_to(buffer_str(&source), json);
    buffer_free(&text);
    buffer_free(&source);
    arena_free(arena);
    return holds;
}

static bool starts_like(const struct json *json, char c)
{
    static const char *const starts[] = {
        [JSON_NULL] = "n",    [JSON_BOOL] = "tf", [JSON_NUMBER] = "-0123456789",
        [JSON_STRING] = "\"", [JSON_ARRAY] = "[", [JSON_OBJECT] = "{",
    };
    return c != '\0' && strchr(starts[json->kind], c) != NULL;
}

static bool stands_in(struct str text, const struct json *json)
{
    if (json->offset >= text.len || !starts_like(json, text.ptr[json->offset]) ||
        !utf8_is_valid(json->text) || !utf8_is_valid(json->name)) {
        return false;
    }
    for (size_t i = 0; i < json->count; i++) {
        if (json->items[i].offset <= json->offset || !stands_in(text, &json->items[i])) {
            return false;
        }
    }
    return true;
}

bool rule_json_takes_or_refuses_any_bytes(struct draw *draw)
{
    struct json_options options = {draw_below(draw, 2) == 1, "f"};
    struct str text = {(const char *)draw->next, draw->left};
    struct arena *arena = arena_new();
    struct json *json = NULL;
    struct error err = {0};
    bool holds = json_parse(text, &options, arena, &json, &err)
                     ? stands_in(text, json)
                     : err.code == ERROR_INPUT && strncmp(err.text, "f:", 2) == 0;
    arena_free(arena);
    return holds;
}
