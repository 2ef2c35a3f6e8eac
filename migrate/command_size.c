#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/run/runner_report.h"
#include "migrate/table_report.h"
#include "migrate/table_session.h"
#include "migrate/table_size.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"exact", NULL, "read the whole table: exact counts, and what is largest in it"},
};

/* What there is to print: exact, or as the store describes the table. */
struct sizes {
    struct table_desc table; /* with the exact counts, where they were made */
    struct table_size measured;
    bool is_measured;
    struct store_usage used;
};

static bool find_out(struct invocation *invocation, struct store *store,
                     struct store_reader *reader, struct sizes *out, struct error *err)
{
    struct table_desc *table = &out->table;
    out->is_measured = invocation_flag(invocation, "exact");
    if (!store_describe(store, invocation->arena, table, err)) {
        return false;
    }
    if (!out->is_measured) {
        return true;
    }
    if (!table_size_measure(invocation, reader, table, &out->measured, err)) {
        return false;
    }
    struct index_desc *indexes =
        arena_alloc(invocation->arena, (table->index_count + 1) * sizeof *indexes);
    for (size_t i = 0; i < table->index_count; i++) {
        indexes[i] = table->indexes[i];
        indexes[i].entry_count = out->measured.indexes[i].items;
        indexes[i].size_bytes = out->measured.indexes[i].bytes;
    }
    table->indexes = indexes;
    table->item_count = out->measured.table.items;
    table->size_bytes = out->measured.table.bytes;
    table->is_estimate = false;
    store_usage(store, &out->used);
    return true;
}

/* A file keeps no sizes of its indexes. */
static bool knows_index_bytes(const struct sizes *sizes)
{
    return sizes->is_measured || sizes->table.server != NULL;
}

/* ---------------------------------------------------------------- as text */

static void print_largest(struct invocation *invocation, const struct sizes *sizes)
{
    struct arena *arena = invocation->arena;
    const struct table_size *measured = &sizes->measured;
    const struct size_sum *collection = &measured->largest_collection;
    if (measured->table.items == 0) {
        return;
    }
    (void)fprintf(invocation->out, "largest item: %.*s, %.*s\n",
                  STR_ARG(report_bytes(arena, measured->largest_item.bytes)),
                  STR_ARG(measured->largest_key));
    if (sizes->table.keys.sort_count > 0) {
        (void)fprintf(invocation->out, "largest collection: %.*s, %.*s, %.*s\n",
                      STR_ARG(report_counted(arena, collection->items, "item", "items")),
                      STR_ARG(report_bytes(arena, collection->bytes)),
                      STR_ARG(measured->largest_partition));
    }
}

static void print_text(struct invocation *invocation, const struct sizes *sizes)
{
    const struct table_desc *table = &sizes->table;
    struct arena *arena = invocation->arena;
    struct report_table *rows = report_table_new(arena, 3);
    report_table_row(rows, (struct str[]){STR(""), STR("items"), STR("bytes")});
    report_table_row(
        rows,
        (struct str[]){STR("table"),
                       table_report_about(table, report_count(arena, table->item_count), arena),
                       table_report_about(table, report_bytes(arena, table->size_bytes), arena)});
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_desc *index = &table->indexes[i];
        struct str bytes = STR("");
        if (knows_index_bytes(sizes)) {
            bytes = table_report_about(table, report_bytes(arena, index->size_bytes), arena);
        }
        report_table_row(
            rows,
            (struct str[]){
                index->name,
                table_report_about(table, report_count(arena, index->entry_count), arena), bytes});
    }
    report_table_print(rows, invocation->out, 1, invocation->color);
    if (sizes->is_measured) {
        print_largest(invocation, sizes);
        runner_report_used(invocation, &sizes->used);
    } else if (table->is_estimate) {
        (void)fputs("~ estimates of the server, up to six hours old; --exact counts\n",
                    invocation->out);
    }
}

/* ---------------------------------------------------------------- as JSON */

static void add_number(cJSON *object, const char *name, uint64_t number)
{
    (void)cJSON_AddNumberToObject(object, name, (double)number);
}

static void add_largest(cJSON *object, const struct sizes *sizes)
{
    const struct table_size *measured = &sizes->measured;
    cJSON *item = cJSON_AddObjectToObject(object, "largest_item");
    ledger_json_add_text(item, "key", measured->largest_key);
    add_number(item, "bytes", measured->largest_item.bytes);
    cJSON *collection = cJSON_AddObjectToObject(object, "largest_collection");
    ledger_json_add_text(collection, "partition_key", measured->largest_partition);
    add_number(collection, "items", measured->largest_collection.items);
    add_number(collection, "bytes", measured->largest_collection.bytes);
    (void)cJSON_AddNumberToObject(object, "read_units", sizes->used.read_units);
}

static void print_json(struct invocation *invocation, const struct sizes *sizes)
{
    const struct table_desc *table = &sizes->table;
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "table", invocation->table);
    add_number(object, "items", table->item_count);
    add_number(object, "bytes", table->size_bytes);
    (void)cJSON_AddBoolToObject(object, "estimated", table->is_estimate);
    cJSON *indexes = cJSON_AddArrayToObject(object, "indexes");
    for (size_t i = 0; i < table->index_count; i++) {
        cJSON *index = cJSON_CreateObject();
        ledger_json_add_text(index, "name", table->indexes[i].name);
        add_number(index, "entries", table->indexes[i].entry_count);
        if (knows_index_bytes(sizes)) {
            add_number(index, "bytes", table->indexes[i].size_bytes);
        }
        (void)cJSON_AddItemToArray(indexes, index);
    }
    if (sizes->is_measured && table->item_count > 0) {
        add_largest(object, sizes);
    }
    report_json(invocation, object);
}

/* ---------------------------------------------------------------- the command */

static bool print_sizes(struct invocation *invocation, struct store *store,
                        struct store_reader *reader, struct error *err)
{
    struct sizes sizes = {.is_measured = false};
    if (!find_out(invocation, store, reader, &sizes, err)) {
        return false;
    }
    if (invocation->json) {
        print_json(invocation, &sizes);
    } else {
        print_text(invocation, &sizes);
    }
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    return table_session_read(invocation, print_sizes, err);
}

const struct command command_size = {
    .name = "size",
    .synopsis = "TABLE [--exact]",
    .summary = "Say how many items and bytes the table and its indexes hold.",
    .details =
        "A table in a file knows its counts exactly. A server gives estimates that it makes\n"
        "every few hours; they are marked with ~. --exact reads the whole table, says what\n"
        "capacity that took, and names the largest item and the largest item collection;\n"
        "dynamodb:TABLE?max-rcu=50% limits what it takes.\n"
        "\n"
        "Bytes are those of the items, as DynamoDB counts them; of an index, of what it projects.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};
