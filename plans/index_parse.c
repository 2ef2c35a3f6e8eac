#include "plans/step_internal.h"

#include <stdlib.h>
#include <string.h>

/* A name of 3 to 255 of a-z A-Z 0-9 _ - . (DynamoDB API Reference, CreateTable, IndexName). */
static bool is_index_name(struct str name)
{
    static const struct str letters =
        STR_INIT("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
    bool valid = name.len >= INDEX_NAME_MIN && name.len <= INDEX_NAME_MAX;
    for (size_t i = 0; valid && i < name.len; i++) {
        valid = str_has(letters, name.ptr[i]);
    }
    return valid;
}

/* One member being parsed. */
struct parse {
    struct place place; /* of the member */
    struct stage *stage;
    struct arena *arena;
    struct error *err;
};

static bool parse_name(const struct parse *parse, const struct json *json)
{
    struct str *name = &parse->stage->index.name;
    if (!place_text(&parse->place, json, name, parse->err)) {
        return false;
    }
    if (!is_index_name(*name)) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected %d to %d of a-z A-Z 0-9 _ - ., found \"%.*s\"", INDEX_NAME_MIN,
                           INDEX_NAME_MAX, STR_ARG(*name));
    }
    return true;
}

/* "NAME:TYPE", or a list of up to four. */
static bool parse_keys(const struct parse *parse, const struct json *json,
                       struct key_attribute out[KEY_PARTS_MAX], size_t *count)
{
    const struct json *items = json->kind == JSON_ARRAY ? json->items : json;
    *count = json->kind == JSON_ARRAY ? json->count : 1;
    if (*count == 0 || *count > KEY_PARTS_MAX) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected 1 to %d attributes, found %zu", KEY_PARTS_MAX, *count);
    }
    for (size_t i = 0; i < *count; i++) {
        if (!place_expect(&parse->place, &items[i], JSON_STRING, parse->err)) {
            return false;
        }
        if (!key_attribute_parse(items[i].text, &out[i], parse->err)) {
            return place_wrap(&parse->place, items[i].offset, parse->err);
        }
    }
    return true;
}

static bool parse_partition(const struct parse *parse, const struct json *json)
{
    struct key_schema *keys = &parse->stage->index.keys;
    return parse_keys(parse, json, keys->partition, &keys->partition_count);
}

static bool parse_sort(const struct parse *parse, const struct json *json)
{
    struct key_schema *keys = &parse->stage->index.keys;
    return parse_keys(parse, json, keys->sort, &keys->sort_count);
}

static bool stands_before(const struct str *names, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (str_equal(names[i], names[index])) {
            return true;
        }
    }
    return false;
}

static bool parse_include(const struct parse *parse, const struct json *json)
{
    if (!place_expect(&parse->place, json, JSON_ARRAY, parse->err)) {
        return false;
    }
    if (json->count == 0 || json->count > INDEX_INCLUDE_MAX) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected 1 to %d attribute names, found %zu", INDEX_INCLUDE_MAX,
                           json->count);
    }
    struct str *names = arena_alloc(parse->arena, json->count * sizeof *names);
    for (size_t i = 0; i < json->count; i++) {
        if (!place_text(&parse->place, &json->items[i], &names[i], parse->err)) {
            return false;
        }
        if (stands_before(names, i)) {
            return place_error(&parse->place, json->items[i].offset, parse->err,
                               "expected each attribute once, found %.*s twice", STR_ARG(names[i]));
        }
    }
    parse->stage->index.projection = PROJECT_INCLUDE;
    parse->stage->index.include = names;
    parse->stage->index.include_count = json->count;
    return true;
}

static bool parse_projection(const struct parse *parse, const struct json *json)
{
    if (json->kind == JSON_OBJECT && json->count == 1 && json_member(json, "include") != NULL) {
        return parse_include(parse, &json->items[0]);
    }
    if (json->kind == JSON_STRING && str_equal(json->text, STR("ALL"))) {
        parse->stage->index.projection = PROJECT_ALL;
        return true;
    }
    if (json->kind == JSON_STRING && str_equal(json->text, STR("KEYS_ONLY"))) {
        parse->stage->index.projection = PROJECT_KEYS_ONLY;
        return true;
    }
    return place_error(&parse->place, json->offset, parse->err,
                       "expected \"ALL\", \"KEYS_ONLY\" or {\"include\": [...]}");
}

static bool parse_violation(const struct parse *parse, const struct json *json)
{
    bool is_text = json->kind == JSON_STRING;
    parse->stage->leave_out = is_text && str_equal(json->text, STR("leave_out"));
    if (!parse->stage->leave_out && !(is_text && str_equal(json->text, STR("fail")))) {
        return place_error(&parse->place, json->offset, parse->err,
                           "expected \"fail\" or \"leave_out\"");
    }
    return true;
}

/* DynamoDB's own limits are quotas, which differ: this is only what no table has. */
static bool parse_units(const struct parse *parse, const struct json *json, const char *name,
                        uint64_t *out)
{
    enum { DIGITS_MAX = 9 };
    const struct json *member = json_member(json, name);
    bool is_whole = member != NULL && member->kind == JSON_NUMBER &&
                    member->text.len <= DIGITS_MAX &&
                    strspn(member->text.ptr, "0123456789") >= member->text.len;
    *out = is_whole ? strtoull(member->text.ptr, NULL, 10) : 0;
    return *out > 0 || place_error(&parse->place, member == NULL ? json->offset : member->offset,
                                   parse->err, "expected \"%s\": a whole number from 1", name);
}

static bool parse_capacity(const struct parse *parse, const struct json *json)
{
    static const char *const names[] = {"read", "write", NULL};
    struct index_desc *index = &parse->stage->index;
    return place_members(&parse->place, json, names, parse->err) &&
           parse_units(parse, json, "read", &index->read_units) &&
           parse_units(parse, json, "write", &index->write_units);
}

static const struct {
    const char *name;
    bool required;
    bool (*parse)(const struct parse *parse, const struct json *json);
} members[] = {{"name", true, parse_name},          {"partition", true, parse_partition},
               {"sort", false, parse_sort},         {"projection", false, parse_projection},
               {"capacity", false, parse_capacity}, {"on_violation", false, parse_violation}};

enum { MEMBER_COUNT = sizeof members / sizeof *members };

/* DynamoDB refuses an attribute that stands twice in a key. */
static bool check_keys(const struct place *place, const struct json *json,
                       const struct key_schema *keys, struct error *err)
{
    struct str names[2 * KEY_PARTS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < keys->partition_count; i++) {
        names[count++] = keys->partition[i].name;
    }
    for (size_t i = 0; i < keys->sort_count; i++) {
        names[count++] = keys->sort[i].name;
    }
    for (size_t i = 0; i < count; i++) {
        if (stands_before(names, i)) {
            return place_error(place, json->offset, err,
                               "expected each key attribute once, found %.*s twice",
                               STR_ARG(names[i]));
        }
    }
    return true;
}

bool index_parse(const struct place *place, const struct json *json, struct arena *arena,
                 struct stage *out, struct error *err)
{
    const char *names[MEMBER_COUNT + 1] = {NULL};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        names[i] = members[i].name;
    }
    out->place = *place;
    out->offset = json->offset;
    if (!place_members(place, json, names, err)) {
        return false;
    }
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const struct json *member = json_member(json, names[i]);
        if (member == NULL && members[i].required) {
            return place_error(place, json->offset, err, "expected the member \"%s\"", names[i]);
        }
        if (member == NULL) {
            continue;
        }
        struct str name = {names[i], strlen(names[i])};
        struct parse parse = {place_member(*place, name, arena), out, arena, err};
        if (!members[i].parse(&parse, member)) {
            return false;
        }
    }
    return check_keys(place, json, &out->index.keys, err);
}

bool index_violation_parse(const struct place *step, const struct json *json, struct arena *arena,
                           struct stage *out, struct error *err)
{
    const struct json *member = json_member(json, "on_violation");
    if (member == NULL) {
        return true;
    }
    struct place place = place_member(*step, STR("on_violation"), arena);
    if (json_member(json_member(json, "create_index"), "on_violation") != NULL) {
        return place_error(&place, member->offset, err,
                           "expected once, found inside create_index too");
    }
    struct parse parse = {place, out, arena, err};
    return parse_violation(&parse, member);
}
