#include "engine/store/dynamodb/ddb_internal.h"

/* Items that are read together once the first of them is asked for. */
struct expected {
    struct arena *arena; /* of the keys */
    struct arena *items; /* at hand */
    struct getting *getting;
};

void expected_drop(struct ddb_reader *reader)
{
    struct expected *expected = reader->expected;
    if (expected != NULL) {
        getting_close(expected->getting);
        arena_free(expected->items);
        arena_free(expected->arena);
        heap_free(expected);
        reader->expected = NULL;
    }
}

bool ddb_expect(struct store_reader *base, struct key_list keys, struct error *err)
{
    (void)err;
    struct ddb_reader *reader = ddb_reader_of(base);
    expected_drop(reader);
    struct expected *expected = heap_alloc(sizeof *expected);
    *expected = (struct expected){.arena = arena_new(), .items = arena_new()};
    struct key *copies = arena_alloc(expected->arena, keys.count * sizeof *copies);
    for (size_t i = 0; i < keys.count; i++) {
        copies[i] = key_copy(&keys.list[i], expected->arena);
    }
    struct ddb_asking asking = {ddb_of(base->store), reader->client, expected->items};
    reader->portions.most_bytes = PORTION_BYTES;
    expected->getting =
        getting_open(&asking, (struct key_list){copies, keys.count}, &reader->portions);
    reader->expected = expected;
    return true;
}

static bool get_one(const struct ddb_reader *reader, const struct ddb_asking *asking,
                    const struct key *key, struct stored_item *out, struct error *err)
{
    struct value item = {NULL, 0};
    bool found = false;
    if (reader->expected != NULL &&
        !getting_find(reader->expected->getting, key, &item, &found, err)) {
        return false;
    }
    if (!found && !get_items(asking, (struct key_list){key, 1}, &item, err)) {
        return false;
    }
    *out = (struct stored_item){.item = found ? value_copy(asking->arena, item) : item};
    return true;
}

bool ddb_get(struct store_reader *base, struct key_list keys, struct arena *arena,
             struct stored_item *out, struct error *err)
{
    const struct ddb_reader *reader = ddb_reader_of(base);
    struct ddb_asking asking = {ddb_of(base->store), reader->client, arena};
    if (keys.count == 1) {
        return get_one(reader, &asking, keys.list, out, err);
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
