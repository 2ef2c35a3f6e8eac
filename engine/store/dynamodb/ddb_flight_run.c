#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_outbox_internal.h"

/* The flights that a parcel serves. */
struct load {
    struct flight **flights;
    size_t count;
    bool states; /* their writes are statements of one request */
};

/* Flights that have something to send form a ring. */
struct run {
    struct ddb_store *store;
    struct arena *arena;
    struct flight **ready;
    size_t capacity;
    size_t first;
    size_t ready_count;
    struct outbox outbox;
    bool may_delete; /* it is durable that items may be deleted after what was put for them */
};

static void push(struct run *run, struct flight *flight)
{
    bool rests = flight->phase == PHASE_DONE || (!run->may_delete && flight_is_to_delete(flight));
    if (!rests) {
        run->ready[(run->first + run->ready_count++) % run->capacity] = flight;
    }
}

static struct flight *pop(struct run *run)
{
    struct flight *flight = run->ready[run->first];
    run->first = (run->first + 1) % run->capacity;
    run->ready_count--;
    return flight;
}

/* ---------------------------------------------------------------- what is sent */

static struct parcel *new_parcel(struct run *run, size_t most)
{
    struct parcel *parcel = outbox_new(&run->outbox);
    struct load *load = arena_zero(parcel->arena, sizeof *load);
    load->flights = arena_alloc(parcel->arena, most * sizeof(struct flight *));
    parcel->load = load;
    return parcel;
}

/* A request of its own for a flight; NULL: it turned out to be done. */
static struct parcel *send_alone(struct run *run, struct flight *flight)
{
    struct parcel *parcel = new_parcel(run, 1);
    struct load *load = parcel->load;
    load->flights[load->count++] = flight;
    flight_compose(run->store, flight, parcel->arena, &parcel->request);
    if (parcel->request.operation == NULL) {
        outbox_drop(&run->outbox, parcel);
        return NULL;
    }
    return parcel;
}

/* As many as go into one request, of those that are next; NULL: the next flight is none of them. */
static struct parcel *send_statements(struct run *run)
{
    struct statements *statements = &run->store->statements;
    struct parcel *parcel = NULL;
    struct load *load = NULL;
    size_t most = ddb_parts(run->store->client, "BatchExecuteStatement", STATEMENTS_MAX);
    while (run->ready_count > 0 && statements->count < most &&
           statements->body.len < REQUEST_BYTES) {
        struct flight *flight = run->ready[run->first];
        double units = 0;
        if (!flight_state(run->store, flight, &units)) {
            break;
        }
        if (parcel == NULL) {
            parcel = new_parcel(run, STATEMENTS_MAX);
            load = parcel->load;
            load->states = true;
        }
        load->flights[load->count++] = pop(run);
        parcel->request.units += units;
        parcel->request.parts++;
    }
    if (parcel != NULL) {
        parcel->request.operation = "BatchExecuteStatement";
        parcel->request.body = statements_end(statements, parcel->arena);
    }
    return parcel;
}

static bool next(void *context, struct ddb_request **out, struct error *err)
{
    struct run *run = context;
    if (!lease_check(run->store, err)) {
        return false;
    }
    *out = NULL;
    if (outbox_is_full(&run->outbox)) {
        return true;
    }
    struct parcel *parcel = send_statements(run);
    while (parcel == NULL && run->ready_count > 0) {
        parcel = send_alone(run, pop(run));
    }
    if (parcel != NULL) {
        outbox_count(&run->outbox, parcel);
        *out = &parcel->request;
    }
    return true;
}

/* ---------------------------------------------------------------- what comes back */

static bool is_throttled(struct str code)
{
    return str_equal(code, STR("ThrottlingError")) ||
           str_equal(code, STR("RequestLimitExceeded")) ||
           str_equal(code, STR("ProvisionedThroughputExceeded"));
}

/* What is not done goes once more, if at all, in a request of its own: there it is tried again, or
 * the reason is told. */
static bool take_response(struct run *run, struct flight *flight, const struct ddb_request *request,
                          struct str code, struct error *err)
{
    struct ddb_request one = {.operation = flight_is_insert(flight) ? "PutItem" : "UpdateItem",
                              .content = STR("{}"),
                              .unsure = request->unsure};
    flight->alone = code.len > 0;
    if (code.len == 0) {
        one.reply = DDB_OK;
    } else if (str_equal(code, STR("ConditionalCheckFailed")) ||
               str_equal(code, STR("DuplicateItem"))) {
        one.reply = DDB_CONDITION;
    } else {
        flight->steps[flight->at].unsure |=
            request->unsure || str_equal(code, STR("InternalServerError"));
        return true;
    }
    return flight_answer(run->store, flight, &one, run->arena, err);
}

static bool take_responses(struct run *run, const struct parcel *parcel, struct error *err)
{
    const struct ddb_request *request = &parcel->request;
    const struct load *load = parcel->load;
    const struct json *reply = NULL;
    if (request->reply != DDB_OK) {
        run->store->updates = run->store->inserts = STATES_LACKING;
        for (size_t i = 0; i < load->count; i++) {
            struct flight *flight = load->flights[i];
            flight->steps[flight->at].unsure |= request->unsure;
        }
        return true;
    }
    if (!answer_parse(request, parcel->arena, &reply, err)) {
        return false;
    }
    const struct json *responses = answer_list(reply, "Responses");
    if (responses->count != load->count) {
        return error_set(err, ERROR_STORE, "the server's reply: not one response a statement");
    }
    size_t throttled = 0;
    for (size_t i = 0; i < load->count; i++) {
        struct str code = statement_error(&responses->items[i]);
        throttled += is_throttled(code);
        if (!take_response(run, load->flights[i], request, code, err)) {
            return false;
        }
    }
    if (throttled > 0) {
        ddb_parts_throttled(run->store->client, "BatchExecuteStatement", throttled);
    }
    return true;
}

static bool done(void *context, struct ddb_request *request, struct error *err)
{
    struct run *run = context;
    struct parcel *parcel = outbox_parcel_of(request);
    const struct load *load = parcel->load;
    if (request->reply == DDB_NONE) {
        return false; /* and that is the error */
    }
    bool ok = load->states ? take_responses(run, parcel, err)
                           : flight_answer(run->store, load->flights[0], request, run->arena, err);
    for (size_t i = 0; ok && i < load->count; i++) {
        push(run, load->flights[i]);
    }
    outbox_drop(&run->outbox, parcel);
    return ok;
}

/* Updates are worth a try where there is more than one; new items, whose try takes three requests,
 * where they fill one. */
enum { UPDATES_WORTH = 2, INSERTS_WORTH = STATEMENTS_MAX };

static bool is_update(const struct flight *flight)
{
    return flight->steps[flight->at].kind == WRITE_UPDATE;
}

static bool has(const struct run *run, bool (*is_such)(const struct flight *flight), size_t wanted)
{
    size_t count = 0;
    for (size_t i = 0; i < run->ready_count && count < wanted; i++) {
        count += is_such(run->ready[i]);
    }
    return count == wanted;
}

static void try_statements(const struct run *run)
{
    struct ddb_store *store = run->store;
    if (store->lease == NULL) {
        return;
    }
    if (store->updates == STATES_UNKNOWN && has(run, is_update, UPDATES_WORTH)) {
        statements_try_updates(store);
    }
    if (store->inserts == STATES_UNKNOWN && has(run, flight_is_insert, INSERTS_WORTH)) {
        statements_try_inserts(store);
    }
}

/* To where each flight is done, or is to delete and may not. */
static bool send_all(struct run *run, struct flight *flights, size_t count, struct error *err)
{
    struct ddb_store *store = run->store;
    struct ddb_asking asking = ddb_asking_of(store, run->arena);
    struct ddb_flow flow = {.context = run, .next = next, .done = done};
    run->first = run->ready_count = 0;
    for (size_t i = 0; i < count; i++) {
        push(run, &flights[i]);
    }
    try_statements(run);
    bool ok = run->ready_count == 0 || answer_flow(&asking, &flow, err);
    outbox_close(&run->outbox);
    return ok;
}

static bool all_done(const struct flight *flights, size_t count)
{
    size_t i = 0;
    while (i < count && flights[i].phase == PHASE_DONE) {
        i++;
    }
    return i == count;
}

bool flights_run(struct ddb_store *store, struct flight *flights, size_t count, struct arena *arena,
                 struct error *err)
{
    struct run run = {.store = store, .arena = arena, .capacity = count + 1};
    run.ready = arena_alloc(arena, run.capacity * sizeof *run.ready);
    if (!send_all(&run, flights, count, err)) {
        return false;
    }
    if (all_done(flights, count)) {
        return true;
    }
    /* Only deletes are left: from here on nothing tells ours from another's. */
    run.may_delete = true;
    return intent_write(store, flights, count, INTENT_OWN, err) &&
           send_all(&run, flights, count, err);
}
