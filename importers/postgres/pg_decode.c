#include "importers/postgres/pg_decode.h"

#include "engine/base/utf8.h"
#include "importers/postgres/pg_text.h"
#include "plans/map_make.h"

static struct str column_name(const struct pg_rows_plan *plan, size_t slot, struct arena *arena)
{
    const struct map_slot *column = &plan->bound->slots[slot];
    const struct map_relation *relation = &plan->bound->relations[column->relation];
    struct str name = relation->columns[column->column];
    return column->relation == 0
               ? name
               : arena_format(arena, "%.*s.%.*s", STR_ARG(relation->name), STR_ARG(name));
}

/* What a refused value becomes; false where nothing is said. */
static bool apply_policy(enum map_policy policy, struct str text, struct arena *arena,
                         struct value *out)
{
    switch (policy) {
    case MAP_AS_TEXT:
        *out = value_string(arena, text);
        return utf8_is_valid(text);
    case MAP_OMIT:
        *out = (struct value){NULL, 0};
        return true;
    case MAP_AS_NULL:
        *out = value_null();
        return true;
    case MAP_REFUSE:
    default:
        return false;
    }
}

static bool convert(const struct pg_type *type, struct str text, struct arena *arena,
                    struct value *out, struct error *err)
{
    if (pg_type_refused(type) != NULL) {
        return error_set(err, ERROR_ITEM, "the type %.*s has no conversion", STR_ARG(type->name));
    }
    return type->convert(type, text, arena, out, err);
}

static bool decode_columns(const struct pg_rows_plan *plan, const struct str *fields,
                           struct arena *arena, struct value *values, struct error *err)
{
    const struct map_slot *slots = plan->bound->slots;
    for (size_t i = 0; i < plan->bound->slot_count; i++) {
        if (fields[i].ptr == NULL) {
            values[i] = (struct value){NULL, 0};
            continue;
        }
        const struct pg_type *type = plan->types[i];
        bool ok = slots[i].policy == MAP_REFUSE
                      ? type->convert(type, fields[i], arena, &values[i], err)
                      : convert(type, fields[i], arena, &values[i], err) ||
                            apply_policy(slots[i].policy, fields[i], arena, &values[i]);
        if (!ok) {
            struct str name = column_name(plan, i, arena);
            return error_wrap(err, "column %.*s", STR_ARG(name));
        }
    }
    return true;
}

/* The column that a PG_FLAG_COLUMNS names. */
static size_t slot_of(const struct pg_rows_plan *plan, struct str text)
{
    size_t slot = 0;
    for (size_t i = 0; i < text.len; i++) {
        slot = slot * 10 + (size_t)(text.ptr[i] - '0');
    }
    return slot < plan->bound->slot_count ? slot : 0;
}

static bool refuse_flag(const struct pg_rows_plan *plan, const struct pg_flag *flag,
                        struct str text, struct arena *arena, struct error *err)
{
    const struct map_rows *rows = plan->bound->rows;
    struct str name;
    switch (flag->kind) {
    case PG_FLAG_JOIN:
        name = rows->joins[flag->index].alias;
        return error_set(err, ERROR_ITEM, "join %.*s matches more than one row", STR_ARG(name));
    case PG_FLAG_EMBED:
        name = rows->embeds[flag->index].name;
        return error_set(err, ERROR_ITEM, "embed %.*s is far too large for an item", STR_ARG(name));
    case PG_FLAG_COLUMNS:
    default:
        name = column_name(plan, slot_of(plan, text), arena);
        return error_set(err, ERROR_ITEM, "column %.*s: over %d bytes", STR_ARG(name),
                         PG_VALUE_MAX_BYTES);
    }
}

static bool check_flags(const struct pg_rows_plan *plan, const struct str *flags,
                        struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < plan->flag_count; i++) {
        if (flags[i].ptr != NULL && !str_equal(flags[i], STR("f"))) {
            return refuse_flag(plan, &plan->flags[i], flags[i], arena, err);
        }
    }
    return true;
}

/* One embedded row, from the text of its ROW(…). */
static bool decode_embedded(const struct pg_rows_plan *plan, struct str text, struct arena *arena,
                            struct value *out, struct error *err)
{
    size_t field_count = pg_plan_field_count(plan);
    size_t slot_count = plan->bound->rows->embed_count + plan->bound->slot_count;
    struct str *fields = arena_alloc(arena, (field_count + 1) * sizeof *fields);
    struct value *values = arena_alloc(arena, (slot_count + 1) * sizeof *values);
    struct expr_scope scope = {.slots = values, .slot_count = slot_count};
    struct map_made made;
    if (!pg_composite_split(text, arena, fields, field_count, err) ||
        !pg_decode_row(plan, fields, arena, values, err) ||
        !map_make(&plan->bound->shapes[0], &scope, arena, &made, err)) {
        return false;
    }
    *out = made.item;
    return true;
}

/* Values of embedded rows as they are read. */
struct row_list {
    struct value *rows;
    size_t count, capacity;
};

static struct value *row_list_add(struct row_list *list, struct arena *arena)
{
    if (list->count == list->capacity) {
        list->rows = arena_grow(arena, list->rows, sizeof *list->rows, &list->capacity);
    }
    return &list->rows[list->count++];
}

static bool decode_rows(const struct pg_rows_plan *plan, struct str text, struct arena *arena,
                        struct row_list *list, struct error *err)
{
    struct pg_array_reader reader = {.at = text.ptr, .end = text.ptr + text.len, .delimiter = ','};
    struct str row;
    enum pg_array_token token = pg_array_next(&reader, arena, &row);
    if (token != PG_ARRAY_OPEN) {
        return error_set(err, ERROR_SOURCE, "not the text of an array of rows");
    }
    for (token = pg_array_next(&reader, arena, &row); token == PG_ARRAY_TEXT;
         token = pg_array_next(&reader, arena, &row)) {
        struct value *value = row_list_add(list, arena);
        if (!decode_embedded(plan, row, arena, value, err)) {
            return error_wrap(err, "row %zu", list->count);
        }
    }
    return token == PG_ARRAY_CLOSE ||
           error_set(err, ERROR_SOURCE, "not the text of an array of rows");
}

static bool decode_embed(const struct pg_embed_plan *plan, struct str text, struct arena *arena,
                         struct value *out, struct error *err)
{
    struct row_list list = {0};
    if (text.ptr != NULL && !decode_rows(&plan->rows, text, arena, &list, err)) {
        return error_wrap(err, "embed %.*s", STR_ARG(plan->embed->name));
    }
    struct map_values rows = {list.rows, list.count};
    return map_make_embed(plan->embed, rows, arena, out, err);
}

bool pg_decode_row(const struct pg_rows_plan *plan, const struct str *fields, struct arena *arena,
                   struct value *values, struct error *err)
{
    size_t embed_count = plan->bound->rows->embed_count;
    const struct str *flags = fields + embed_count + plan->bound->slot_count;
    if (!check_flags(plan, flags, arena, err)) {
        return false;
    }
    for (size_t i = 0; i < embed_count; i++) {
        if (!decode_embed(&plan->embeds[i], fields[i], arena, &values[i], err)) {
            return false;
        }
    }
    return decode_columns(plan, fields + embed_count, arena, values + embed_count, err);
}
