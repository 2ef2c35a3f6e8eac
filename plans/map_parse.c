#include "plans/map.h"

#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "plans/map_internal.h"

static bool read_key(const struct map_reader *reader, struct map_assignments *out,
                     struct error *err)
{
    struct map_reader key = map_reader_member(reader, "key");
    if (key.json == NULL) {
        return place_error(&reader->place, reader->json->offset, err,
                           "expected \"key\": the item's key attributes");
    }
    if (!map_read_assignments(&key, out, err)) {
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (out->list[i].when.json != NULL) {
            return place_error(&out->list[i].place, out->list[i].value->offset, err,
                               "a key attribute has no \"when\"; put it beside \"key\"");
        }
    }
    return true;
}

static bool read_item(const struct map_reader *reader, struct map_embed_list *embeds,
                      struct map_item *out, struct error *err)
{
    static const char *const names[] = {"key", "set", "columns", "embed", "when", NULL};
    if (!place_expect(&reader->place, reader->json, JSON_OBJECT, err) ||
        !place_members(&reader->place, reader->json, names, err)) {
        return false;
    }
    out->place = reader->place;
    out->offset = reader->json->offset;
    struct map_reader when = map_reader_member(reader, "when");
    return read_key(reader, &out->key, err) && map_read_condition(&when, &out->when, err) &&
           map_read_body(reader, embeds, &out->body, err);
}

/* An entity without "items" is one item itself. */
static bool read_only_item(const struct map_reader *entity, struct map_entity *out,
                           struct error *err)
{
    struct map_item *item = arena_zero(entity->arena, sizeof *item);
    item->place = entity->place;
    item->offset = entity->json->offset;
    out->items = item;
    out->item_count = 1;
    return read_key(entity, &item->key, err);
}

static bool read_items(const struct map_reader *entity, struct map_embed_list *embeds,
                       struct map_entity *out, struct error *err)
{
    struct map_reader member = map_reader_member(entity, "items");
    if (member.json == NULL) {
        return read_only_item(entity, out, err);
    }
    if (!place_expect(&member.place, member.json, JSON_ARRAY, err)) {
        return false;
    }
    if (member.json->count == 0) {
        return place_error(&member.place, member.json->offset, err, "expected at least one item");
    }
    const struct json *key = json_member(entity->json, "key");
    if (key != NULL) {
        return place_error(&entity->place, key->offset, err,
                           "\"key\" and \"items\" do not go together");
    }
    struct map_item *items = arena_zero(entity->arena, member.json->count * sizeof *items);
    for (size_t i = 0; i < member.json->count; i++) {
        struct map_reader item = map_reader_at(&member, &member.json->items[i], i);
        if (!read_item(&item, embeds, &items[i], err)) {
            return false;
        }
    }
    out->items = items;
    out->item_count = member.json->count;
    return true;
}

/* What is read of an entity besides its items. */
static bool read_entity_rows(const struct map_reader *reader, struct map_embed_list *embeds,
                             struct map_entity *out, struct error *err)
{
    struct map_reader name = map_reader_member(reader, "name");
    struct map_reader where = map_reader_member(reader, "where");
    struct map_reader when = map_reader_member(reader, "when");
    return (name.json == NULL || place_text(&name.place, name.json, &out->name, err)) &&
           map_read_rows(reader, &out->rows, err) && map_read_sql(&where, &out->where, err) &&
           map_read_condition(&when, &out->when, err) &&
           map_read_body(reader, embeds, &out->body, err);
}

static bool read_entity(const struct map_reader *reader, struct map_entity *out, struct error *err)
{
    static const char *const names[] = {"name",    "from",  "where", "when",  "key",    "set",
                                        "columns", "items", "join",  "embed", "policy", NULL};
    struct map_embed_list embeds = {0};
    if (!place_expect(&reader->place, reader->json, JSON_OBJECT, err) ||
        !place_members(&reader->place, reader->json, names, err) ||
        !read_entity_rows(reader, &embeds, out, err) || !read_items(reader, &embeds, out, err)) {
        return false;
    }
    out->offset = reader->json->offset;
    out->rows.embeds = embeds.list;
    out->rows.embed_count = embeds.count;
    if (out->name.len == 0) {
        out->name = out->rows.from.as.len > 0 ? out->rows.from.as : out->rows.from.table;
    }
    return true;
}

static bool has_entity(const struct map_entity *entities, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(entities[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool read_entities(const struct map_reader *root, struct map *out, struct error *err)
{
    struct map_reader member = map_reader_member(root, "entities");
    if (member.json == NULL || member.json->kind != JSON_ARRAY || member.json->count == 0) {
        return place_error(&member.place,
                           member.json == NULL ? root->json->offset : member.json->offset, err,
                           "expected a list of at least one entity");
    }
    size_t count = member.json->count;
    struct map_entity *entities = arena_zero(root->arena, count * sizeof *entities);
    for (size_t i = 0; i < count; i++) {
        struct map_reader entity = map_reader_at(&member, &member.json->items[i], i);
        if (!read_entity(&entity, &entities[i], err)) {
            return false;
        }
        if (has_entity(entities, i, entities[i].name)) {
            return place_error(&entity.place, entity.json->offset, err,
                               "two entities are called %.*s: give one a \"name\"",
                               STR_ARG(entities[i].name));
        }
    }
    out->entities = entities;
    out->entity_count = count;
    return true;
}

static void write_scalar(const struct json *json, struct buffer *out)
{
    switch (json->kind) {
    case JSON_STRING:
        json_write_string(out, json->text);
        break;
    case JSON_NUMBER:
        buffer_add(out, json->text);
        break;
    case JSON_BOOL:
        buffer_add(out, json->boolean ? STR("true") : STR("false"));
        break;
    default:
        buffer_add(out, STR("null"));
        break;
    }
}

/* The tree without comments and white space. Members keep their order: joins are made in it. */
static void write_canonical(const struct json *json, struct buffer *out)
{
    bool object = json->kind == JSON_OBJECT;
    if (!object && json->kind != JSON_ARRAY) {
        write_scalar(json, out);
        return;
    }
    buffer_add_char(out, object ? '{' : '[');
    for (size_t i = 0; i < json->count; i++) {
        if (object) {
            json_write_string(out, json->items[i].name);
            buffer_add_char(out, ':');
        }
        write_canonical(&json->items[i], out);
        buffer_add_char(out, ',');
    }
    buffer_add_char(out, object ? '}' : ']');
}

static struct str map_hash(const struct json *json, struct arena *arena)
{
    struct buffer text = {0};
    unsigned char digest[32];
    char hex[2 * sizeof digest + 1];
    write_canonical(json, &text);
    hash_sha256(buffer_str(&text), digest);
    buffer_free(&text);
    hash_hex(digest, sizeof digest, hex);
    return arena_format(arena, "1:%s", hex);
}

bool map_parse(struct str text, const char *file, struct arena *arena, const struct map **out,
               struct error *err)
{
    static const char *const names[] = {"table", "entities", "description", NULL};
    struct json_options options = {.comments = true, .file = file};
    struct json *json;
    struct str kept = arena_copy(arena, text);
    if (!json_parse(kept, &options, arena, &json, err)) {
        err->code = ERROR_PLAN;
        return false;
    }
    struct map_reader root = {{kept, file, STR("")}, json, arena};
    if (!place_expect(&root.place, json, JSON_OBJECT, err) ||
        !place_members(&root.place, json, names, err)) {
        return false;
    }
    struct map *map = arena_zero(arena, sizeof *map);
    map->file = file;
    struct map_reader table = map_reader_member(&root, "table");
    if ((table.json != NULL && !map_read_table(&table, map, err)) ||
        !read_entities(&root, map, err)) {
        return false;
    }
    map->hash = map_hash(json, arena);
    *out = map;
    return true;
}
