#include "engine/base/hash.h"
#include "engine/store/dynamodb/ddb_internal.h"

#include <string.h>

/* Amazon DynamoDB API Reference, BatchGetItem: at most 100 items. */
enum { BATCH_KEYS = 100 };

/* ---------------------------------------------------------------- keys */

struct key_slot {
    const struct key *key; /* NULL: free */
    size_t number;
};

/* Open addressing. */
struct key_map {
    struct key_slot *slots;
    size_t mask;
    struct buffer bytes; /* of the key at hand */
};

struct key_map *key_map_new(struct arena *arena, size_t most)
{
    struct key_map *map = arena_zero(arena, sizeof *map);
    size_t capacity = 16;
    while (capacity < 2 * most) {
        capacity *= 2;
    }
    map->mask = capacity - 1;
    map->slots = arena_zero(arena, capacity * sizeof *map->slots);
    return map;
}

void key_map_free(struct key_map *map)
{
    buffer_free(&map->bytes);
}

void key_map_clear(struct key_map *map)
{
    memset(map->slots, 0, (map->mask + 1) * sizeof *map->slots);
}

/* Where the key is, or the free slot where it belongs. */
static struct key_slot *find_slot(struct key_map *map, const struct key *key)
{
    map->bytes.len = 0;
    key_encode(key, &map->bytes);
    size_t at = (size_t)hash_64(buffer_str(&map->bytes)) & map->mask;
    while (map->slots[at].key != NULL && !key_equal(map->slots[at].key, key)) {
        at = (at + 1) & map->mask;
    }
    return &map->slots[at];
}

size_t key_map_add(struct key_map *map, const struct key *key, size_t number)
{
    struct key_slot *slot = find_slot(map, key);
    if (slot->key == NULL) {
        *slot = (struct key_slot){key, number};
    }
    return slot->number;
}

size_t key_map_find(struct key_map *map, const struct key *key)
{
    const struct key_slot *slot = find_slot(map, key);
    return slot->key == NULL ? SIZE_MAX : slot->number;
}

/* ---------------------------------------------------------------- one round */

/* Keys that are asked for: each once, as BatchGetItem refuses doubles. */
struct getting {
    struct ddb_asking round; /* its arena is emptied after each */
    const struct key *keys;
    struct key_map *map; /* to their places */
    size_t *asked;       /* places that have no answer yet */
    size_t asked_count;
    struct arena *arena; /* of the items */
    struct value *out;
};

static struct str compose_batch(const struct getting *getting, struct composer *composer,
                                const size_t *places, size_t count)
{
    const struct ddb_store *store = getting->round.store;
    struct buffer items = {0};
    buffer_add_char(&items, '{');
    json_write_string(&items, store->target.table);
    buffer_add(&items, STR(":{\"ConsistentRead\":true,\"Keys\":["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            buffer_add_char(&items, ',');
        }
        compose_write_key(&items, &store->table.desc.keys, &getting->keys[places[i]]);
    }
    buffer_add(&items, STR("]}}"));
    compose_begin(composer, STR(""));
    compose_raw(composer, "RequestItems", buffer_str(&items));
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    buffer_free(&items);
    return compose_end(composer, getting->round.arena);
}

static bool take_items(const struct getting *getting, const struct json *list, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct value item;
        struct key key;
        if (!answer_element(&list->items[i], getting->arena, &item, err) ||
            !key_of_item(&getting->round.store->table.desc.keys, item, &key, err)) {
            return false;
        }
        size_t place = key_map_find(getting->map, &key);
        if (place != SIZE_MAX) {
            getting->out[place] = item;
        }
    }
    return true;
}

/* Keys without an answer are asked for again in the next round: they go to the front of `asked`. */
static bool take_unprocessed(struct getting *getting, const struct json *list, size_t *again,
                             struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct value item;
        struct key key;
        if (!answer_element(&list->items[i], getting->round.arena, &item, err) ||
            !key_of_item(&getting->round.store->table.desc.keys, item, &key, err)) {
            return false;
        }
        size_t place = key_map_find(getting->map, &key);
        if (place != SIZE_MAX) {
            getting->asked[(*again)++] = place;
        }
    }
    return true;
}

/* The one member of an object that is named for the table. */
static const struct json *of_table(const struct json *reply, const char *name)
{
    const struct json *object = json_member(reply, name);
    bool has_one = object != NULL && object->kind == JSON_OBJECT && object->count == 1;
    return has_one ? &object->items[0] : NULL;
}

static bool take_reply(struct getting *getting, const struct ddb_request *request, size_t *again,
                       struct error *err)
{
    const struct json *reply = NULL;
    if (!answer_expect(getting->round.store, request, getting->round.arena, &reply, err)) {
        return false;
    }
    const struct json *found = of_table(reply, "Responses");
    static const struct json none = {.kind = JSON_ARRAY};
    return take_items(getting, found != NULL && found->kind == JSON_ARRAY ? found : &none, err) &&
           take_unprocessed(getting, answer_list(of_table(reply, "UnprocessedKeys"), "Keys"), again,
                            err);
}

static bool run_round(struct getting *getting, struct error *err)
{
    size_t batches = (getting->asked_count + BATCH_KEYS - 1) / BATCH_KEYS;
    struct ddb_request *requests = arena_zero(getting->round.arena, batches * sizeof *requests);
    struct composer composer = {.name_count = 0};
    for (size_t i = 0; i < batches; i++) {
        size_t first = i * BATCH_KEYS;
        size_t left = getting->asked_count - first;
        size_t count = left < BATCH_KEYS ? left : BATCH_KEYS;
        requests[i] = (struct ddb_request){
            .operation = "BatchGetItem",
            .body = compose_batch(getting, &composer, getting->asked + first, count),
            .units = (double)count};
    }
    composer_free(&composer);
    if (!answer_calls(&getting->round, requests, batches, err)) {
        return false;
    }
    size_t again = 0;
    for (size_t i = 0; i < batches; i++) {
        if (!take_reply(getting, &requests[i], &again, err)) {
            return false;
        }
    }
    getting->asked_count = again;
    return true;
}

/* ---------------------------------------------------------------- the whole */

static bool run_rounds(struct getting *getting, struct error *err)
{
    size_t before = 0;
    bool ok = true;
    for (unsigned stalled = 0; ok && getting->asked_count > 0;) {
        before = getting->asked_count;
        ok = run_round(getting, err);
        stalled = getting->asked_count == before ? stalled + 1 : 1;
        if (ok && getting->asked_count > 0) {
            ok = ddb_pause(getting->round.client,
                           &(struct ddb_unprocessed){"BatchGetItem", getting->asked_count, stalled},
                           err);
        }
        arena_reset(getting->round.arena);
    }
    return ok;
}

bool get_items(const struct ddb_asking *asking, struct key_list keys, struct value *out,
               struct error *err)
{
    struct arena *own = arena_new();
    struct getting getting = {.round = {asking->store, asking->client, arena_new()},
                              .keys = keys.list,
                              .map = key_map_new(own, keys.count),
                              .asked = arena_alloc(own, (keys.count + 1) * sizeof *getting.asked),
                              .arena = asking->arena,
                              .out = out};
    size_t *first = arena_alloc(own, (keys.count + 1) * sizeof *first);
    for (size_t i = 0; i < keys.count; i++) {
        out[i] = (struct value){NULL, 0};
        first[i] = key_map_add(getting.map, &keys.list[i], i);
        if (first[i] == i && !reserved_key(asking->store, &keys.list[i])) {
            getting.asked[getting.asked_count++] = i;
        }
    }
    bool ok = run_rounds(&getting, err);
    for (size_t i = 0; ok && i < keys.count; i++) {
        out[i] = out[first[i]];
    }
    key_map_free(getting.map);
    arena_free(getting.round.arena);
    arena_free(own);
    return ok;
}
