#include "tests/rules/item_key_middle.h"

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "engine/item/key_middle.h"
#include "engine/item/value.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TAIL_CHARACTERS = 5, CHARACTER_BYTES = 4 };

/* Often the first or the last of those with as many bytes, or beside a gap. */
static uint32_t draw_character(struct draw *draw)
{
    static const uint32_t edges[] = {0,     1,      '0',    '9',    0x7f,    0x80,    0x7ff,
                                     0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    uint32_t edge = draw_below(draw, 2 * sizeof edges / sizeof *edges);
    if (edge < sizeof edges / sizeof *edges) {
        return edges[edge];
    }
    uint32_t character = draw_below(draw, 0x110000 - 0x800);
    return character + (character >= 0xd800 ? 0x800 : 0);
}

static struct str draw_tail(struct draw *draw, bool is_text, struct arena *arena)
{
    char *bytes = arena_bytes(arena, TAIL_CHARACTERS * CHARACTER_BYTES);
    size_t len = 0;
    for (uint32_t left = draw_below(draw, TAIL_CHARACTERS + 1); left > 0; left--) {
        if (is_text) {
            len += utf8_put(bytes + len, draw_character(draw));
        } else {
            bytes[len++] = (char)(unsigned char)draw_below(draw, 256);
        }
    }
    return (struct str){bytes, len};
}

/* As long as a key may be. */
static struct str key_of(struct str head, struct str tail, bool is_text, struct arena *arena)
{
    char *bytes = arena_bytes(arena, head.len + tail.len + 1);
    memcpy(bytes, head.ptr, head.len);
    memcpy(bytes + head.len, tail.ptr, tail.len);
    struct str whole = {bytes, head.len + tail.len};
    size_t most = whole.len < SORT_KEY_MAX_BYTES ? whole.len : SORT_KEY_MAX_BYTES;
    return is_text ? utf8_cut(whole, most) : (struct str){bytes, most};
}

/* Short, or so long that little fits behind it. */
static struct str draw_head(struct draw *draw, struct arena *arena)
{
    uint32_t short_len = draw_below(draw, 4);
    uint32_t back = draw_below(draw, TAIL_CHARACTERS * CHARACTER_BYTES);
    size_t len = draw_below(draw, 4) == 3 ? SORT_KEY_MAX_BYTES - back : short_len;
    char *bytes = arena_bytes(arena, len + 1);
    memset(bytes, 'x', len);
    return (struct str){bytes, len};
}

static struct value value_of(struct str bytes, bool is_text, struct arena *arena)
{
    return is_text ? value_string(arena, bytes) : value_binary(arena, bytes);
}

/* The least that is greater than `low` is `low` and a NUL. */
static bool is_room(struct str low, struct str high)
{
    bool is_next = high.len == low.len + 1 && str_begins(high, low) && high.ptr[low.len] == '\0';
    return str_compare(low, high) < 0 && !is_next;
}

static bool holds(struct str low, struct str high, bool is_text, struct arena *arena)
{
    struct value middle;
    if (!key_middle(value_of(low, is_text, arena), value_of(high, is_text, arena), arena,
                    &middle)) {
        return !is_room(low, high) || low.len == SORT_KEY_MAX_BYTES;
    }
    struct str between = value_bytes(middle);
    return value_type(middle) == (is_text ? VALUE_S : VALUE_B) &&
           between.len <= SORT_KEY_MAX_BYTES && (!is_text || utf8_is_valid(between)) &&
           str_compare(low, between) < 0 && str_compare(between, high) < 0;
}

bool rule_key_middle_lies_between_or_none_does(struct draw *draw)
{
    struct arena *arena = arena_new();
    bool is_text = draw_below(draw, 4) > 0;
    struct str head = draw_head(draw, arena);
    struct str one = key_of(head, draw_tail(draw, is_text, arena), is_text, arena);
    struct str more = draw_below(draw, 4) == 0 ? one : head;
    struct str other = key_of(more, draw_tail(draw, is_text, arena), is_text, arena);
    bool ok = holds(one, other, is_text, arena) && holds(other, one, is_text, arena);
    arena_free(arena);
    return ok;
}
