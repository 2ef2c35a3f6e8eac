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

/* SIZE_MAX: it is not there. */
static size_t key_map_find(struct key_map *map, const struct key *key)
{
    const struct key_slot *slot = find_slot(map, key);
    return slot->key == NULL ? SIZE_MAX : slot->number;
}

/* ---------------------------------------------------------------- one round */

enum reading { READING_WANTED, READING_THERE, READING_GONE };

/* Keys that are asked for: each once, as BatchGetItem refuses doubles. */
struct getting {
    struct ddb_asking round; /* its arena is emptied after each */
    struct key_list keys;
    struct key_map *map;    /* to their places */
    enum reading *readings; /* by place */
    struct value *items;    /* by place, where they are there */
    size_t *asked;          /* places that have no answer yet */
    size_t asked_count;
    struct arena *own;   /* of all this */
    struct arena *arena; /* of the items */
    size_t at_hand;      /* keys that have their answer there */
    size_t at_hand_bytes;
    struct portions *portions;
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
        compose_write_key(&items, &store->table.desc.keys, &getting->keys.list[places[i]]);
    }
    buffer_add(&items, STR("]}}"));
    compose_begin(composer, STR(""));
    compose_raw(composer, "RequestItems", buffer_str(&items));
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    buffer_free(&items);
    return compose_end(composer, getting->round.arena);
}

/* Of an item, or a key, that this round asked for; else SIZE_MAX. */
static size_t place_of(const struct getting *getting, const struct key *key)
{
    size_t place = key_map_find(getting->map, key);
    bool is_asked = place != SIZE_MAX && getting->readings[place] == READING_THERE;
    return is_asked ? place : SIZE_MAX;
}

static bool take_items(struct getting *getting, const struct json *list, struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct value item;
        struct key key;
        if (!answer_element(&list->items[i], getting->arena, &item, err) ||
            !key_of_item(&getting->round.store->table.desc.keys, item, &key, err)) {
            return false;
        }
        size_t place = place_of(getting, &key);
        if (place != SIZE_MAX) {
            getting->items[place] = item;
            getting->at_hand_bytes += item.len;
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
        size_t place = place_of(getting, &key);
        if (place != SIZE_MAX) {
            getting->readings[place] = READING_WANTED;
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

static bool take_replies(struct getting *getting, const struct ddb_request *requests, size_t count,
                         size_t *again, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!take_reply(getting, &requests[i], again, err)) {
            return false;
        }
    }
    return true;
}

/* Asks for the first `keys` of those that have no answer; *again of them get none. */
static bool run_round(struct getting *getting, size_t keys, size_t *again, struct error *err)
{
    size_t batches = (keys + BATCH_KEYS - 1) / BATCH_KEYS;
    struct ddb_request *requests = arena_zero(getting->round.arena, batches * sizeof *requests);
    struct composer composer = {.name_count = 0};
    for (size_t i = 0; i < batches; i++) {
        size_t first = i * BATCH_KEYS;
        size_t count = keys - first < BATCH_KEYS ? keys - first : BATCH_KEYS;
        requests[i] = (struct ddb_request){
            .operation = "BatchGetItem",
            .body = compose_batch(getting, &composer, getting->asked + first, count),
            .units = (double)count};
    }
    composer_free(&composer);
    if (!answer_calls(&getting->round, requests, batches, err)) {
        return false;
    }
    for (size_t i = 0; i < keys; i++) {
        getting->readings[getting->asked[i]] = READING_THERE;
    }
    *again = 0;
    if (!take_replies(getting, requests, batches, again, err)) {
        return false;
    }
    memmove(getting->asked + *again, getting->asked + keys,
            (getting->asked_count - keys) * sizeof *getting->asked);
    getting->asked_count -= keys - *again;
    getting->at_hand += keys - *again;
    return true;
}

/* ---------------------------------------------------------------- portions */

/* Where small items are followed by large ones, one round brings too much: as many times 16 MB as
 * it has requests, at most (Amazon DynamoDB API Reference, BatchGetItem). */
enum { ROUND_KEYS = 10 * BATCH_KEYS };

static size_t round_keys(const struct getting *getting)
{
    const struct portions *portions = getting->portions;
    size_t keys = BATCH_KEYS;
    if (portions->most_bytes == SIZE_MAX) {
        keys = getting->asked_count;
    } else if (portions->item_bytes > 0) {
        keys = (portions->most_bytes - getting->at_hand_bytes) / portions->item_bytes + 1;
        keys = keys < ROUND_KEYS ? keys : ROUND_KEYS;
    }
    return keys < getting->asked_count ? keys : getting->asked_count;
}

static bool is_full(const struct getting *getting)
{
    return getting->asked_count == 0 || getting->at_hand_bytes >= getting->portions->most_bytes;
}

static bool run_rounds(struct getting *getting, struct error *err)
{
    bool ok = true;
    for (unsigned stalled = 0; ok && !is_full(getting);) {
        size_t keys = round_keys(getting);
        size_t again = 0;
        ok = run_round(getting, keys, &again, err);
        stalled = again == keys ? stalled + 1 : 1;
        if (ok && again > 0 && !is_full(getting)) {
            ok = answer_pause(&getting->round,
                              &(struct ddb_unprocessed){"BatchGetItem", again, stalled}, err);
        }
        arena_reset(getting->round.arena);
    }
    if (getting->at_hand > 0) {
        getting->portions->item_bytes = getting->at_hand_bytes / getting->at_hand + 1;
    }
    return ok;
}

struct getting *getting_open(const struct ddb_asking *asking, struct key_list keys,
                             struct portions *portions)
{
    struct arena *own = arena_new();
    struct getting *getting = arena_zero(own, sizeof *getting);
    size_t room = keys.count + 1;
    getting->round = (struct ddb_asking){asking->store, asking->client, arena_new()};
    getting->keys = keys;
    getting->map = key_map_new(own, keys.count);
    getting->readings = arena_zero(own, room * sizeof *getting->readings);
    getting->items = arena_zero(own, room * sizeof *getting->items);
    getting->asked = arena_alloc(own, room * sizeof *getting->asked);
    getting->own = own;
    getting->arena = asking->arena;
    getting->portions = portions;
    for (size_t i = 0; i < keys.count; i++) {
        if (key_map_add(getting->map, &keys.list[i], i) != i) {
            continue;
        }
        if (reserved_key(asking->store, &keys.list[i])) {
            getting->readings[i] = READING_THERE;
        } else {
            getting->asked[getting->asked_count++] = i;
        }
    }
    return getting;
}

void getting_close(struct getting *getting)
{
    if (getting != NULL) {
        key_map_free(getting->map);
        arena_free(getting->round.arena);
        arena_free(getting->own);
    }
}

/* The portion at hand makes way for the next. */
static bool read_portion(struct getting *getting, struct error *err)
{
    for (size_t i = 0; i < getting->keys.count; i++) {
        if (getting->readings[i] == READING_THERE) {
            getting->readings[i] = READING_GONE;
        }
    }
    arena_reset(getting->arena);
    getting->at_hand = 0;
    getting->at_hand_bytes = 0;
    return run_rounds(getting, err);
}

bool getting_find(struct getting *getting, const struct key *key, struct value *out, bool *found,
                  struct error *err)
{
    size_t place = key_map_find(getting->map, key);
    while (place != SIZE_MAX && getting->readings[place] == READING_WANTED) {
        if (!read_portion(getting, err)) {
            return false;
        }
    }
    *found = place != SIZE_MAX && getting->readings[place] == READING_THERE;
    if (*found) {
        *out = getting->items[place];
    }
    return true;
}

bool get_items(const struct ddb_asking *asking, struct key_list keys, struct value *out,
               struct error *err)
{
    struct portions all = {.most_bytes = SIZE_MAX};
    struct getting *getting = getting_open(asking, keys, &all);
    bool ok = run_rounds(getting, err);
    for (size_t i = 0; ok && i < keys.count; i++) {
        out[i] = getting->items[key_map_find(getting->map, &keys.list[i])];
    }
    getting_close(getting);
    return ok;
}
