#include "engine/store/dynamodb/ddb_internal.h"

/* What every lease record has, and what none has. */
#define TOKEN "refold_token"
#define MARK  "refold_tried"

/* Two updates of the lease's own record whose conditions do not hold: that something is, and that
 * something is missing. A server that takes statements but not their conditions would show here. */
enum { TRIES = 2 };

/* The lease's token as it never is, or missing as it never is; and the item with one attribute
 * more. */
static bool make_change(bool missing, struct arena *arena, struct change *out)
{
    static const struct str basis[] = {STR_INIT(TOKEN)};
    struct number zero = number_from_int(0);
    struct value value = value_from_number(arena, &zero);
    struct attribute before[] = {{STR(TOKEN), value}};
    struct attribute after[] = {{STR(MARK), value}, {STR(TOKEN), value}};
    struct error ignored;
    *out = (struct change){.basis = {NULL, basis, 1, 1}};
    return value_map(arena, before, missing ? 0 : 1, &out->before, &ignored) &&
           value_map(arena, after, missing ? 1 : 2, &out->after, &ignored);
}

static struct ddb_request request_of(struct ddb_store *store, struct arena *arena)
{
    return (struct ddb_request){.operation = "BatchExecuteStatement",
                                .body = statements_end(&store->statements, arena),
                                .is_probe = true};
}

static bool compose_try(struct ddb_store *store, bool missing, struct arena *arena,
                        struct ddb_request *out)
{
    const struct key_schema *keys = &store->home.keys;
    struct change change;
    struct key key;
    struct error ignored;
    if (!make_change(missing, arena, &change) ||
        !control_key(&store->home, STR("lease"), arena, &key, &ignored)) {
        return false;
    }
    compose_begin(&store->composer, store->home.table);
    if (!compose_change(&store->composer, keys, &change) ||
        !statements_add(&store->statements, &store->composer,
                        &(struct statement_place){store->home.table, keys, &key})) {
        return false;
    }
    *out = request_of(store, arena);
    return true;
}

static bool is_refused(const struct ddb_request *request, struct str code, struct arena *arena)
{
    const struct json *reply = NULL;
    struct error ignored;
    if (request->reply != DDB_OK || !answer_parse(request, arena, &reply, &ignored)) {
        return false;
    }
    const struct json *responses = answer_list(reply, "Responses");
    return responses->count == 1 && str_equal(statement_error(&responses->items[0]), code);
}

void statements_try_updates(struct ddb_store *store)
{
    struct arena *arena = arena_new();
    static const struct str refused = STR_INIT("ConditionalCheckFailed");
    struct ddb_request requests[TRIES];
    struct error ignored;
    struct ddb_asking asking = ddb_asking_of(store, arena);
    bool ok = compose_try(store, false, arena, &requests[0]) &&
              compose_try(store, true, arena, &requests[1]) &&
              answer_calls(&asking, requests, TRIES, &ignored) &&
              is_refused(&requests[0], refused, arena) && is_refused(&requests[1], refused, arena);
    store->updates = ok ? STATES_THERE : STATES_LACKING;
    arena_free(arena);
}

/* ---------------------------------------------------------------- new items */

/* The record with the mark too: a server that puts it all the same leaves a record as good. */
static bool compose_insert(struct ddb_store *store, struct value record, struct arena *arena,
                           struct ddb_request *out)
{
    struct attribute *members = arena_alloc(arena, (value_count(record) + 1) * sizeof *members);
    struct value_iter iter = value_members(record);
    struct error ignored;
    size_t count = 0;
    while (value_next(&iter, &members[count])) {
        count++;
    }
    members[count++] = (struct attribute){STR(MARK), control_number(0, arena)};
    struct value item;
    if (!value_map(arena, members, count, &item, &ignored) ||
        !statements_add_insert(&store->statements, store->home.table, item)) {
        return false;
    }
    *out = request_of(store, arena);
    return true;
}

void statements_try_inserts(struct ddb_store *store)
{
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct ddb_request request;
    struct value record = {NULL, 0};
    struct error ignored;
    bool ok = control_item(&asking, STR("lease"), &record, &ignored) && !value_is_missing(record) &&
              compose_insert(store, record, arena, &request) &&
              answer_calls(&asking, &request, 1, &ignored) &&
              is_refused(&request, STR("DuplicateItem"), arena) &&
              control_item(&asking, STR("lease"), &record, &ignored) && !value_is_missing(record) &&
              value_is_missing(value_member(record, STR(MARK)));
    store->inserts = ok ? STATES_THERE : STATES_LACKING;
    arena_free(arena);
}
