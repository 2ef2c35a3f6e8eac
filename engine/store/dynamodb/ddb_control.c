#include "engine/store/dynamodb/ddb_internal.h"

#include <inttypes.h>
#include <string.h>

#define PARTITION DDB_RESERVED "control"
#define VALUE     "refold_value"
#define TOKEN     "refold_token"
#define CLAIM     "refold_claim"
#define DRAWN     "refold_drawn"
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

struct value control_number(uint64_t n, struct arena *arena)
{
    struct number number = number_from_int((int64_t)n);
    return value_from_number(arena, &number);
}

static bool record_item(const struct ddb_store *store, const struct key *key,
                        const struct control *control, struct arena *arena, struct value *out)
{
    const struct key_schema *keys = &store->home.keys;
    struct attribute members[] = {
        {keys->partition[0].name, key->parts[0]},
        {keys->sort[0].name, key->parts[1]},
        {STR(VALUE), value_binary(arena, control->value)},
        {STR(TOKEN), control_number(lease_token(store), arena)},
        {STR(CLAIM), control_number(control->token, arena)},
    };
    size_t count = sizeof members / sizeof *members - (control->token == 0 ? 1 : 0);
    struct error ignored;
    return value_map(arena, members, count, out, &ignored);
}

/* That the record stands as expected. */
static void compose_expected(struct composer *composer, const struct ddb_store *store,
                             struct str expected, struct arena *arena)
{
    if (expected.ptr == NULL) {
        compose_exists(composer, &store->home.keys, false);
        return;
    }
    unsigned name = compose_name(composer, STR(VALUE));
    unsigned value = compose_value(composer, value_binary(arena, expected));
    buffer_format(&composer->condition, "#%u=:%u", name, value);
}

/* A later owner of the lease has written a greater token: its predecessor writes no more. What a
 * member owns by its own token, it alone writes. */
static void compose_fence(struct composer *composer, const struct ddb_store *store,
                          const struct control *control, struct arena *arena)
{
    if (control->conditional) {
        compose_expected(composer, store, control->expected, arena);
        return;
    }
    bool is_claimed = control->token != 0;
    uint64_t token = is_claimed ? control->token : lease_token(store);
    unsigned name = compose_name(composer, is_claimed ? STR(CLAIM) : STR(TOKEN));
    unsigned value = compose_value(composer, control_number(token, arena));
    if (is_claimed) {
        buffer_format(&composer->condition, "#%u=:%u", name, value);
    } else {
        buffer_format(&composer->condition, "(attribute_not_exists(#%u) OR #%u<=:%u)", name, name,
                      value);
    }
}

static bool compose_control(const struct ddb_store *store, const struct control *control,
                            struct arena *arena, struct ddb_request *out, struct error *err)
{
    struct composer own = {.name_count = 0};
    struct composer *composer = &own;
    struct key key;
    struct value item;
    if (!control_key(&store->home, control->name, arena, &key, err)) {
        return false;
    }
    compose_begin(composer, store->home.table);
    if (control->value.ptr == NULL) {
        compose_key(composer, "Key", &store->home.keys, &key);
    } else if (record_item(store, &key, control, arena, &item)) {
        compose_item(composer, "Item", item);
    }
    compose_fence(composer, store, control, arena);
    compose_expressions(composer);
    *out = (struct ddb_request){.operation = control->value.ptr == NULL ? "DeleteItem" : "PutItem",
                                .body = compose_end(composer, arena)};
    composer_free(composer);
    return true;
}

bool control_item(const struct ddb_asking *asking, struct str sort, struct value *out,
                  struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct arena *arena = asking->arena;
    struct composer composer = {.name_count = 0};
    struct key key;
    const struct json *reply = NULL;
    if (!control_key(&store->home, sort, arena, &key, err)) {
        return false;
    }
    compose_begin(&composer, store->home.table);
    compose_raw(&composer, "ConsistentRead", STR("true"));
    compose_key(&composer, "Key", &store->home.keys, &key);
    struct ddb_request request = {.operation = "GetItem", .body = compose_end(&composer, arena)};
    composer_free(&composer);
    return answer_calls(asking, &request, 1, err) &&
           answer_expect(store, &request, arena, &reply, err) &&
           answer_item(reply, "Item", arena, out, err);
}

static bool read_record(const struct ddb_asking *asking, struct str sort, struct str *out,
                        struct error *err)
{
    struct value item;
    if (!control_item(asking, sort, &item, err)) {
        return false;
    }
    struct value value = value_is_missing(item) ? item : value_member(item, STR(VALUE));
    *out = value_type(value) == VALUE_B ? value_bytes(value) : (struct str){NULL, 0};
    return true;
}

/* After a reply that was lost, the record may stand as we wrote it. */
static bool is_written(const struct ddb_asking *asking, const struct control *control,
                       bool *written, struct error *err)
{
    struct str standing = {NULL, 0};
    if (!read_record(asking, control->name, &standing, err)) {
        return false;
    }
    bool gone = control->value.ptr == NULL;
    *written = standing.ptr == NULL ? gone : !gone && str_equal(standing, control->value);
    return true;
}

static bool check_control(const struct ddb_asking *asking, const struct control *control,
                          const struct ddb_request *request, bool *written, struct error *err)
{
    *written = request->reply == DDB_OK;
    if (request->reply == DDB_OK) {
        return true;
    }
    if (request->reply == DDB_CONDITION) {
        return !request->unsure || is_written(asking, control, written, err);
    }
    (void)ddb_request_error(asking->store->account, request, err);
    err->code = ERROR_STORE;
    return false;
}

/* All at once; written[i] is false where a condition failed. */
static bool send_records(const struct ddb_asking *asking, const struct control *controls,
                         size_t count, bool *written, struct error *err)
{
    struct ddb_request *requests = arena_zero(asking->arena, (count + 1) * sizeof *requests);
    bool ok = lease_check(asking->store, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = compose_control(asking->store, &controls[i], asking->arena, &requests[i], err);
    }
    ok = ok && answer_calls(asking, requests, count, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = check_control(asking, &controls[i], &requests[i], &written[i], err);
    }
    return ok;
}

static bool expect_written(const struct ddb_store *store, const struct control *controls,
                           size_t count, const bool *written, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!written[i]) {
            return error_set(err, ERROR_BUSY,
                             "%.*s: control record %.*s was changed by another run",
                             STR_ARG(store->target.table), STR_ARG(controls[i].name));
        }
    }
    return true;
}

bool control_send(struct ddb_store *store, const struct control *controls, size_t count,
                  struct error *err)
{
    if (count == 0) {
        return true;
    }
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    bool *written = arena_zero(arena, count * sizeof *written);
    bool ok = home_make(store, err) && send_records(&asking, controls, count, written, err) &&
              expect_written(store, controls, count, written, err);
    arena_free(arena);
    return ok;
}

static bool compose_draw(const struct ddb_store *store, struct arena *arena, struct str *out,
                         struct error *err)
{
    struct composer composer = {.name_count = 0};
    struct key key;
    if (!control_key(&store->home, STR("drawn"), arena, &key, err)) {
        return false;
    }
    compose_begin(&composer, store->home.table);
    compose_key(&composer, "Key", &store->home.keys, &key);
    unsigned mark_name = compose_name(&composer, STR(VALUE));
    unsigned mark = compose_value(&composer, value_binary(arena, STR("drawn")));
    unsigned name = compose_name(&composer, STR(DRAWN));
    unsigned zero = compose_value(&composer, control_number(0, arena));
    unsigned one = compose_value(&composer, control_number(1, arena));
    buffer_format(&composer.set, "#%u=:%u,#%u=if_not_exists(#%u,:%u)+:%u", mark_name, mark, name,
                  name, zero, one);
    compose_expressions(&composer);
    compose_text(&composer, "ReturnValues", STR("UPDATED_NEW"));
    *out = compose_end(&composer, arena);
    composer_free(&composer);
    return true;
}

/* An attempt whose reply was lost has drawn a number that nobody gets. */
bool control_draw(struct ddb_store *store, uint64_t *out, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct ddb_request request = {.operation = "UpdateItem"};
    const struct json *reply = NULL;
    struct value drawn;
    int64_t n = 0;
    bool ok = home_make(store, err) && compose_draw(store, arena, &request.body, err) &&
              lease_check(store, err) && answer_calls(&asking, &request, 1, err) &&
              answer_expect(store, &request, arena, &reply, err) &&
              answer_item(reply, "Attributes", arena, &drawn, err);
    struct value value = ok ? value_member(drawn, STR(DRAWN)) : (struct value){NULL, 0};
    if (value_type(value) == VALUE_N) {
        struct number number = value_number(value);
        (void)number_to_int(&number, &n);
    }
    *out = (uint64_t)n;
    arena_free(arena);
    return ok && (n > 0 || error_set(err, ERROR_STORE, "the server's reply has no number"));
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

bool ddb_control_try(struct store_reader *base, const struct control *controls, size_t count,
                     bool *written, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_asking asking = {ddb_of(base->store), ddb_reader_of(base)->client, arena};
    struct control *records = arena_alloc(arena, (count + 1) * sizeof *records);
    for (size_t i = 0; i < count; i++) {
        records[i] = with_prefix(&controls[i], arena);
    }
    bool ok = send_records(&asking, records, count, written, err);
    arena_free(arena);
    return ok;
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
