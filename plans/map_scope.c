#include "plans/map_scope_internal.h"

#include <string.h>

bool map_relation_column(const struct map_relation *relation, struct str name, size_t *column)
{
    for (size_t i = 0; i < relation->column_count; i++) {
        if (str_equal(relation->columns[i], name)) {
            *column = i;
            return true;
        }
    }
    return false;
}

/* The joined relation of an alias, or the rows' own by its name in SQL. */
static bool map_scope_relation(const struct map_scope *scope, struct str name, size_t *relation)
{
    for (size_t i = scope->relation_count; i > 0; i--) {
        if (str_equal(scope->relations[i - 1].name, name)) {
            *relation = i - 1;
            return true;
        }
    }
    return false;
}

bool map_scope_column(const struct map_scope *scope, struct str text, struct map_slot *out)
{
    out->relation = 0;
    if (map_relation_column(&scope->relations[0], text, &out->column)) {
        return true;
    }
    const char *dot = text.len == 0 ? NULL : memchr(text.ptr, '.', text.len);
    if (dot == NULL) {
        return false;
    }
    struct str alias = {text.ptr, (size_t)(dot - text.ptr)};
    struct str column = {dot + 1, text.len - alias.len - 1};
    return map_scope_relation(scope, alias, &out->relation) &&
           map_relation_column(&scope->relations[out->relation], column, &out->column);
}

static enum map_policy policy_of(const struct map_scope *scope, const struct map_slot *slot)
{
    for (size_t i = 0; i < scope->rows->policy_count; i++) {
        struct map_slot named = {0};
        if (map_scope_column(scope, scope->rows->policies[i].column, &named) &&
            named.relation == slot->relation && named.column == slot->column) {
            return scope->rows->policies[i].policy;
        }
    }
    return MAP_REFUSE;
}

static struct map_slot *add_slot(struct map_scope *scope)
{
    if (scope->slot_count == scope->slot_capacity) {
        scope->slots = arena_grow(scope->binder->arena, scope->slots, sizeof *scope->slots,
                                  &scope->slot_capacity);
    }
    return &scope->slots[scope->slot_count++];
}

size_t map_scope_slot(struct map_scope *scope, struct map_slot slot)
{
    size_t *known = &scope->slot_of[slot.relation][slot.column];
    if (*known == 0) {
        slot.policy = policy_of(scope, &slot);
        *add_slot(scope) = slot;
        *known = scope->slot_count;
    }
    return scope->rows->embed_count + *known - 1;
}

static int unknown_column(const struct map_relation *relation, struct str name, struct error *err)
{
    (void)error_set(err, ERROR_PLAN, "%.*s has no column \"%.*s\"", STR_ARG(relation->name),
                    STR_ARG(name));
    return EXPR_UNKNOWN;
}

int map_scope_resolve(void *context, struct path path, size_t *used, struct error *err)
{
    struct map_scope *scope = context;
    struct map_slot slot = {0};
    struct str name = path.steps[0].name;
    *used = 1;
    if (map_relation_column(&scope->relations[0], name, &slot.column)) {
        return (int)map_scope_slot(scope, slot);
    }
    if (!map_scope_relation(scope, name, &slot.relation)) {
        return unknown_column(&scope->relations[0], name, err);
    }
    *used = 2;
    if (path.count < 2 || path.steps[1].is_place) {
        (void)error_set(err, ERROR_PLAN, "%.*s is a relation: write %.*s.column", STR_ARG(name),
                        STR_ARG(name));
        return EXPR_UNKNOWN;
    }
    if (!map_relation_column(&scope->relations[slot.relation], path.steps[1].name, &slot.column)) {
        return unknown_column(&scope->relations[slot.relation], path.steps[1].name, err);
    }
    return (int)map_scope_slot(scope, slot);
}

bool map_scope_open(struct map_scope *scope, struct error *err)
{
    struct arena *arena = scope->binder->arena;
    const struct map_bind_options *options = scope->binder->options;
    scope->relation_count = 1 + scope->rows->join_count;
    scope->relations = arena_zero(arena, scope->relation_count * sizeof *scope->relations);
    scope->slot_of = arena_zero(arena, scope->relation_count * sizeof *scope->slot_of);
    for (size_t i = 0; i < scope->relation_count; i++) {
        const struct map_join *join = i == 0 ? NULL : &scope->rows->joins[i - 1];
        const struct map_from *from = join == NULL ? &scope->rows->from : &join->from;
        struct map_relation *relation = &scope->relations[i];
        if (!options->describe(options->context, from, relation, err)) {
            return err->code == ERROR_PLAN && place_wrap(&from->place, from->offset, err);
        }
        size_t ignored;
        if (join != NULL && (map_relation_column(&scope->relations[0], join->alias, &ignored) ||
                             str_equal(scope->relations[0].name, join->alias))) {
            return place_error(&from->place, from->offset, err,
                               "%.*s is also a name in %.*s: join it under another alias",
                               STR_ARG(join->alias), STR_ARG(scope->relations[0].name));
        }
        scope->slot_of[i] =
            arena_zero(arena, (relation->column_count + 1) * sizeof *scope->slot_of[i]);
    }
    return true;
}

bool map_scope_check_policies(const struct map_scope *scope, struct error *err)
{
    for (size_t i = 0; i < scope->rows->policy_count; i++) {
        struct map_slot slot = {0};
        if (!map_scope_column(scope, scope->rows->policies[i].column, &slot)) {
            return place_error(&scope->rows->policy_place, scope->rows->policies[i].offset, err,
                               "%.*s has no column \"%.*s\"", STR_ARG(scope->relations[0].name),
                               STR_ARG(scope->rows->policies[i].column));
        }
    }
    return true;
}
