#include "engine/store/dynamodb/ddb_internal.h"

/* Items that were read before they are asked for. */
struct expected {
    struct arena *arena;
    struct key *keys;
    struct value *items;
    struct key_map *map; /* to their numbers */
};

void expected_drop(struct ddb_reader *reader)
{
    struct expected *expected = reader->expected;
    if (expected != NULL) {
        key_map_free(expected->map);
        arena_free(expected->arena);
        heap_free(expected);
        reader->expected = NULL;
    }
}

bool ddb_expect(struct store_reader *base, struct key_list keys, struct error *err)
{
    struct ddb_reader *reader = ddb_reader_of(base);
    expected_drop(reader);
    struct expected *expected = heap_alloc(sizeof *expected);
    struct arena *arena = arena_new();
    *expected = (struct expected){.arena = arena,
                                  .keys = arena_alloc(arena, keys.count * sizeof(struct key)),
                                  .items = arena_alloc(arena, keys.count * sizeof(struct value)),
                                  .map = key_map_new(arena, keys.count)};
    reader->expected = expected;
    for (size_t i = 0; i < keys.count; i++) {
        expected->keys[i] = key_copy(&keys.list[i], arena);
        (void)key_map_add(expected->map, &expected->keys[i], i);
    }
    struct ddb_asking asking = {ddb_of(base->store), reader->client, arena};
    struct key_list copies = {expected->keys, keys.count};
    bool ok = get_items(&asking, copies, expected->items, err);
    if (!ok) {
        expected_drop(reader);
    }
    return ok;
}

/* False: it was not expected. */
static bool take_expected(const struct ddb_reader *reader, const struct key *key,
                          struct arena *arena, struct stored_item *out)
{
    const struct expected *expected = reader->expected;
    size_t number = expected == NULL ? SIZE_MAX : key_map_find(expected->map, key);
    if (number == SIZE_MAX) {
        return false;
    }
    *out = (struct stored_item){.item = value_copy(arena, expected->items[number])};
    return true;
}

bool ddb_get(struct store_reader *base, struct key_list keys, struct arena *arena,
             struct stored_item *out, struct error *err)
{
    const struct ddb_reader *reader = ddb_reader_of(base);
    struct ddb_asking asking = {ddb_of(base->store), reader->client, arena};
    if (keys.count == 1 && take_expected(reader, &keys.list[0], arena, &out[0])) {
        return true;
    }
    struct arena *scratch = arena_new();
    struct value *items = arena_alloc(scratch, (keys.count + 1) * sizeof *items);
    bool ok = get_items(&asking, keys, items, err);
    for (size_t i = 0; ok && i < keys.count; i++) {
        out[i] = (struct stored_item){.item = items[i]};
    }
    arena_free(scratch);
    return ok;
}
