#include "tests/rules/sort_order.h"

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/sort/sorter.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SORTERS = 2, PAIRS_MAX = 3000, KEY_MAX = 40, VALUE_MAX = 1000 };

/* Drawn once; the pairs follow from it by a generator, so that short cases sort many pairs. */
struct shape {
    uint32_t seed;
    size_t count;
    size_t common;   /* bytes that all keys begin with */
    size_t alphabet; /* small: many equal keys and long common prefixes */
    size_t value_len;
};

struct pair {
    struct str key;
    bool seen;
};

static uint32_t next(uint32_t *state) /* xorshift32 */
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static struct str make_key(const struct shape *shape, uint32_t *state, struct arena *arena)
{
    size_t len = next(state) % (KEY_MAX + 1);
    char *bytes = arena_bytes(arena, shape->common + len);
    memset(bytes, 'c', shape->common);
    for (size_t i = 0; i < len; i++) {
        bytes[shape->common + i] = (char)(next(state) % shape->alphabet * 85);
    }
    return (struct str){bytes, shape->common + len};
}

/* The first half of the pairs go to the first sorter; a value begins with the pair's number. */
static bool fill(const struct shape *shape, struct pair *pairs, struct sorter *const *sorters,
                 struct arena *arena)
{
    struct error err = {0};
    uint32_t state = shape->seed;
    for (size_t i = 0; i < shape->count; i++) {
        pairs[i] = (struct pair){make_key(shape, &state, arena), false};
        char value[VALUE_MAX + sizeof i] = {0};
        memcpy(value, &i, sizeof i);
        struct str bytes = {value, sizeof i + shape->value_len};
        struct sorter *sorter = sorters[i * SORTERS / shape->count];
        if (!sorter_add(sorter, pairs[i].key, bytes, &err)) {
            return false;
        }
    }
    return sorter_finish(sorters[0], &err) && sorter_finish(sorters[1], &err);
}

/* Reads the next pair; false unless it is one that was added and has not been read yet. */
static bool read_place(const struct shape *shape, struct pair *pairs, struct sorted *sorted,
                       size_t *place)
{
    struct error err = {0};
    struct str key, value;
    bool more = false;
    if (!sorted_next(sorted, &key, &value, &more, &err) || !more ||
        value.len != sizeof *place + shape->value_len) {
        return false;
    }
    memcpy(place, value.ptr, sizeof *place);
    if (*place >= shape->count || pairs[*place].seen) {
        return false;
    }
    pairs[*place].seen = true;
    return str_equal(key, pairs[*place].key);
}

static bool is_in_order(const struct shape *shape, struct pair *pairs, struct sorted *sorted)
{
    size_t last = 0;
    for (size_t read = 0; read < shape->count; read++) {
        size_t place = 0;
        if (!read_place(shape, pairs, sorted, &place)) {
            return false;
        }
        int order = read == 0 ? -1 : str_compare(pairs[last].key, pairs[place].key);
        if (order > 0 || (order == 0 && last > place)) {
            return false;
        }
        last = place;
    }
    struct error err = {0};
    struct str key, value;
    bool more = true;
    return sorted_next(sorted, &key, &value, &more, &err) && !more;
}

bool rule_sort_is_a_stable_order(struct draw *draw)
{
    struct shape shape = {.seed = 1 + draw_below(draw, UINT32_MAX - 1),
                          .count = 1 + draw_below(draw, PAIRS_MAX),
                          .common = draw_below(draw, 2) == 0 ? 0 : draw_below(draw, 1500),
                          .alphabet = 1 + draw_below(draw, 4),
                          .value_len = draw_below(draw, VALUE_MAX)};
    struct sorter_options options = {.memory_bytes = 0, .temp_dir = "/tmp"};
    struct sorter *sorters[SORTERS] = {sorter_new(&options), sorter_new(&options)};
    struct arena *arena = arena_new();
    struct pair *pairs = arena_alloc(arena, shape.count * sizeof *pairs);
    struct sorted *sorted = NULL;
    struct error err = {0};
    bool holds = fill(&shape, pairs, sorters, arena) &&
                 sorter_count(sorters[0]) + sorter_count(sorters[1]) == shape.count &&
                 sorted_open(sorters, SORTERS, &sorted, &err) && is_in_order(&shape, pairs, sorted);
    sorted_close(sorted);
    sorter_free(sorters[0]);
    sorter_free(sorters[1]);
    arena_free(arena);
    return holds;
}
