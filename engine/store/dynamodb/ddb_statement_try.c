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
    *out = (struct ddb_request){.operation = "BatchExecuteStatement",
                                .body = statements_end(&store->statements, arena),
                                .is_probe = true};
    return true;
}

static bool is_refused(const struct ddb_request *request, struct arena *arena)
{
    const struct json *reply = NULL;
    struct error ignored;
    if (request->reply != DDB_OK || !answer_parse(request, arena, &reply, &ignored)) {
        return false;
    }
    const struct json *responses = answer_list(reply, "Responses");
    return responses->count == 1 &&
           str_equal(statement_error(&responses->items[0]), STR("ConditionalCheckFailed"));
}

void statements_try(struct ddb_store *store)
{
    struct arena *arena = arena_new();
    struct ddb_request requests[TRIES];
    struct error ignored;
    struct ddb_asking asking = ddb_asking_of(store, arena);
    bool ok = compose_try(store, false, arena, &requests[0]) &&
              compose_try(store, true, arena, &requests[1]) &&
              answer_calls(&asking, requests, TRIES, &ignored) && is_refused(&requests[0], arena) &&
              is_refused(&requests[1], arena);
    store->states = ok ? STATES_THERE : STATES_LACKING;
    arena_free(arena);
}
