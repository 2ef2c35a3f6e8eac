#include "tests/rules/item_text.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/item_json.h"
#include "engine/item/value.h"
#include "tests/rules/item_value.h"

#include <stddef.h>

enum { DRAWN_DEPTH = 4 };

static const struct json_options options = {false, "test"};

static bool comes_back(struct arena *arena, struct value v)
{
    struct json *json = NULL;
    struct value again;
    struct error err = {0};
    struct str text = json_of_value(arena, v);
    text = arena_format(arena, "{\"v\":%.*s}", STR_ARG(text));
    return json_parse(text, &options, arena, &json, &err) &&
           item_json_item(json, arena, &again, &err) &&
           value_equal(v, value_member(again, STR("v")));
}

static bool item_comes_back(struct arena *arena, struct value item)
{
    struct json *json = NULL;
    struct value again;
    struct error err = {0};
    return json_parse(json_of_item(arena, item), &options, arena, &json, &err) &&
           item_json_item(json, arena, &again, &err) && value_equal(item, again);
}

bool rule_item_json_comes_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    bool holds = comes_back(arena, draw_value(draw, arena, DRAWN_DEPTH)) &&
                 item_comes_back(arena, draw_item(draw, arena));
    arena_free(arena);
    return holds;
}

bool rule_item_json_plain_comes_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct buffer first = {0};
    struct buffer second = {0};
    struct json *json = NULL;
    struct value again;
    struct error err = {0};
    item_json_write_plain(draw_value(draw, arena, DRAWN_DEPTH), &first);
    bool holds = json_parse(buffer_str(&first), &options, arena, &json, &err) &&
                 item_json_plain(json, arena, &again, &err) && value_check(again, &err);
    if (holds) {
        item_json_write_plain(again, &second);
        holds = str_equal(buffer_str(&first), buffer_str(&second));
    }
    buffer_free(&first);
    buffer_free(&second);
    arena_free(arena);
    return holds;
}

static bool is_item_error(const struct error *err)
{
    return err->code == ERROR_INPUT || err->code == ERROR_ITEM || err->code == ERROR_LIMIT;
}

bool rule_item_json_takes_or_refuses_any_text(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct json *json = NULL;
    struct value item;
    struct value plain;
    struct error err = {0};
    bool holds = true;
    if (json_parse((struct str){(const char *)draw->next, draw->left}, &options, arena, &json,
                   &err)) {
        holds = item_json_item(json, arena, &item, &err)
                    ? value_check(item, &err) && item_comes_back(arena, item)
                    : is_item_error(&err);
        holds = holds && (item_json_plain(json, arena, &plain, &err) ? value_check(plain, &err)
                                                                     : is_item_error(&err));
    }
    arena_free(arena);
    return holds;
}

bool rule_base64_comes_back(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct str bytes = {(const char *)draw->next, draw->left};
    struct buffer text = {0};
    struct str again;
    struct error err = {0};
    base64_write(bytes, &text);
    bool holds = base64_read(buffer_str(&text), arena, &again, &err) && str_equal(bytes, again);
    if (holds && base64_read(bytes, arena, &again, &err)) {
        text.len = 0;
        base64_write(again, &text);
        holds = str_equal(bytes, buffer_str(&text));
    }
    buffer_free(&text);
    arena_free(arena);
    return holds;
}
