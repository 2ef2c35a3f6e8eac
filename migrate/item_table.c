#include "migrate/item_table.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"
#include "migrate/report.h"

#include <stddef.h>
#include <string.h>

/* Pages of a terminal, many times over; large items make a table of fewer. */
enum { ROWS_MAX = 500, HELD_MAX_BYTES = 16 << 20 };

struct item_table {
    struct invocation *invocation;
    const struct key_schema *keys;
    struct arena *arena; /* of the rows at hand */
    struct value items[ROWS_MAX];
    size_t item_count;
    struct str *columns;
    size_t column_count, column_capacity;
    bool was_printed;
};

struct str item_table_cell(struct value value, struct arena *arena)
{
    char digits[NUMBER_TEXT_MAX];
    struct buffer out = {0};
    switch (value_type(value)) {
    case VALUE_MISSING:
        return STR("");
    case VALUE_S:
        return value_bytes(value);
    case VALUE_N: {
        struct number number = value_number(value);
        buffer_add(&out, (struct str){digits, number_format(&number, digits)});
        break;
    }
    case VALUE_B:
        base64_write(value_bytes(value), &out);
        break;
    default:
        item_json_write_plain(value, &out);
    }
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

static void add_column(struct item_table *table, struct str name)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (str_equal(table->columns[i], name)) {
            return;
        }
    }
    if (table->column_count == table->column_capacity) {
        struct str *before = table->columns;
        table->column_capacity = table->column_capacity * 2 + 8;
        table->columns = arena_alloc(table->arena, table->column_capacity * sizeof *before);
        if (before != NULL) {
            memcpy(table->columns, before, table->column_count * sizeof *before);
        }
    }
    table->columns[table->column_count] = name;
    table->column_count++;
}

static void add_key_columns(struct item_table *table)
{
    for (size_t i = 0; i < table->keys->partition_count; i++) {
        add_column(table, table->keys->partition[i].name);
    }
    for (size_t i = 0; i < table->keys->sort_count; i++) {
        add_column(table, table->keys->sort[i].name);
    }
}

struct item_table *item_table_open(struct invocation *invocation, const struct key_schema *keys)
{
    struct item_table *table = arena_zero(invocation->arena, sizeof *table);
    table->invocation = invocation;
    table->keys = keys;
    table->arena = arena_new();
    return table;
}

static bool is_present(const struct item_table *table, struct str name)
{
    for (size_t i = 0; i < table->item_count; i++) {
        if (!value_is_missing(value_member(table->items[i], name))) {
            return true;
        }
    }
    return false;
}

/* Keys come first, but only those that the items still have (--select may leave them out). */
static void find_columns(struct item_table *table)
{
    table->column_count = 0;
    table->column_capacity = 0;
    add_key_columns(table);
    size_t kept = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (is_present(table, table->columns[i])) {
            table->columns[kept] = table->columns[i];
            kept++;
        }
    }
    table->column_count = kept;
    for (size_t i = 0; i < table->item_count; i++) {
        struct value_iter members = value_members(table->items[i]);
        struct attribute attribute;
        while (value_next(&members, &attribute)) {
            add_column(table, attribute.name);
        }
    }
}

static void print_rows(struct item_table *table)
{
    struct invocation *invocation = table->invocation;
    find_columns(table);
    struct report_table *rows = report_table_new(table->arena, table->column_count);
    report_table_row(rows, table->columns);
    struct str *cells = arena_alloc(table->arena, table->column_count * sizeof *cells);
    for (size_t i = 0; i < table->item_count; i++) {
        for (size_t j = 0; j < table->column_count; j++) {
            cells[j] =
                item_table_cell(value_member(table->items[i], table->columns[j]), table->arena);
        }
        report_table_row(rows, cells);
    }
    size_t width = report_width(invocation->out);
    report_table_fit(rows, width);
    (void)fputs(table->was_printed ? "\n" : "", invocation->out);
    report_table_print(rows, invocation->out, 1, width > 0 && invocation->color);
    table->was_printed = true;
    table->item_count = 0;
    arena_reset(table->arena);
}

void item_table_add(struct item_table *table, struct value item)
{
    table->items[table->item_count] = value_copy(table->arena, item);
    table->item_count++;
    if (table->item_count == ROWS_MAX || arena_held_bytes(table->arena) > HELD_MAX_BYTES) {
        print_rows(table);
    }
}

void item_table_close(struct item_table *table)
{
    if (table->item_count > 0) {
        print_rows(table);
    }
    arena_free(table->arena);
}
