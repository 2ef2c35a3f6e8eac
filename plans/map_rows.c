#include "plans/map_internal.h"

/* The whole of a "from" object. */
static bool read_from_object(const struct map_reader *member, struct map_from *out,
                             struct error *err)
{
    static const char *const names[] = {"table", "query", "as", NULL};
    if (!place_expect(&member->place, member->json, JSON_OBJECT, err) ||
        !place_members(&member->place, member->json, names, err)) {
        return false;
    }
    struct map_reader table = map_reader_member(member, "table");
    struct map_reader query = map_reader_member(member, "query");
    struct map_reader as = map_reader_member(member, "as");
    if ((table.json == NULL) == (query.json == NULL) || as.json == NULL) {
        return place_error(&member->place, member->json->offset, err,
                           "expected {\"query\": \"SELECT ...\", \"as\": \"name\"}");
    }
    return (table.json == NULL || place_text(&table.place, table.json, &out->table, err)) &&
           (query.json == NULL || place_text(&query.place, query.json, &out->query, err)) &&
           place_text(&as.place, as.json, &out->as, err);
}

static bool read_from(const struct map_reader *reader, struct map_from *out, struct error *err)
{
    struct map_reader member = map_reader_member(reader, "from");
    if (member.json == NULL) {
        return place_error(&reader->place, reader->json->offset, err,
                           "expected \"from\": a table or a query");
    }
    *out = (struct map_from){.place = member.place, .offset = member.json->offset};
    if (member.json->kind == JSON_STRING) {
        return place_text(&member.place, member.json, &out->table, err);
    }
    return read_from_object(&member, out, err);
}

static bool read_join(const struct map_reader *reader, struct map_join *out, struct error *err)
{
    static const char *const names[] = {"from", "on", NULL};
    if (!place_expect(&reader->place, reader->json, JSON_OBJECT, err) ||
        !place_members(&reader->place, reader->json, names, err) ||
        !read_from(reader, &out->from, err)) {
        return false;
    }
    struct map_reader on = map_reader_member(reader, "on");
    if (on.json == NULL) {
        return place_error(&reader->place, reader->json->offset, err, "expected \"on\": SQL");
    }
    out->alias = reader->json->name;
    out->from.as = out->alias;
    return map_read_sql(&on, &out->on, err);
}

static bool read_joins(const struct map_reader *member, struct map_rows *out, struct error *err)
{
    if (!place_expect(&member->place, member->json, JSON_OBJECT, err)) {
        return false;
    }
    size_t count = member->json->count;
    struct map_join *joins = arena_zero(member->arena, (count + 1) * sizeof *joins);
    for (size_t i = 0; i < count; i++) {
        const struct json *json = &member->json->items[i];
        struct map_reader join = {place_member(member->place, json->name, member->arena), json,
                                  member->arena};
        if (!read_join(&join, &joins[i], err)) {
            return false;
        }
    }
    out->joins = joins;
    out->join_count = count;
    return true;
}

static bool policy_named(struct str name, enum map_policy *out)
{
    static const struct {
        struct str name;
        enum map_policy policy;
    } policies[] = {
        {STR_INIT("text"), MAP_AS_TEXT},
        {STR_INIT("omit"), MAP_OMIT},
        {STR_INIT("null"), MAP_AS_NULL},
    };
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        if (str_equal(name, policies[i].name)) {
            *out = policies[i].policy;
            return true;
        }
    }
    return false;
}

static bool read_policies(const struct map_reader *member, struct map_rows *out, struct error *err)
{
    if (!place_expect(&member->place, member->json, JSON_OBJECT, err)) {
        return false;
    }
    size_t count = member->json->count;
    struct map_column_policy *list = arena_zero(member->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const struct json *json = &member->json->items[i];
        list[i].column = json->name;
        list[i].offset = json->offset;
        if (json->kind != JSON_STRING || !policy_named(json->text, &list[i].policy)) {
            return place_error(&member->place, json->offset, err,
                               "expected \"text\", \"omit\" or \"null\"");
        }
    }
    out->policies = list;
    out->policy_count = count;
    out->policy_place = member->place;
    return true;
}

bool map_read_rows(const struct map_reader *reader, struct map_rows *out, struct error *err)
{
    out->place = reader->place;
    struct map_reader join = map_reader_member(reader, "join");
    struct map_reader policy = map_reader_member(reader, "policy");
    return read_from(reader, &out->from, err) &&
           (join.json == NULL || read_joins(&join, out, err)) &&
           (policy.json == NULL || read_policies(&policy, out, err));
}

static bool read_column_names(const struct map_reader *array, struct map_columns *out,
                              struct error *err)
{
    size_t count = array->json->count;
    struct map_column *list = arena_zero(array->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        struct map_reader element = map_reader_at(array, &array->json->items[i], i);
        if (!place_text(&element.place, element.json, &list[i].column, err)) {
            return false;
        }
        list[i].attribute = list[i].column;
        list[i].offset = element.json->offset;
    }
    out->list = list;
    out->count = count;
    return true;
}

static bool read_column_map(const struct map_reader *member, struct map_columns *out,
                            struct error *err)
{
    size_t count = member->json->count;
    struct map_column *list = arena_zero(member->arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const struct json *json = &member->json->items[i];
        list[i].attribute = json->name;
        list[i].offset = json->offset;
        if (!place_text(&member->place, json, &list[i].column, err)) {
            return false;
        }
    }
    out->list = list;
    out->count = count;
    return true;
}

static bool read_columns(const struct map_reader *member, struct map_columns *out,
                         struct error *err)
{
    const struct json *json = member->json;
    out->place = member->place;
    if (json->kind == JSON_STRING && str_equal(json->text, STR("*"))) {
        out->kind = MAP_COLUMNS_ALL;
        return true;
    }
    out->kind = MAP_COLUMNS_LIST;
    if (json->kind == JSON_ARRAY) {
        return read_column_names(member, out, err);
    }
    struct map_reader except = *member;
    if (json->kind == JSON_OBJECT) {
        except = map_reader_member(member, "except");
        if (json->count == 1 && except.json != NULL && except.json->kind == JSON_ARRAY) {
            out->kind = MAP_COLUMNS_EXCEPT;
            return read_column_names(&except, out, err);
        }
        return read_column_map(member, out, err);
    }
    return place_error(&member->place, json->offset, err,
                       "expected \"*\", a list of columns, {\"except\": [...]} or "
                       "{\"Attribute\": \"column\"}");
}

static bool read_limit(const struct map_reader *member, uint64_t *out, struct error *err)
{
    enum { DIGITS_MAX = 9 };
    uint64_t n = 0;
    struct str text = member->json->kind == JSON_NUMBER ? member->json->text : STR("");
    bool good = text.len <= DIGITS_MAX;
    for (size_t i = 0; i < text.len && good; i++) {
        good = text.ptr[i] >= '0' && text.ptr[i] <= '9';
        n = n * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    if (!good || n == 0) {
        return place_error(&member->place, member->json->offset, err,
                           "expected a whole number from 1");
    }
    *out = n;
    return true;
}

static bool read_embed_kind(const struct map_reader *reader, struct map_embed *out,
                            struct error *err)
{
    struct map_reader as = map_reader_member(reader, "as");
    if (as.json != NULL) {
        bool scalar = as.json->kind == JSON_STRING && str_equal(as.json->text, STR("scalar"));
        bool set = as.json->kind == JSON_STRING && str_equal(as.json->text, STR("set"));
        if (!scalar && !set) {
            return place_error(&as.place, as.json->offset, err, "expected \"scalar\" or \"set\"");
        }
        out->kind = scalar ? MAP_EMBED_SCALAR : MAP_EMBED_SET;
    }
    struct map_reader empty = map_reader_member(reader, "empty");
    if (empty.json != NULL) {
        if (empty.json->kind != JSON_STRING || !str_equal(empty.json->text, STR("omit"))) {
            return place_error(&empty.place, empty.json->offset, err, "expected \"omit\"");
        }
        out->omit_empty = true;
    }
    return true;
}

/* How the rows are found, ordered and cut. */
static bool read_embed_choice(const struct map_reader *reader, struct map_embed *out,
                              struct error *err)
{
    struct map_reader on = map_reader_member(reader, "on");
    struct map_reader order = map_reader_member(reader, "order");
    struct map_reader limit = map_reader_member(reader, "limit");
    if (on.json == NULL) {
        return place_error(&reader->place, reader->json->offset, err, "expected \"on\": SQL");
    }
    return map_read_sql(&on, &out->on, err) && map_read_sql(&order, &out->order, err) &&
           (limit.json == NULL || read_limit(&limit, &out->limit, err));
}

static bool read_embed(const struct map_reader *reader, size_t depth, struct map_embed *out,
                       struct error *err)
{
    static const char *const names[] = {"from", "on",    "columns", "set",   "order",  "limit",
                                        "join", "embed", "as",      "empty", "policy", NULL};
    struct map_embed_list embeds = {.depth = depth};
    if (!place_expect(&reader->place, reader->json, JSON_OBJECT, err) ||
        !place_members(&reader->place, reader->json, names, err) ||
        !read_embed_choice(reader, out, err) || !read_embed_kind(reader, out, err) ||
        !map_read_rows(reader, &out->rows, err) ||
        !map_read_body(reader, &embeds, &out->body, err)) {
        return false;
    }
    if (out->body.columns.kind == MAP_COLUMNS_ABSENT && out->body.set.count == 0) {
        out->body.columns = (struct map_columns){.kind = MAP_COLUMNS_ALL, .place = reader->place};
    }
    out->name = reader->json->name;
    out->rows.embeds = embeds.list;
    out->rows.embed_count = embeds.count;
    return true;
}

static struct map_embed *embed_list_add(struct map_embed_list *embeds, struct arena *arena)
{
    if (embeds->count == embeds->capacity) {
        embeds->list = arena_grow(arena, embeds->list, sizeof *embeds->list, &embeds->capacity);
    }
    struct map_embed *embed = &embeds->list[embeds->count++];
    *embed = (struct map_embed){.limit = 0};
    return embed;
}

static bool read_embeds(const struct map_reader *member, struct map_embed_list *embeds,
                        struct error *err)
{
    if (!place_expect(&member->place, member->json, JSON_OBJECT, err)) {
        return false;
    }
    if (embeds->depth >= MAP_EMBED_MAX_DEPTH) {
        return place_error(&member->place, member->json->offset, err,
                           "embeds are nested over %d deep", MAP_EMBED_MAX_DEPTH);
    }
    for (size_t i = 0; i < member->json->count; i++) {
        const struct json *json = &member->json->items[i];
        struct map_reader embed = {place_member(member->place, json->name, member->arena), json,
                                   member->arena};
        struct map_embed *out = embed_list_add(embeds, member->arena);
        if (!read_embed(&embed, embeds->depth + 1, out, err)) {
            return false;
        }
    }
    return true;
}

bool map_read_body(const struct map_reader *reader, struct map_embed_list *embeds,
                   struct map_body *out, struct error *err)
{
    struct map_reader set = map_reader_member(reader, "set");
    struct map_reader columns = map_reader_member(reader, "columns");
    struct map_reader embed = map_reader_member(reader, "embed");
    out->embed_first = embeds->count;
    if (!map_read_assignments(&set, &out->set, err) ||
        (columns.json != NULL && !read_columns(&columns, &out->columns, err)) ||
        (embed.json != NULL && !read_embeds(&embed, embeds, err))) {
        return false;
    }
    out->embed_count = embeds->count - out->embed_first;
    return true;
}
