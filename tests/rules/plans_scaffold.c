#include "tests/rules/plans_scaffold.h"

#include "plans/map_make.h"
#include "plans/scaffold.h"
#include "tests/rules/plans_fixture.h"

enum { TABLES = 4, COLUMNS = 4, ROWS_EACH = 6, REFERENCES = 2 };

/* A row as it was drawn, and what became of it. */
struct folded {
    const struct scaffold_entity *entity;
    struct value cells[COLUMNS];
    struct value pk, sk;
};

struct drawn {
    struct draw *draw;
    uint32_t pool, pool_range; /* choices not yet made of the number that was drawn */
    struct arena *arena;
    struct schema_table tables[TABLES];
    struct schema schema;
    struct scaffold scaffold;
    struct folded rows[TABLES * ROWS_EACH];
    size_t row_count;
    size_t described; /* entities that the map has asked for */
};

/* Names that are reserved, quoted, nearly one, or that end comments, strings and templates. */
static const struct str table_names[] = {
    STR_INIT("A"),    STR_INIT("a"),  STR_INIT("a#b"),      STR_INIT("a_b"),
    STR_INIT("a_bs"), STR_INIT("as"), STR_INIT("public.a"), STR_INIT("q\"*/\n}${x}")};
static const struct str column_names[] = {STR_INIT("GSI1PK"), STR_INIT("PK"), STR_INIT("in"),
                                          STR_INIT("q\"'}")};

/* Several small choices of each number: a case has bytes for 64 numbers, and more choices. */
static uint32_t below(struct drawn *drawn, uint32_t limit)
{
    enum { EVEN = 64, RANGE = 1 << 30 };
    if (drawn->pool_range < EVEN * limit) {
        drawn->pool = draw_below(drawn->draw, RANGE);
        drawn->pool_range = RANGE;
    }
    uint32_t choice = drawn->pool % limit;
    drawn->pool /= limit;
    drawn->pool_range /= limit;
    return choice;
}

/* A few columns of a table, each once. */
static const size_t *draw_columns(struct drawn *drawn, const struct schema_table *table,
                                  size_t *count)
{
    size_t *columns = arena_zero(drawn->arena, COLUMNS * sizeof *columns);
    size_t first = below(drawn, (uint32_t)table->column_count);
    *count = 1 + below(drawn, (uint32_t)table->column_count);
    for (size_t i = 0; i < *count; i++) {
        columns[i] = (first + i) % table->column_count;
    }
    return columns;
}

/* Texts above all: they can hold what looks like another key. */
static enum schema_kind draw_kind(struct drawn *drawn)
{
    uint32_t kind = below(drawn, 14);
    return kind < 7 ? (enum schema_kind)kind : SCHEMA_TEXT;
}

static void draw_table(struct drawn *drawn, struct str name)
{
    struct schema_table *table = &drawn->tables[drawn->schema.table_count++];
    struct schema_column *columns = arena_zero(drawn->arena, COLUMNS * sizeof *columns);
    struct schema_key *key = arena_zero(drawn->arena, sizeof *key);
    *table = (struct schema_table){.schema = STR("public"), .name = name, .sql = name};
    table->is_inherited = below(drawn, 8) == 1;
    table->column_count = 1 + below(drawn, COLUMNS);
    for (size_t i = 0; i < table->column_count; i++) {
        columns[i] = (struct schema_column){.name = column_names[i],
                                            .sql = column_names[i],
                                            .type = STR("type"),
                                            .kind = draw_kind(drawn),
                                            .digits = 3,
                                            .not_null = below(drawn, 2) == 1};
        columns[i].refused = columns[i].kind == SCHEMA_TEXT && below(drawn, 4) == 1;
    }
    table->columns = columns;
    if (below(drawn, 8) == 7) {
        return;
    }
    key->columns = draw_columns(drawn, table, &key->count);
    for (size_t i = 0; i < key->count; i++) {
        columns[key->columns[i]].not_null = true;
    }
    table->keys = key;
    table->key_count = 1;
}

/* Often to the other's key, and of its columns' kinds, so that they meet. */
static void draw_references(struct drawn *drawn, struct schema_table *table)
{
    struct schema_reference *list = arena_zero(drawn->arena, REFERENCES * sizeof *list);
    table->references = list;
    table->reference_count = below(drawn, REFERENCES + 1);
    for (size_t i = 0; i < table->reference_count; i++) {
        struct schema_reference *one = &list[i];
        one->to = below(drawn, (uint32_t)drawn->schema.table_count);
        one->cascades = below(drawn, 2) == 1;
        const struct schema_table *to = &drawn->tables[one->to];
        if (to->key_count > 0 && below(drawn, 4) > 0) {
            one->to_columns = to->keys[0].columns;
            one->count = to->keys[0].count;
        } else {
            one->to_columns = draw_columns(drawn, to, &one->count);
        }
        size_t *columns = arena_zero(drawn->arena, COLUMNS * sizeof *columns);
        size_t first = below(drawn, (uint32_t)table->column_count);
        for (size_t k = 0; k < one->count; k++) {
            columns[k] = (first + k) % table->column_count;
        }
        one->columns = columns;
    }
}

static void draw_schema(struct drawn *drawn)
{
    size_t step = 1 + below(drawn, 2);
    size_t first = below(drawn, 2);
    drawn->schema = (struct schema){STR("shop*/\n"), drawn->tables, 0};
    size_t wanted = 1 + below(drawn, TABLES);
    for (size_t i = 0; i < wanted; i++) {
        draw_table(drawn, table_names[first + i * step < 8 ? first + i * step : 7]);
    }
    for (size_t i = 0; i < wanted; i++) {
        draw_references(drawn, &drawn->tables[i]);
    }
}

/* Pieces of keys and of what separates them. */
static struct value draw_text(struct drawn *drawn)
{
    static const char *const texts[] = {"a", "", "#", "%23", "a#a", "#a"};
    size_t place = below(drawn, (uint32_t)drawn->scaffold.order_count);
    struct str tag = drawn->scaffold.entities[drawn->scaffold.order[place]].tag;
    size_t form = below(drawn, 8);
    struct str text =
        form < 6 ? (struct str){texts[form], strlen(texts[form])}
                 : arena_format(drawn->arena, "a#%.*s%s", STR_ARG(tag), form == 6 ? "" : "#a");
    return value_string(drawn->arena, text);
}

/* Few values, so that rows are alike. */
static struct value draw_cell(struct drawn *drawn, enum schema_kind kind)
{
    static const char *const numbers[] = {"7", "-3"};
    static const char *const documents[] = {"[\"#\"]", "{\"a#A#\": null}", "null"};
    switch (kind) {
    case SCHEMA_BOOLEAN:
        return value_from_bool(below(drawn, 2) == 1);
    case SCHEMA_BYTES:
        return value_binary(drawn->arena, below(drawn, 2) == 1 ? STR("#") : STR("a#"));
    case SCHEMA_PLAIN:
        return value_string(drawn->arena, below(drawn, 2) == 1 ? STR("x") : STR("y-1"));
    case SCHEMA_TEXT:
        return draw_text(drawn);
    case SCHEMA_DOCUMENT:
        return plans_value(documents[below(drawn, 3)], drawn->arena);
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
    default:
        return plans_value(numbers[below(drawn, 2)], drawn->arena);
    }
}

static bool has_same_key(const struct folded *a, const struct folded *b)
{
    for (size_t i = 0; i < a->entity->key->count; i++) {
        size_t column = a->entity->key->columns[i];
        if (!value_equal(a->cells[column], b->cells[column])) {
            return false;
        }
    }
    return a->entity == b->entity;
}

static void draw_rows(struct drawn *drawn, const struct scaffold_entity *entity)
{
    for (size_t i = 0; i < ROWS_EACH; i++) {
        struct folded *row = &drawn->rows[drawn->row_count];
        bool is_new = true;
        *row = (struct folded){.entity = entity};
        for (size_t k = 0; k < entity->table->column_count; k++) {
            const struct schema_column *column = &entity->table->columns[k];
            if (column->not_null || below(drawn, 4) > 0) {
                row->cells[k] = draw_cell(drawn, column->kind);
            }
        }
        for (size_t k = 0; k < drawn->row_count; k++) {
            is_new = is_new && !has_same_key(row, &drawn->rows[k]);
        }
        drawn->row_count += is_new ? 1 : 0;
    }
}

/* Entities name one table each, in their order. */
static bool describe(void *context, const struct map_from *from, struct map_relation *out,
                     struct error *err)
{
    struct drawn *drawn = context;
    size_t place = drawn->described++;
    if (place >= drawn->scaffold.order_count) {
        return error_set(err, ERROR_PLAN, "one more than there are: %.*s", STR_ARG(from->table));
    }
    const struct schema_table *table = drawn->scaffold.entities[drawn->scaffold.order[place]].table;
    struct str *names = arena_zero(drawn->arena, COLUMNS * sizeof *names);
    for (size_t i = 0; i < table->column_count; i++) {
        names[i] = table->columns[i].name;
    }
    *out = (struct map_relation){table->name, names, table->column_count, NULL, NULL};
    return true;
}

static bool bind(struct drawn *drawn, const struct map_binding **out)
{
    struct error err = {0};
    struct buffer text = {0};
    const struct map *map = NULL;
    scaffold_print(&drawn->scaffold, &text);
    bool ok = map_parse(buffer_str(&text), "m.json", drawn->arena, &map, &err);
    buffer_free(&text);
    if (!ok) {
        return false;
    }
    struct table_desc *table = arena_zero(drawn->arena, sizeof *table);
    *table = (struct table_desc){
        .keys = map->keys, .indexes = map->indexes, .index_count = map->index_count};
    struct map_bind_options *options = arena_zero(drawn->arena, sizeof *options);
    *options = (struct map_bind_options){map, table, describe, drawn};
    return map_bind(options, drawn->arena, out, &err) &&
           (*out)->entity_count == drawn->scaffold.order_count;
}

/* Each column is an attribute, under whatever name. */
static bool fold(struct drawn *drawn, const struct map_bound_entity *bound, struct folded *row)
{
    struct error err = {0};
    struct value slots[COLUMNS + 1] = {{NULL, 0}};
    struct map_made made = {0};
    const struct map_bound_rows *rows = &bound->rows;
    size_t cells = 0;
    for (size_t i = 0; i < rows->slot_count; i++) {
        slots[i] = row->cells[rows->slots[i].column];
    }
    for (size_t i = 0; i < row->entity->table->column_count; i++) {
        cells += value_is_missing(row->cells[i]) ? 0 : 1;
    }
    struct expr_scope scope = {.slots = slots, .slot_count = rows->slot_count};
    if (!map_make(&rows->shapes[0], &scope, drawn->arena, &made, &err) || !made.present) {
        return false;
    }
    row->pk = value_member(made.item, STR("PK"));
    row->sk = value_member(made.item, STR("SK"));
    size_t index = !value_is_missing(value_member(made.item, STR("GSI1PK"))) +
                   !value_is_missing(value_member(made.item, STR("GSI1SK")));
    return value_count(made.item) == 2 + index + cells;
}

static bool fold_all(struct drawn *drawn, const struct map_binding *binding)
{
    for (size_t i = 0; i < drawn->row_count; i++) {
        struct folded *row = &drawn->rows[i];
        size_t place = 0;
        while (&drawn->scaffold.entities[drawn->scaffold.order[place]] != row->entity) {
            place++;
        }
        if (!fold(drawn, &binding->entities[place], row)) {
            return false;
        }
    }
    return true;
}

static bool refers_to(const struct folded *row, const struct folded *other)
{
    const struct schema_reference *within = row->entity->within;
    for (size_t i = 0; i < within->count; i++) {
        struct value cell = row->cells[within->columns[i]];
        if (value_is_missing(cell) || !value_equal(cell, other->cells[within->to_columns[i]])) {
            return false;
        }
    }
    return true;
}

/* With it in one collection; and below it, where it is itself below another. */
static bool stands_with(const struct folded *row, const struct folded *other)
{
    struct str above = value_bytes(other->sk);
    struct str sort = value_bytes(row->sk);
    bool below = sort.len > above.len && str_begins(sort, above) && sort.ptr[above.len] == '#';
    return value_equal(row->pk, other->pk) && (other->entity->within == NULL || below);
}

static bool check_pair(const struct drawn *drawn, const struct folded *a, const struct folded *b)
{
    if (value_equal(a->pk, b->pk) && value_equal(a->sk, b->sk)) {
        return false;
    }
    const struct schema_reference *within = a->entity->within;
    return within == NULL || &drawn->scaffold.entities[within->to] != b->entity ||
           !refers_to(a, b) || stands_with(a, b);
}

static bool check_rows(const struct drawn *drawn)
{
    for (size_t i = 0; i < drawn->row_count; i++) {
        for (size_t k = 0; k < drawn->row_count; k++) {
            if (i != k && !check_pair(drawn, &drawn->rows[i], &drawn->rows[k])) {
                return false;
            }
        }
    }
    return true;
}

static bool check_schema(struct drawn *drawn)
{
    struct error err = {0};
    const struct map_binding *binding = NULL;
    if (!scaffold_make(&drawn->schema, drawn->arena, &drawn->scaffold, &err)) {
        return err.code == ERROR_SOURCE;
    }
    for (size_t i = 0; i < drawn->scaffold.order_count; i++) {
        draw_rows(drawn, &drawn->scaffold.entities[drawn->scaffold.order[i]]);
    }
    return bind(drawn, &binding) && fold_all(drawn, binding) && check_rows(drawn);
}

bool rule_scaffold_folds_any_schema(struct draw *draw)
{
    struct drawn drawn = {.draw = draw, .arena = arena_new()};
    draw_schema(&drawn);
    bool holds = check_schema(&drawn);
    arena_free(drawn.arena);
    return holds;
}
