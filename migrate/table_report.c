#include "migrate/table_report.h"

#include "engine/base/buffer.h"
#include "migrate/ledger_json.h"
#include "migrate/report.h"

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

void table_report_print(struct invocation *invocation, const struct table_desc *table)
{
    struct arena *arena = invocation->arena;
    (void)fprintf(invocation->out, "%s: key %.*s, %.*s items, %.*s\n", invocation->table,
                  STR_ARG(keys_text(&table->keys, arena)),
                  STR_ARG(report_count(arena, table->item_count)),
                  STR_ARG(report_bytes(arena, table->size_bytes)));
    if (table->index_count == 0) {
        return;
    }
    struct report_table *rows = report_table_new(arena, 5);
    report_table_row(rows, (struct str[]){STR("index"), STR("key"), STR("projection"), STR("state"),
                                          STR("entries")});
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_desc *index = &table->indexes[i];
        report_table_row(
            rows, (struct str[]){index->name, keys_text(&index->keys, arena),
                                 literal(projection_name(index->projection)),
                                 literal(index->state == INDEX_ACTIVE ? "active" : "creating"),
                                 report_count(arena, index->entry_count)});
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
    (void)cJSON_AddNumberToObject(object, "entries", (double)index->entry_count);
    return object;
}

cJSON *table_report_json(const struct invocation *invocation, const struct table_desc *table)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "table", literal(invocation->table));
    add_keys(object, &table->keys);
    (void)cJSON_AddNumberToObject(object, "items", (double)table->item_count);
    (void)cJSON_AddNumberToObject(object, "bytes", (double)table->size_bytes);
    cJSON *indexes = cJSON_AddArrayToObject(object, "indexes");
    for (size_t i = 0; i < table->index_count; i++) {
        (void)cJSON_AddItemToArray(indexes, index_json(&table->indexes[i]));
    }
    return object;
}
