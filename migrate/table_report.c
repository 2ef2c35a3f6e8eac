#include "migrate/table_report.h"

#include "engine/base/buffer.h"
#include "migrate/cli/report.h"
#include "migrate/ledger/ledger_json.h"

#include <string.h>

static struct str keys_text(const struct key_schema *keys, struct arena *arena)
{
    struct buffer out = {0};
    for (size_t i = 0; i < keys->partition_count + keys->sort_count; i++) {
        const struct key_attribute *attribute = i < keys->partition_count
                                                    ? &keys->partition[i]
                                                    : &keys->sort[i - keys->partition_count];
        const char *before = i == 0 ? "" : i == keys->partition_count ? " / " : ", ";
        buffer_format(&out, "%s%.*s:%s", before, STR_ARG(attribute->name),
                      value_type_name(attribute->type));
    }
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

static const char *projection_name(enum projection projection)
{
    static const char *const names[] = {
        [PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY", [PROJECT_INCLUDE] = "INCLUDE"};
    return names[projection];
}

static struct str literal(const char *text)
{
    return (struct str){text, strlen(text)};
}

static void print_server(struct invocation *invocation, const struct store_server *server)
{
    struct arena *arena = invocation->arena;
    (void)fprintf(invocation->out, "endpoint %.*s, region %.*s, ", STR_ARG(server->endpoint),
                  STR_ARG(server->region));
    if (server->account.len > 0) {
        (void)fprintf(invocation->out, "account %.*s, ", STR_ARG(server->account));
    }
    (void)fprintf(invocation->out, "key id ...%.*s from %.*s\n", STR_ARG(server->key_end),
                  STR_ARG(server->key_from));
    if (!server->is_provisioned) {
        (void)fputs("on demand\n", invocation->out);
        return;
    }
    (void)fprintf(invocation->out, "provisioned: %.*s read and %.*s write units a second\n",
                  STR_ARG(report_count(arena, server->read_units)),
                  STR_ARG(report_count(arena, server->write_units)));
}

/* "active", "creating", "creating (CREATING, backfilling)"; or "behind": it answers as it was. */
static struct str state_text(const struct index_desc *index, struct arena *arena)
{
    static const char *const states[] = {
        [INDEX_CREATING] = "creating", [INDEX_ACTIVE] = "active", [INDEX_BEHIND] = "behind"};
    const char *state = states[index->state];
    bool active = index->state == INDEX_ACTIVE;
    if (index->status.len == 0 || (active && str_equal(index->status, STR("ACTIVE")))) {
        return literal(state);
    }
    return arena_format(arena, "%s (%.*s)", state, STR_ARG(index->status));
}

struct str table_report_about(const struct table_desc *table, struct str quantity,
                              struct arena *arena)
{
    return table->is_estimate ? arena_format(arena, "~%.*s", STR_ARG(quantity)) : quantity;
}

void table_report_print(struct invocation *invocation, const struct table_desc *table)
{
    struct arena *arena = invocation->arena;
    struct str items =
        table_report_about(table, report_counted(arena, table->item_count, "item", "items"), arena);
    struct str bytes = table_report_about(table, report_bytes(arena, table->size_bytes), arena);
    (void)fprintf(invocation->out, "%s: key %.*s, %.*s, %.*s\n", invocation->table,
                  STR_ARG(keys_text(&table->keys, arena)), STR_ARG(items), STR_ARG(bytes));
    if (table->server != NULL) {
        print_server(invocation, table->server);
    }
    if (table->index_count == 0) {
        return;
    }
    struct report_table *rows = report_table_new(arena, 5);
    report_table_row(rows, (struct str[]){STR("index"), STR("key"), STR("projection"), STR("state"),
                                          STR("entries")});
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_desc *index = &table->indexes[i];
        report_table_row(
            rows, (struct str[]){
                      index->name, keys_text(&index->keys, arena),
                      literal(projection_name(index->projection)), state_text(index, arena),
                      table_report_about(table, report_count(arena, index->entry_count), arena)});
    }
    (void)fputc('\n', invocation->out);
    size_t width = report_width(invocation->out);
    report_table_fit(rows, width);
    report_table_print(rows, invocation->out, 1, width > 0 && invocation->color);
}

static cJSON *attributes_json(const struct key_attribute *attributes, size_t count)
{
    cJSON *array = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *attribute = cJSON_CreateObject();
        ledger_json_add_text(attribute, "name", attributes[i].name);
        (void)cJSON_AddStringToObject(attribute, "type", value_type_name(attributes[i].type));
        (void)cJSON_AddItemToArray(array, attribute);
    }
    return array;
}

static void add_keys(cJSON *object, const struct key_schema *keys)
{
    (void)cJSON_AddItemToObject(object, "partition",
                                attributes_json(keys->partition, keys->partition_count));
    (void)cJSON_AddItemToObject(object, "sort", attributes_json(keys->sort, keys->sort_count));
}

static cJSON *index_json(const struct index_desc *index)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "name", index->name);
    add_keys(object, &index->keys);
    (void)cJSON_AddStringToObject(object, "projection", projection_name(index->projection));
    (void)cJSON_AddBoolToObject(object, "active", index->state == INDEX_ACTIVE);
    if (index->status.len > 0) {
        ledger_json_add_text(object, "status", index->status);
    }
    (void)cJSON_AddNumberToObject(object, "entries", (double)index->entry_count);
    return object;
}

static cJSON *server_json(const struct store_server *server)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "endpoint", server->endpoint);
    ledger_json_add_text(object, "region", server->region);
    if (server->account.len > 0) {
        ledger_json_add_text(object, "account", server->account);
    }
    ledger_json_add_text(object, "key_id_end", server->key_end);
    ledger_json_add_text(object, "key_id_from", server->key_from);
    (void)cJSON_AddBoolToObject(object, "on_demand", !server->is_provisioned);
    if (server->is_provisioned) {
        (void)cJSON_AddNumberToObject(object, "read_units", (double)server->read_units);
        (void)cJSON_AddNumberToObject(object, "write_units", (double)server->write_units);
    }
    return object;
}

cJSON *table_report_json(const struct invocation *invocation, const struct table_desc *table)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "table", literal(invocation->table));
    add_keys(object, &table->keys);
    (void)cJSON_AddNumberToObject(object, "items", (double)table->item_count);
    (void)cJSON_AddNumberToObject(object, "bytes", (double)table->size_bytes);
    (void)cJSON_AddBoolToObject(object, "estimated", table->is_estimate);
    if (table->server != NULL) {
        (void)cJSON_AddItemToObject(object, "server", server_json(table->server));
    }
    cJSON *indexes = cJSON_AddArrayToObject(object, "indexes");
    for (size_t i = 0; i < table->index_count; i++) {
        (void)cJSON_AddItemToArray(indexes, index_json(&table->indexes[i]));
    }
    return object;
}
