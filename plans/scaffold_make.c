#include "plans/scaffold.h"

#include "plans/scaffold_internal.h"

/* Deciding whose collection each entity is in. */
struct decider {
    const struct schema *schema;
    struct scaffold_entity *entities;
    enum decided { UNDECIDED, UNDER_WAY, DECIDED } * states;
};

bool scaffold_has_column(const size_t *columns, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++) {
        if (columns[i] == column) {
            return true;
        }
    }
    return false;
}

bool scaffold_has_name(const struct schema_table *table, struct str name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (str_equal(table->columns[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* The column that refers to one of the other's; column_count where there is none. */
static size_t referring(const struct scaffold_entity *from,
                        const struct schema_reference *reference, size_t to_column)
{
    for (size_t i = 0; i < reference->count; i++) {
        if (reference->to_columns[i] == to_column) {
            return reference->columns[i];
        }
    }
    return from->table->column_count;
}

/* Whether equal values of both are one text in a key: a date is none of a timestamp's. */
static bool is_written_alike(const struct schema_column *a, const struct schema_column *b)
{
    bool a_number = a->kind == SCHEMA_INTEGER || a->kind == SCHEMA_NUMBER;
    bool b_number = b->kind == SCHEMA_INTEGER || b->kind == SCHEMA_NUMBER;
    if (a_number || b_number) {
        return a_number && b_number;
    }
    bool by_type = a->kind == SCHEMA_PLAIN || a->kind == SCHEMA_DOCUMENT;
    return a->kind == b->kind && (!by_type || str_equal(a->type, b->type));
}

/* A reference to an entity that writes the values as this one does. */
static bool is_usable(const struct scaffold_entity *entities, const struct scaffold_entity *from,
                      const struct schema_reference *reference)
{
    const struct scaffold_entity *to = &entities[reference->to];
    for (size_t i = 0; i < reference->count; i++) {
        if (!is_written_alike(&from->table->columns[reference->columns[i]],
                              &to->table->columns[reference->to_columns[i]])) {
            return false;
        }
    }
    return to->key != NULL;
}

bool scaffold_tells_key(const struct scaffold_entity *entities, const struct scaffold_entity *from,
                        const struct schema_reference *reference)
{
    const struct schema_key *key = entities[reference->to].key;
    for (size_t i = 0; i < key->count; i++) {
        if (referring(from, reference, key->columns[i]) == from->table->column_count) {
            return false;
        }
    }
    return true;
}

bool scaffold_is_told(const struct scaffold_entity *entities, const struct scaffold_entity *from,
                      const struct schema_reference *reference, size_t i)
{
    const struct schema_key *key = entities[reference->to].key;
    return !scaffold_tells_key(entities, from, reference) ||
           scaffold_has_column(key->columns, key->count, reference->to_columns[i]);
}

/* Whether the entity's own key has the other's, or, without `in_key`, whether it always refers. */
static bool has_other_key(const struct decider *decider, const struct scaffold_entity *entity,
                          const struct schema_reference *reference, bool in_key)
{
    const struct scaffold_entity *to = &decider->entities[reference->to];
    for (size_t i = 0; i < to->key->count; i++) {
        size_t column = referring(entity, reference, to->key->columns[i]);
        bool has = in_key ? scaffold_has_column(entity->key->columns, entity->key->count, column)
                          : entity->table->columns[column].not_null;
        if (!has) {
            return false;
        }
    }
    return true;
}

/* A reference that could decide in whose collection the entity is. */
static bool is_candidate(const struct decider *decider, const struct scaffold_entity *entity,
                         const struct schema_reference *reference, bool by_key)
{
    const struct scaffold_entity *to = &decider->entities[reference->to];
    return to != entity && is_usable(decider->entities, entity, reference) &&
           (by_key || reference->cascades) &&
           scaffold_tells_key(decider->entities, entity, reference) &&
           has_other_key(decider, entity, reference, by_key);
}

/* Where the reference begins: in the entity's key, or among all columns. */
static size_t first_place(const struct scaffold_entity *entity,
                          const struct schema_reference *reference, bool by_key)
{
    size_t count = by_key ? entity->key->count : entity->table->column_count;
    size_t i = 0;
    while (i < count && !scaffold_has_column(reference->columns, reference->count,
                                             by_key ? entity->key->columns[i] : i)) {
        i++;
    }
    return i;
}

/* The first in the key or table goes before others; of those, the one with more columns, which is
 * nearer. */
static bool goes_before(const struct scaffold_entity *entity, const struct schema_reference *a,
                        const struct schema_reference *b, bool by_key)
{
    size_t a_place = first_place(entity, a, by_key);
    size_t b_place = first_place(entity, b, by_key);
    return a_place < b_place || (a_place == b_place && a->count > b->count);
}

static void decide(struct decider *decider, size_t table);

/* A row that is within another only by a reference cannot be told by its key alone, so nothing can
 * be within it. Circles end where they were entered. */
static bool can_hold(struct decider *decider, size_t table)
{
    if (decider->states[table] == UNDECIDED) {
        decide(decider, table);
    }
    const struct scaffold_entity *entity = &decider->entities[table];
    return decider->states[table] == DECIDED && (entity->within == NULL || entity->by_key);
}

static const struct schema_reference *choose_within(struct decider *decider, size_t table,
                                                    bool by_key)
{
    const struct scaffold_entity *entity = &decider->entities[table];
    const struct schema_reference *best = NULL;
    for (size_t i = 0; i < entity->table->reference_count; i++) {
        const struct schema_reference *one = &entity->table->references[i];
        if (is_candidate(decider, entity, one, by_key) &&
            (best == NULL || goes_before(entity, one, best, by_key)) &&
            can_hold(decider, one->to)) {
            best = one;
        }
    }
    return best;
}

static void decide(struct decider *decider, size_t table)
{
    struct scaffold_entity *entity = &decider->entities[table];
    decider->states[table] = UNDER_WAY;
    entity->within = choose_within(decider, table, true);
    entity->by_key = entity->within != NULL;
    if (entity->within == NULL) {
        entity->within = choose_within(decider, table, false);
    }
    if (entity->within != NULL) {
        decider->entities[entity->within->to].has_within = true;
    }
    decider->states[table] = DECIDED;
}

/* How well a reference serves to list by: one of the key, a certain one, one that may be NULL. */
static size_t listing_rank(const struct scaffold_entity *entity,
                           const struct schema_reference *reference)
{
    bool in_key = true;
    bool certain = true;
    for (size_t i = 0; i < reference->count; i++) {
        size_t column = reference->columns[i];
        in_key = in_key && scaffold_has_column(entity->key->columns, entity->key->count, column);
        certain = certain && entity->table->columns[column].not_null;
    }
    return in_key ? 0 : certain ? 1 : 2;
}

static bool tells_column(const struct scaffold_entity *entities,
                         const struct scaffold_entity *entity, size_t column)
{
    const struct schema_reference *within = entity->within;
    for (size_t i = 0; i < within->count; i++) {
        if (within->columns[i] == column && scaffold_is_told(entities, entity, within, i)) {
            return true;
        }
    }
    return false;
}

bool scaffold_collection_tells(const struct scaffold_entity *entities,
                               const struct scaffold_entity *entity,
                               const struct schema_reference *reference)
{
    for (size_t i = 0; i < reference->count && entity->within != NULL; i++) {
        if (!tells_column(entities, entity, reference->columns[i])) {
            return reference == entity->within;
        }
    }
    return entity->within != NULL;
}

/* Whether the first serves better to list by. */
static bool lists_better(const struct scaffold_entity *entity, const struct schema_reference *a,
                         const struct schema_reference *b)
{
    size_t a_rank = listing_rank(entity, a);
    size_t b_rank = listing_rank(entity, b);
    return a_rank < b_rank || (a_rank == b_rank && goes_before(entity, a, b, false));
}

static const struct schema_reference *choose_listed(const struct decider *decider,
                                                    const struct scaffold_entity *entity)
{
    const struct schema_reference *best = NULL;
    for (size_t i = 0; i < entity->table->reference_count; i++) {
        const struct schema_reference *one = &entity->table->references[i];
        if (is_usable(decider->entities, entity, one) &&
            !scaffold_collection_tells(decider->entities, entity, one) &&
            (best == NULL || lists_better(entity, one, best))) {
            best = one;
        }
    }
    return best;
}

const char *scaffold_left_out(const struct scaffold_entity *entity)
{
    switch (entity->table->access) {
    case SCHEMA_FORBIDDEN:
        return "it may not be read; that takes USAGE of its schema and SELECT";
    case SCHEMA_ROW_SECURITY:
        return "row security would hide rows; that takes a role with BYPASSRLS";
    case SCHEMA_VIEW:
        return "a view; to fold it, name it in \"from\" and give it a key";
    case SCHEMA_OF_EXTENSION:
        return "it belongs to an extension";
    case SCHEMA_READABLE:
    default:
        return entity->key != NULL ? NULL
                                   : "no primary key, and no unique key of NOT NULL columns; give "
                                     "it one, or fold a \"query\" that has a key";
    }
}

/* An entity, and behind it what is within it. */
static void put_in_order(const struct scaffold *scaffold, size_t table, size_t *order,
                         size_t *count)
{
    order[(*count)++] = table;
    for (size_t i = 0; i < scaffold->schema->table_count; i++) {
        const struct schema_reference *within = scaffold->entities[i].within;
        if (within != NULL && within->to == table) {
            put_in_order(scaffold, i, order, count);
        }
    }
}

static bool check_any(const struct scaffold *scaffold, struct error *err)
{
    const struct schema *schema = scaffold->schema;
    if (scaffold->order_count > 0) {
        return true;
    }
    if (schema->table_count == 0) {
        return error_set(err, ERROR_SOURCE, "there is no table in the database %.*s",
                         STR_ARG(schema->name));
    }
    const struct scaffold_entity *first = &scaffold->entities[0];
    return error_set(
        err, ERROR_SOURCE,
        "no table in the database %.*s can be folded, of %zu tables and views; %.*s.%.*s: %s",
        STR_ARG(schema->name), schema->table_count, STR_ARG(first->table->schema),
        STR_ARG(first->table->name), scaffold_left_out(first));
}

/* Each table by itself, and its name. */
static void begin(const struct decider *decider, struct arena *arena)
{
    for (size_t i = 0; i < decider->schema->table_count; i++) {
        const struct schema_table *table = &decider->schema->tables[i];
        bool folds = table->access == SCHEMA_READABLE && table->key_count > 0;
        decider->entities[i].table = table;
        decider->entities[i].key = folds ? &table->keys[0] : NULL;
    }
    scaffold_name(decider->entities, decider->schema->table_count, arena);
}

static void decide_all(struct decider *decider)
{
    for (size_t i = 0; i < decider->schema->table_count; i++) {
        if (decider->entities[i].key != NULL && decider->states[i] == UNDECIDED) {
            decide(decider, i);
        }
    }
}

/* Once it is decided whose collection each is in. */
static void finish(const struct decider *decider, struct arena *arena)
{
    for (size_t i = 0; i < decider->schema->table_count; i++) {
        struct scaffold_entity *entity = &decider->entities[i];
        if (entity->key == NULL) {
            continue;
        }
        bool by_itself = entity->within != NULL && !entity->by_key;
        entity->listed = by_itself ? NULL : choose_listed(decider, entity);
        scaffold_write_keys(decider->entities, entity, arena);
    }
}

bool scaffold_make(const struct schema *schema, struct arena *arena, struct scaffold *out,
                   struct error *err)
{
    size_t count = schema->table_count;
    struct scaffold_entity *entities = arena_zero(arena, (count + 1) * sizeof *entities);
    size_t *order = arena_zero(arena, (count + 1) * sizeof *order);
    struct decider decider = {schema, entities,
                              arena_zero(arena, (count + 1) * sizeof *decider.states)};
    begin(&decider, arena);
    decide_all(&decider);
    finish(&decider, arena);
    struct scaffold made = {schema, entities, order, 0};
    for (size_t i = 0; i < count; i++) {
        if (entities[i].key != NULL && entities[i].within == NULL) {
            put_in_order(&made, i, order, &made.order_count);
        }
    }
    if (!check_any(&made, err)) {
        return false;
    }
    *out = made;
    return true;
}
