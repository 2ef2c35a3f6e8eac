#include "engine/base/json.h"
#include "engine/store/dynamodb/ddb_compose_internal.h"
#include "engine/store/dynamodb/ddb_table_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAME_MAX_BYTES = 255 };

void ddb_sleep_ms(unsigned milliseconds)
{
    struct timespec rest = {.tv_sec = milliseconds / 1000,
                            .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&rest, &rest) != 0) {
    }
}

bool ddb_place_rest(const struct ddb_place *place, unsigned milliseconds, struct error *err)
{
    enum { GLANCE_MS = 50 };
    for (unsigned left = milliseconds;; left -= left < GLANCE_MS ? left : GLANCE_MS) {
        if (place->stop != NULL && atomic_load(place->stop)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
        if (left == 0) {
            return true;
        }
        ddb_sleep_ms(left < GLANCE_MS ? left : GLANCE_MS);
    }
}

/* ---------------------------------------------------------------- reading a description */

static struct str text_of(const struct json *object, const char *name)
{
    const struct json *member = object == NULL ? NULL : json_member(object, name);
    bool has_text = member != NULL && (member->kind == JSON_STRING || member->kind == JSON_NUMBER);
    return has_text ? member->text : STR("");
}

static uint64_t count_of(const struct json *object, const char *name)
{
    struct str text = text_of(object, name);
    return text.len == 0 ? 0 : strtoull(text.ptr, NULL, 10);
}

static const struct json *list_of(const struct json *object, const char *name)
{
    static const struct json none = {.kind = JSON_ARRAY};
    const struct json *member = json_member(object, name);
    return member != NULL && member->kind == JSON_ARRAY ? member : &none;
}

static enum value_type type_of(const struct json *table, struct str name)
{
    const struct json *definitions = list_of(table, "AttributeDefinitions");
    for (size_t i = 0; i < definitions->count; i++) {
        if (str_equal(text_of(&definitions->items[i], "AttributeName"), name)) {
            return value_type_named(text_of(&definitions->items[i], "AttributeType"));
        }
    }
    return VALUE_MISSING;
}

static bool read_keys(const struct json *table, const struct json *parts, struct arena *arena,
                      struct key_schema *out)
{
    *out = (struct key_schema){.partition_count = 0};
    for (size_t i = 0; i < parts->count; i++) {
        struct str name = text_of(&parts->items[i], "AttributeName");
        bool is_partition = str_equal(text_of(&parts->items[i], "KeyType"), STR("HASH"));
        size_t *count = is_partition ? &out->partition_count : &out->sort_count;
        struct key_attribute *list = is_partition ? out->partition : out->sort;
        enum value_type type = type_of(table, name);
        if (*count == KEY_PARTS_MAX || type == VALUE_MISSING) {
            return false;
        }
        list[(*count)++] = (struct key_attribute){arena_copy(arena, name), type};
    }
    return out->partition_count > 0;
}

static void read_projection(const struct json *index, struct arena *arena, struct index_desc *out)
{
    const struct json *projection = json_member(index, "Projection");
    struct str type = text_of(projection, "ProjectionType");
    out->projection = str_equal(type, STR("KEYS_ONLY")) ? PROJECT_KEYS_ONLY
                      : str_equal(type, STR("INCLUDE")) ? PROJECT_INCLUDE
                                                        : PROJECT_ALL;
    if (out->projection != PROJECT_INCLUDE) {
        return;
    }
    const struct json *names = list_of(projection, "NonKeyAttributes");
    struct str *include = arena_alloc(arena, (names->count + 1) * sizeof *include);
    for (size_t i = 0; i < names->count; i++) {
        include[i] = arena_copy(arena, names->items[i].text);
    }
    out->include = include;
    out->include_count = names->count;
}

/* A local index has no status: it is there as long as the table. */
static bool read_index(const struct json *table, const struct json *index, struct arena *arena,
                       struct index_desc *out)
{
    const struct json *backfilling = json_member(index, "Backfilling");
    const struct json *throughput = json_member(index, "ProvisionedThroughput");
    struct str status = text_of(index, "IndexStatus");
    bool ready = status.len == 0 || str_equal(status, STR("ACTIVE"));
    bool filling = backfilling != NULL && backfilling->boolean;
    *out = (struct index_desc){
        .name = arena_copy(arena, text_of(index, "IndexName")),
        .read_units = count_of(throughput, "ReadCapacityUnits"),
        .write_units = count_of(throughput, "WriteCapacityUnits"),
        .state = ready && !filling ? INDEX_ACTIVE : INDEX_CREATING,
        .status = arena_format(arena, "%.*s%s", STR_ARG(status), filling ? ", backfilling" : ""),
        .entry_count = count_of(index, "ItemCount"),
        .size_bytes = count_of(index, "IndexSizeBytes")};
    read_projection(index, arena, out);
    return read_keys(table, list_of(index, "KeySchema"), arena, &out->keys);
}

static size_t count_indexes(const struct json *table)
{
    return list_of(table, "GlobalSecondaryIndexes")->count +
           list_of(table, "LocalSecondaryIndexes")->count;
}

static bool read_indexes(const struct json *table, struct arena *arena, struct table_desc *out)
{
    const struct json *lists[] = {list_of(table, "GlobalSecondaryIndexes"),
                                  list_of(table, "LocalSecondaryIndexes")};
    size_t global = lists[0]->count;
    size_t count = count_indexes(table);
    struct index_desc *indexes = arena_zero(arena, (count + 1) * sizeof *indexes);
    for (size_t i = 0; i < count; i++) {
        const struct json *index = i < global ? &lists[0]->items[i] : &lists[1]->items[i - global];
        if (!read_index(table, index, arena, &indexes[i])) {
            return false;
        }
    }
    out->index_count = count;
    out->indexes = indexes;
    return true;
}

/* A table that was dropped and made again has another id, or else another creation time. */
static struct str identity_of(const struct json *table, struct arena *arena)
{
    struct str id = text_of(table, "TableId");
    struct str arn = text_of(table, "TableArn");
    struct str made = text_of(table, "CreationDateTime");
    return id.len > 0 ? arena_copy(arena, id)
                      : arena_format(arena, "%.*s@%.*s", STR_ARG(arn), STR_ARG(made));
}

/* "arn:aws:dynamodb:eu-west-1:123456789012:table/Shop": the fifth part. */
static struct str account_of(const struct json *table, struct arena *arena)
{
    enum { ACCOUNT_PART = 4 };
    struct str rest = text_of(table, "TableArn");
    for (int part = 0; part < ACCOUNT_PART; part++) {
        const char *colon = rest.len == 0 ? NULL : memchr(rest.ptr, ':', rest.len);
        size_t taken = colon == NULL ? rest.len : (size_t)(colon + 1 - rest.ptr);
        rest = (struct str){rest.ptr + taken, rest.len - taken};
    }
    const char *end = rest.len == 0 ? NULL : memchr(rest.ptr, ':', rest.len);
    return arena_copy(arena, (struct str){rest.ptr, end == NULL ? 0 : (size_t)(end - rest.ptr)});
}

static bool read_table(const struct json *table, struct arena *arena, struct ddb_table *out)
{
    if (table == NULL) {
        return false;
    }
    *out = (struct ddb_table){
        .desc = {.name = arena_copy(arena, text_of(table, "TableName")),
                 .identity = identity_of(table, arena),
                 .item_count = count_of(table, "ItemCount"),
                 .size_bytes = count_of(table, "TableSizeBytes"),
                 .is_estimate = true},
        .account = account_of(table, arena),
        .active = str_equal(text_of(table, "TableStatus"), STR("ACTIVE")),
    };
    const struct json *throughput = json_member(table, "ProvisionedThroughput");
    out->read_units = count_of(throughput, "ReadCapacityUnits");
    out->write_units = count_of(throughput, "WriteCapacityUnits");
    out->provisioned = out->write_units > 0;
    return read_keys(table, list_of(table, "KeySchema"), arena, &out->desc.keys) &&
           read_indexes(table, arena, &out->desc);
}

static bool is_missing(const struct ddb_request *request)
{
    return request->reply == DDB_ERROR &&
           str_equal(request->type, STR("ResourceNotFoundException"));
}

static bool refuse_missing(const struct ddb_place *place, struct arena *arena, struct error *err)
{
    struct str where = ddb_account_describe(place->account, arena);
    return error_set(err, ERROR_STORE,
                     "table %.*s does not exist (%.*s)\n"
                     "hint: check region and account; local servers may keep tables apart by key "
                     "id and region. 'refold import --create' makes a table",
                     STR_ARG(place->table), STR_ARG(where));
}

bool ddb_table_parse(const struct ddb_place *place, const struct ddb_request *request,
                     struct arena *arena, struct ddb_table *out, struct error *err)
{
    bool is_change = strcmp(request->operation, "DescribeTable") != 0;
    struct json_options options = {.file = request->operation};
    struct json *reply = NULL;
    if (!json_parse(request->content, &options, arena, &reply, err)) {
        err->code = ERROR_STORE;
        return false;
    }
    const struct json *table = json_member(reply, is_change ? "TableDescription" : "Table");
    if (table != NULL && count_indexes(table) > INDEXES_KNOWN_MAX) {
        return error_set(err, ERROR_STORE,
                         "table %.*s has %zu indexes: refold knows tables of at most %d",
                         STR_ARG(place->table), count_indexes(table), INDEXES_KNOWN_MAX);
    }
    return read_table(table, arena, out) ||
           error_set(err, ERROR_STORE, "the server does not describe table %.*s",
                     STR_ARG(place->table));
}

bool ddb_table_read(const struct ddb_place *place, struct arena *arena, struct ddb_table *out,
                    bool *missing, struct error *err)
{
    struct composer composer = {.name_count = 0};
    compose_begin(&composer, place->table);
    struct ddb_request request = {.operation = "DescribeTable",
                                  .body = compose_end(&composer, arena)};
    composer_free(&composer);
    if (!ddb_call(place->client, &request, arena, err)) {
        return false;
    }
    if (missing != NULL) {
        *missing = is_missing(&request);
        if (*missing) {
            return true;
        }
    }
    if (is_missing(&request)) {
        return refuse_missing(place, arena, err);
    }
    if (request.reply != DDB_OK) {
        return ddb_request_error(place->account, &request, err);
    }
    return ddb_table_parse(place, &request, arena, out, err);
}

const struct index_desc *ddb_table_index(const struct ddb_table *table, struct str name)
{
    for (size_t i = 0; i < table->desc.index_count; i++) {
        if (str_equal(table->desc.indexes[i].name, name)) {
            return &table->desc.indexes[i];
        }
    }
    return NULL;
}
