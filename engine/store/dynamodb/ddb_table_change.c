#include "engine/base/json.h"
#include "engine/store/dynamodb/ddb_compose_internal.h"
#include "engine/store/dynamodb/ddb_table_internal.h"

#include <inttypes.h>

/* Between two looks at a table that is being made or changed: soon at first, then rarely. */
enum { LOOK_FIRST_MS = 50, LOOK_MAX_MS = 5000 };

/* ---------------------------------------------------------------- JSON */

struct definitions {
    struct key_attribute list[(INDEXES_MAX + 1) * 2 * KEY_PARTS_MAX];
    size_t count;
};

static void define(struct definitions *definitions, const struct key_attribute *attributes,
                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < definitions->count &&
               !str_equal(definitions->list[at].name, attributes[i].name)) {
            at++;
        }
        definitions->list[at] = attributes[i];
        definitions->count += at == definitions->count ? 1 : 0;
    }
}

static void define_keys(struct definitions *definitions, const struct key_schema *keys)
{
    define(definitions, keys->partition, keys->partition_count);
    define(definitions, keys->sort, keys->sort_count);
}

static void write_definitions(struct buffer *out, const struct definitions *definitions)
{
    buffer_add_char(out, '[');
    for (size_t i = 0; i < definitions->count; i++) {
        buffer_format(out, "%s{\"AttributeName\":", i == 0 ? "" : ",");
        json_write_string(out, definitions->list[i].name);
        buffer_format(out, ",\"AttributeType\":\"%s\"}",
                      value_type_name(definitions->list[i].type));
    }
    buffer_add_char(out, ']');
}

static void write_parts(struct buffer *out, const struct key_attribute *parts, size_t count,
                        const char *kind)
{
    for (size_t i = 0; i < count; i++) {
        bool is_first = out->bytes[out->len - 1] == '[';
        buffer_format(out, "%s{\"AttributeName\":", is_first ? "" : ",");
        json_write_string(out, parts[i].name);
        buffer_format(out, ",\"KeyType\":\"%s\"}", kind);
    }
}

static void write_keys(struct buffer *out, const struct key_schema *keys)
{
    buffer_add_char(out, '[');
    write_parts(out, keys->partition, keys->partition_count, "HASH");
    write_parts(out, keys->sort, keys->sort_count, "RANGE");
    buffer_add_char(out, ']');
}

static void write_projection(struct buffer *out, const struct index_desc *index)
{
    static const char *const names[] = {"ALL", "KEYS_ONLY", "INCLUDE"};
    buffer_format(out, "{\"ProjectionType\":\"%s\"", names[index->projection]);
    for (size_t i = 0; i < index->include_count; i++) {
        buffer_add(out, i == 0 ? STR(",\"NonKeyAttributes\":[") : STR(","));
        json_write_string(out, index->include[i]);
    }
    buffer_add(out, index->include_count > 0 ? STR("]}") : STR("}"));
}

/* Without the closing brace: throughput may follow. */
static void write_index(struct buffer *out, const struct index_desc *index)
{
    buffer_add(out, STR("{\"IndexName\":"));
    json_write_string(out, index->name);
    buffer_add(out, STR(",\"KeySchema\":"));
    write_keys(out, &index->keys);
    buffer_add(out, STR(",\"Projection\":"));
    write_projection(out, index);
}

/* ---------------------------------------------------------------- sending */

/* The composed request; the change is under way when this returns. */
static bool send(const struct ddb_place *place, const char *operation, struct composer *composer,
                 struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_request request = {.operation = operation, .body = compose_end(composer, arena)};
    bool ok = ddb_call(place->client, &request, arena, err);
    if (ok && request.reply != DDB_OK) {
        bool is_done = request.unsure && str_equal(request.type, STR("ResourceInUseException"));
        ok = is_done || ddb_request_error(place->account, &request, err);
    }
    arena_free(arena);
    return ok;
}

static bool is_settled(const struct ddb_table *table)
{
    bool settled = table->active;
    for (size_t i = 0; settled && i < table->desc.index_count; i++) {
        settled = table->desc.indexes[i].state == INDEX_ACTIVE;
    }
    return settled;
}

bool ddb_table_wait(const struct ddb_place *place, const struct ddb_watch *watch, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_table table = {.active = false};
    bool ok = true;
    bool settled = false;
    for (unsigned wait_ms = LOOK_FIRST_MS; ok && !settled;) {
        arena_reset(arena);
        ok = ddb_table_read(place, arena, &table, NULL, err);
        settled = ok && is_settled(&table);
        if (ok && watch != NULL) {
            watch->look(watch->context, &table);
        }
        if (ok && !settled) {
            ok = ddb_place_rest(place, wait_ms, err);
            wait_ms = wait_ms < LOOK_MAX_MS / 2 ? wait_ms * 2 : LOOK_MAX_MS;
        }
    }
    arena_free(arena);
    return ok;
}

/* ---------------------------------------------------------------- tables */

static void compose_indexes(struct composer *composer, const struct table_desc *wanted,
                            struct buffer *scratch)
{
    scratch->len = 0;
    for (size_t i = 0; i < wanted->index_count; i++) {
        buffer_add_char(scratch, i == 0 ? '[' : ',');
        write_index(scratch, &wanted->indexes[i]);
        buffer_add_char(scratch, '}');
    }
    if (wanted->index_count > 0) {
        buffer_add_char(scratch, ']');
        compose_raw(composer, "GlobalSecondaryIndexes", buffer_str(scratch));
    }
}

bool ddb_table_create(const struct ddb_place *place, const struct table_desc *wanted,
                      struct error *err)
{
    struct composer composer = {.name_count = 0};
    struct definitions definitions = {.count = 0};
    struct buffer scratch = {0};
    define_keys(&definitions, &wanted->keys);
    for (size_t i = 0; i < wanted->index_count; i++) {
        define_keys(&definitions, &wanted->indexes[i].keys);
    }
    compose_begin(&composer, place->table);
    write_definitions(&scratch, &definitions);
    compose_raw(&composer, "AttributeDefinitions", buffer_str(&scratch));
    scratch.len = 0;
    write_keys(&scratch, &wanted->keys);
    compose_raw(&composer, "KeySchema", buffer_str(&scratch));
    compose_text(&composer, "BillingMode", STR("PAY_PER_REQUEST"));
    compose_indexes(&composer, wanted, &scratch);
    bool ok = send(place, "CreateTable", &composer, err) && ddb_table_wait(place, NULL, err);
    buffer_free(&scratch);
    composer_free(&composer);
    return ok || error_wrap(err, "making table %.*s", STR_ARG(place->table));
}

/* ---------------------------------------------------------------- indexes */

static void compose_added_index(struct composer *composer, const struct ddb_table *table,
                                const struct index_desc *index, struct buffer *scratch)
{
    struct definitions definitions = {.count = 0};
    scratch->len = 0;
    define_keys(&definitions, &table->desc.keys);
    for (size_t i = 0; i < table->desc.index_count; i++) {
        define_keys(&definitions, &table->desc.indexes[i].keys);
    }
    define_keys(&definitions, &index->keys);
    write_definitions(scratch, &definitions);
    compose_raw(composer, "AttributeDefinitions", buffer_str(scratch));
    scratch->len = 0;
    buffer_add(scratch, STR("[{\"Create\":"));
    write_index(scratch, index);
    if (table->provisioned) {
        buffer_format(scratch,
                      ",\"ProvisionedThroughput\":{\"ReadCapacityUnits\":%" PRIu64
                      ",\"WriteCapacityUnits\":%" PRIu64 "}",
                      index->read_units > 0 ? index->read_units : table->read_units,
                      index->write_units > 0 ? index->write_units : table->write_units);
    }
    buffer_add(scratch, STR("}}]"));
    compose_raw(composer, "GlobalSecondaryIndexUpdates", buffer_str(scratch));
}

bool ddb_table_add_index(const struct ddb_place *place, const struct index_desc *index,
                         struct error *err)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    struct buffer scratch = {0};
    struct ddb_table table;
    bool ok = ddb_table_read(place, arena, &table, NULL, err);
    if (ok) {
        compose_begin(&composer, place->table);
        compose_added_index(&composer, &table, index, &scratch);
        ok = send(place, "UpdateTable", &composer, err);
    }
    buffer_free(&scratch);
    composer_free(&composer);
    arena_free(arena);
    return ok;
}

bool ddb_table_drop_index(const struct ddb_place *place, struct str name, struct error *err)
{
    struct composer composer = {.name_count = 0};
    struct buffer scratch = {0};
    compose_begin(&composer, place->table);
    buffer_add(&scratch, STR("[{\"Delete\":{\"IndexName\":"));
    json_write_string(&scratch, name);
    buffer_add(&scratch, STR("}}]"));
    compose_raw(&composer, "GlobalSecondaryIndexUpdates", buffer_str(&scratch));
    bool ok = send(place, "UpdateTable", &composer, err);
    buffer_free(&scratch);
    composer_free(&composer);
    return ok;
}
