#include "engine/store/dynamodb/ddb_cancelled_internal.h"
#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"

#include <assert.h>

/* Of one step; what changes faster than that is met again by the caller. */
enum { TRIES_MAX = 8 };

/* ---------------------------------------------------------------- going on */

static void next_step(struct flight *flight)
{
    flight->at++;
    flight->loose = false;
    flight->alone = false;
    flight->tries = 0;
    flight->phase = PHASE_WRITE;
    if (flight->at == flight->count) {
        flight_end(flight, flight->wrote ? OUTCOME_APPLIED : OUTCOME_UNCHANGED);
    }
}

static void step_done(struct flight *flight)
{
    flight->steps[flight->at].done = true;
    flight->wrote = true;
    next_step(flight);
}

/* What is wanted stands already: by an attempt whose reply was lost, or by another. */
static void step_stands(struct flight *flight)
{
    if (flight->steps[flight->at].unsure) {
        step_done(flight);
    } else {
        next_step(flight);
    }
}

void flight_take_back(struct flight *flight)
{
    while (flight->at > 0) {
        flight->at--;
        if (flight->steps[flight->at].done) {
            flight->phase = PHASE_BACK;
            flight->loose = false;
            flight->tries = 0;
            return;
        }
    }
    flight->phase = PHASE_DONE;
}

static void step_fails(struct flight *flight, enum outcome outcome)
{
    flight->effect->outcome = outcome;
    flight_take_back(flight);
}

static void conflict(const struct ddb_store *store, struct flight *flight)
{
    flight_say_conflict(store, flight, &flight->steps[flight->at].target);
    step_fails(flight, OUTCOME_CONFLICT);
}

static void try_again(struct flight *flight)
{
    flight->phase = PHASE_WRITE;
    if (++flight->tries > TRIES_MAX) {
        step_fails(flight, OUTCOME_STALE);
    }
}

/* The condition failed, yet the item is what it asks for: it was put back meanwhile, or the server
 * compares sets by their order. Only where the latter is told, less is asked for. */
static void try_loosely(struct flight *flight)
{
    if (flight->loose && flight->tries > TRIES_MAX / 2) {
        flight->effect->refusal = "the server refuses a condition that holds";
        step_fails(flight, OUTCOME_REJECTED);
        return;
    }
    flight->loose = flight->loose || (flight->told && flight->tries > 0);
    try_again(flight);
}

bool flight_is_to_delete(const struct flight *flight)
{
    return flight->phase == PHASE_WRITE && flight->at > 0 &&
           flight->steps[flight->at].kind == WRITE_DELETE;
}

/* ---------------------------------------------------------------- what a failed condition means */

/* Of a put or move: not what it asked for stands under its target. */
static void decide_place(const struct ddb_store *store, struct flight *flight, struct value found)
{
    const struct step *step = &flight->steps[flight->at];
    if (value_equal(found, step->standing)) {
        try_loosely(flight);
    } else if (step->overwrite || value_is_missing(found)) {
        step_fails(flight, OUTCOME_STALE);
    } else {
        conflict(store, flight);
    }
}

static void decide_put(const struct ddb_store *store, struct flight *flight, struct value found)
{
    const struct step *step = &flight->steps[flight->at];
    /* The undo log has to know what a move replaces: it is met again. */
    bool is_new = value_is_missing(step->standing) && !step->unsure;
    if (value_is_missing(found) || !value_equal(found, step->item)) {
        decide_place(store, flight, found);
    } else if (is_new && flight_is_half(flight, flight->at)) {
        step_fails(flight, OUTCOME_STALE);
    } else {
        step_stands(flight);
    }
}

/* Each attribute of `one` that is another in `other` is in `found` as in `wanted`. */
static bool differences_are(struct value one, struct value other, struct value found,
                            struct value wanted)
{
    struct value_iter iter = value_members(one);
    struct attribute at;
    while (value_next(&iter, &at)) {
        if (!value_equal(at.value, value_member(other, at.name)) &&
            !value_equal(value_member(found, at.name), value_member(wanted, at.name))) {
            return false;
        }
    }
    return true;
}

/* All attributes that the update changes are in `found` as in `wanted`. */
static bool changes_are(const struct step *step, struct value found, struct value wanted)
{
    return differences_are(step->before, step->item, found, wanted) &&
           differences_are(step->item, step->before, found, wanted);
}

/* And those that it was made from. */
static bool is_as(const struct step *step, struct value found, struct value wanted)
{
    if (step->basis.names == NULL) {
        return value_equal(found, wanted);
    }
    for (size_t i = 0; i < step->basis.count; i++) {
        struct str name = step->basis.names[i];
        if (!value_equal(value_member(found, name), value_member(wanted, name))) {
            return false;
        }
    }
    return changes_are(step, found, wanted);
}

/* Somebody may have changed what the update was made from since an attempt took effect unseen. */
static bool has_stood(const struct step *step, struct value found)
{
    bool parts = step->unsure && step->basis.names != NULL;
    return parts ? changes_are(step, found, step->item) : is_as(step, found, step->item);
}

/* What the condition asked for is so after all. */
static bool has_held(const struct flight *flight, const struct step *step, struct value found)
{
    const struct expr *condition = step->basis.condition;
    struct expr_scope scope = {.item = found};
    struct error none;
    bool holds = true;
    return is_as(step, found, step->before) &&
           (condition == NULL ||
            (expr_test(condition, &scope, flight->arena, &holds, &none) && holds));
}

static void decide_source(struct flight *flight, struct value found)
{
    const struct step *step = &flight->steps[flight->at];
    bool is_gone = value_is_missing(found);
    /* A source that somebody deletes takes along what was put for it. */
    bool stands = step->kind == WRITE_DELETE ? is_gone && (flight->at == 0 || step->unsure)
                                             : !is_gone && has_stood(step, found);
    if (stands) {
        step_stands(flight);
    } else if (!is_gone && has_held(flight, step, found)) {
        try_loosely(flight);
    } else {
        step_fails(flight, OUTCOME_STALE);
    }
}

/* `found` stands under the source, flight->found under the target. */
static void decide_move(const struct ddb_store *store, struct flight *flight, struct value found)
{
    struct step *step = &flight->steps[flight->at];
    bool has_come = !value_is_missing(flight->found) && value_equal(flight->found, step->item);
    bool has_changed = step->unsure && !value_is_missing(flight->found);
    if (value_is_missing(found) && (has_come || has_changed)) {
        step_stands(flight);
    } else if (value_is_missing(found) || !value_equal(found, step->before)) {
        step_fails(flight, OUTCOME_STALE);
    } else if (has_come && value_is_missing(step->standing)) {
        /* Somebody has put it beside the old one: no attempt took effect, and none will. */
        step->unsure = false;
        step_fails(flight, OUTCOME_STALE);
    } else {
        decide_place(store, flight, flight->found);
    }
}

static void decide(const struct ddb_store *store, struct flight *flight, struct value found)
{
    const struct step *step = &flight->steps[flight->at];
    if (step->kind == WRITE_PUT) {
        decide_put(store, flight, found);
    } else if (step->kind == WRITE_MOVE) {
        decide_move(store, flight, found);
    } else {
        decide_source(flight, found);
    }
}

/* ---------------------------------------------------------------- replies */

/* With the item that stands, where the server tells it; else it is read. */
static bool take_condition(const struct ddb_store *store, struct flight *flight,
                           const struct ddb_request *request, struct arena *scratch,
                           struct error *err)
{
    const struct json *reply = NULL;
    struct value found;
    if (!answer_parse(request, scratch, &reply, err) ||
        !answer_item(reply, "Item", scratch, &found, err)) {
        return false;
    }
    flight->told = true; /* a server that does not tell the item tells that it was a condition */
    if (!value_is_missing(found)) {
        decide(store, flight, found);
        return true;
    }
    bool is_put = flight->steps[flight->at].kind == WRITE_PUT;
    flight->phase = is_put ? PHASE_LOOK_TARGET : PHASE_LOOK_SOURCE;
    return true;
}

static bool take_error(struct ddb_store *store, struct flight *flight,
                       const struct ddb_request *request, struct error *err)
{
    struct error refusal = {0};
    (void)ddb_request_error(store->account, request, &refusal);
    if (refusal.code != ERROR_ITEM && refusal.code != ERROR_LIMIT) {
        *err = refusal;
        return false;
    }
    flight->effect->refusal = arena_format(flight->arena, "%s", refusal.text).ptr;
    step_fails(flight, OUTCOME_REJECTED);
    return true;
}

/* Whether one of the transaction's conditions failed on just the item that it asks for. */
static bool tell_as_expected(struct flight *flight, const struct json *reasons,
                             struct arena *scratch, struct error *err)
{
    const struct step *step = &flight->steps[flight->at];
    struct value target;
    struct value source;
    if (!cancelled_item(reasons, 0, scratch, &target, err) ||
        !cancelled_item(reasons, 1, scratch, &source, err)) {
        return false;
    }
    flight->told = (!value_is_missing(target) && value_equal(target, step->standing)) ||
                   (!value_is_missing(source) && value_equal(source, step->before));
    return true;
}

static bool take_cancelled(struct ddb_store *store, struct flight *flight,
                           const struct ddb_request *request, struct arena *scratch,
                           struct error *err)
{
    const struct json *reply = NULL;
    if (!answer_parse(request, scratch, &reply, err)) {
        return false;
    }
    const struct json *reasons = answer_list(reply, "CancellationReasons");
    if (!cancelled_by_condition(reasons)) {
        struct ddb_request one = *request;
        cancelled_as_error(reasons, &one);
        return take_error(store, flight, &one, err);
    }
    flight->phase = PHASE_LOOK_TARGET;
    return tell_as_expected(flight, reasons, scratch, err);
}

/* Attributes of `found` that `before` has not. */
static struct value added_to(struct value before, struct value found, struct arena *arena)
{
    struct attribute *added = arena_alloc(arena, (value_count(found) + 1) * sizeof *added);
    size_t count = 0;
    struct value_iter iter = value_members(found);
    struct attribute at;
    while (value_next(&iter, &at)) {
        if (value_is_missing(value_member(before, at.name))) {
            added[count++] = at;
        }
    }
    struct value map = {NULL, 0};
    struct error ignored;
    bool ok = count == 0 || value_map(arena, added, count, &map, &ignored);
    assert(ok); /* names of a map are each there once */
    (void)ok;
    return map;
}

/* The condition of the second half of a move could not ask for names that nobody knew. */
static bool take_deleted(struct flight *flight, const struct ddb_request *request,
                         struct arena *scratch, struct error *err)
{
    const struct step *step = &flight->steps[flight->at];
    const struct json *reply = NULL;
    struct value found;
    if (!answer_parse(request, scratch, &reply, err) ||
        !answer_item(reply, "Attributes", scratch, &found, err)) {
        return false;
    }
    flight->found = value_is_missing(found) ? found : added_to(step->before, found, scratch);
    if (value_is_missing(flight->found)) {
        step_done(flight);
    } else {
        flight->phase = PHASE_ADD;
    }
    return true;
}

static bool take_write(struct ddb_store *store, struct flight *flight,
                       const struct ddb_request *request, struct arena *scratch, struct error *err)
{
    store->compares_scalars_only =
        store->compares_scalars_only || (flight->loose && request->reply == DDB_OK);
    flight->steps[flight->at].unsure |= request->unsure;
    switch (request->reply) {
    case DDB_OK:
        if (flight->steps[flight->at].of_move) {
            return take_deleted(flight, request, scratch, err);
        }
        step_done(flight);
        return true;
    case DDB_CONDITION:
        return take_condition(store, flight, request, scratch, err);
    case DDB_CANCELLED:
        return take_cancelled(store, flight, request, scratch, err);
    case DDB_ERROR:
        return take_error(store, flight, request, err);
    case DDB_NONE:
        break;
    }
    return error_set(err, ERROR_STORE, "no reply");
}

/* ---------------------------------------------------------------- the way back */

static void went_back(struct flight *flight)
{
    struct step *step = &flight->steps[flight->at];
    step->done = step->unsure = false;
    flight_take_back(flight);
}

/* `found` stands where something was to be taken back. */
static bool decide_back(const struct ddb_store *store, struct flight *flight, struct value found,
                        struct arena *scratch, struct error *err)
{
    const struct step *step = &flight->steps[flight->at];
    if (!value_is_missing(found) && value_equal(found, step->item)) {
        flight->loose = true;
        flight->phase = PHASE_BACK;
        return ++flight->tries <= TRIES_MAX ||
               error_set(err, ERROR_STORE, "the server refuses a condition that holds");
    }
    if (!value_is_missing(found) && !value_equal(found, step->standing)) {
        struct str shown = key_print(&store->table.desc.keys, &step->target, scratch);
        ddb_say(store, arena_format(scratch,
                                    "%.*s was put for an item that has changed, and has been "
                                    "changed since: it is left",
                                    STR_ARG(shown))
                           .ptr);
    }
    went_back(flight);
    return true;
}

static bool take_back(const struct ddb_store *store, struct flight *flight,
                      const struct ddb_request *request, struct arena *scratch, struct error *err)
{
    const struct json *reply = NULL;
    struct value found;
    if (request->reply == DDB_OK) {
        went_back(flight);
        return true;
    }
    if (request->reply != DDB_CONDITION) {
        return ddb_request_error(store->account, request, err);
    }
    if (!answer_parse(request, scratch, &reply, err) ||
        !answer_item(reply, "Item", scratch, &found, err)) {
        return false;
    }
    if (!value_is_missing(found)) {
        return decide_back(store, flight, found, scratch, err);
    }
    flight->phase = PHASE_LOOK_BACK;
    return true;
}

static bool take_addition(const struct ddb_store *store, struct flight *flight,
                          const struct ddb_request *request, struct error *err)
{
    if (request->reply == DDB_OK || request->reply == DDB_CONDITION) {
        step_done(flight);
        return true;
    }
    return ddb_request_error(store->account, request, err);
}

/* ---------------------------------------------------------------- looks */

static bool take_look(struct ddb_store *store, struct flight *flight,
                      const struct ddb_request *request, struct arena *scratch, struct error *err)
{
    const struct json *reply = NULL;
    struct value found;
    if (!answer_expect(store, request, scratch, &reply, err) ||
        !answer_item(reply, "Item", scratch, &found, err)) {
        return false;
    }
    if (flight->phase == PHASE_LOOK_BACK) {
        return decide_back(store, flight, found, scratch, err);
    }
    bool is_move = flight->steps[flight->at].kind == WRITE_MOVE;
    if (flight->phase == PHASE_LOOK_TARGET && is_move) {
        flight->found = found;
        flight->phase = PHASE_LOOK_SOURCE;
        return true;
    }
    decide(store, flight, found);
    return true;
}

bool flight_answer(struct ddb_store *store, struct flight *flight,
                   const struct ddb_request *request, struct arena *scratch, struct error *err)
{
    switch (flight->phase) {
    case PHASE_WRITE:
        return take_write(store, flight, request, scratch, err);
    case PHASE_LOOK_TARGET:
    case PHASE_LOOK_SOURCE:
    case PHASE_LOOK_BACK:
        return take_look(store, flight, request, scratch, err);
    case PHASE_BACK:
        return take_back(store, flight, request, scratch, err);
    case PHASE_ADD:
        return take_addition(store, flight, request, err);
    case PHASE_DONE:
        break;
    }
    return true;
}
