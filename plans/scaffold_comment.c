#include "plans/scaffold_internal.h"

#include "engine/base/json.h"

/* A name in a comment: what would end the line or command a terminal is escaped. */
static void add_name(struct buffer *out, struct str name)
{
    struct buffer text = {0};
    json_write_string(&text, name);
    buffer_add(out, (struct str){text.bytes + 1, text.len - 2});
    buffer_free(&text);
}

static void add_table(struct buffer *out, const struct schema_table *table)
{
    add_name(out, table->schema);
    buffer_add_char(out, '.');
    add_name(out, table->name);
}

static void add_columns(struct buffer *out, const struct schema_table *table, const size_t *columns,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_add(out, i == 0 ? STR("") : STR(", "));
        add_name(out, table->columns[columns[i]].name);
    }
}

/* "Customer (customer_id)" */
static void add_reference(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                          const struct schema_reference *reference, struct buffer *out)
{
    const struct scaffold_entity *to = &scaffold->entities[reference->to];
    if (to->key == NULL) {
        add_table(out, to->table);
    } else {
        add_name(out, to->name);
    }
    buffer_add(out, STR(" ("));
    add_columns(out, entity->table, reference->columns, reference->count);
    buffer_add_char(out, ')');
}

static void begin(struct buffer *out)
{
    buffer_add(out, STR("    // "));
}

/* ": one query reads it with OrderLine, Payment" */
static void say_collection(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                           struct buffer *out)
{
    size_t count = 0;
    for (size_t i = 0; i < scaffold->schema->table_count && entity->has_within; i++) {
        const struct scaffold_entity *other = &scaffold->entities[i];
        if (other->within != NULL && &scaffold->entities[other->within->to] == entity) {
            buffer_add(out, count++ == 0 ? STR(": one query reads it with ") : STR(", "));
            add_name(out, other->name);
        }
    }
}

/* Two references make the key of a join table, one of them the collection's. */
static bool joins_two(const struct scaffold_entity *entity)
{
    if (!entity->by_key || entity->listed == NULL) {
        return false;
    }
    for (size_t i = 0; i < entity->key->count; i++) {
        size_t column = entity->key->columns[i];
        bool within = scaffold_has_column(entity->within->columns, entity->within->count, column);
        bool listed = scaffold_has_column(entity->listed->columns, entity->listed->count, column);
        if (within == listed) {
            return false;
        }
    }
    return true;
}

static void say_place(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                      struct buffer *out)
{
    begin(out);
    add_table(out, entity->table);
    if (entity->within == NULL) {
        say_collection(scaffold, entity, out);
        buffer_add_char(out, '\n');
        return;
    }
    bool joins = joins_two(entity);
    buffer_add(out, joins ? STR(", a join table") : STR(""));
    buffer_add(out, STR(": in the collection of "));
    add_reference(scaffold, entity, entity->within, out);
    if (joins) {
        buffer_add(out, STR("; GSI1 leads back from "));
        add_reference(scaffold, entity, entity->listed, out);
    } else {
        buffer_add(out, entity->by_key ? STR(", which its key holds")
                                       : STR(", with which it is deleted"));
    }
    buffer_add_char(out, '\n');
}

static bool may_be_null(const struct schema_table *table, const struct schema_reference *reference)
{
    for (size_t i = 0; i < reference->count; i++) {
        if (!table->columns[reference->columns[i]].not_null) {
            return true;
        }
    }
    return false;
}

static void say_listed(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                       struct buffer *out)
{
    if (entity->index_pk.len == 0 || joins_two(entity)) {
        return;
    }
    begin(out);
    if (entity->listed == NULL) {
        buffer_add(out, STR("GSI1 finds it by its own key\n"));
        return;
    }
    buffer_add(out, STR("GSI1 lists it by "));
    add_reference(scaffold, entity, entity->listed, out);
    if (may_be_null(entity->table, entity->listed)) {
        buffer_add(out, STR(", where that is not NULL"));
    }
    buffer_add_char(out, '\n');
}

/* What neither its collection nor GSI1 tells. */
static void say_unlisted(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                         struct buffer *out)
{
    size_t count = 0;
    for (size_t i = 0; i < entity->table->reference_count; i++) {
        const struct schema_reference *one = &entity->table->references[i];
        if (one == entity->listed || scaffold_collection_tells(scaffold->entities, entity, one)) {
            continue;
        }
        if (count == 0) {
            begin(out);
        }
        buffer_add(out, count == 0 ? STR("not listed by ") : STR(", "));
        add_reference(scaffold, entity, one, out);
        count++;
    }
    buffer_add(out, count == 0 ? STR("") : STR(": that takes an index more\n"));
}

static void say_columns(const struct schema_table *table, struct buffer *out)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct schema_column *column = &table->columns[i];
        if (column->refused) {
            begin(out);
            add_name(out, column->name);
            buffer_add(out, STR(": "));
            add_name(out, column->type);
            buffer_add(out, STR(" has no conversion, so its text is kept\n"));
        }
    }
}

static bool refers_to(const struct schema_table *table, size_t other)
{
    for (size_t i = 0; i < table->reference_count; i++) {
        if (table->references[i].to == other) {
            return true;
        }
    }
    return false;
}

static bool is_referred_to(const struct scaffold *scaffold, const struct scaffold_entity *entity)
{
    size_t table = (size_t)(entity - scaffold->entities);
    for (size_t i = 0; i < scaffold->schema->table_count; i++) {
        if (refers_to(&scaffold->schema->tables[i], table)) {
            return true;
        }
    }
    return false;
}

static bool has_refused(const struct schema_table *table)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].refused) {
            return true;
        }
    }
    return false;
}

/* Rows that nothing refers to may as well be a list in what they are within, if SQL can tell the
 * two apart and the attribute is free. */
static bool could_be_embedded(const struct scaffold *scaffold, const struct scaffold_entity *entity)
{
    if (entity->within == NULL || is_referred_to(scaffold, entity)) {
        return false;
    }
    const struct schema_table *table = entity->table;
    const struct schema_table *parent = scaffold->entities[entity->within->to].table;
    return !table->is_inherited && !parent->is_inherited && !has_refused(table) &&
           !str_equal(table->name, parent->name) && !scaffold_has_name(parent, table->name);
}

/* SQL, such as "order_lines.order_id = orders.id AND …". */
static void write_on(const struct schema_table *table, const struct schema_table *parent,
                     const struct schema_reference *reference, struct buffer *out)
{
    for (size_t i = 0; i < reference->count; i++) {
        buffer_format(out, "%s%.*s.%.*s = %.*s.%.*s", i == 0 ? "" : " AND ", STR_ARG(table->sql),
                      STR_ARG(table->columns[reference->columns[i]].sql), STR_ARG(parent->sql),
                      STR_ARG(parent->columns[reference->to_columns[i]].sql));
    }
}

/* SQL: what of the key tells the rows of one list apart. */
static void write_order(const struct scaffold_entity *entity, struct buffer *out)
{
    for (size_t i = 0; i < entity->key->count; i++) {
        size_t column = entity->key->columns[i];
        if (!scaffold_has_column(entity->within->columns, entity->within->count, column)) {
            buffer_format(out, "%s%.*s.%.*s", out->len == 0 ? "" : ", ",
                          STR_ARG(entity->table->sql), STR_ARG(entity->table->columns[column].sql));
        }
    }
}

static void write_sql(struct buffer *out, struct str name, struct buffer *sql)
{
    if (sql->len > 0) {
        buffer_add(out, STR(", "));
        json_write_string(out, name);
        buffer_add(out, STR(": "));
        json_write_string(out, buffer_str(sql));
    }
    buffer_free(sql);
}

static void say_embed(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                      struct buffer *out)
{
    if (!could_be_embedded(scaffold, entity)) {
        return;
    }
    const struct scaffold_entity *parent = &scaffold->entities[entity->within->to];
    struct buffer sql = {0};
    begin(out);
    buffer_add(out, STR("or a list in "));
    add_name(out, parent->name);
    buffer_add(out, STR(", instead of this: \"embed\": { "));
    json_write_string(out, entity->table->name);
    buffer_add(out, STR(": { \"from\": "));
    scaffold_write_from(scaffold->schema, entity->table, out);
    write_on(entity->table, parent->table, entity->within, &sql);
    write_sql(out, STR("on"), &sql);
    write_order(entity, &sql);
    write_sql(out, STR("order"), &sql);
    buffer_add(out, STR(" } }\n"));
}

void scaffold_comment(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                      struct buffer *out)
{
    say_place(scaffold, entity, out);
    say_listed(scaffold, entity, out);
    say_unlisted(scaffold, entity, out);
    say_columns(entity->table, out);
    if (entity->table->is_inherited) {
        begin(out);
        buffer_add(out, STR("the rows of tables that inherit from it are entities of their own\n"));
    }
    say_embed(scaffold, entity, out);
}

void scaffold_comment_head(const struct scaffold *scaffold, struct buffer *out)
{
    bool any = false;
    buffer_add(out, STR("// A first map of the database "));
    add_name(out, scaffold->schema->name);
    buffer_add(out,
               STR(", from keys and foreign keys alone: change it to how the data is read.\n"));
    for (size_t i = 0; i < scaffold->schema->table_count; i++) {
        const struct scaffold_entity *entity = &scaffold->entities[i];
        const char *reason = scaffold_left_out(entity);
        if (reason != NULL) {
            buffer_add(out, any ? STR("") : STR("// Left out:\n"));
            buffer_add(out, STR("//   "));
            add_table(out, entity->table);
            buffer_format(out, ": %s\n", reason);
            any = true;
        }
    }
}
