#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"

#include <assert.h>

/* Amazon DynamoDB API Reference, BatchWriteItem: at most 25 actions. */
enum { BATCH_ACTIONS = 25, UNIT_BYTES = 1024 };

struct bulk {
    struct ddb_store *store;
    struct value *left; /* items that are not done */
    size_t left_count;
    size_t sent;         /* in the round at hand: no more of it can be left */
    struct arena *arena; /* of `left` */
    struct arena *scratch;
};

static void write_action(struct value item, struct buffer *out)
{
    buffer_add(out, STR("{\"PutRequest\":{\"Item\":"));
    compose_write_item(out, item);
    buffer_add(out, STR("}}"));
}

/* As many as `most` of those that are left. */
static struct ddb_request compose_batch(struct bulk *bulk, size_t first, size_t most,
                                        struct buffer *actions)
{
    struct composer *composer = &bulk->store->composer;
    size_t bytes = 0;
    actions->len = 0;
    buffer_add_char(actions, '{');
    json_write_string(actions, bulk->store->target.table);
    buffer_add(actions, STR(":["));
    for (size_t i = first; i < bulk->left_count && i < first + most; i++) {
        if (i > first) {
            buffer_add_char(actions, ',');
        }
        write_action(bulk->left[i], actions);
        bytes += bulk->left[i].len;
    }
    buffer_add(actions, STR("]}"));
    compose_begin(composer, STR(""));
    compose_raw(composer, "RequestItems", buffer_str(actions));
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    size_t units = bytes / UNIT_BYTES + most;
    return (struct ddb_request){.operation = "BatchWriteItem",
                                .body = compose_end(composer, bulk->scratch),
                                .units = (double)units,
                                .parts = (unsigned)most};
}

/* {"PutRequest": {"Item": …}}. */
static bool take_action(struct bulk *bulk, const struct json *action, struct error *err)
{
    if (bulk->left_count == bulk->sent) {
        return error_set(err, ERROR_STORE, "the server's UnprocessedItems are more than were sent");
    }
    bool has_one =
        action->kind == JSON_OBJECT && action->count == 1 && action->items[0].kind == JSON_OBJECT;
    struct value item = {NULL, 0};
    if (has_one && !answer_item(&action->items[0], "Item", bulk->arena, &item, err)) {
        return false;
    }
    bulk->left[bulk->left_count++] = item;
    return !value_is_missing(item) ||
           error_set(err, ERROR_STORE, "the server's UnprocessedItems make no sense");
}

/* What the server did not get to is sent again, and nothing else. */
static bool take_unprocessed(struct bulk *bulk, const struct json *reply, struct error *err)
{
    const struct json *object = json_member(reply, "UnprocessedItems");
    if (object == NULL || object->kind != JSON_OBJECT || object->count == 0) {
        return true;
    }
    const struct json *list = &object->items[0];
    for (size_t i = 0; list->kind == JSON_ARRAY && i < list->count; i++) {
        if (!take_action(bulk, &list->items[i], err)) {
            return false;
        }
    }
    return true;
}

static bool run_round(struct bulk *bulk, struct error *err)
{
    struct buffer actions = {0};
    size_t most = ddb_parts(bulk->store->client, "BatchWriteItem", BATCH_ACTIONS);
    size_t batches = (bulk->left_count + most - 1) / most;
    struct ddb_request *requests = arena_zero(bulk->scratch, batches * sizeof *requests);
    for (size_t i = 0; i < batches; i++) {
        requests[i] = compose_batch(bulk, i * most, most, &actions);
    }
    buffer_free(&actions);
    bulk->sent = bulk->left_count;
    bulk->left_count = 0;
    struct ddb_asking asking = ddb_asking_of(bulk->store, bulk->scratch);
    bool ok = lease_check(bulk->store, err) && answer_calls(&asking, requests, batches, err);
    for (size_t i = 0; ok && i < batches; i++) {
        const struct json *reply = NULL;
        ok = answer_expect(bulk->store, &requests[i], bulk->scratch, &reply, err) &&
             take_unprocessed(bulk, reply, err);
    }
    return ok;
}

static bool put_all(struct bulk *bulk, struct error *err)
{
    struct ddb_asking asking = ddb_asking_of(bulk->store, bulk->scratch);
    bool ok = true;
    for (unsigned stalled = 0; ok && bulk->left_count > 0;) {
        size_t before = bulk->left_count;
        ok = run_round(bulk, err);
        stalled = bulk->left_count == before ? stalled + 1 : 1;
        if (ok && bulk->left_count > 0) {
            ok = answer_pause(
                &asking, &(struct ddb_unprocessed){"BatchWriteItem", bulk->left_count, stalled},
                err);
        }
        arena_reset(bulk->scratch);
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
        bulk->left[bulk->left_count++] = item;
    } else {
        effect->outcome = OUTCOME_REJECTED;
        effect->refusal = arena_format(refusals, "%s", err.text).ptr;
    }
}

bool bulk_commit(struct ddb_store *store, struct batch *batch, struct error *err)
{
    struct bulk bulk = {.store = store, .arena = arena_new(), .scratch = arena_new()};
    bulk.left = arena_alloc(bulk.arena, (batch->count + 1) * sizeof *bulk.left);
    for (size_t i = 0; i < batch->count; i++) {
        take_effect(&bulk, &batch->effects[i], batch->arena);
    }
    bool ok = put_all(&bulk, err);
    arena_free(bulk.scratch);
    arena_free(bulk.arena);
    return ok;
}
