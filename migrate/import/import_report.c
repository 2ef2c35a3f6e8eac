#include "migrate/import/import_report.h"

#include "migrate/cli/report.h"
#include "migrate/ledger/ledger_json.h"

static uint64_t rows_of(const struct source_entity *entity)
{
    return atomic_load_explicit(&entity->rows, memory_order_relaxed);
}

static uint64_t left_out_of(const struct source_entity *entity)
{
    return atomic_load_explicit(&entity->left_out, memory_order_relaxed);
}

static void add_number(cJSON *object, const char *name, uint64_t number)
{
    (void)cJSON_AddNumberToObject(object, name, (double)number);
}

static void add_entities(const struct import_summary *summary, cJSON *object)
{
    cJSON *list = cJSON_AddArrayToObject(object, "entities");
    for (size_t i = 0; i < summary->source->entity_count; i++) {
        const struct source_entity *entity = &summary->source->entities[i];
        cJSON *one = cJSON_CreateObject();
        ledger_json_add_text(one, "name", entity->name);
        add_number(one, "rows", rows_of(entity));
        add_number(one, "items", summary->counts->by_entity[i]);
        add_number(one, "left_out", left_out_of(entity));
        (void)cJSON_AddItemToArray(list, one);
    }
}

static void add_indexes(const struct import_summary *summary, cJSON *object)
{
    cJSON *list = cJSON_AddArrayToObject(object, "indexes");
    for (size_t i = 0; i < summary->table->index_count; i++) {
        cJSON *one = cJSON_CreateObject();
        ledger_json_add_text(one, "name", summary->table->indexes[i].name);
        add_number(one, "entries", summary->counts->index_entries[i]);
        (void)cJSON_AddItemToArray(list, one);
    }
}

static void report_object(struct invocation *invocation, const struct import_summary *summary)
{
    const struct import_written *written = &summary->written;
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "source", summary->source->name);
    ledger_json_add_text(object, "snapshot", summary->source->snapshot);
    (void)cJSON_AddBoolToObject(object, "dry_run", summary->dry_run);
    add_entities(summary, object);
    add_indexes(summary, object);
    add_number(object, "items", summary->counts->items);
    add_number(object, "bytes", summary->counts->bytes);
    add_number(object, "largest_item_bytes", summary->counts->largest_bytes);
    ledger_json_add_text(object, "largest_item_row", summary->counts->largest_row);
    add_number(object, "written", written->written);
    add_number(object, "unchanged", written->unchanged);
    add_number(object, "skipped", written->skipped);
    add_number(object, "overwritten", written->overwritten);
    add_number(object, "removed", written->removed);
    add_number(object, "rejected", summary->rejected);
    add_number(object, "milliseconds", summary->milliseconds);
    report_json(invocation, object);
}

static void print_entities(struct invocation *invocation, const struct import_summary *summary)
{
    struct arena *arena = invocation->arena;
    struct report_table *table = report_table_new(arena, 4);
    struct str heading[] = {STR("entity"), STR("rows"), STR("items"), STR("left out")};
    report_table_row(table, heading);
    for (size_t i = 0; i < summary->source->entity_count; i++) {
        const struct source_entity *entity = &summary->source->entities[i];
        struct str cells[] = {entity->name, report_count(arena, rows_of(entity)),
                              report_count(arena, summary->counts->by_entity[i]),
                              report_count(arena, left_out_of(entity))};
        report_table_row(table, cells);
    }
    report_table_print(table, invocation->out, 1, invocation->color);
}

/* A line, where there is something to count. */
static void print_count(struct invocation *invocation, uint64_t count, const char *one,
                        const char *many)
{
    if (count > 0) {
        (void)fprintf(invocation->out, "%.*s\n",
                      STR_ARG(report_counted(invocation->arena, count, one, many)));
    }
}

static void print_sizes(struct invocation *invocation, const struct import_summary *summary)
{
    struct arena *arena = invocation->arena;
    const struct import_counts *counts = summary->counts;
    for (size_t i = 0; i < summary->table->index_count; i++) {
        (void)fprintf(invocation->out, "index %.*s: %.*s\n",
                      STR_ARG(summary->table->indexes[i].name),
                      STR_ARG(report_counted(arena, counts->index_entries[i], "entry", "entries")));
    }
    if (counts->items > 0) {
        (void)fprintf(invocation->out, "largest item: %.*s, from %.*s\n",
                      STR_ARG(report_bytes(arena, counts->largest_bytes)),
                      STR_ARG(counts->largest_row));
    }
}

void import_report(struct invocation *invocation, const struct import_summary *summary)
{
    struct arena *arena = invocation->arena;
    const struct import_written *written = &summary->written;
    if (invocation->json) {
        report_object(invocation, summary);
        return;
    }
    print_entities(invocation, summary);
    print_sizes(invocation, summary);
    (void)fprintf(invocation->out, "%.*s, %.*s, in %.*s\n",
                  STR_ARG(report_counted(arena, summary->counts->items, "item", "items")),
                  STR_ARG(report_bytes(arena, summary->counts->bytes)),
                  STR_ARG(report_duration(arena, summary->milliseconds)));
    const char *written_text = summary->dry_run ? "would be written" : "written";
    const char *replaced_text = summary->dry_run ? "would be replaced" : "replaced";
    print_count(invocation, written->written, written_text, written_text);
    print_count(invocation, written->unchanged, "already equal", "already equal");
    print_count(invocation, written->skipped, "differs and is kept", "differ and are kept");
    print_count(invocation, written->overwritten, replaced_text, replaced_text);
    print_count(invocation, written->removed, "of the broken-off attempt removed",
                "of the broken-off attempt removed");
    print_count(invocation, summary->rejected, "row rejected", "rows rejected");
}
