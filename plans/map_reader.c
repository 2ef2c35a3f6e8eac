#include "plans/map_internal.h"
#include "plans/template.h"

#include <string.h>

struct map_reader map_reader_member(const struct map_reader *reader, const char *name)
{
    struct str text = {name, strlen(name)};
    return (struct map_reader){place_member(reader->place, text, reader->arena),
                               json_member(reader->json, name), reader->arena};
}

struct map_reader map_reader_at(const struct map_reader *reader, const struct json *json,
                                size_t index)
{
    return (struct map_reader){place_element(reader->place, index, reader->arena), json,
                               reader->arena};
}

/* Before the columns are known every path could be one. */
static int resolve_any(void *context, struct path path, size_t *used, struct error *err)
{
    (void)context;
    (void)path;
    (void)err;
    *used = 1;
    return 0;
}

static const struct place_names any_names = {resolve_any, NULL};

bool map_read_sql(const struct map_reader *member, struct map_sql *out, struct error *err)
{
    if (member->json == NULL) {
        return true;
    }
    out->place = member->place;
    out->offset = member->json->offset;
    return place_text(&member->place, member->json, &out->text, err);
}

bool map_read_condition(const struct map_reader *member, struct placed_json *out, struct error *err)
{
    if (member->json == NULL) {
        return true;
    }
    const struct expr *expr;
    *out = (struct placed_json){member->place, member->json};
    return place_condition(out, &any_names, member->arena, &expr, err);
}

/* {"value": ..., "when": ...} is a conditional value; any other object is a template. */
static bool is_conditional(const struct json *json)
{
    return json->kind == JSON_OBJECT && json->count == 2 && json_member(json, "value") != NULL &&
           json_member(json, "when") != NULL;
}

static bool read_assignment(const struct map_reader *reader, struct map_assignment *out,
                            struct error *err)
{
    *out = (struct map_assignment){
        .name = reader->json->name, .place = reader->place, .value = reader->json};
    if (out->name.len == 0) {
        return place_error(&reader->place, reader->json->offset, err, "an attribute name is empty");
    }
    if (is_conditional(reader->json)) {
        struct map_reader value = map_reader_member(reader, "value");
        struct map_reader when = map_reader_member(reader, "when");
        out->value = value.json;
        out->place = value.place;
        if (!map_read_condition(&when, &out->when, err)) {
            return false;
        }
    }
    struct template_options options = {
        .place = out->place, .names = any_names, .drop_missing = true};
    const struct template *template;
    return template_parse(out->value, &options, reader->arena, &template, err);
}

bool map_read_assignments(const struct map_reader *member, struct map_assignments *out,
                          struct error *err)
{
    if (member->json == NULL) {
        return true;
    }
    if (!place_expect(&member->place, member->json, JSON_OBJECT, err)) {
        return false;
    }
    size_t count = member->json->count;
    struct map_assignment *list = arena_zero(member->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const struct json *json = &member->json->items[i];
        struct map_reader reader = {place_member(member->place, json->name, member->arena), json,
                                    member->arena};
        if (!read_assignment(&reader, &list[i], err)) {
            return false;
        }
    }
    out->list = list;
    out->count = count;
    return true;
}
