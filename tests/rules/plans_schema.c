#include "tests/rules/plans_schema.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };

static void wrong(struct str word)
{
    (void)fprintf(stderr, "schema_of: %.*s\n", STR_ARG(word));
    abort();
}

/* What stands before the separator; *rest what is behind it. */
static struct str cut(struct str *rest, char separator)
{
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != separator) {
        len++;
    }
    struct str word = {rest->ptr, len};
    size_t used = len < rest->len ? len + 1 : len;
    *rest = (struct str){rest->ptr + used, rest->len - used};
    return word;
}

static void split_name(struct str word, struct schema_table *out)
{
    struct str rest = word;
    struct str first = cut(&rest, '.');
    out->schema = rest.len == 0 ? STR("public") : first;
    out->name = rest.len == 0 ? first : rest;
    out->sql = out->name;
}

static struct schema_column column_of(struct str word)
{
    static const char kinds[] = "inbptyd";
    struct str rest = word;
    struct schema_column column = {.name = cut(&rest, ':'), .digits = 10};
    char kind = rest.ptr[0];
    const char *found = strchr(kinds, kind);
    column.sql = column.name;
    column.refused = kind == 'x';
    column.kind = found == NULL ? SCHEMA_TEXT : (enum schema_kind)(found - kinds);
    column.type = (struct str){rest.ptr, 1};
    column.not_null = str_has(rest, '*') || str_has(rest, '!');
    return column;
}

static size_t find_column(const struct schema_table *table, struct str name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (str_equal(table->columns[i].name, name)) {
            return i;
        }
    }
    wrong(name);
    return 0;
}

static const size_t *columns_of(const struct schema_table *table, struct str names, size_t *count,
                                struct arena *arena)
{
    size_t *columns = arena_zero(arena, MOST * sizeof *columns);
    *count = 0;
    while (names.len > 0) {
        columns[(*count)++] = find_column(table, cut(&names, ','));
    }
    return columns;
}

/* The primary key of the columns marked so goes first. */
static void add_keys(struct schema_table *table, struct str words, struct arena *arena)
{
    struct schema_key *keys = arena_zero(arena, MOST * sizeof *keys);
    size_t *primary = arena_zero(arena, MOST * sizeof *primary);
    struct str rest = words;
    table->keys = keys;
    while (rest.len > 0) {
        struct str word = cut(&rest, ' ');
        if (str_has(word, ':') && word.ptr[word.len - 1] == '*') {
            struct str name = word;
            primary[keys[0].count++] = find_column(table, cut(&name, ':'));
        }
    }
    keys[0].columns = primary;
    table->key_count = keys[0].count > 0 ? 1 : 0;
    while (words.len > 0) {
        struct str word = cut(&words, ' ');
        if (word.len > 0 && word.ptr[0] == '=') {
            struct schema_key *key = &keys[table->key_count++];
            struct str names = {word.ptr + 1, word.len - 1};
            key->columns = columns_of(table, names, &key->count, arena);
        }
    }
}

static void add_columns(struct schema_table *table, struct str words, struct arena *arena)
{
    struct schema_column *columns = arena_zero(arena, MOST * sizeof *columns);
    table->columns = columns;
    while (words.len > 0) {
        struct str word = cut(&words, ' ');
        if (str_has(word, ':')) {
            columns[table->column_count++] = column_of(word);
        }
    }
}

static void mark(struct schema_table *table, struct str word)
{
    static const struct {
        struct str word;
        enum schema_access access;
    } marks[] = {{STR_INIT("@view"), SCHEMA_VIEW},
                 {STR_INIT("@forbidden"), SCHEMA_FORBIDDEN},
                 {STR_INIT("@security"), SCHEMA_ROW_SECURITY},
                 {STR_INIT("@extension"), SCHEMA_OF_EXTENSION},
                 {STR_INIT("@inherited"), SCHEMA_READABLE}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (str_equal(word, marks[i].word)) {
            table->access = marks[i].access;
            table->is_inherited = i + 1 == sizeof marks / sizeof marks[0];
            return;
        }
    }
    wrong(word);
}

/* Once all tables have their columns. */
static void add_reference(const struct schema *schema, struct schema_table *table, struct str word,
                          struct arena *arena)
{
    struct schema_reference *list = arena_zero(arena, MOST * sizeof *list);
    struct schema_table to = {.access = SCHEMA_READABLE};
    struct str rest = word;
    struct str own = cut(&rest, '>');
    bool cascades = rest.ptr[rest.len - 1] == '+';
    rest.len -= cascades ? 1 : 0;
    size_t dots = 0;
    for (size_t i = 0; i < rest.len; i++) {
        dots += rest.ptr[i] == '.';
    }
    struct str name = cut(&rest, '.');
    if (dots == 2) {
        struct str second = cut(&rest, '.');
        name.len += 1 + second.len;
    }
    split_name(name, &to);
    struct schema_reference one = {.cascades = cascades};
    while (one.to < schema->table_count && !(str_equal(schema->tables[one.to].schema, to.schema) &&
                                             str_equal(schema->tables[one.to].name, to.name))) {
        one.to++;
    }
    if (one.to == schema->table_count) {
        wrong(word);
        return;
    }
    one.columns = columns_of(table, own, &one.count, arena);
    one.to_columns = columns_of(&schema->tables[one.to], rest, &one.count, arena);
    for (size_t i = 0; i < table->reference_count; i++) {
        list[i] = table->references[i];
    }
    list[table->reference_count++] = one;
    table->references = list;
}

struct schema schema_of(const char *text, struct arena *arena)
{
    struct schema_table *tables = arena_zero(arena, MOST * sizeof *tables);
    struct str words[MOST];
    struct schema schema = {STR("shop"), tables, 0};
    struct str rest = {text, strlen(text)};
    while (rest.len > 0) {
        struct str table = cut(&rest, ';');
        while (table.len > 0 && table.ptr[0] == ' ') {
            table = (struct str){table.ptr + 1, table.len - 1};
        }
        split_name(cut(&table, ' '), &tables[schema.table_count]);
        words[schema.table_count++] = table;
    }
    for (size_t i = 0; i < schema.table_count; i++) {
        add_columns(&tables[i], words[i], arena);
        add_keys(&tables[i], words[i], arena);
    }
    for (size_t i = 0; i < schema.table_count; i++) {
        while (words[i].len > 0) {
            struct str word = cut(&words[i], ' ');
            if (str_has(word, '>')) {
                add_reference(&schema, &tables[i], word, arena);
            } else if (word.len > 0 && word.ptr[0] == '@') {
                mark(&tables[i], word);
            }
        }
    }
    return schema;
}
