#include "plans/map_internal.h"

#include "engine/item/key.h"
#include "plans/step_internal.h"

#include <stddef.h>

static bool read_key_attribute(const struct map_reader *reader, struct key_attribute *out,
                               struct error *err)
{
    struct str text;
    if (!place_text(&reader->place, reader->json, &text, err)) {
        return false;
    }
    return key_attribute_parse(text, out, err) ||
           place_wrap(&reader->place, reader->json->offset, err);
}

static bool read_table_keys(const struct map_reader *reader, struct key_schema *out,
                            struct error *err)
{
    struct map_reader partition = map_reader_member(reader, "partition");
    struct map_reader sort = map_reader_member(reader, "sort");
    if (partition.json == NULL) {
        return place_error(&reader->place, reader->json->offset, err,
                           "expected \"partition\": \"NAME:TYPE\"");
    }
    out->partition_count = 1;
    out->sort_count = sort.json == NULL ? 0 : 1;
    return read_key_attribute(&partition, &out->partition[0], err) &&
           (sort.json == NULL || read_key_attribute(&sort, &out->sort[0], err));
}

/* As create_index of a plan, but that there are no items yet that could violate it, and that a new
 * table is on demand. */
static bool read_index(const struct map_reader *reader, struct index_desc *out, struct error *err)
{
    struct stage stage = {0};
    if (!place_expect(&reader->place, reader->json, JSON_OBJECT, err)) {
        return false;
    }
    static const char *const others[] = {"on_violation", "capacity"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct json *member = json_member(reader->json, others[i]);
        if (member != NULL) {
            return place_error(&reader->place, member->offset, err,
                               "\"%s\" is for create_index of a plan", others[i]);
        }
    }
    if (!index_parse(&reader->place, reader->json, reader->arena, &stage, err)) {
        return false;
    }
    *out = stage.index;
    return true;
}

static bool name_is_taken(const struct index_desc *indexes, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(indexes[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool read_indexes(const struct map_reader *member, struct map *out, struct error *err)
{
    const struct json *json = member->json;
    if (!place_expect(&member->place, json, JSON_ARRAY, err)) {
        return false;
    }
    if (json->count > INDEXES_MAX) {
        return place_error(&member->place, json->offset, err, "expected at most %d indexes",
                           INDEXES_MAX);
    }
    struct index_desc *indexes = arena_zero(member->arena, (json->count + 1) * sizeof *indexes);
    for (size_t i = 0; i < json->count; i++) {
        struct map_reader element = map_reader_at(member, &json->items[i], i);
        if (!read_index(&element, &indexes[i], err)) {
            return false;
        }
        if (name_is_taken(indexes, i, indexes[i].name)) {
            return place_error(&element.place, element.json->offset, err,
                               "index %.*s is there twice", STR_ARG(indexes[i].name));
        }
    }
    out->indexes = indexes;
    out->index_count = json->count;
    return true;
}

bool map_read_table(const struct map_reader *member, struct map *out, struct error *err)
{
    static const char *const names[] = {"partition", "sort", "indexes", NULL};
    if (!place_expect(&member->place, member->json, JSON_OBJECT, err) ||
        !place_members(&member->place, member->json, names, err) ||
        !read_table_keys(member, &out->keys, err)) {
        return false;
    }
    out->has_table = true;
    struct map_reader indexes = map_reader_member(member, "indexes");
    return indexes.json == NULL || read_indexes(&indexes, out, err);
}
