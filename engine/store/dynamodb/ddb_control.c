#include "engine/store/dynamodb/ddb_internal.h"

#include <inttypes.h>
#include <string.h>

#define PARTITION DDB_RESERVED "control"
#define VALUE     "refold_value"
#define TOKEN     "refold_token"
#define RECORD    "record/" /* before the names that the caller gives */

/* ---------------------------------------------------------------- keys */

static struct value text_value(enum value_type type, struct str text, struct arena *arena)
{
    return type == VALUE_B ? value_binary(arena, text) : value_string(arena, text);
}

bool control_key(const struct ddb_home *home, struct str sort, struct arena *arena, struct key *out,
                 struct error *err)
{
    if (sort.len > SORT_KEY_MAX_BYTES) {
        return error_set(err, ERROR_STORE, "the name of a control record is too long");
    }
    *out = (struct key){
        .parts = {text_value(home->keys.partition[0].type, STR(PARTITION), arena),
                  text_value(home->keys.sort[0].type, sort, arena)},
        .count = 2,
    };
    return true;
}

/* ---------------------------------------------------------------- writing */

static struct value number_value(uint64_t n, struct arena *arena)
{
    struct number number = number_from_int((int64_t)n);
    return value_from_number(arena, &number);
}

static bool record_item(const struct ddb_store *store, const struct key *key, struct str value,
                        struct arena *arena, struct value *out)
{
    const struct key_schema *keys = &store->home.keys;
    struct attribute members[] = {
        {keys->partition[0].name, key->parts[0]},
        {keys->sort[0].name, key->parts[1]},
        {STR(VALUE), value_binary(arena, value)},
        {STR(TOKEN), number_value(lease_token(store), arena)},
    };
    struct error ignored;
    return value_map(arena, members, sizeof members / sizeof *members, out, &ignored);
}

/* A later owner of the lease has written a greater token: its predecessor writes no more. */
static void compose_fence(struct composer *composer, const struct ddb_store *store,
                          const struct control *control, struct arena *arena)
{
    unsigned name = compose_name(composer, STR(TOKEN));
    unsigned token = compose_value(composer, number_value(lease_token(store), arena));
    buffer_format(&composer->condition, "(attribute_not_exists(#%u) OR #%u<=:%u)", name, name,
                  token);
    if (control->conditional && control->expected.ptr == NULL) {
        buffer_add(&composer->condition, STR(" AND "));
        compose_exists(composer, &store->home.keys, false);
    } else if (control->conditional) {
        unsigned value_name = compose_name(composer, STR(VALUE));
        unsigned value = compose_value(composer, value_binary(arena, control->expected));
        buffer_format(&composer->condition, " AND #%u=:%u", value_name, value);
    }
}

static bool compose_control(struct ddb_store *store, const struct control *control,
                            struct arena *arena, struct ddb_request *out, struct error *err)
{
    struct composer *composer = &store->composer;
    struct key key;
    struct value item;
    if (!control_key(&store->home, control->name, arena, &key, err)) {
        return false;
    }
    compose_begin(composer, store->home.table);
    if (control->value.ptr == NULL) {
        compose_key(composer, "Key", &store->home.keys, &key);
    } else if (record_item(store, &key, control->value, arena, &item)) {
        compose_item(composer, "Item", item);
    }
    compose_fence(composer, store, control, arena);
    compose_expressions(composer);
    *out = (struct ddb_request){.operation = control->value.ptr == NULL ? "DeleteItem" : "PutItem",
                                .body = compose_end(composer, arena)};
    return true;
}

static bool read_record(const struct ddb_asking *asking, struct str sort, struct str *out,
                        struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct arena *arena = asking->arena;
    struct composer composer = {.name_count = 0};
    struct key key;
    const struct json *reply = NULL;
    struct value item;
    if (!control_key(&store->home, sort, arena, &key, err)) {
        return false;
    }
    compose_begin(&composer, store->home.table);
    compose_raw(&composer, "ConsistentRead", STR("true"));
    compose_key(&composer, "Key", &store->home.keys, &key);
    struct ddb_request request = {.operation = "GetItem", .body = compose_end(&composer, arena)};
    composer_free(&composer);
    if (!answer_calls(asking, &request, 1, err) ||
        !answer_expect(store, &request, arena, &reply, err) ||
        !answer_item(reply, "Item", arena, &item, err)) {
        return false;
    }
    struct value value = value_is_missing(item) ? item : value_member(item, STR(VALUE));
    *out = value_type(value) == VALUE_B ? value_bytes(value) : (struct str){NULL, 0};
    return true;
}

/* After a reply that was lost, the record may stand as we wrote it. */
static bool is_written(struct ddb_store *store, const struct control *control, bool *written,
                       struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct str standing = {NULL, 0};
    bool ok = read_record(&asking, control->name, &standing, err);
    *written = (standing.ptr == NULL) == (control->value.ptr == NULL) &&
               str_equal(standing, control->value);
    arena_free(arena);
    return ok;
}

static bool check_control(struct ddb_store *store, const struct control *control,
                          const struct ddb_request *request, struct error *err)
{
    bool written = request->reply == DDB_OK;
    if (request->reply == DDB_CONDITION && request->unsure &&
        !is_written(store, control, &written, err)) {
        return false;
    }
    if (written) {
        return true;
    }
    if (request->reply == DDB_CONDITION) {
        return error_set(err, ERROR_BUSY, "%.*s: control record %.*s was changed by another run",
                         STR_ARG(store->target.table), STR_ARG(control->name));
    }
    (void)ddb_request_error(store->account, request, err);
    err->code = ERROR_STORE;
    return false;
}

bool control_send(struct ddb_store *store, const struct control *controls, size_t count,
                  struct error *err)
{
    if (count == 0) {
        return true;
    }
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct ddb_request *requests = arena_zero(arena, count * sizeof *requests);
    bool ok = home_make(store, err) && lease_check(store, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = compose_control(store, &controls[i], arena, &requests[i], err);
    }
    ok = ok && answer_calls(&asking, requests, count, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = check_control(store, &controls[i], &requests[i], err);
    }
    arena_free(arena);
    return ok;
}

static struct control with_prefix(const struct control *control, struct arena *arena)
{
    struct control record = *control;
    record.name = arena_format(arena, RECORD "%.*s", STR_ARG(control->name));
    return record;
}

/* Records that go, go first, and those that are written follow one by one: whatever a crash cuts
 * off, what stands is what an earlier commit left, or asks for work that is done again. */
static bool send_all(struct ddb_store *store, const struct batch *batch, struct arena *arena,
                     struct error *err)
{
    struct control *first = arena_alloc(arena, (batch->control_count + 1) * sizeof *first);
    size_t count = 0;
    struct control listing = undo_listing(store, arena);
    if (listing.name.ptr != NULL) {
        first[count++] = listing;
    }
    for (size_t i = 0; i < batch->control_count; i++) {
        if (batch->controls[i].value.ptr == NULL) {
            first[count++] = with_prefix(&batch->controls[i], arena);
        }
    }
    bool ok = control_send(store, first, count, err);
    for (size_t i = 0; ok && i < batch->control_count; i++) {
        if (batch->controls[i].value.ptr != NULL) {
            struct control record = with_prefix(&batch->controls[i], arena);
            ok = control_send(store, &record, 1, err);
        }
    }
    return ok;
}

bool control_commit(struct ddb_store *store, const struct batch *batch, struct error *err)
{
    if (batch->control_count == 0) {
        return true;
    }
    struct arena *arena = arena_new();
    bool ok = send_all(store, batch, arena, err);
    arena_free(arena);
    return ok;
}

/* ---------------------------------------------------------------- reading */

static struct str compose_list(const struct ddb_home *home, struct str prefix, struct value start,
                               struct arena *arena)
{
    struct composer composer = {.name_count = 0};
    compose_begin(&composer, home->table);
    compose_raw(&composer, "ConsistentRead", STR("true"));
    unsigned partition = compose_name(&composer, home->keys.partition[0].name);
    unsigned sort = compose_name(&composer, home->keys.sort[0].name);
    unsigned where =
        compose_value(&composer, text_value(home->keys.partition[0].type, STR(PARTITION), arena));
    unsigned begin = compose_value(&composer, text_value(home->keys.sort[0].type, prefix, arena));
    struct str condition =
        arena_format(arena, "#%u=:%u AND begins_with(#%u,:%u)", partition, where, sort, begin);
    compose_text(&composer, "KeyConditionExpression", condition);
    if (!value_is_missing(start)) {
        compose_item(&composer, "ExclusiveStartKey", start);
    }
    compose_expressions(&composer);
    struct str body = compose_end(&composer, arena);
    composer_free(&composer);
    return body;
}

static bool take_records(const struct ddb_store *store, const struct json *reply,
                         struct arena *arena, struct buffer *out, struct error *err)
{
    const struct json *items = answer_list(reply, "Items");
    for (size_t i = 0; i < items->count; i++) {
        struct value item;
        bool is_ours = false;
        if (!answer_element(&items->items[i], arena, &item, err) ||
            (!store->home.is_apart && !reserved_look(store, item, &is_ours, err))) {
            return false;
        }
        struct value value = value_member(item, STR(VALUE));
        struct value name = value_member(item, store->home.keys.sort[0].name);
        if (value_type(value) == VALUE_B) {
            struct control control = {.name = value_bytes(name), .value = value_bytes(value)};
            buffer_add(out, (struct str){(const char *)&control, sizeof control});
        }
    }
    return true;
}

static bool query_records(const struct ddb_asking *asking, struct str prefix, struct buffer *found,
                          struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct arena *arena = asking->arena;
    struct value start = {NULL, 0};
    do {
        const struct json *reply = NULL;
        struct ddb_request request = {.operation = "Query",
                                      .body = compose_list(&store->home, prefix, start, arena)};
        if (!answer_calls(asking, &request, 1, err) ||
            !answer_expect(store, &request, arena, &reply, err) ||
            !take_records(store, reply, arena, found, err) ||
            !answer_item(reply, "LastEvaluatedKey", arena, &start, err)) {
            return false;
        }
    } while (!value_is_missing(start));
    return true;
}

bool control_query(const struct ddb_asking *asking, struct str prefix, struct control_list *out,
                   struct error *err)
{
    struct buffer found = {0};
    bool ok = !asking->store->home.stands || query_records(asking, prefix, &found, err);
    if (ok) {
        out->list = arena_alloc(asking->arena, found.len + 1);
        out->count = found.len / sizeof *out->list;
        memcpy(out->list, found.len > 0 ? found.bytes : "", found.len);
    }
    buffer_free(&found);
    return ok;
}

bool ddb_control_get(struct store_reader *base, struct str name, struct arena *arena,
                     struct str *out, struct error *err)
{
    const struct ddb_store *store = ddb_of(base->store);
    struct str sort = arena_format(arena, RECORD "%.*s", STR_ARG(name));
    if (!store->home.stands) {
        *out = (struct str){NULL, 0};
        return true;
    }
    struct ddb_asking asking = {store, ddb_reader_of(base)->client, arena};
    return read_record(&asking, sort, out, err);
}

bool ddb_control_list(struct store_reader *base, struct str prefix, struct arena *arena,
                      struct control_list *out, struct error *err)
{
    struct str sort = arena_format(arena, RECORD "%.*s", STR_ARG(prefix));
    size_t cut = sizeof RECORD - 1;
    struct ddb_asking asking = {ddb_of(base->store), ddb_reader_of(base)->client, arena};
    if (!control_query(&asking, sort, out, err)) {
        return false;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct str *name = &out->list[i].name;
        *name = (struct str){name->ptr + cut, name->len - cut};
    }
    return true;
}
