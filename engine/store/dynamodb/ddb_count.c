#include "engine/store/dynamodb/ddb_internal.h"

/* The parts of an index key are there, of their types, neither empty nor too long: what DynamoDB
 * puts into the index. */
static void add_part(struct composer *composer, const struct key_attribute *part, size_t max_bytes,
                     struct arena *arena)
{
    struct buffer *out = &composer->condition;
    unsigned name = compose_name(composer, part->name);
    const char *type_name = value_type_name(part->type);
    struct value type_text = value_string(arena, (struct str){type_name, 1});
    unsigned type = compose_value(composer, type_text);
    buffer_format(out, "%sattribute_type(#%u,:%u)", out->len == 0 ? "" : " AND ", name, type);
    if (part->type != VALUE_N) {
        struct number least = number_from_int(1);
        struct number most = number_from_int((int64_t)max_bytes);
        unsigned low = compose_value(composer, value_from_number(arena, &least));
        unsigned high = compose_value(composer, value_from_number(arena, &most));
        buffer_format(out, " AND size(#%u) BETWEEN :%u AND :%u", name, low, high);
    }
}

struct counting {
    const struct ddb_store *store;
    const struct index_desc *index;
    bool entries; /* of the index; else of the table, those that belong into it */
};

static struct str compose_count(const struct counting *counting, struct value start,
                                struct arena *arena)
{
    struct composer composer = {.name_count = 0};
    const struct key_schema *keys = &counting->index->keys;
    compose_begin(&composer, counting->store->target.table);
    compose_text(&composer, "Select", STR("COUNT"));
    compose_text(&composer, "ReturnConsumedCapacity", STR("TOTAL"));
    if (counting->entries) {
        compose_text(&composer, "IndexName", counting->index->name);
    } else {
        compose_raw(&composer, "ConsistentRead", STR("true"));
        for (size_t i = 0; i < keys->partition_count; i++) {
            add_part(&composer, &keys->partition[i], PARTITION_KEY_MAX_BYTES, arena);
        }
        for (size_t i = 0; i < keys->sort_count; i++) {
            add_part(&composer, &keys->sort[i], SORT_KEY_MAX_BYTES, arena);
        }
        compose_text(&composer, "FilterExpression", buffer_str(&composer.condition));
        composer.condition.len = 0;
        compose_expressions(&composer);
    }
    if (!value_is_missing(start)) {
        compose_item(&composer, "ExclusiveStartKey", start);
    }
    struct str body = compose_end(&composer, arena);
    composer_free(&composer);
    return body;
}

static bool count(const struct counting *counting, uint64_t *out, struct error *err)
{
    struct arena *arena = arena_new();
    struct arena *keep = arena_new();
    struct ddb_asking asking = ddb_asking_of(counting->store, arena);
    struct ddb_place place = ddb_place_of(counting->store);
    struct value start = {NULL, 0};
    bool ok = true;
    *out = 0;
    do {
        const struct json *reply = NULL;
        arena_reset(arena);
        struct ddb_request request = {.operation = "Scan",
                                      .body = compose_count(counting, start, arena)};
        ok = ddb_place_rest(&place, 0, err) && answer_calls(&asking, &request, 1, err) &&
             answer_expect(counting->store, &request, arena, &reply, err) &&
             answer_item(reply, "LastEvaluatedKey", keep, &start, err);
        *out += ok ? answer_count(reply, "Count") : 0;
    } while (ok && !value_is_missing(start));
    arena_free(keep);
    arena_free(arena);
    return ok;
}

bool count_index(const struct ddb_store *store, const struct index_desc *index,
                 struct index_counts *out, struct error *err)
{
    struct counting counting = {store, index, false};
    if (!count(&counting, &out->eligible, err)) {
        return false;
    }
    counting.entries = true;
    return count(&counting, &out->entries, err);
}

bool ddb_verify(struct store *base, void (*finding)(void *context, const char *text), void *context,
                struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct arena *arena = arena_new();
    struct table_desc table;
    bool ok = ddb_describe(base, arena, &table, err);
    for (size_t i = 0; ok && i < table.index_count; i++) {
        struct index_counts counts = {0};
        ok = count_index(store, &table.indexes[i], &counts, err);
        if (ok && counts.eligible != counts.entries) {
            struct str text =
                arena_format(arena, "index %.*s has %llu entries, and %llu items belong into it",
                             STR_ARG(table.indexes[i].name), (unsigned long long)counts.entries,
                             (unsigned long long)counts.eligible);
            finding(context, text.ptr);
        }
    }
    arena_free(arena);
    return ok;
}
