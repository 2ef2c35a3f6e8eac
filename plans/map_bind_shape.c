#include "plans/map_bind.h"

#include "plans/map_scope_internal.h"

#include <stdlib.h>

/* The members of one shape as they are met. */
struct shape_binder {
    struct map_scope *rows;
    bool of_item; /* else of an embed: embedded values are no keys */
    struct map_member *list;
    size_t count, capacity;
};

/* The declared type of a key or index-key attribute, or VALUE_MISSING. */
static enum value_type declared_type(const struct table_desc *table, struct str name)
{
    const struct key_attribute *found = key_schema_find(&table->keys, name);
    for (size_t i = 0; i < table->index_count && found == NULL; i++) {
        found = key_schema_find(&table->indexes[i].keys, name);
    }
    return found == NULL ? VALUE_MISSING : found->type;
}

static bool has_member(const struct shape_binder *shape, struct str name)
{
    for (size_t i = 0; i < shape->count; i++) {
        if (str_equal(shape->list[i].name, name)) {
            return true;
        }
    }
    return false;
}

static void add_member(struct shape_binder *shape, const struct map_member *member)
{
    if (shape->count == shape->capacity) {
        shape->list = arena_grow(shape->rows->binder->arena, shape->list, sizeof *shape->list,
                                 &shape->capacity);
    }
    shape->list[shape->count++] = *member;
}

static bool add_only_member(struct shape_binder *shape, const struct map_member *member,
                            const struct place *place, size_t offset, struct error *err)
{
    if (has_member(shape, member->name)) {
        return place_error(place, offset, err, "attribute %.*s is made twice",
                           STR_ARG(member->name));
    }
    add_member(shape, member);
    return true;
}

static bool parse_template(struct map_scope *rows, const struct place *place,
                           const struct json *json, const struct template **out, struct error *err)
{
    struct template_options options = {
        .place = *place, .names = {map_scope_resolve, rows}, .drop_missing = true};
    return template_parse(json, &options, rows->binder->arena, out, err);
}

static void convert_for_key(struct shape_binder *shape, struct map_member *member)
{
    const struct map_binder *binder = shape->rows->binder;
    enum value_type type =
        shape->of_item ? declared_type(binder->options->table, member->name) : VALUE_MISSING;
    if (type != VALUE_MISSING) {
        member->template = template_for_key(member->template, type, binder->arena);
    }
}

static bool bind_assignments(struct shape_binder *shape, const struct map_assignments *from,
                             bool is_key, struct error *err)
{
    struct map_scope *rows = shape->rows;
    struct place_names names = {map_scope_resolve, rows};
    for (size_t i = 0; i < from->count; i++) {
        const struct map_assignment *one = &from->list[i];
        struct map_member member = {.name = one->name, .is_key = is_key};
        if (!parse_template(rows, &one->place, one->value, &member.template, err) ||
            (one->when.json != NULL &&
             !place_condition(&one->when, &names, rows->binder->arena, &member.when, err))) {
            return false;
        }
        convert_for_key(shape, &member);
        if (!add_only_member(shape, &member, &one->place, one->value->offset, err)) {
            return false;
        }
    }
    return true;
}

/* ${"name"} or ${alias."name"}: the template that a column's own name stands for. */
static struct json column_template(const struct map_scope *rows, const struct map_slot *slot,
                                   size_t offset)
{
    struct arena *arena = rows->binder->arena;
    struct path_step steps[2] = {
        {.name = rows->relations[slot->relation].name},
        {.name = rows->relations[slot->relation].columns[slot->column]},
    };
    struct path path = {slot->relation == 0 ? steps + 1 : steps, slot->relation == 0 ? 1 : 2};
    struct str text = path_print(path, arena);
    return (struct json){.kind = JSON_STRING,
                         .text = arena_format(arena, "${%.*s}", STR_ARG(text)),
                         .offset = offset};
}

static bool column_member(struct shape_binder *shape, const struct map_slot *slot,
                          const struct map_columns *columns, struct map_member *member,
                          struct error *err)
{
    struct map_scope *rows = shape->rows;
    member->slot = map_scope_slot(rows, *slot);
    if (!shape->of_item ||
        declared_type(rows->binder->options->table, member->name) == VALUE_MISSING) {
        return true;
    }
    struct json json = column_template(rows, slot, 0);
    if (!parse_template(rows, &columns->place, &json, &member->template, err)) {
        return false;
    }
    convert_for_key(shape, member);
    return true;
}

static bool unknown_listed(const struct map_scope *rows, const struct map_columns *columns,
                           const struct map_column *column, struct error *err)
{
    return place_error(&columns->place, column->offset, err, "%.*s has no column \"%.*s\"",
                       STR_ARG(rows->relations[0].name), STR_ARG(column->column));
}

static bool bind_listed(struct shape_binder *shape, const struct map_columns *columns,
                        struct error *err)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct map_column *column = &columns->list[i];
        struct map_member member = {.name = column->attribute};
        struct map_slot slot = {0};
        if (!map_scope_column(shape->rows, column->column, &slot)) {
            return unknown_listed(shape->rows, columns, column, err);
        }
        if (!column_member(shape, &slot, columns, &member, err) ||
            !add_only_member(shape, &member, &columns->place, column->offset, err)) {
            return false;
        }
    }
    return true;
}

static bool is_excepted(const struct map_columns *columns, struct str name)
{
    for (size_t i = 0; i < columns->count; i++) {
        if (str_equal(columns->list[i].column, name)) {
            return true;
        }
    }
    return false;
}

/* "*" and "except": what an attribute is already made of stays as it is. */
static bool bind_all(struct shape_binder *shape, const struct map_columns *columns,
                     struct error *err)
{
    const struct map_relation *own = &shape->rows->relations[0];
    struct map_slot slot = {0};
    for (size_t i = 0; i < columns->count; i++) {
        if (!map_relation_column(own, columns->list[i].column, &slot.column)) {
            return unknown_listed(shape->rows, columns, &columns->list[i], err);
        }
    }
    for (slot.column = 0; slot.column < own->column_count; slot.column++) {
        struct map_member member = {.name = own->columns[slot.column]};
        bool unlisted = own->unlisted != NULL && own->unlisted[slot.column];
        if (unlisted || is_excepted(columns, member.name) || has_member(shape, member.name)) {
            continue;
        }
        if (!column_member(shape, &slot, columns, &member, err)) {
            return false;
        }
        add_member(shape, &member);
    }
    return true;
}

static bool bind_columns(struct shape_binder *shape, const struct map_body *body, bool every,
                         struct error *err)
{
    const struct map_columns *columns = &body->columns;
    bool is_every = columns->kind == MAP_COLUMNS_ALL || columns->kind == MAP_COLUMNS_EXCEPT;
    if (columns->kind == MAP_COLUMNS_ABSENT || is_every != every) {
        return true;
    }
    return every ? bind_all(shape, columns, err) : bind_listed(shape, columns, err);
}

static bool bind_body_embeds(struct shape_binder *shape, const struct map_body *body,
                             struct error *err)
{
    for (size_t i = body->embed_first; i < body->embed_first + body->embed_count; i++) {
        const struct map_embed *embed = &shape->rows->rows->embeds[i];
        struct map_member member = {.name = embed->name, .slot = i};
        if (!add_only_member(shape, &member, &embed->rows.place, embed->rows.from.offset, err)) {
            return false;
        }
    }
    return true;
}

static int compare_members(const void *a, const void *b)
{
    const struct map_member *left = a;
    const struct map_member *right = b;
    return str_compare(left->name, right->name);
}

/* What is named goes before what "*" takes, whichever body it stands in. */
static bool bind_bodies(struct shape_binder *shape, const struct map_body *const *bodies,
                        size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!bind_assignments(shape, &bodies[i]->set, false, err) ||
            !bind_columns(shape, bodies[i], false, err) ||
            !bind_body_embeds(shape, bodies[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!bind_columns(shape, bodies[i], true, err)) {
            return false;
        }
    }
    if (shape->count > 0) {
        qsort(shape->list, shape->count, sizeof *shape->list, compare_members);
    }
    return true;
}

static bool check_key(const struct map_binder *binder, const struct map_item *item,
                      struct error *err)
{
    const struct key_schema *keys = &binder->options->table->keys;
    for (size_t i = 0; i < item->key.count; i++) {
        struct str name = item->key.list[i].name;
        bool known = str_equal(name, keys->partition[0].name) ||
                     (keys->sort_count > 0 && str_equal(name, keys->sort[0].name));
        if (!known) {
            return place_error(&item->key.list[i].place, item->key.list[i].value->offset, err,
                               "%.*s is no key attribute of the table", STR_ARG(name));
        }
    }
    if (item->key.count < 1 + keys->sort_count) {
        return place_error(&item->place, item->offset, err,
                           "\"key\" lacks a key attribute of the table: %.*s%s%.*s",
                           STR_ARG(keys->partition[0].name), keys->sort_count > 0 ? ", " : "",
                           keys->sort_count > 0 ? (int)keys->sort[0].name.len : 0,
                           keys->sort_count > 0 ? keys->sort[0].name.ptr : "");
    }
    return true;
}

static bool bind_item(struct map_scope *rows, const struct map_entity *entity,
                      const struct map_item *item, struct map_shape *out, struct error *err)
{
    struct place_names names = {map_scope_resolve, rows};
    struct arena *arena = rows->binder->arena;
    struct shape_binder shape = {.rows = rows, .of_item = true};
    const struct map_body *bodies[] = {&entity->body, &item->body};
    if (!check_key(rows->binder, item, err) ||
        (entity->when.json != NULL &&
         !place_condition(&entity->when, &names, arena, &out->whens[0], err)) ||
        (item->when.json != NULL &&
         !place_condition(&item->when, &names, arena, &out->whens[1], err)) ||
        !bind_assignments(&shape, &item->key, true, err) || !bind_bodies(&shape, bodies, 2, err)) {
        return false;
    }
    out->members = shape.list;
    out->member_count = shape.count;
    return true;
}

static bool bind_embeds(struct map_scope *parent, struct map_bound_rows *out, struct error *err);

static void finish_rows(const struct map_scope *rows, struct map_bound_rows *out)
{
    out->rows = rows->rows;
    out->relations = rows->relations;
    out->slots = rows->slots;
    out->slot_count = rows->slot_count;
}

static bool bind_embed(const struct map_binder *binder, const struct map_embed *embed,
                       struct map_bound_embed *out, struct error *err)
{
    struct map_scope rows = {.binder = binder, .rows = &embed->rows};
    struct shape_binder shape = {.rows = &rows};
    const struct map_body *body = &embed->body;
    out->embed = embed;
    if (!map_scope_open(&rows, err) || !map_scope_check_policies(&rows, err) ||
        !bind_bodies(&shape, &body, 1, err) || !bind_embeds(&rows, &out->rows, err)) {
        return false;
    }
    if (embed->kind != MAP_EMBED_ROWS && shape.count != 1) {
        return place_error(&embed->rows.place, embed->rows.from.offset, err,
                           "\"as\" takes one column, not %zu", shape.count);
    }
    struct map_shape *bound = arena_zero(binder->arena, sizeof *bound);
    bound->members = shape.list;
    bound->member_count = shape.count;
    finish_rows(&rows, &out->rows);
    out->rows.shapes = bound;
    out->rows.shape_count = 1;
    return true;
}

/* Embeds nest at most MAP_EMBED_MAX_DEPTH deep: map_parse() sees to it. */
static bool bind_embeds(struct map_scope *parent, struct map_bound_rows *out, struct error *err)
{
    size_t count = parent->rows->embed_count;
    struct map_bound_embed *embeds =
        arena_zero(parent->binder->arena, (count + 1) * sizeof *embeds);
    for (size_t i = 0; i < count; i++) {
        if (!bind_embed(parent->binder, &parent->rows->embeds[i], &embeds[i], err)) {
            return false;
        }
    }
    out->embeds = embeds;
    return true;
}

static bool bind_entity(const struct map_binder *binder, const struct map_entity *entity,
                        struct map_bound_entity *out, struct error *err)
{
    struct map_scope rows = {.binder = binder, .rows = &entity->rows};
    out->entity = entity;
    if (!map_scope_open(&rows, err) || !map_scope_check_policies(&rows, err)) {
        return false;
    }
    struct map_shape *shapes = arena_zero(binder->arena, entity->item_count * sizeof *shapes);
    for (size_t i = 0; i < entity->item_count; i++) {
        if (!bind_item(&rows, entity, &entity->items[i], &shapes[i], err)) {
            return false;
        }
    }
    if (!bind_embeds(&rows, &out->rows, err)) {
        return false;
    }
    finish_rows(&rows, &out->rows);
    out->rows.shapes = shapes;
    out->rows.shape_count = entity->item_count;
    return true;
}

bool map_bind(const struct map_bind_options *options, struct arena *arena,
              const struct map_binding **out, struct error *err)
{
    struct map_binder binder = {options, arena};
    const struct map *map = options->map;
    struct map_bound_entity *entities = arena_zero(arena, map->entity_count * sizeof *entities);
    for (size_t i = 0; i < map->entity_count; i++) {
        if (!bind_entity(&binder, &map->entities[i], &entities[i], err)) {
            return false;
        }
    }
    struct map_binding *binding = arena_zero(arena, sizeof *binding);
    binding->entities = entities;
    binding->entity_count = map->entity_count;
    *out = binding;
    return true;
}
