#include "plans/step_internal.h"

#include <assert.h>

struct parse {
    struct step *step;
    struct arena *arena;
    struct error *err;
};

static struct place place_of(const struct parse *parse, const struct json *json)
{
    return place_member(parse->step->place, json->name, parse->arena);
}

/* --- what paths mean --- */

static int find_alias(const struct step *step, struct path path)
{
    for (size_t i = 0; i < step->lookup_count; i++) {
        if (str_equal(step->lookups[i].alias, path.steps[0].name)) {
            return (int)i;
        }
    }
    return EXPR_ITEM;
}

static int resolve(void *context, struct path path, size_t *used, struct error *err)
{
    (void)err;
    int slot = find_alias(context, path);
    *used = slot == EXPR_ITEM ? 0 : 1;
    return slot;
}

/* Members of a JSON object have no order, so one lookup cannot come before another. */
static int resolve_in_lookup(void *context, struct path path, size_t *used, struct error *err)
{
    *used = 0;
    if (find_alias(context, path) != EXPR_ITEM) {
        (void)error_set(err, ERROR_PLAN, "expected a path of the item, found the lookup %.*s",
                        STR_ARG(path.steps[0].name));
        return EXPR_UNKNOWN;
    }
    return EXPR_ITEM;
}

/* --- assignments --- */

static bool parse_path(const struct parse *parse, const struct place *place,
                       const struct json *string, struct path *out)
{
    struct expr_parsed parsed = {0};
    if (string->text.len == 0) {
        return place_error(place, string->offset, parse->err,
                           "expected a document path, found an empty one");
    }
    if (!expr_parse(string->text, NULL, parse->arena, &parsed, parse->err)) {
        return place_wrap(place, json_string_offset(place->text, string, parsed.fault), parse->err);
    }
    if (!expr_is_path(parsed.expr, out)) {
        return place_error(place, string->offset, parse->err,
                           "expected a document path, found %.*s", STR_ARG(string->text));
    }
    return true;
}

/* The path that the name of a member is. */
static bool parse_name_path(const struct parse *parse, const struct place *place,
                            const struct json *member, struct path *out)
{
    struct json name = {.kind = JSON_STRING, .text = member->name, .offset = member->name_offset};
    return parse_path(parse, place, &name, out);
}

static bool expect_members(const struct parse *parse, const struct place *place,
                           const struct json *json, enum json_kind kind)
{
    if (!place_expect(place, json, kind, parse->err)) {
        return false;
    }
    if (json->count == 0) {
        return place_error(place, json->offset, parse->err, "expected at least one member");
    }
    return true;
}

/* The path of one step that a plain attribute name is. */
static bool parse_name(const struct parse *parse, const struct place *place,
                       const struct json *json, struct path *out)
{
    if (json->name.len == 0) {
        return place_error(place, json->name_offset, parse->err,
                           "expected an attribute name, found an empty one");
    }
    struct path_step *step = arena_zero(parse->arena, sizeof *step);
    step->name = json->name;
    *out = (struct path){step, 1};
    return true;
}

/* Members whose names are document paths, or else plain attribute names. */
struct shape {
    bool paths;
    expr_resolve *resolve;
};

static bool parse_assignments(const struct parse *parse, const struct place *place,
                              const struct json *json, const struct shape *shape,
                              struct assignments *out)
{
    if (!expect_members(parse, place, json, JSON_OBJECT)) {
        return false;
    }
    struct assignment *list = arena_alloc(parse->arena, json->count * sizeof *list);
    for (size_t i = 0; i < json->count; i++) {
        const struct json *item = &json->items[i];
        struct template_options options = {
            .place = place_member(*place, item->name, parse->arena),
            .names = {shape->resolve, parse->step},
        };
        list[i] = (struct assignment){.spelled = item->name, .offset = item->offset};
        bool ok = shape->paths ? parse_name_path(parse, &options.place, item, &list[i].path)
                               : parse_name(parse, &options.place, item, &list[i].path);
        if (!ok || !template_parse(item, &options, parse->arena, &list[i].template, parse->err)) {
            return false;
        }
    }
    *out = (struct assignments){list, json->count};
    return true;
}

/* --- one function for each member of a step --- */

static bool parse_step_name(const struct parse *parse, const struct json *json)
{
    struct place place = place_of(parse, json);
    return place_text(&place, json, &parse->step->name, parse->err);
}

static bool parse_where(const struct parse *parse, const struct json *json)
{
    struct placed_json text = {place_of(parse, json), json};
    struct place_names names = {resolve, parse->step};
    return place_condition(&text, &names, parse->arena, &parse->step->where, parse->err);
}

/* All aliases first: they are known to every template of the step. */
static bool parse_lookup(const struct parse *parse, const struct json *json)
{
    static const struct shape key = {false, resolve_in_lookup};
    struct place place = place_of(parse, json);
    if (!expect_members(parse, &place, json, JSON_OBJECT)) {
        return false;
    }
    struct lookup *lookups = arena_zero(parse->arena, json->count * sizeof *lookups);
    for (size_t i = 0; i < json->count; i++) {
        lookups[i].alias = json->items[i].name;
        lookups[i].offset = json->items[i].offset;
    }
    parse->step->lookups = lookups;
    parse->step->lookup_count = json->count;
    for (size_t i = 0; i < json->count; i++) {
        struct place inner = place_member(place, lookups[i].alias, parse->arena);
        if (lookups[i].alias.len == 0) {
            return place_error(&inner, json->items[i].name_offset, parse->err,
                               "expected a name, found an empty one");
        }
        if (!parse_assignments(parse, &inner, &json->items[i], &key, &lookups[i].key)) {
            return false;
        }
    }
    return true;
}

static bool parse_set(const struct parse *parse, const struct json *json)
{
    static const struct shape paths = {true, resolve};
    struct place place = place_of(parse, json);
    return parse_assignments(parse, &place, json, &paths, &parse->step->set);
}

static bool parse_rename(const struct parse *parse, const struct json *json)
{
    struct place place = place_of(parse, json);
    if (!expect_members(parse, &place, json, JSON_OBJECT)) {
        return false;
    }
    struct renaming *list = arena_alloc(parse->arena, json->count * sizeof *list);
    for (size_t i = 0; i < json->count; i++) {
        const struct json *item = &json->items[i];
        struct place inner = place_member(place, item->name, parse->arena);
        list[i].offset = item->offset;
        if (!place_expect(&inner, item, JSON_STRING, parse->err) ||
            !parse_name_path(parse, &inner, item, &list[i].from) ||
            !parse_path(parse, &inner, item, &list[i].to)) {
            return false;
        }
    }
    parse->step->renamings = list;
    parse->step->renaming_count = json->count;
    return true;
}

static bool parse_remove(const struct parse *parse, const struct json *json)
{
    struct place place = place_of(parse, json);
    if (!expect_members(parse, &place, json, JSON_ARRAY)) {
        return false;
    }
    struct removal *list = arena_alloc(parse->arena, json->count * sizeof *list);
    for (size_t i = 0; i < json->count; i++) {
        const struct json *item = &json->items[i];
        struct place inner = place_element(place, i, parse->arena);
        list[i].offset = item->offset;
        if (!place_expect(&inner, item, JSON_STRING, parse->err) ||
            !parse_path(parse, &inner, item, &list[i].path)) {
            return false;
        }
    }
    parse->step->removals = list;
    parse->step->removal_count = json->count;
    return true;
}

static bool parse_rekey(const struct parse *parse, const struct json *json)
{
    static const struct shape names = {false, resolve};
    struct place place = place_of(parse, json);
    return parse_assignments(parse, &place, json, &names, &parse->step->rekey);
}

static bool parse_put(const struct parse *parse, const struct json *json)
{
    static const struct shape names = {false, resolve};
    struct place place = place_of(parse, json);
    return parse_assignments(parse, &place, json, &names, &parse->step->put);
}

static bool parse_delete(const struct parse *parse, const struct json *json)
{
    struct place place = place_of(parse, json);
    if (json->kind != JSON_BOOL || !json->boolean) {
        return place_error(&place, json->offset, parse->err, "expected true, found %s",
                           place_found(json));
    }
    parse->step->deletes = true;
    return true;
}

static bool parse_collision(const struct parse *parse, const struct json *json)
{
    static const struct {
        struct str text;
        enum collision collision;
    } words[] = {{STR_INIT("fail"), COLLISION_FAIL},
                 {STR_INIT("skip"), COLLISION_SKIP},
                 {STR_INIT("overwrite"), COLLISION_OVERWRITE}};
    static const struct str newer = STR_INIT("keep_newer: ");
    struct place place = place_of(parse, json);
    if (!place_expect(&place, json, JSON_STRING, parse->err)) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (str_equal(json->text, words[i].text)) {
            parse->step->collision = words[i].collision;
            return true;
        }
    }
    if (str_begins(json->text, newer) && json->text.len > newer.len) {
        parse->step->collision = COLLISION_KEEP_NEWER;
        parse->step->newer = (struct str){json->text.ptr + newer.len, json->text.len - newer.len};
        return true;
    }
    return place_error(
        &place, json->offset, parse->err,
        "expected fail, skip, overwrite or \"keep_newer: ATTRIBUTE\", found \"%.*s\"",
        STR_ARG(json->text));
}

/* In the order in which they must be read: a lookup's alias stands in all others. */
static const struct {
    const char *name;
    bool (*parse)(const struct parse *parse, const struct json *json);
} members[] = {{"name", parse_step_name}, {"lookup", parse_lookup},
               {"where", parse_where},    {"set", parse_set},
               {"rename", parse_rename},  {"remove", parse_remove},
               {"rekey", parse_rekey},    {"put", parse_put},
               {"delete", parse_delete},  {"on_collision", parse_collision}};

enum { MEMBER_COUNT = sizeof members / sizeof *members };

/* --- what only the whole step shows --- */

static bool check_actions(const struct parse *parse, const struct json *json)
{
    static const char *const expected =
        "either put, or delete, or any of set, rename, remove, rekey";
    const struct step *step = parse->step;
    bool edits =
        step->set.count + step->renaming_count + step->removal_count + step->rekey.count > 0;
    int actions = (step->put.count > 0) + step->deletes + edits;
    if (actions != 1) {
        return place_error(&step->place, json->offset, parse->err, "expected %s; found %s",
                           expected, actions == 0 ? "none of them" : "more");
    }
    const struct json *collision = json_member(json, "on_collision");
    if (collision != NULL && step->put.count + step->rekey.count == 0) {
        struct place place = place_of(parse, collision);
        return place_error(&place, collision->offset, parse->err,
                           "expected a rekey or put that can collide, found neither");
    }
    return true;
}

struct written {
    struct path path;
    size_t offset;
};

static size_t list_written(const struct step *step, struct written *out)
{
    size_t count = 0;
    for (size_t i = 0; i < step->set.count; i++) {
        out[count++] = (struct written){step->set.list[i].path, step->set.list[i].offset};
    }
    for (size_t i = 0; i < step->removal_count; i++) {
        out[count++] = (struct written){step->removals[i].path, step->removals[i].offset};
    }
    for (size_t i = 0; i < step->renaming_count; i++) {
        out[count++] = (struct written){step->renamings[i].from, step->renamings[i].offset};
        out[count++] = (struct written){step->renamings[i].to, step->renamings[i].offset};
    }
    return count;
}

/* The one with those before it. */
static bool check_overlap(const struct parse *parse, const struct written *before,
                          const struct written *one)
{
    for (const struct written *other = before; other < one; other++) {
        bool overlap = path_overlaps(one->path, other->path);
        if (overlap || path_conflicts(one->path, other->path)) {
            struct str text = path_print(one->path, parse->arena);
            struct str other_text = path_print(other->path, parse->arena);
            return place_error(&parse->step->place, one->offset, parse->err,
                               "expected paths that do not %s, found %.*s and %.*s",
                               overlap ? "overlap" : "conflict", STR_ARG(text),
                               STR_ARG(other_text));
        }
    }
    return true;
}

static bool check_overlaps(const struct parse *parse)
{
    const struct step *step = parse->step;
    size_t most = step->set.count + step->removal_count + 2 * step->renaming_count;
    struct written *written = arena_alloc(parse->arena, most * sizeof *written);
    size_t count = list_written(step, written);
    assert(count == most);
    for (size_t i = 0; i < count; i++) {
        if (!check_overlap(parse, written, &written[i])) {
            return false;
        }
    }
    return true;
}

bool step_parse(const struct json *json, struct arena *arena, struct step *out, struct error *err)
{
    struct parse parse = {out, arena, err};
    const char *names[MEMBER_COUNT + 1] = {NULL};
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        names[i] = members[i].name;
    }
    out->offset = json->offset;
    if (!place_members(&out->place, json, names, err)) {
        return false;
    }
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const struct json *member = json_member(json, members[i].name);
        if (member != NULL && !members[i].parse(&parse, member)) {
            return false;
        }
    }
    return check_actions(&parse, json) && check_overlaps(&parse);
}
