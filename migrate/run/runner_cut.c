#include "migrate/run/runner_cut.h"

#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "engine/item/key_middle.h"

static bool decode(const struct key_schema *keys, struct str cursor, struct key *out)
{
    struct error ignored;
    return key_decode(cursor, keys->partition_count + keys->sort_count, out, &ignored);
}

bool runner_heat_add(struct runner_heat *heat, const struct key_schema *keys, struct str cursor)
{
    struct key key;
    if (!decode(keys, cursor, &key)) {
        return false;
    }
    uint64_t collection = hash_64((struct str){(const char *)key.parts[0].bytes, key.parts[0].len});
    heat->pages = heat->collection == collection ? heat->pages + 1 : 1;
    heat->collection = collection;
    if (heat->pages < RUNNER_CUT_PAGES) {
        return false;
    }
    heat->pages = 0;
    return true;
}

static struct str encode(const struct key *key, struct arena *arena)
{
    struct buffer bytes = {0};
    key_encode(key, &bytes);
    struct str out = arena_copy(arena, buffer_str(&bytes));
    buffer_free(&bytes);
    return out;
}

/* The last sort key of a collection, in the arena; as it is where there are no items any more. */
static bool find_last(struct store_reader *reader, const struct key_attribute *sort,
                      struct arena *arena, struct key *key, struct error *err)
{
    struct query query = {.partition = {key->parts[0]}, .descending = true, .limits = {.items = 1}};
    struct page page;
    if (!store_query(reader, &query, &page, err)) {
        return false;
    }
    if (page.count > 0) {
        key->parts[1] = value_copy(arena, value_member(page.items[0].item, sort->name));
    }
    store_release(reader);
    return true;
}

bool runner_cut_find(struct store_reader *reader, const struct key_schema *keys,
                     const struct str range[2], struct runner_cut *out, struct error *err)
{
    struct key from;
    struct key end;
    bool is_open = range[1].len == 0;
    struct arena *arena = out->arena;
    out->middle = (struct str){NULL, 0};
    if (!decode(keys, range[0], &from) || !decode(keys, is_open ? range[0] : range[1], &end)) {
        return true;
    }
    if (is_open && !find_last(reader, &keys->sort[0], arena, &end, err)) {
        return false;
    }
    struct key middle = from;
    if (key_middle(from.parts[1], end.parts[1], arena, &middle.parts[1])) {
        out->middle = encode(&middle, arena);
        out->end = encode(&end, arena);
    }
    return true;
}
