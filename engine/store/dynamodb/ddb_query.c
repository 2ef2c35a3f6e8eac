#include "engine/store/dynamodb/ddb_internal.h"

#include <string.h>

/* One query under way. */
struct querying {
    struct ddb_reader *reader;
    const struct query *query;
    const struct index_desc *index; /* NULL: the table itself */
    const struct key_schema *table; /* the table's keys */
    const struct key_schema *keys;  /* those that are asked by */
};

static const struct ddb_store *store_of(const struct querying *querying)
{
    return ddb_of(querying->reader->base.store);
}

/* ---------------------------------------------------------------- what is asked */

static bool check_value(const struct key_attribute *attribute, struct value v, struct error *err)
{
    return value_type(v) == attribute->type ||
           error_set(err, ERROR_USAGE, "%.*s is of type %s, not %s", STR_ARG(attribute->name),
                     value_type_name(attribute->type), value_type_name(value_type(v)));
}

static bool check_bound(const struct querying *querying, struct value v, struct error *err)
{
    size_t place = querying->query->sort_equal_count;
    if (value_is_missing(v)) {
        return true;
    }
    if (place >= querying->keys->sort_count) {
        return error_set(err, ERROR_USAGE, "there is no sort attribute for this condition");
    }
    return check_value(&querying->keys->sort[place], v, err);
}

static bool check_query(const struct querying *querying, struct error *err)
{
    const struct query *query = querying->query;
    const struct key_schema *keys = querying->keys;
    for (size_t i = 0; i < keys->partition_count; i++) {
        if (!check_value(&keys->partition[i], query->partition[i], err)) {
            return false;
        }
    }
    if (query->sort_equal_count > keys->sort_count) {
        return error_set(err, ERROR_USAGE, "there are only %zu sort attributes", keys->sort_count);
    }
    for (size_t i = 0; i < query->sort_equal_count; i++) {
        if (!check_value(&keys->sort[i], query->sort_equal[i], err)) {
            return false;
        }
    }
    if (query->low_is_prefix && value_type(query->low) == VALUE_N) {
        return error_set(err, ERROR_USAGE, "begins_with() is for S and B");
    }
    return check_bound(querying, query->low, err) && check_bound(querying, query->high, err);
}

static bool describe(struct ddb_reader *reader, struct error *err)
{
    const struct ddb_store *store = ddb_of(reader->base.store);
    struct ddb_place place = {store->account, reader->client, store->target.table, NULL};
    arena_reset(reader->table_arena);
    reader->knows_table = ddb_table_read(&place, reader->table_arena, &reader->table, NULL, err);
    return reader->knows_table;
}

static bool choose_index(struct querying *querying, struct error *err)
{
    struct ddb_reader *reader = querying->reader;
    struct str name = querying->query->index;
    if (name.len == 0) {
        return true;
    }
    const struct index_desc *index =
        reader->knows_table ? ddb_table_index(&reader->table, name) : NULL;
    if ((index == NULL || index->state != INDEX_ACTIVE) && !describe(reader, err)) {
        return false;
    }
    index = ddb_table_index(&reader->table, name);
    struct str table = store_of(querying)->target.table;
    if (index == NULL) {
        return error_set(err, ERROR_USAGE, "%.*s has no index %.*s", STR_ARG(table), STR_ARG(name));
    }
    if (index->state != INDEX_ACTIVE) {
        return error_set(err, ERROR_USAGE, "index %.*s of %.*s is not filled yet", STR_ARG(name),
                         STR_ARG(table));
    }
    querying->index = index;
    querying->keys = &index->keys;
    return true;
}

/* ---------------------------------------------------------------- the request */

static void add_equal(struct composer *composer, const struct key_attribute *attribute,
                      struct value value)
{
    const char *joint = composer->condition.len == 0 ? "" : " AND ";
    unsigned name = compose_name(composer, attribute->name);
    unsigned number = compose_value(composer, value);
    buffer_format(&composer->condition, "%s#%u=:%u", joint, name, number);
}

/* One condition is all that DynamoDB takes on a sort attribute: what BETWEEN lets in at an
 * exclusive end is left out by is_wanted(). */
static void add_range(struct composer *composer, const struct key_attribute *attribute,
                      const struct query *query)
{
    bool has_low = !value_is_missing(query->low);
    bool has_high = !value_is_missing(query->high);
    if (!has_low && !has_high) {
        return;
    }
    struct buffer *out = &composer->condition;
    unsigned name = compose_name(composer, attribute->name);
    unsigned first = compose_value(composer, has_low ? query->low : query->high);
    if (query->low_is_prefix) {
        buffer_format(out, " AND begins_with(#%u,:%u)", name, first);
    } else if (has_low && has_high) {
        unsigned second = compose_value(composer, query->high);
        buffer_format(out, " AND #%u BETWEEN :%u AND :%u", name, first, second);
    } else if (has_low) {
        buffer_format(out, " AND #%u%s:%u", name, query->low_exclusive ? ">" : ">=", first);
    } else {
        buffer_format(out, " AND #%u%s:%u", name, query->high_exclusive ? "<" : "<=", first);
    }
}

static void compose_condition(const struct querying *querying)
{
    struct composer *composer = &querying->reader->composer;
    const struct query *query = querying->query;
    const struct key_schema *keys = querying->keys;
    for (size_t i = 0; i < keys->partition_count; i++) {
        add_equal(composer, &keys->partition[i], query->partition[i]);
    }
    for (size_t i = 0; i < query->sort_equal_count; i++) {
        add_equal(composer, &keys->sort[i], query->sort_equal[i]);
    }
    if (query->sort_equal_count < keys->sort_count) {
        add_range(composer, &keys->sort[query->sort_equal_count], query);
    }
    compose_text(composer, "KeyConditionExpression", buffer_str(&composer->condition));
    composer->condition.len = 0;
    compose_expressions(composer);
}

/* A cursor is the LastEvaluatedKey itself, as an encoded item. */
static bool compose_start(const struct querying *querying, struct error *err)
{
    struct str cursor = querying->query->cursor;
    struct value start = {(const unsigned char *)cursor.ptr, cursor.len};
    if (!value_check(start, err) || value_type(start) != VALUE_M) {
        return error_set(err, ERROR_USAGE, "the cursor is none of this query's");
    }
    compose_item(&querying->reader->composer, "ExclusiveStartKey", start);
    return true;
}

static bool compose_query(const struct querying *querying, struct error *err)
{
    struct ddb_reader *reader = querying->reader;
    const struct query *query = querying->query;
    struct composer *composer = &reader->composer;
    compose_begin(composer, store_of(querying)->target.table);
    if (querying->index == NULL) {
        compose_raw(composer, "ConsistentRead", STR("true"));
    } else {
        compose_text(composer, "IndexName", query->index);
    }
    if (query->descending) {
        compose_raw(composer, "ScanIndexForward", STR("false"));
    }
    if (query->limits.items > 0) {
        compose_raw(composer, "Limit", arena_format(reader->scratch, "%zu", query->limits.items));
    }
    compose_condition(querying);
    return query->cursor.len == 0 || compose_start(querying, err);
}

/* ---------------------------------------------------------------- the reply */

static bool is_wanted(const struct querying *querying, struct value item)
{
    const struct query *query = querying->query;
    if (query->sort_equal_count >= querying->keys->sort_count) {
        return true;
    }
    struct value sort = value_member(item, querying->keys->sort[query->sort_equal_count].name);
    return !(query->low_exclusive && value_equal(sort, query->low)) &&
           !(query->high_exclusive && value_equal(sort, query->high));
}

static bool take_items(const struct querying *querying, const struct json *reply, struct page *page,
                       struct error *err)
{
    struct ddb_reader *reader = querying->reader;
    const struct json *items = answer_list(reply, "Items");
    struct stored_item *list = arena_alloc(reader->arena, (items->count + 1) * sizeof *list);
    for (size_t i = 0; i < items->count; i++) {
        struct value item;
        struct key key;
        if (!answer_element(&items->items[i], reader->arena, &item, err) ||
            !key_of_item(querying->table, item, &key, err)) {
            return false;
        }
        if (!reserved_key(store_of(querying), &key) && is_wanted(querying, item)) {
            list[page->count++] = (struct stored_item){.item = item};
        }
    }
    page->items = list;
    return true;
}

static bool take_cursor(const struct querying *querying, const struct json *reply,
                        struct page *page, struct error *err)
{
    struct value last;
    if (!answer_item(reply, "LastEvaluatedKey", querying->reader->arena, &last, err)) {
        return false;
    }
    page->last = value_is_missing(last);
    page->cursor =
        page->last ? querying->query->cursor : (struct str){(const char *)last.bytes, last.len};
    return true;
}

bool ddb_query(struct store_reader *base, const struct query *query, struct page *out,
               struct error *err)
{
    struct ddb_reader *reader = ddb_reader_of(base);
    const struct ddb_store *store = ddb_of(base->store);
    struct querying querying = {.reader = reader,
                                .query = query,
                                .table = &store->table.desc.keys,
                                .keys = &store->table.desc.keys};
    struct page page = {.count = 0};
    const struct json *reply = NULL;
    arena_reset(reader->arena);
    arena_reset(reader->scratch);
    if (!choose_index(&querying, err) || !check_query(&querying, err) ||
        !compose_query(&querying, err)) {
        return false;
    }
    struct ddb_request request = {.operation = "Query",
                                  .body = compose_end(&reader->composer, reader->scratch)};
    struct ddb_asking asking = {store, reader->client, reader->scratch};
    if (!answer_calls(&asking, &request, 1, err) ||
        !answer_expect(store, &request, reader->scratch, &reply, err) ||
        !take_items(&querying, reply, &page, err) || !take_cursor(&querying, reply, &page, err)) {
        return false;
    }
    *out = page;
    return true;
}
