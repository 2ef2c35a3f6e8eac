#include "engine/store/dynamodb/ddb_flight_internal.h"

#include "engine/base/hash.h"
#include "engine/item/item.h"
#include "engine/store/dynamodb/ddb_internal.h"

#include <assert.h>
#include <string.h>

/* ---------------------------------------------------------------- what is refused beforehand */

static bool is_left_as_it_was(const struct key_schema *index, struct value before,
                              struct value after)
{
    return !value_is_missing(before) && key_attributes_equal(index, before, after);
}

bool flight_check_item(const struct table_desc *table, struct value before, struct value item,
                       struct error *err)
{
    struct key key;
    if (!item_check_limits(item, err) || !key_of_item(&table->keys, item, &key, err)) {
        return false;
    }
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index_desc *index = &table->indexes[i];
        bool present = false;
        if (!key_of_index(&index->keys, item, &key, &present, err) &&
            !is_left_as_it_was(&index->keys, before, item)) {
            return error_wrap(err, "index %.*s", STR_ARG(index->name));
        }
    }
    return true;
}

/* ---------------------------------------------------------------- outcomes */

void flight_end(struct flight *flight, enum outcome outcome)
{
    flight->phase = PHASE_DONE;
    flight->effect->outcome = outcome;
}

void flight_say_conflict(const struct ddb_store *store, struct flight *flight,
                         const struct key *key)
{
    struct str shown = key_print(&store->table.desc.keys, key, flight->arena);
    flight->effect->refusal =
        arena_format(flight->arena, "another item stands under %.*s", STR_ARG(shown)).ptr;
}

static void refuse(struct flight *flight, const char *why)
{
    flight->effect->refusal = arena_format(flight->arena, "%s", why).ptr;
    flight_end(flight, OUTCOME_REJECTED);
}

/* ---------------------------------------------------------------- steps */

static bool has_target(const struct step *step)
{
    return step->kind == WRITE_PUT || step->kind == WRITE_MOVE;
}

/* Two writes of one effect that want different items under one key: *same if it is one item. */
static bool is_taken_within(const struct flight *flight, const struct step *step, bool *same)
{
    *same = false;
    for (size_t i = 0; i < flight->count; i++) {
        const struct step *other = &flight->steps[i];
        if (has_target(other) && has_target(step) && key_equal(&other->target, &step->target)) {
            *same = value_equal(other->item, step->item);
            return !*same && !step->overwrite;
        }
    }
    return false;
}

/* What an overwriting move finds under its new key goes by a DELETE before it: on the server both
 * are one write, since a transaction takes one action an item. */
static void merge_delete(struct flight *flight, struct step *move)
{
    if (flight->count == 0 || move->kind != WRITE_MOVE || !move->overwrite) {
        return;
    }
    const struct step *last = &flight->steps[flight->count - 1];
    if (last->kind == WRITE_DELETE && key_equal(&last->key, &move->target)) {
        move->standing = last->before;
        move->undo_standing = last->undo;
        flight->count--;
    }
}

static struct step step_of(const struct write *write)
{
    struct step step = {.kind = write->kind,
                        .overwrite = write->overwrite,
                        .key = write->key,
                        .before = write->before,
                        .basis = write->basis,
                        .item = write->item,
                        .undo = write->undo};
    if (write->kind == WRITE_PUT && write->overwrite) {
        step.standing = write->before;
    }
    return step;
}

/* A move on a server without transactions: the new item is put, and then the old one deleted. */
static void divide_move(struct flight *flight)
{
    struct step *put = &flight->steps[flight->count - 1];
    struct step remove = {
        .kind = WRITE_DELETE, .of_move = true, .key = put->key, .before = put->before};
    put->kind = WRITE_PUT;
    flight->steps[flight->count++] = remove;
}

/* False where the effect ends with it. */
static bool add_step(struct ddb_store *store, struct flight *flight, const struct write *write)
{
    const struct table_desc *table = &store->table.desc;
    struct step step = step_of(write);
    struct error err;
    compose_know(&store->composer, write->before);
    bool same = false;
    if (write->kind != WRITE_DELETE &&
        (!flight_check_item(table, write->before, write->item, &err) ||
         !key_of_item(&table->keys, write->item, &step.target, &err))) {
        refuse(flight, err.text);
        return false;
    }
    if (step.kind == WRITE_MOVE && key_equal(&step.key, &step.target)) {
        step.kind = WRITE_UPDATE;
    }
    if (is_taken_within(flight, &step, &same)) {
        flight_say_conflict(store, flight, &step.target);
        flight_end(flight, OUTCOME_CONFLICT);
        return false;
    }
    merge_delete(flight, &step);
    if (same) {
        return true;
    }
    flight->steps[flight->count++] = step;
    if (step.kind == WRITE_MOVE && store->transactions == TRANSACTIONS_LACKING) {
        divide_move(flight);
    }
    return true;
}

void flight_begin(struct ddb_store *store, struct effect *effect, struct arena *arena,
                  struct arena *scratch, struct flight *out)
{
    *out = (struct flight){.effect = effect, .arena = arena, .phase = PHASE_WRITE};
    /* A move may become two steps. */
    out->steps = arena_alloc(scratch, (2 * effect->count + 1) * sizeof *out->steps);
    effect->outcome = OUTCOME_NONE;
    effect->refusal = NULL;
    for (size_t i = 0; i < effect->count; i++) {
        if (!add_step(store, out, &effect->writes[i])) {
            return;
        }
    }
    if (out->count == 0) {
        flight_end(out, OUTCOME_UNCHANGED);
    }
}

bool flight_is_half(const struct flight *flight, size_t at)
{
    return at + 1 < flight->count && flight->steps[at + 1].of_move;
}

static bool has_written(const struct step *step)
{
    return step->done || step->unsure;
}

bool flight_is_insert(const struct flight *flight)
{
    const struct step *step = &flight->steps[flight->at];
    return flight->phase == PHASE_WRITE && step->kind == WRITE_PUT &&
           value_is_missing(step->standing);
}

bool flight_has_written(const struct flight *flight, size_t at)
{
    const struct step *step = &flight->steps[at];
    return has_written(step) || (flight_is_half(flight, at) && has_written(step + 1));
}

/* ---------------------------------------------------------------- requests */

static uint64_t lane_of(const struct key *key)
{
    return hash_64((struct str){(const char *)key->parts[0].bytes, key->parts[0].len}) | 1;
}

static double units_of(struct value item)
{
    enum { UNIT_BYTES = 1024 };
    size_t units = item.len / UNIT_BYTES + 1;
    return (double)units;
}

/* Of a transaction's part, or of a request that asks for no more. */
static void finish_part(struct composer *composer, const char *operation, struct arena *scratch,
                        struct ddb_request *out)
{
    compose_expressions(composer);
    compose_text(composer, "ReturnValuesOnConditionCheckFailure", STR("ALL_OLD"));
    out->operation = operation;
    out->body = compose_end(composer, scratch);
}

/* What it takes is asked for: indexes count too, and an item may not have been read as a whole. */
static void finish(struct composer *composer, const char *operation, struct arena *scratch,
                   struct ddb_request *out)
{
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    finish_part(composer, operation, scratch, out);
}

/* An item put where `standing` stands, or nothing does. */
static void compose_put(struct ddb_store *store, struct value item, struct value standing,
                        bool loose)
{
    struct composer *composer = &store->composer;
    const struct key_schema *keys = &store->table.desc.keys;
    compose_begin(composer, store->target.table);
    compose_item(composer, "Item", item);
    if (value_is_missing(standing)) {
        compose_exists(composer, keys, false);
    } else {
        compose_unchanged(composer, keys, standing, loose);
    }
}

static void compose_delete(struct ddb_store *store, const struct key *key, struct value before,
                           bool loose)
{
    struct composer *composer = &store->composer;
    const struct key_schema *keys = &store->table.desc.keys;
    compose_begin(composer, store->target.table);
    compose_key(composer, "Key", keys, key);
    compose_unchanged(composer, keys, before, loose);
}

static void compose_move(struct ddb_store *store, const struct flight *flight,
                         const struct step *step, struct arena *scratch, struct ddb_request *out)
{
    struct ddb_request part;
    struct composer *composer = &store->composer;
    compose_put(store, step->item, step->standing, flight->loose);
    finish_part(composer, "Put", scratch, &part);
    struct str put = part.body;
    compose_delete(store, &step->key, step->before, flight->loose);
    finish_part(composer, "Delete", scratch, &part);
    compose_begin(composer, STR(""));
    compose_text(composer, "ReturnConsumedCapacity", STR("TOTAL"));
    compose_raw(composer, "TransactItems",
                arena_format(scratch, "[{\"Put\":%.*s},{\"Delete\":%.*s}]", STR_ARG(put),
                             STR_ARG(part.body)));
    out->operation = "TransactWriteItems";
    out->body = compose_end(composer, scratch);
    out->units = 2 * (units_of(step->item) + units_of(step->before));
}

static struct change change_of(const struct flight *flight, const struct step *step)
{
    return (struct change){step->before, step->item, step->basis, flight->loose};
}

static bool state_update(struct ddb_store *store, const struct flight *flight,
                         const struct step *step)
{
    const struct key_schema *keys = &store->table.desc.keys;
    struct change change = change_of(flight, step);
    change.basis.condition = NULL; /* in a statement, that what it reads is as it was */
    change.basis.count = change.basis.count_without;
    struct statement_place place = {store->target.table, keys, &step->key};
    compose_begin(&store->composer, store->target.table);
    return compose_change(&store->composer, keys, &change) &&
           statements_add(&store->statements, &store->composer, &place);
}

bool flight_state(struct ddb_store *store, const struct flight *flight, double *units)
{
    if (flight->phase != PHASE_WRITE || flight->alone || flight->loose) {
        return false;
    }
    const struct step *step = &flight->steps[flight->at];
    *units = units_of(step->item);
    if (step->kind == WRITE_UPDATE) {
        return store->updates == STATES_THERE && !store->compares_scalars_only &&
               state_update(store, flight, step);
    }
    return store->inserts == STATES_THERE && flight_is_insert(flight) &&
           statements_add_insert(&store->statements, store->target.table, step->item);
}

static void compose_write(struct ddb_store *store, struct flight *flight, struct arena *scratch,
                          struct ddb_request *out)
{
    struct composer *composer = &store->composer;
    const struct step *step = &flight->steps[flight->at];
    const struct key_schema *keys = &store->table.desc.keys;
    struct change change = change_of(flight, step);
    out->lane = lane_of(has_target(step) ? &step->target : &step->key);
    out->units = units_of(step->kind == WRITE_DELETE ? step->before : step->item);
    switch (step->kind) {
    case WRITE_PUT:
        compose_put(store, step->item, step->standing, flight->loose);
        finish(composer, "PutItem", scratch, out);
        break;
    case WRITE_DELETE:
        compose_delete(store, &step->key, step->before, flight->loose);
        if (step->of_move) {
            compose_text(composer, "ReturnValues", STR("ALL_OLD"));
        }
        finish(composer, "DeleteItem", scratch, out);
        break;
    case WRITE_MOVE:
        compose_move(store, flight, step, scratch, out);
        break;
    case WRITE_UPDATE:
        compose_begin(composer, store->target.table);
        compose_key(composer, "Key", keys, &step->key);
        if (!compose_change(composer, keys, &change)) {
            refuse(flight, "more attributes are read or change than one UpdateItem takes (4 KB of "
                           "expression)");
            return;
        }
        finish(composer, "UpdateItem", scratch, out);
        break;
    }
}

/* Takes away what the step put, unless somebody has changed it since. */
static void compose_back(struct ddb_store *store, const struct flight *flight,
                         struct arena *scratch, struct ddb_request *out)
{
    const struct step *step = &flight->steps[flight->at];
    out->lane = lane_of(&step->target);
    if (value_is_missing(step->standing)) {
        compose_delete(store, &step->target, step->item, flight->loose);
        finish(&store->composer, "DeleteItem", scratch, out);
    } else {
        compose_put(store, step->standing, step->item, flight->loose);
        finish(&store->composer, "PutItem", scratch, out);
    }
}

static void compose_addition(struct ddb_store *store, const struct flight *flight,
                             struct arena *scratch, struct ddb_request *out)
{
    const struct step *put = &flight->steps[flight->at - 1];
    struct composer *composer = &store->composer;
    const struct key_schema *keys = &store->table.desc.keys;
    compose_begin(composer, store->target.table);
    compose_key(composer, "Key", keys, &put->target);
    compose_addition_of(composer, keys, flight->found);
    out->lane = lane_of(&put->target);
    finish(composer, "UpdateItem", scratch, out);
}

static void compose_look(struct ddb_store *store, const struct key *key, struct arena *scratch,
                         struct ddb_request *out)
{
    struct composer *composer = &store->composer;
    compose_begin(composer, store->target.table);
    compose_raw(composer, "ConsistentRead", STR("true"));
    compose_key(composer, "Key", &store->table.desc.keys, key);
    out->operation = "GetItem";
    out->lane = lane_of(key);
    out->body = compose_end(composer, scratch);
}

void flight_compose(struct ddb_store *store, struct flight *flight, struct arena *scratch,
                    struct ddb_request *out)
{
    const struct step *step = &flight->steps[flight->at];
    *out = (struct ddb_request){.operation = NULL};
    flight->loose = flight->loose || store->compares_scalars_only;
    switch (flight->phase) {
    case PHASE_WRITE:
        compose_write(store, flight, scratch, out);
        break;
    case PHASE_LOOK_TARGET:
    case PHASE_LOOK_BACK:
        compose_look(store, &step->target, scratch, out);
        break;
    case PHASE_LOOK_SOURCE:
        compose_look(store, &step->key, scratch, out);
        break;
    case PHASE_BACK:
        compose_back(store, flight, scratch, out);
        break;
    case PHASE_ADD:
        compose_addition(store, flight, scratch, out);
        break;
    case PHASE_DONE:
        break;
    }
}
