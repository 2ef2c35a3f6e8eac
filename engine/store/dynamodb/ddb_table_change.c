#include "engine/base/json.h"
#include "engine/store/dynamodb/ddb_compose_internal.h"
#include "engine/store/dynamodb/ddb_table_internal.h"

#include <inttypes.h>

/* Between two looks at a table that is being made or changed: soon at first, then rarely. And how
 * long a description may not tell of a change that the server agreed to. */
enum { LOOK_FIRST_MS = 50, LOOK_MAX_MS = 5000, LAG_MAX_MS = 30000 };

/* ---------------------------------------------------------------- JSON */

struct definitions {
    struct key_attribute list[(INDEXES_KNOWN_MAX + 2) * 2 * KEY_PARTS_MAX];
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

/* The composed request, in the arena; the change is under way when this returns. */
static bool send(const struct ddb_place *place, struct composer *composer, struct arena *arena,
                 struct ddb_request *request, struct error *err)
{
    request->body = compose_end(composer, arena);
    if (!ddb_call(place->client, request, arena, err)) {
        return false;
    }
    bool is_done = request->unsure && str_equal(request->type, STR("ResourceInUseException"));
    return request->reply == DDB_OK || is_done || ddb_request_error(place->account, request, err);
}

static bool is_settled(const struct ddb_table *table)
{
    bool settled = table->active;
    for (size_t i = 0; settled && i < table->desc.index_count; i++) {
        settled = table->desc.indexes[i].state == INDEX_ACTIVE;
    }
    return settled;
}

static bool shows(const struct ddb_table *table, bool missing, const struct ddb_change *change)
{
    bool has_index = !missing && ddb_table_index(table, change->index) != NULL;
    switch (change->kind) {
    case CHANGE_INDEX_MADE:
        return has_index;
    case CHANGE_INDEX_DROPPED:
        return !has_index;
    case CHANGE_TABLE_MADE:
    case CHANGE_NONE:
        break;
    }
    return !missing;
}

/* What one look has found. */
struct look {
    bool lags; /* the description does not tell of the change yet */
    bool over; /* nothing is being made or changed */
};

static bool look_at(const struct ddb_place *place, const struct ddb_change *change,
                    const struct ddb_watch *watch, struct look *out, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_table table = {.active = false};
    bool missing = false;
    bool is_new = change->kind == CHANGE_TABLE_MADE;
    bool ok = ddb_table_read(place, arena, &table, is_new ? &missing : NULL, err);
    *out = (struct look){.lags = ok && !shows(&table, missing, change),
                         .over = ok && !missing && is_settled(&table)};
    if (ok && !missing && watch != NULL) {
        watch->look(watch->context, &table);
    }
    arena_free(arena);
    return ok;
}

bool ddb_table_wait(const struct ddb_place *place, const struct ddb_change *change,
                    const struct ddb_watch *watch, struct error *err)
{
    unsigned lag_ms = 0;
    for (unsigned wait_ms = LOOK_FIRST_MS;;) {
        struct look look;
        if (!look_at(place, change, watch, &look, err)) {
            return false;
        }
        if (lag_ms >= LAG_MAX_MS || (look.over && !look.lags)) {
            return true; /* who needs the change looks for it */
        }
        if (!ddb_place_rest(place, wait_ms, err)) {
            return false;
        }
        lag_ms = look.lags ? lag_ms + wait_ms : 0;
        wait_ms = wait_ms < LOOK_MAX_MS / 2 ? wait_ms * 2 : LOOK_MAX_MS;
    }
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
    struct arena *arena = arena_new();
    struct ddb_request request = {.operation = "CreateTable"};
    struct ddb_change made = {.kind = CHANGE_TABLE_MADE};
    bool ok =
        send(place, &composer, arena, &request, err) && ddb_table_wait(place, &made, NULL, err);
    arena_free(arena);
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

/* An attempt that was agreed to unseen has a reply that describes nothing. */
static bool read_change(const struct ddb_place *place, const struct ddb_request *request,
                        struct arena *arena, struct ddb_table *out, struct error *err)
{
    return request->reply == DDB_OK ? ddb_table_parse(place, request, arena, out, err)
                                    : ddb_table_read(place, arena, out, NULL, err);
}

bool ddb_table_add_index(const struct ddb_place *place, const struct index_desc *index,
                         struct arena *arena, struct ddb_table *out, struct error *err)
{
    struct composer composer = {.name_count = 0};
    struct buffer scratch = {0};
    struct ddb_request request = {.operation = "UpdateTable"};
    bool ok = ddb_table_read(place, arena, out, NULL, err);
    if (ok) {
        compose_begin(&composer, place->table);
        compose_added_index(&composer, out, index, &scratch);
        ok = send(place, &composer, arena, &request, err) &&
             read_change(place, &request, arena, out, err);
    }
    buffer_free(&scratch);
    composer_free(&composer);
    return ok;
}

bool ddb_table_drop_index(const struct ddb_place *place, struct str name, struct error *err)
{
    struct arena *arena = arena_new();
    struct composer composer = {.name_count = 0};
    struct buffer scratch = {0};
    struct ddb_request request = {.operation = "UpdateTable"};
    compose_begin(&composer, place->table);
    buffer_add(&scratch, STR("[{\"Delete\":{\"IndexName\":"));
    json_write_string(&scratch, name);
    buffer_add(&scratch, STR("}}]"));
    compose_raw(&composer, "GlobalSecondaryIndexUpdates", buffer_str(&scratch));
    bool ok = send(place, &composer, arena, &request, err);
    buffer_free(&scratch);
    composer_free(&composer);
    arena_free(arena);
    return ok;
}
