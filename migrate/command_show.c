#include "engine/item/item_json.h"
#include "engine/item/number.h"
#include "engine/store/store.h"
#include "migrate/cli/item_printer.h"
#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/query_merge.h"
#include "migrate/table_report.h"
#include "migrate/table_session.h"

#include <cjson/cJSON.h>
#include <string.h>

/* One partition key is shown of each of so many segments. */
enum { SAMPLE_COUNT = 20 };

/* ---------------------------------------------------------------- a collection */

/* The key as it is written on the command line: S as it is, N in digits, B in base64. */
static bool read_partition_key(const struct key_attribute *attribute, const char *text,
                               struct arena *arena, struct value *out, struct error *err)
{
    struct str given = {text, strlen(text)};
    if (attribute->type == VALUE_N) {
        struct number number;
        if (!number_parse(given, &number, err)) {
            return error_set(err, ERROR_USAGE, "partition key %.*s: '%s' is no number",
                             STR_ARG(attribute->name), text);
        }
        *out = value_from_number(arena, &number);
    } else if (attribute->type == VALUE_B) {
        struct str bytes;
        if (!base64_read(given, arena, &bytes, err)) {
            return error_set(err, ERROR_USAGE, "partition key %.*s: '%s' is not base64",
                             STR_ARG(attribute->name), text);
        }
        *out = value_binary(arena, bytes);
    } else {
        *out = value_string(arena, given);
    }
    return true;
}

/* *count: of items that were printed. */
static bool print_items(struct invocation *invocation, struct query_merge *merge,
                        struct item_printer *printer, uint64_t *count, struct error *err)
{
    struct value item;
    while (query_merge_next(merge, &item, err)) {
        if (value_is_missing(item)) {
            return true;
        }
        item_printer_add(printer, item);
        (*count)++;
        if (atomic_load(invocation->stop)) {
            return error_set(err, ERROR_STOPPED, "interrupted");
        }
        if (!report_check(invocation, err)) {
            return false;
        }
    }
    return false;
}

/* So that a typing error is not taken for an empty answer. */
static void say_nothing_is_there(const struct invocation *invocation,
                                 const struct key_attribute *attribute)
{
    const char *quote = attribute->type == VALUE_N ? "" : "'";
    (void)fprintf(invocation->messages, "no item has %.*s = %s%s%s%s\n", STR_ARG(attribute->name),
                  attribute->type == VALUE_B ? "b64" : "", quote, invocation->operands[0], quote);
}

static bool show_collection(struct invocation *invocation, struct store_reader *reader,
                            const struct table_desc *table, struct error *err)
{
    struct query query = {0};
    const struct key_attribute *attribute = &table->keys.partition[0];
    uint64_t count = 0;
    if (!read_partition_key(attribute, invocation->operands[0], invocation->arena,
                            &query.partition[0], err)) {
        return false;
    }
    struct query_merge *merge = query_merge_open(reader, &table->keys, &query, 1);
    struct item_printer *printer = item_printer_open(invocation, &table->keys);
    bool ok = print_items(invocation, merge, printer, &count, err);
    item_printer_close(printer);
    query_merge_close(merge);
    if (ok && count == 0) {
        say_nothing_is_there(invocation, attribute);
    }
    return ok;
}

/* ---------------------------------------------------------------- the table */

/* A segment's first item; missing where the segment is empty. */
static bool read_first_item(struct store_reader *reader, struct segment segment,
                            struct arena *arena, struct value *out, struct error *err)
{
    struct page_limits limits = {.items = 1};
    struct page page = {.last = false};
    struct str cursor = {0};
    while (page.count == 0 && !page.last) {
        if (!store_read_page(reader, &(struct page_place){segment, cursor, &limits}, &page, err)) {
            return false;
        }
        cursor = arena_copy(arena, page.cursor);
    }
    *out = page.count > 0 ? value_copy(arena, page.items[0].item) : (struct value){NULL, 0};
    store_release(reader);
    return true;
}

/* Segments spread the sample over the table, whatever its size. */
static bool read_sample(struct invocation *invocation, struct store_reader *reader,
                        const struct table_desc *table, struct str *keys, struct error *err)
{
    for (uint32_t i = 0; i < SAMPLE_COUNT; i++) {
        struct segment segment = {i, SAMPLE_COUNT};
        struct value item;
        if (!read_first_item(reader, segment, invocation->arena, &item, err)) {
            return false;
        }
        struct value key = value_member(item, table->keys.partition[0].name);
        keys[i] = value_is_missing(key) ? STR("") : item_printer_cell(key, invocation->arena);
    }
    return true;
}

static void print_sample(struct invocation *invocation, const struct str *keys)
{
    struct report_table *rows = report_table_new(invocation->arena, 1);
    report_table_row(rows, &STR("partition keys, for example"));
    size_t count = 0;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        if (keys[i].len > 0) {
            report_table_row(rows, &keys[i]);
            count++;
        }
    }
    if (count > 0) {
        size_t width = report_width(invocation->out);
        (void)fputc('\n', invocation->out);
        report_table_fit(rows, width);
        report_table_print(rows, invocation->out, 1, width > 0 && invocation->color);
    }
}

static void print_json(struct invocation *invocation, const struct table_desc *table,
                       const struct str *keys)
{
    cJSON *object = table_report_json(invocation, table);
    cJSON *sample = cJSON_AddArrayToObject(object, "sample");
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        if (keys[i].len > 0) {
            cJSON *entry = cJSON_CreateObject();
            ledger_json_add_text(entry, "partition_key", keys[i]);
            (void)cJSON_AddItemToArray(sample, entry);
        }
    }
    report_json(invocation, object);
}

static bool show_table(struct invocation *invocation, struct store_reader *reader,
                       const struct table_desc *table, struct error *err)
{
    struct str keys[SAMPLE_COUNT];
    if (!read_sample(invocation, reader, table, keys, err)) {
        return false;
    }
    if (invocation->json) {
        print_json(invocation, table, keys);
    } else {
        table_report_print(invocation, table);
        print_sample(invocation, keys);
    }
    return true;
}

static bool show(struct invocation *invocation, struct store *store, struct store_reader *reader,
                 struct error *err)
{
    struct table_desc table;
    if (!store_describe(store, invocation->arena, &table, err)) {
        return false;
    }
    return invocation->operand_count == 0 ? show_table(invocation, reader, &table, err)
                                          : show_collection(invocation, reader, &table, err);
}

static bool run(struct invocation *invocation, struct error *err)
{
    return table_session_read(invocation, show, err);
}

const struct command command_show = {
    .name = "show",
    .synopsis = "TABLE [PARTITION-KEY]",
    .summary = "Show an item collection side by side, or what the table is.",
    .details =
        "  refold show shop.refold 'CUSTOMER#1'\n"
        "\n"
        "Without a partition key: the table's key, its indexes, how much is in it, and some\n"
        "partition keys. On a terminal long values are shortened. A partition key of type N\n"
        "is written in digits, one of type B in base64.",
    .operands_min = 1,
    .operands_max = 2,
    .takes_table = true,
    .run = run,
};
