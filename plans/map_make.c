#include "plans/map_make.h"

#include <assert.h>

/* Items of more attributes than this are put together in the arena. */
enum { MEMBERS_AT_HAND = 64 };

static bool test_when(const struct expr *when, const struct expr_scope *scope, struct arena *arena,
                      bool *holds, struct error *err)
{
    *holds = true;
    return when == NULL || expr_test(when, scope, arena, holds, err);
}

static bool make_member(const struct map_member *member, const struct expr_scope *scope,
                        struct arena *arena, struct value *out, struct error *err)
{
    bool holds;
    *out = (struct value){NULL, 0};
    if (!test_when(member->when, scope, arena, &holds, err)) {
        return error_wrap(err, "attribute %.*s: when", STR_ARG(member->name));
    }
    if (!holds) {
        return true;
    }
    if (member->template == NULL) {
        *out = scope->slots[member->slot];
        return true;
    }
    if (!template_eval(member->template, scope, arena, out, err)) {
        return error_wrap(err, "attribute %.*s", STR_ARG(member->name));
    }
    if (member->is_key && value_is_missing(*out)) {
        struct str missing = template_missing(member->template, scope, arena);
        return error_set(err, ERROR_ITEM, "key attribute %.*s: %.*s", STR_ARG(member->name),
                         STR_ARG(missing));
    }
    return true;
}

bool map_make(const struct map_shape *shape, const struct expr_scope *scope, struct arena *arena,
              struct map_made *out, struct error *err)
{
    struct attribute at_hand[MEMBERS_AT_HAND];
    struct attribute *attributes = at_hand;
    struct map_made made = {.present = true};
    for (size_t i = 0; i < 2 && made.present; i++) {
        if (!test_when(shape->whens[i], scope, arena, &made.present, err)) {
            return error_wrap(err, "when");
        }
    }
    if (!made.present) {
        *out = made;
        return true;
    }
    if (shape->member_count > MEMBERS_AT_HAND) {
        attributes = arena_alloc(arena, shape->member_count * sizeof *attributes);
    }
    size_t count = 0;
    for (size_t i = 0; i < shape->member_count; i++) {
        struct value value;
        if (!make_member(&shape->members[i], scope, arena, &value, err)) {
            return false;
        }
        if (template_is_nothing(value)) {
            made.left_out++;
        } else {
            attributes[count++] = (struct attribute){shape->members[i].name, value};
        }
    }
    if (!value_map(arena, attributes, count, &made.item, err)) {
        return false;
    }
    *out = made;
    return true;
}

/* The values of rows that have one member at most; returns how many have it. */
static size_t only_members(struct map_values rows, struct value *out)
{
    size_t found = 0;
    for (size_t i = 0; i < rows.count; i++) {
        struct value_iter iter = value_members(rows.list[i]);
        struct attribute member;
        if (value_next(&iter, &member)) {
            out[found++] = member.value;
        }
    }
    return found;
}

/* A NULL has no place in a set. */
static size_t without_nulls(struct value *values, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (value_type(values[i]) != VALUE_NULL) {
            values[kept++] = values[i];
        }
    }
    return kept;
}

static bool make_set(const struct map_embed *embed, struct map_values members, struct arena *arena,
                     struct value *out, struct error *err)
{
    if (members.count == 0) {
        *out = (struct value){NULL, 0};
        return true;
    }
    return value_set_merged(arena, members.list, members.count, out, err) ||
           error_wrap(err, "attribute %.*s", STR_ARG(embed->name));
}

bool map_make_embed(const struct map_embed *embed, struct map_values rows, struct arena *arena,
                    struct value *out, struct error *err)
{
    struct map_values made = rows;
    if (embed->kind != MAP_EMBED_ROWS) {
        struct value *values = arena_alloc(arena, (rows.count + 1) * sizeof *values);
        made = (struct map_values){values, only_members(rows, values)};
        if (embed->kind == MAP_EMBED_SET) {
            made.count = without_nulls(values, made.count);
            return make_set(embed, made, arena, out, err);
        }
    }
    *out = made.count == 0 && embed->omit_empty ? (struct value){NULL, 0}
                                                : value_list(arena, made.list, made.count);
    return true;
}
