#include "tests/rules/item_value.h"

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"
#include "tests/rules/item_number.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 6, DEPTH_MAX = 4 };

static const struct json *parse(struct arena *arena, const char *text)
{
    struct json *json = NULL;
    struct error err = {0};
    struct json_options options = {false, "test"};
    if (!json_parse((struct str){text, strlen(text)}, &options, arena, &json, &err)) {
        (void)fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return json;
}

struct value item_of_json(struct arena *arena, const char *text)
{
    struct value item = {NULL, 0};
    struct error err = {0};
    if (!item_json_item(parse(arena, text), arena, &item, &err)) {
        (void)fprintf(stderr, "%s: %s\n", text, err.text);
        abort();
    }
    return item;
}

struct value value_of_json(struct arena *arena, const char *text)
{
    struct value item = item_of_json(arena, arena_format(arena, "{\"v\":%s}", text).ptr);
    return value_member(item, STR("v"));
}

struct str json_of_value(struct arena *arena, struct value v)
{
    if (value_is_missing(v)) {
        return STR("missing");
    }
    struct buffer out = {0};
    item_json_write_value(v, &out);
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

struct str json_of_item(struct arena *arena, struct value item)
{
    struct buffer out = {0};
    item_json_write_item(item, &out);
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

/* A few letters, now and then long enough for a length of two bytes. */
static struct str draw_text(struct draw *draw, struct arena *arena)
{
    static const char *const letters[] = {"", "a", "b", "\xc3\xa9", "\xf0\x9f\x98\x80"};
    struct buffer text = {0};
    size_t count = draw_below(draw, draw_below(draw, 8) == 7 ? 200 : 4);
    for (size_t i = 0; i < count; i++) {
        const char *letter = letters[draw_below(draw, sizeof letters / sizeof *letters)];
        buffer_add(&text, (struct str){letter, strlen(letter)});
    }
    struct str copy = arena_copy(arena, buffer_str(&text));
    buffer_free(&text);
    return copy;
}

static struct value draw_scalar(struct draw *draw, struct arena *arena, enum value_type type)
{
    struct number n;
    switch (type) {
    case VALUE_S:
        return value_string(arena, draw_text(draw, arena));
    case VALUE_B:
        return value_binary(arena, draw_text(draw, arena));
    case VALUE_BOOL:
        return value_from_bool(draw_below(draw, 2) == 1);
    case VALUE_NULL:
        return value_null();
    default:
        n = draw_number(draw);
        return value_from_number(arena, &n);
    }
}

static struct value must_set(struct arena *arena, const struct value *members, size_t count)
{
    struct value set = {NULL, 0};
    struct error err = {0};
    if (!value_set_merged(arena, members, count, &set, &err)) {
        abort();
    }
    return set;
}

static struct value must_map(struct arena *arena, struct attribute *members, size_t count)
{
    struct value map = {NULL, 0};
    struct error err = {0};
    if (!value_map(arena, members, count, &map, &err)) {
        abort();
    }
    return map;
}

static struct value draw_set(struct draw *draw, struct arena *arena, enum value_type type)
{
    struct value members[MEMBERS_MAX];
    size_t count = 1 + draw_below(draw, MEMBERS_MAX);
    for (size_t i = 0; i < count; i++) {
        members[i] = draw_scalar(draw, arena, type - VALUE_SS + VALUE_S);
    }
    return must_set(arena, members, count);
}

static struct value draw_map(struct draw *draw, struct arena *arena, uint32_t depth)
{
    struct attribute members[MEMBERS_MAX];
    size_t count = draw_below(draw, MEMBERS_MAX);
    for (size_t i = 0; i < count; i++) {
        struct str tail = draw_text(draw, arena);
        members[i].name = arena_format(arena, "%.*s%zu", STR_ARG(tail), i);
        members[i].value = draw_value(draw, arena, depth);
    }
    return must_map(arena, members, count);
}

static struct value draw_list(struct draw *draw, struct arena *arena, uint32_t depth)
{
    struct value values[MEMBERS_MAX];
    size_t count = draw_below(draw, MEMBERS_MAX);
    for (size_t i = 0; i < count; i++) {
        values[i] = draw_value(draw, arena, depth);
    }
    return value_list(arena, values, count);
}

struct value draw_value(struct draw *draw, struct arena *arena, uint32_t depth)
{
    enum value_type type = VALUE_S + draw_below(draw, depth == 0 ? VALUE_BS : VALUE_M);
    switch (type) {
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        return draw_set(draw, arena, type);
    case VALUE_L:
        return draw_list(draw, arena, depth - 1);
    case VALUE_M:
        return draw_map(draw, arena, depth - 1);
    default:
        return draw_scalar(draw, arena, type);
    }
}

struct value draw_item(struct draw *draw, struct arena *arena)
{
    return draw_map(draw, arena, DEPTH_MAX - 1);
}

static struct value rebuild(struct arena *arena, struct value v);

static struct value rebuild_set(struct arena *arena, struct value v)
{
    size_t count = value_count(v);
    struct value *members = arena_alloc(arena, count * sizeof *members);
    struct value_iter iter = value_members(v);
    struct str member;
    for (size_t i = 0; i < count && value_next_member(&iter, &member); i++) {
        members[count - 1 - i] = value_from_member(arena, iter.member, member);
    }
    return must_set(arena, members, count);
}

static struct value rebuild_map(struct arena *arena, struct value v)
{
    size_t count = value_count(v);
    struct attribute *members = arena_alloc(arena, count * sizeof *members);
    struct value_iter iter = value_members(v);
    for (size_t i = 0; i < count && value_next(&iter, &members[count - 1 - i]); i++) {
        members[count - 1 - i].value = rebuild(arena, members[count - 1 - i].value);
    }
    return must_map(arena, members, count);
}

static struct value rebuild_list(struct arena *arena, struct value v)
{
    size_t count = value_count(v);
    struct value *values = arena_alloc(arena, count * sizeof *values);
    struct value_iter iter = value_members(v);
    struct attribute element;
    for (size_t i = 0; i < count && value_next(&iter, &element); i++) {
        values[i] = rebuild(arena, element.value);
    }
    return value_list(arena, values, count);
}

/* Reads all that is in a value, and builds it again, sets and maps from the back. */
static struct value rebuild(struct arena *arena, struct value v)
{
    struct number n;
    switch (value_type(v)) {
    case VALUE_S:
        return value_string(arena, value_bytes(v));
    case VALUE_B:
        return value_binary(arena, value_bytes(v));
    case VALUE_N:
        n = value_number(v);
        return value_from_number(arena, &n);
    case VALUE_BOOL:
        return value_from_bool(value_bool(v));
    case VALUE_NULL:
        return value_null();
    case VALUE_L:
        return rebuild_list(arena, v);
    case VALUE_M:
        return rebuild_map(arena, v);
    default:
        return rebuild_set(arena, v);
    }
}

bool rule_value_is_what_it_is_built_of(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    struct value v = draw_value(draw, arena, DEPTH_MAX);
    bool holds = value_check(v, &err) && value_equal(v, rebuild(arena, v)) &&
                 value_equal(v, value_copy(arena, v));
    arena_free(arena);
    return holds;
}

static bool finds_members(struct arena *arena, struct value v)
{
    struct value_iter iter = value_members(v);
    struct attribute member;
    size_t place = 0;
    for (; value_next(&iter, &member); place++) {
        struct value found =
            value_type(v) == VALUE_M ? value_member(v, member.name) : value_element(v, place);
        if (found.bytes != member.value.bytes || found.len != member.value.len) {
            return false;
        }
        struct str longer = arena_format(arena, "%.*s!", STR_ARG(member.name));
        if (!value_is_missing(value_member(v, longer))) {
            return false;
        }
    }
    return place == value_count(v) && value_is_missing(value_element(v, place));
}

bool rule_value_members_are_found(struct draw *draw)
{
    struct arena *arena = arena_new();
    bool holds = finds_members(arena, draw_item(draw, arena)) &&
                 finds_members(arena, draw_list(draw, arena, 1));
    arena_free(arena);
    return holds;
}

static bool refused_or_canonical(struct arena *arena, const unsigned char *bytes, size_t len)
{
    struct error err = {0};
    struct value v = {bytes, len};
    if (!value_check(v, &err)) {
        return err.code == ERROR_DAMAGED;
    }
    return value_equal(v, rebuild(arena, v));
}

bool rule_value_check_takes_only_canonical_bytes(struct draw *draw)
{
    struct arena *arena = arena_new();
    bool holds = draw->left == 0 || refused_or_canonical(arena, draw->next, draw->left);
    arena_free(arena);
    return holds;
}

bool rule_value_check_sees_damage(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct value v = draw_item(draw, arena);
    /* of its own size, so that a sanitizer sees a read behind it */
    unsigned char *bytes = heap_alloc(v.len);
    memcpy(bytes, v.bytes, v.len);
    size_t changes = draw_below(draw, 4);
    for (size_t i = 0; i < changes; i++) {
        bytes[draw_below(draw, (uint32_t)v.len)] ^= (unsigned char)(1U << draw_below(draw, 8));
    }
    size_t len = v.len - draw_below(draw, draw_below(draw, 4) == 0 ? (uint32_t)v.len : 1);
    unsigned char *cut = heap_alloc(len);
    memcpy(cut, bytes, len);
    bool holds = refused_or_canonical(arena, cut, len);
    heap_free(bytes);
    heap_free(cut);
    arena_free(arena);
    return holds;
}

bool rule_value_order_of_members_does_not_matter(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct value forward[100];
    struct value backward[100];
    struct attribute members[100];
    struct attribute reversed[100];
    size_t count = 1 + draw_below(draw, 100);
    uint32_t factor = 1 + draw_below(draw, 100); /* prime to 101: all names differ */
    for (size_t i = 0; i < count; i++) {
        struct number n = draw_number(draw);
        forward[i] = backward[count - 1 - i] = value_from_number(arena, &n);
        members[i].name = arena_format(arena, "n%zu", (i + 1) * factor % 101);
        members[i].value = forward[i];
        reversed[count - 1 - i] = members[i];
    }
    bool holds = value_equal(must_set(arena, forward, count), must_set(arena, backward, count)) &&
                 value_equal(must_map(arena, members, count), must_map(arena, reversed, count));
    arena_free(arena);
    return holds;
}
