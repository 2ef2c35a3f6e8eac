#include "plans/scaffold_internal.h"

#include "engine/item/path.h"

#include <inttypes.h>

/* The row that templates read, seen as one of the entity or of one that it refers to. */
struct row {
    const struct scaffold_entity *entity;
    const struct schema_table *table; /* whose columns are named */
    const size_t *columns;            /* by column of entity->table: column of `table` */
};

/* Values that follow each other in a key attribute. */
struct values {
    const size_t *columns; /* of row.entity */
    size_t count;
    const bool *told; /* by column: it stands elsewhere; NULL: none does */
    bool in_order;    /* numbers sort as numbers */
    bool is_followed; /* something stands behind the last */
};

static struct row own_row(const struct scaffold_entity *entity, struct arena *arena)
{
    size_t *columns = arena_zero(arena, (entity->table->column_count + 1) * sizeof *columns);
    for (size_t i = 0; i < entity->table->column_count; i++) {
        columns[i] = i;
    }
    return (struct row){entity, entity->table, columns};
}

/* The row that this one refers to, as far as the reference tells of it. */
static struct row referred_row(const struct scaffold_entity *entities, const struct row *row,
                               const struct schema_reference *reference, struct arena *arena)
{
    const struct scaffold_entity *to = &entities[reference->to];
    size_t *columns = arena_zero(arena, (to->table->column_count + 1) * sizeof *columns);
    for (size_t i = 0; i < reference->count; i++) {
        columns[reference->to_columns[i]] = row->columns[reference->columns[i]];
    }
    return (struct row){to, row->table, columns};
}

/* The column as text; `shape` decides how, so that both ends of a reference write the same. */
static struct str column_text(struct str name, const struct schema_column *shape, bool in_order,
                              struct arena *arena)
{
    struct path_step step = {.name = name};
    struct str path = path_print((struct path){&step, 1}, arena);
    switch (shape->kind) {
    case SCHEMA_INTEGER:
        return !in_order ? path
                         : arena_format(arena, "pad(%.*s, %" PRIu32 ", 'signed')", STR_ARG(path),
                                        shape->digits);
    case SCHEMA_BYTES:
        return arena_format(arena, "base64(%.*s)", STR_ARG(path));
    case SCHEMA_DOCUMENT:
        return arena_format(arena, "json(%.*s)", STR_ARG(path));
    case SCHEMA_NUMBER:
    case SCHEMA_BOOLEAN:
    case SCHEMA_PLAIN:
    case SCHEMA_TEXT:
    default:
        return path;
    }
}

static bool may_have_separator(const struct schema_column *shape)
{
    return shape->kind == SCHEMA_TEXT || shape->kind == SCHEMA_DOCUMENT;
}

static void add_value(const struct row *row, size_t column, const struct values *values,
                      bool is_last, struct buffer *out)
{
    struct arena *scratch = arena_new();
    const struct schema_column *shape = &row->entity->table->columns[column];
    struct str text = column_text(row->table->columns[row->columns[column]].name, shape,
                                  values->in_order, scratch);
    bool escapes = may_have_separator(shape) && (!is_last || values->is_followed);
    buffer_format(out,
                  escapes ? "#${replace(replace(%.*s, '%%', '%%25'), '#', '%%23')}" : "#${%.*s}",
                  STR_ARG(text));
    arena_free(scratch);
}

static bool is_told(const struct values *values, size_t column)
{
    return values->told != NULL && values->told[column];
}

static void add_values(const struct row *row, const struct values *values, struct buffer *out)
{
    size_t left = 0;
    for (size_t i = 0; i < values->count; i++) {
        left += is_told(values, values->columns[i]) ? 0 : 1;
    }
    for (size_t i = 0; i < values->count; i++) {
        if (!is_told(values, values->columns[i])) {
            left--;
            add_value(row, values->columns[i], values, left == 0, out);
        }
    }
}

/* "ORDER#${id}": the row by its key. */
static void add_identity(const struct row *row, struct buffer *out)
{
    const struct schema_key *key = row->entity->key;
    struct values values = {.columns = key->columns, .count = key->count};
    buffer_add(out, row->entity->tag);
    add_values(row, &values, out);
}

/* Which columns of the entity the other one's key tells already. */
static const bool *told_by(const struct scaffold_entity *entities,
                           const struct scaffold_entity *entity,
                           const struct schema_reference *reference, struct arena *arena)
{
    bool *told = arena_zero(arena, entity->table->column_count + 1);
    for (size_t i = 0; i < reference->count; i++) {
        told[reference->columns[i]] |= scaffold_is_told(entities, entity, reference, i);
    }
    return told;
}

static void add_partition(const struct scaffold_entity *entities, const struct row *row,
                          struct arena *arena, struct buffer *out)
{
    if (row->entity->within == NULL) {
        add_identity(row, out);
        return;
    }
    struct row parent = referred_row(entities, row, row->entity->within, arena);
    add_partition(entities, &parent, arena, out);
}

/* Below an entity that is itself within another the sort key goes on from that one's. */
static void add_sort(const struct scaffold_entity *entities, const struct row *row,
                     struct arena *arena, struct buffer *out)
{
    const struct scaffold_entity *entity = row->entity;
    if (entity->within == NULL) {
        buffer_add(out, entity->tag);
        return;
    }
    struct row parent = referred_row(entities, row, entity->within, arena);
    if (parent.entity->within != NULL) {
        add_sort(entities, &parent, arena, out);
        buffer_add_char(out, '#');
    }
    struct values values = {
        .columns = entity->key->columns,
        .count = entity->key->count,
        .told = entity->by_key ? told_by(entities, entity, entity->within, arena) : NULL,
        .in_order = true,
        .is_followed = entity->has_within};
    buffer_add(out, entity->tag);
    add_values(row, &values, out);
}

/* A reference to columns that are not the other's key: "CUSTOMER.EMAIL#${email}", the columns in
 * the other's order, whatever that of the reference. */
static void add_alternate(const struct row *row, const struct schema_reference *reference,
                          struct arena *arena, struct buffer *out)
{
    size_t *columns = arena_zero(arena, (reference->count + 1) * sizeof *columns);
    size_t count = 0;
    buffer_add(out, row->entity->tag);
    for (size_t i = 0; i < row->entity->table->column_count; i++) {
        if (scaffold_has_column(reference->to_columns, reference->count, i)) {
            struct str name = scaffold_tag(row->entity->table->columns[i].name, arena);
            buffer_format(out, ".%.*s", STR_ARG(name));
            columns[count++] = i;
        }
    }
    struct values values = {.columns = columns, .count = count};
    add_values(row, &values, out);
}

static void add_index_partition(const struct scaffold_entity *entities, const struct row *row,
                                struct arena *arena, struct buffer *out)
{
    const struct scaffold_entity *entity = row->entity;
    if (entity->listed == NULL) {
        add_identity(row, out);
        return;
    }
    struct row parent = referred_row(entities, row, entity->listed, arena);
    if (scaffold_tells_key(entities, entity, entity->listed)) {
        add_identity(&parent, out);
    } else {
        add_alternate(&parent, entity->listed, arena, out);
    }
}

static void add_index_sort(const struct scaffold_entity *entities, const struct row *row,
                           struct arena *arena, struct buffer *out)
{
    const struct scaffold_entity *entity = row->entity;
    struct values values = {
        .columns = entity->key->columns, .count = entity->key->count, .in_order = true};
    buffer_add(out, entity->tag);
    if (entity->listed != NULL) {
        values.told = told_by(entities, entity, entity->listed, arena);
        add_values(row, &values, out);
    }
}

/* The text, moved from the buffer, which is then empty. */
static struct str take(struct buffer *buffer, struct arena *arena)
{
    struct str text = arena_copy(arena, buffer_str(buffer));
    buffer->len = 0;
    return text;
}

void scaffold_write_keys(const struct scaffold_entity *entities, struct scaffold_entity *entity,
                         struct arena *arena)
{
    struct row row = own_row(entity, arena);
    struct buffer text = {0};
    add_partition(entities, &row, arena, &text);
    entity->pk = take(&text, arena);
    add_sort(entities, &row, arena, &text);
    entity->sk = take(&text, arena);
    if (entity->listed != NULL || (entity->within != NULL && !entity->by_key)) {
        add_index_partition(entities, &row, arena, &text);
        entity->index_pk = take(&text, arena);
        add_index_sort(entities, &row, arena, &text);
        entity->index_sk = take(&text, arena);
    }
    buffer_free(&text);
}
