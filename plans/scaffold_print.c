#include "plans/scaffold.h"

#include "engine/base/json.h"
#include "plans/scaffold_internal.h"

/* Key attributes of the table and of its index. */
static bool is_key_attribute(struct str name)
{
    static const struct str names[] = {STR_INIT("PK"), STR_INIT("SK"), STR_INIT("GSI1PK"),
                                       STR_INIT("GSI1SK")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (str_equal(names[i], name)) {
            return true;
        }
    }
    return false;
}

/* What a column is called whose name a key attribute has; empty: its name is free. */
static struct str renamed(const struct schema_table *table, const struct schema_column *column,
                          struct arena *arena)
{
    if (!is_key_attribute(column->name)) {
        return STR("");
    }
    struct str name = arena_format(arena, "%.*s_column", STR_ARG(column->name));
    while (scaffold_has_name(table, name)) {
        name = arena_format(arena, "%.*s_", STR_ARG(name));
    }
    return name;
}

/* Another table's name may be what "schema.table" would be read as. */
static bool has_table(const struct schema *schema, struct str name)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        if (str_equal(schema->tables[i].name, name)) {
            return true;
        }
    }
    return false;
}

static bool needs_quotes(struct str name)
{
    return str_has(name, '.') || str_has(name, '"');
}

static void write_quoted(const struct schema_table *table, struct buffer *out)
{
    buffer_add_quoted(out, table->schema, '"');
    buffer_add_char(out, '.');
    buffer_add_quoted(out, table->name, '"');
}

void scaffold_write_from(const struct schema *schema, const struct schema_table *table,
                         struct buffer *out)
{
    struct buffer name = {0};
    buffer_format(&name, "%.*s.%.*s", STR_ARG(table->schema), STR_ARG(table->name));
    if (needs_quotes(table->schema) || needs_quotes(table->name) ||
        has_table(schema, buffer_str(&name))) {
        name.len = 0;
        write_quoted(table, &name);
    }
    json_write_string(out, buffer_str(&name));
    buffer_free(&name);
}

/* A table that others inherit from, without their rows. */
static void write_only(const struct schema_table *table, struct buffer *out)
{
    struct buffer sql = {0};
    buffer_add(&sql, STR("SELECT * FROM ONLY "));
    write_quoted(table, &sql);
    buffer_add(out, STR("{ \"query\": "));
    json_write_string(out, buffer_str(&sql));
    buffer_add(out, STR(", \"as\": "));
    json_write_string(out, table->name);
    buffer_add(out, STR(" }"));
    buffer_free(&sql);
}

static void write_member(struct buffer *out, size_t *count, struct str name, struct str text)
{
    buffer_add(out, *count == 0 ? STR("") : STR(", "));
    json_write_string(out, name);
    buffer_add(out, STR(": "));
    json_write_string(out, text);
    (*count)++;
}

/* Index keys, and columns whose names the table's keys have taken. */
static void write_set(const struct scaffold_entity *entity, struct buffer *out)
{
    struct arena *scratch = arena_new();
    struct buffer members = {0};
    size_t count = 0;
    if (entity->index_pk.len > 0) {
        write_member(&members, &count, STR("GSI1PK"), entity->index_pk);
        write_member(&members, &count, STR("GSI1SK"), entity->index_sk);
    }
    for (size_t i = 0; i < entity->table->column_count; i++) {
        const struct schema_column *column = &entity->table->columns[i];
        struct str name = renamed(entity->table, column, scratch);
        if (name.len > 0) {
            write_member(&members, &count, name,
                         arena_format(scratch, "${%.*s}", STR_ARG(column->name)));
        }
    }
    if (count > 0) {
        buffer_format(out, "      \"set\": { %.*s },\n", STR_ARG(buffer_str(&members)));
    }
    buffer_free(&members);
    arena_free(scratch);
}

static void write_columns(const struct schema_table *table, struct buffer *out)
{
    size_t count = 0;
    buffer_add(out, STR("      \"columns\": "));
    for (size_t i = 0; i < table->column_count; i++) {
        if (is_key_attribute(table->columns[i].name)) {
            buffer_add(out, count++ == 0 ? STR("{ \"except\": [") : STR(", "));
            json_write_string(out, table->columns[i].name);
        }
    }
    buffer_add(out, count == 0 ? STR("\"*\"") : STR("] }"));
}

static void write_policy(const struct schema_table *table, struct buffer *out)
{
    size_t count = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].refused) {
            buffer_add(out, count == 0 ? STR(",\n      \"policy\": { ") : STR(""));
            write_member(out, &count, table->columns[i].name, STR("text"));
        }
    }
    buffer_add(out, count == 0 ? STR("") : STR(" }"));
}

static void write_entity(const struct scaffold *scaffold, const struct scaffold_entity *entity,
                         struct buffer *out)
{
    size_t count = 0;
    scaffold_comment(scaffold, entity, out);
    buffer_add(out, STR("    { "));
    write_member(out, &count, STR("name"), entity->name);
    buffer_add(out, STR(", \"from\": "));
    if (entity->table->is_inherited) {
        write_only(entity->table, out);
    } else {
        scaffold_write_from(scaffold->schema, entity->table, out);
    }
    buffer_add(out, STR(",\n      \"key\": { "));
    count = 0;
    write_member(out, &count, STR("PK"), entity->pk);
    write_member(out, &count, STR("SK"), entity->sk);
    buffer_add(out, STR(" },\n"));
    write_set(entity, out);
    write_columns(entity->table, out);
    write_policy(entity->table, out);
    buffer_add(out, STR(" }"));
}

static bool has_index(const struct scaffold *scaffold)
{
    for (size_t i = 0; i < scaffold->order_count; i++) {
        if (scaffold->entities[scaffold->order[i]].index_pk.len > 0) {
            return true;
        }
    }
    return false;
}

void scaffold_print(const struct scaffold *scaffold, struct buffer *out)
{
    scaffold_comment_head(scaffold, out);
    buffer_add(out, STR("{\n  \"table\": {\n    \"partition\": \"PK:S\", \"sort\": \"SK:S\""));
    if (has_index(scaffold)) {
        buffer_add(out, STR(",\n    \"indexes\": [ { \"name\": \"GSI1\", \"partition\": "
                            "\"GSI1PK:S\", \"sort\": \"GSI1SK:S\" } ]"));
    }
    buffer_add(out, STR("\n  },\n  \"entities\": [\n"));
    for (size_t i = 0; i < scaffold->order_count; i++) {
        write_entity(scaffold, &scaffold->entities[scaffold->order[i]], out);
        buffer_add(out, i + 1 < scaffold->order_count ? STR(",\n\n") : STR("\n"));
    }
    buffer_add(out, STR("  ]\n}\n"));
}
