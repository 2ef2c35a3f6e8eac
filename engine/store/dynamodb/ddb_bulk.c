#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_outbox_internal.h"

#include <assert.h>

/* Amazon DynamoDB API Reference, BatchWriteItem: at most 25 actions. */
enum { BATCH_ACTIONS = 25, UNIT_BYTES = 1024 };

struct bulk {
    struct ddb_store *store;
    struct value *items; /* of the round at hand */
    size_t count;
    size_t sent;         /* of them */
    struct value *again; /* what of them the server did not get to */
    size_t again_count;
    struct outbox outbox;
    struct buffer actions;
    struct arena *arena;   /* of what is sent again */
    struct arena *scratch; /* of the round's replies */
};

static void write_action(struct value item, struct buffer *out)
{
    buffer_add(out, STR("{\"PutRequest\":{\"Item\":"));
    compose_write_item(out, item);
    buffer_add(out, STR("}}"));
}

/* Adds the next items, as many as go into one request; returns how many. */
static unsigned add_actions(struct bulk *bulk, size_t *bytes)
{
    struct buffer *actions = &bulk->actions;
    size_t most = ddb_parts(bulk->store->client, "BatchWriteItem", BATCH_ACTIONS);
    unsigned count = 0;
    while (bulk->sent < bulk->count && count < most && actions->len < REQUEST_BYTES) {
        struct value item = bulk->items[bulk->sent++];
        if (count++ > 0) {
            buffer_add_char(actions, ',');
        }
        write_action(item, actions);
        *bytes += item.len;
    }
    return count;
}

static void compose_batch(struct bulk *bulk, struct parcel *parcel)
{
    struct composer *composer = &bulk->store->composer;
    struct buffer *actions = &bulk->actions;
    size_t bytes = 0;
    actions->len = 0;
    buffer_add_char(actions, '{');
    json_write_string(actions, bulk->store->target.table);
    buffer_add(actions, STR(":["));
    unsigned count = add_actions(bulk, &bytes);
    buffer_add(actions, STR("]}"));
    compose_begin(composer, STR(""));
    compose_raw(composer, "RequestItems", buffer_str(actions));
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    size_t units = bytes / UNIT_BYTES + count;
    parcel->request = (struct ddb_request){.operation = "BatchWriteItem",
                                           .body = compose_end(composer, parcel->arena),
                                           .units = (double)units,
                                           .parts = count};
}

static bool next(void *context, struct ddb_request **out, struct error *err)
{
    struct bulk *bulk = context;
    *out = NULL;
    if (!lease_check(bulk->store, err)) {
        return false;
    }
    if (bulk->sent < bulk->count && !outbox_is_full(&bulk->outbox)) {
        struct parcel *parcel = outbox_new(&bulk->outbox);
        compose_batch(bulk, parcel);
        outbox_count(&bulk->outbox, parcel);
        *out = &parcel->request;
    }
    return true;
}

/* {"PutRequest": {"Item": …}}. */
static bool take_action(struct bulk *bulk, const struct json *action, struct error *err)
{
    bool has_one =
        action->kind == JSON_OBJECT && action->count == 1 && action->items[0].kind == JSON_OBJECT;
    struct value item = {NULL, 0};
    if (has_one && !answer_item(&action->items[0], "Item", bulk->arena, &item, err)) {
        return false;
    }
    bulk->again[bulk->again_count++] = item;
    return !value_is_missing(item) ||
           error_set(err, ERROR_STORE, "the server's UnprocessedItems make no sense");
}

/* What the server did not get to is sent again, and nothing else. */
static bool take_unprocessed(struct bulk *bulk, const struct json *reply, size_t sent,
                             struct error *err)
{
    const struct json *object = json_member(reply, "UnprocessedItems");
    if (object == NULL || object->kind != JSON_OBJECT || object->count == 0) {
        return true;
    }
    const struct json *list = &object->items[0];
    if (list->kind == JSON_ARRAY && list->count > sent) {
        return error_set(err, ERROR_STORE, "the server's UnprocessedItems are more than were sent");
    }
    for (size_t i = 0; list->kind == JSON_ARRAY && i < list->count; i++) {
        if (!take_action(bulk, &list->items[i], err)) {
            return false;
        }
    }
    return true;
}

static bool done(void *context, struct ddb_request *request, struct error *err)
{
    struct bulk *bulk = context;
    struct parcel *parcel = outbox_parcel_of(request);
    const struct json *reply = NULL;
    if (request->reply == DDB_NONE) {
        return false; /* and that is the error */
    }
    bool ok = answer_expect(bulk->store, request, parcel->arena, &reply, err) &&
              take_unprocessed(bulk, reply, request->parts, err);
    outbox_drop(&bulk->outbox, parcel);
    return ok;
}

static bool run_round(struct bulk *bulk, struct error *err)
{
    struct ddb_asking asking = ddb_asking_of(bulk->store, bulk->scratch);
    struct ddb_flow flow = {.context = bulk, .next = next, .done = done};
    bulk->sent = bulk->again_count = 0;
    bool ok = answer_flow(&asking, &flow, err);
    outbox_close(&bulk->outbox);
    arena_reset(bulk->scratch);
    return ok;
}

static bool put_all(struct bulk *bulk, struct error *err)
{
    struct ddb_asking asking = ddb_asking_of(bulk->store, bulk->scratch);
    bool ok = true;
    for (unsigned stalled = 0; ok && bulk->count > 0;) {
        ok = run_round(bulk, err);
        stalled = bulk->again_count == bulk->count ? stalled + 1 : 1;
        struct value *items = bulk->again;
        bulk->again = bulk->items;
        bulk->items = items;
        bulk->count = bulk->again_count;
        if (ok && bulk->count > 0) {
            ok = answer_pause(
                &asking, &(struct ddb_unprocessed){"BatchWriteItem", bulk->count, stalled}, err);
        }
    }
    return ok;
}

/* What DynamoDB would refuse is not sent, as it would refuse the request. */
static void take_effect(struct bulk *bulk, struct effect *effect, struct arena *refusals)
{
    struct value none = {NULL, 0};
    struct value item = effect->writes[0].item;
    struct error err;
    assert(effect->count == 1 && effect->writes[0].kind == WRITE_PUT);
    effect->outcome = OUTCOME_APPLIED;
    if (flight_check_item(&bulk->store->table.desc, none, item, &err)) {
        bulk->items[bulk->count++] = item;
    } else {
        effect->outcome = OUTCOME_REJECTED;
        effect->refusal = arena_format(refusals, "%s", err.text).ptr;
    }
}

bool bulk_commit(struct ddb_store *store, struct batch *batch, struct error *err)
{
    struct bulk bulk = {.store = store, .arena = arena_new(), .scratch = arena_new()};
    bulk.items = arena_alloc(bulk.arena, (batch->count + 1) * sizeof *bulk.items);
    bulk.again = arena_alloc(bulk.arena, (batch->count + 1) * sizeof *bulk.again);
    for (size_t i = 0; i < batch->count; i++) {
        take_effect(&bulk, &batch->effects[i], batch->arena);
    }
    bool ok = put_all(&bulk, err);
    buffer_free(&bulk.actions);
    arena_free(bulk.scratch);
    arena_free(bulk.arena);
    return ok;
}
