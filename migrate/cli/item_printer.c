#include "migrate/cli/item_printer.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"
#include "migrate/cli/report.h"

#include <stddef.h>
#include <string.h>

/* Pages of a terminal, many times over; large items make a table of fewer. */
enum { ROWS_MAX = 500, HELD_MAX_BYTES = 16 << 20 };

struct item_printer {
    struct invocation *invocation;
    const struct key_schema *keys;
    struct arena *arena; /* of the rows at hand */
    struct value items[ROWS_MAX];
    size_t item_count;
    struct str *columns;
    size_t column_count, column_capacity;
    bool was_printed;
    struct buffer line; /* --format json */
};

struct str item_printer_cell(struct value value, struct arena *arena)
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

static void add_column(struct item_printer *printer, struct str name)
{
    for (size_t i = 0; i < printer->column_count; i++) {
        if (str_equal(printer->columns[i], name)) {
            return;
        }
    }
    if (printer->column_count == printer->column_capacity) {
        struct str *before = printer->columns;
        printer->column_capacity = printer->column_capacity * 2 + 8;
        printer->columns = arena_alloc(printer->arena, printer->column_capacity * sizeof *before);
        if (before != NULL) {
            memcpy(printer->columns, before, printer->column_count * sizeof *before);
        }
    }
    printer->columns[printer->column_count] = name;
    printer->column_count++;
}

static void add_key_columns(struct item_printer *printer)
{
    for (size_t i = 0; i < printer->keys->partition_count; i++) {
        add_column(printer, printer->keys->partition[i].name);
    }
    for (size_t i = 0; i < printer->keys->sort_count; i++) {
        add_column(printer, printer->keys->sort[i].name);
    }
}

struct item_printer *item_printer_open(struct invocation *invocation, const struct key_schema *keys)
{
    struct item_printer *printer = arena_zero(invocation->arena, sizeof *printer);
    printer->invocation = invocation;
    printer->keys = keys;
    printer->arena = arena_new();
    return printer;
}

static bool is_present(const struct item_printer *printer, struct str name)
{
    for (size_t i = 0; i < printer->item_count; i++) {
        if (!value_is_missing(value_member(printer->items[i], name))) {
            return true;
        }
    }
    return false;
}

/* Keys come first, but only those that the items still have (--select may leave them out). */
static void find_columns(struct item_printer *printer)
{
    printer->column_count = 0;
    printer->column_capacity = 0;
    add_key_columns(printer);
    size_t kept = 0;
    for (size_t i = 0; i < printer->column_count; i++) {
        if (is_present(printer, printer->columns[i])) {
            printer->columns[kept] = printer->columns[i];
            kept++;
        }
    }
    printer->column_count = kept;
    for (size_t i = 0; i < printer->item_count; i++) {
        struct value_iter members = value_members(printer->items[i]);
        struct attribute attribute;
        while (value_next(&members, &attribute)) {
            add_column(printer, attribute.name);
        }
    }
}

static void print_rows(struct item_printer *printer)
{
    struct invocation *invocation = printer->invocation;
    find_columns(printer);
    struct report_table *rows = report_table_new(printer->arena, printer->column_count);
    report_table_row(rows, printer->columns);
    struct str *cells = arena_alloc(printer->arena, printer->column_count * sizeof *cells);
    for (size_t i = 0; i < printer->item_count; i++) {
        for (size_t j = 0; j < printer->column_count; j++) {
            cells[j] = item_printer_cell(value_member(printer->items[i], printer->columns[j]),
                                         printer->arena);
        }
        report_table_row(rows, cells);
    }
    size_t width = report_width(invocation->out);
    report_table_fit(rows, width);
    (void)fputs(printer->was_printed ? "\n" : "", invocation->out);
    report_table_print(rows, invocation->out, 1, width > 0 && invocation->color);
    printer->was_printed = true;
    printer->item_count = 0;
    arena_reset(printer->arena);
}

static void print_line(struct item_printer *printer, struct value item)
{
    printer->line.len = 0;
    item_json_write_item(item, &printer->line);
    (void)fprintf(printer->invocation->out, "{\"Item\":%.*s}\n",
                  STR_ARG(buffer_str(&printer->line)));
}

void item_printer_add(struct item_printer *printer, struct value item)
{
    if (printer->invocation->json) {
        print_line(printer, item);
        return;
    }
    printer->items[printer->item_count] = value_copy(printer->arena, item);
    printer->item_count++;
    if (printer->item_count == ROWS_MAX || arena_held_bytes(printer->arena) > HELD_MAX_BYTES) {
        print_rows(printer);
    }
}

void item_printer_close(struct item_printer *printer)
{
    if (printer->item_count > 0) {
        print_rows(printer);
    }
    buffer_free(&printer->line);
    arena_free(printer->arena);
}
