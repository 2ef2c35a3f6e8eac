#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/undo/undo.h"

#include <string.h>

/* Effects that touch no key in common: they are under way all at once. */
struct wave {
    struct ddb_store *store;
    struct batch *batch;
    struct effect *effects;
    size_t count;
    struct arena *arena;
    struct flight *flights;
    size_t logged_bytes; /* of records that its undo frame has; 0: it has none */
};

/* ---------------------------------------------------------------- which effects go together */

static bool target_of(const struct ddb_store *store, const struct write *write, struct key *out)
{
    struct error ignored;
    return (write->kind == WRITE_PUT || write->kind == WRITE_MOVE) &&
           key_of_item(&store->table.desc.keys, write->item, out, &ignored);
}

/* Notes the keys of an effect; false if an effect before it in the wave has one of them. */
static bool note_keys(const struct ddb_store *store, const struct effect *effect, size_t number,
                      struct key_map *map, struct arena *arena)
{
    bool alone = true;
    for (size_t i = 0; i < effect->count; i++) {
        const struct write *write = &effect->writes[i];
        struct key *target = arena_alloc(arena, sizeof *target);
        if (write->kind != WRITE_PUT) {
            alone = key_map_add(map, &write->key, number) == number && alone;
        }
        if (target_of(store, write, target)) {
            alone = key_map_add(map, target, number) == number && alone;
        }
    }
    return alone;
}

static size_t count_writes(const struct effect *effects, size_t effect_count)
{
    size_t count = 0;
    for (size_t i = 0; i < effect_count; i++) {
        count += effects[i].count;
    }
    return count;
}

/* ---------------------------------------------------------------- what stands already */

/* An item that stood before is none of ours, although it equals what we put: neither a rollback nor
 * the settling of intents may take it away, and afterwards nothing on the server tells. */
static bool is_to_look(const struct wave *wave, const struct flight *flight, size_t at)
{
    const struct step *step = &flight->steps[at];
    bool is_placing = step->kind == WRITE_PUT || step->kind == WRITE_MOVE;
    bool is_told = wave->batch->undo_log != 0 || flight->count > 1;
    return flight->phase != PHASE_DONE && is_placing && is_told && value_is_missing(step->standing);
}

static void list_targets(const struct wave *wave, const struct flight *flight, struct key *out,
                         size_t *count)
{
    for (size_t at = 0; at < flight->count; at++) {
        if (is_to_look(wave, flight, at)) {
            out[(*count)++] = flight->steps[at].target;
        }
    }
}

/* A move replaces its equal: that has a record of its own. */
static void replace(const struct wave *wave, struct step *step)
{
    struct buffer record = {0};
    undo_append(&wave->store->table.desc.keys, step->item, (struct value){NULL, 0}, &record);
    step->standing = step->item;
    step->undo_standing = arena_copy(wave->arena, buffer_str(&record));
    buffer_free(&record);
}

static bool look_at(const struct wave *wave, struct flight *flight, struct getting *getting,
                    struct error *err)
{
    size_t kept = 0;
    for (size_t at = 0; at < flight->count; at++) {
        struct step step = flight->steps[at];
        struct value found = {NULL, 0};
        bool ignored = false;
        if (is_to_look(wave, flight, at) &&
            !getting_find(getting, &step.target, &found, &ignored, err)) {
            return false;
        }
        bool stands = !value_is_missing(found) && value_equal(found, step.item);
        if (stands && step.kind == WRITE_PUT && !flight_is_half(flight, at)) {
            continue; /* nothing to do */
        }
        if (stands) {
            replace(wave, &step);
        }
        flight->steps[kept++] = step;
    }
    flight->count = kept;
    if (kept == 0) {
        flight_end(flight, OUTCOME_UNCHANGED);
    }
    return true;
}

static bool look(const struct wave *wave, struct error *err)
{
    struct arena *found = arena_new();
    struct ddb_asking asking = ddb_asking_of(wave->store, found);
    size_t most = count_writes(wave->effects, wave->count) + 1;
    struct key_list targets = {NULL, 0};
    struct key *keys = arena_alloc(wave->arena, most * sizeof *keys);
    for (size_t i = 0; i < wave->count; i++) {
        list_targets(wave, &wave->flights[i], keys, &targets.count);
    }
    targets.list = keys;
    wave->store->targets.most_bytes = PORTION_BYTES;
    struct getting *getting = getting_open(&asking, targets, &wave->store->targets);
    bool ok = true;
    for (size_t i = 0; ok && i < wave->count; i++) {
        struct flight *flight = &wave->flights[i];
        ok = flight->phase == PHASE_DONE || look_at(wave, flight, getting, err);
    }
    getting_close(getting);
    arena_free(found);
    return ok;
}

/* ---------------------------------------------------------------- undo */

/* The records of steps that are to be done; or of those that were, as far as is known. */
static void add_undo(const struct flight *flight, bool written, struct buffer *records)
{
    for (size_t at = 0; at < flight->count; at++) {
        const struct step *step = &flight->steps[at];
        if (written ? flight_has_written(flight, at) : flight->phase != PHASE_DONE) {
            buffer_add(records, step->undo_standing);
            buffer_add(records, step->undo);
        }
    }
}

static void collect_undo(const struct wave *wave, bool written, struct buffer *records)
{
    for (size_t i = 0; i < wave->count; i++) {
        add_undo(&wave->flights[i], written, records);
    }
}

static bool log_undo(struct wave *wave, struct error *err)
{
    wave->logged_bytes = 0;
    if (wave->batch->undo_log == 0) {
        return true;
    }
    struct buffer records = {0};
    collect_undo(wave, false, &records);
    bool ok = records.len == 0 ||
              undo_write(wave->store, wave->batch->undo_log, buffer_str(&records), err);
    wave->logged_bytes = ok ? records.len : 0;
    buffer_free(&records);
    return ok;
}

/* What was not written leaves nothing to be taken back: an equal item that stands is another's. */
static bool correct_undo(const struct wave *wave, struct error *err)
{
    if (wave->logged_bytes == 0) {
        return true;
    }
    struct buffer records = {0};
    collect_undo(wave, true, &records);
    bool ok =
        records.len == wave->logged_bytes || undo_correct(wave->store, buffer_str(&records), err);
    buffer_free(&records);
    return ok;
}

/* ---------------------------------------------------------------- a wave */

static bool has_move(const struct effect *effect)
{
    for (size_t i = 0; i < effect->count; i++) {
        if (effect->writes[i].kind == WRITE_MOVE) {
            return true;
        }
    }
    return false;
}

static bool is_any_move(const struct wave *wave)
{
    for (size_t i = 0; i < wave->count; i++) {
        if (has_move(&wave->effects[i])) {
            return true;
        }
    }
    return false;
}

/* An empty transaction is refused in one way by a server that has them, in another by one that does
 * not know them. */
static bool find_transactions(const struct wave *wave, struct error *err)
{
    struct ddb_store *store = wave->store;
    struct ddb_asking asking = ddb_asking_of(store, wave->arena);
    struct ddb_request request = {.operation = "TransactWriteItems",
                                  .body = STR("{\"TransactItems\":[]}")};
    if (!answer_calls(&asking, &request, 1, err)) {
        return false;
    }
    bool lacking = request.reply == DDB_ERROR && str_begins(request.type, STR("UnknownOperation"));
    store->transactions = lacking ? TRANSACTIONS_LACKING : TRANSACTIONS_THERE;
    if (lacking) {
        ddb_say(store, "the server has no transactions: a move is a put, and then a delete");
    }
    return true;
}

/* A condition that an item is unchanged names attributes: those of some items, whatever the pass
 * wants of them, are known before the first is moved. */
static bool learn_names(const struct wave *wave, struct error *err)
{
    struct ddb_store *store = wave->store;
    struct ddb_asking asking = ddb_asking_of(store, wave->arena);
    struct composer composer = {.name_count = 0};
    const struct json *reply = NULL;
    compose_begin(&composer, store->target.table);
    compose_raw(&composer, "Limit", STR("100"));
    struct ddb_request request = {.operation = "Scan", .body = compose_end(&composer, wave->arena)};
    composer_free(&composer);
    if (!answer_calls(&asking, &request, 1, err) ||
        !answer_expect(store, &request, wave->arena, &reply, err)) {
        return false;
    }
    const struct json *items = answer_list(reply, "Items");
    for (size_t i = 0; i < items->count; i++) {
        struct value item;
        bool is_ours = false;
        if (!answer_element(&items->items[i], wave->arena, &item, err) ||
            !reserved_look(store, item, &is_ours, err)) {
            return false;
        }
        if (!is_ours) {
            compose_know(&store->composer, item);
        }
    }
    return true;
}

static bool prepare_moves(const struct wave *wave, struct error *err)
{
    if (wave->store->transactions != TRANSACTIONS_UNKNOWN || !is_any_move(wave)) {
        return true;
    }
    return find_transactions(wave, err) &&
           (wave->store->transactions == TRANSACTIONS_LACKING || learn_names(wave, err));
}

static bool run_wave(struct wave *wave, struct error *err)
{
    if (!prepare_moves(wave, err)) {
        return false;
    }
    wave->flights = arena_alloc(wave->arena, (wave->count + 1) * sizeof *wave->flights);
    for (size_t i = 0; i < wave->count; i++) {
        flight_begin(wave->store, &wave->effects[i], wave->batch->arena, wave->arena,
                     &wave->flights[i]);
    }
    return look(wave, err) && log_undo(wave, err) &&
           intent_write(wave->store, wave->flights, wave->count, INTENT_PUTS, err) &&
           flights_run(wave->store, wave->flights, wave->count, wave->arena, err) &&
           correct_undo(wave, err);
}

static bool run_waves(struct ddb_store *store, struct batch *batch, struct arena *arena,
                      struct error *err)
{
    struct arena *keys = arena_new();
    struct key_map *map = key_map_new(keys, 2 * count_writes(batch->effects, batch->count) + 1);
    struct wave wave = {.store = store, .batch = batch, .arena = arena};
    bool ok = true;
    for (size_t first = 0; ok && first < batch->count; first += wave.count) {
        wave.effects = batch->effects + first;
        wave.count = 0;
        key_map_clear(map);
        while (first + wave.count < batch->count &&
               (note_keys(store, &wave.effects[wave.count], wave.count, map, keys) ||
                wave.count == 0)) {
            wave.count++;
        }
        ok = run_wave(&wave, err);
        arena_reset(arena);
    }
    key_map_free(map);
    arena_free(keys);
    return ok;
}

/* Controls follow the writes that they cover, and count on all of them: while one has not applied,
 * the caller is yet to meet its item again, or to say what became of it, and gives them again. */
bool ddb_commit(struct store *base, struct batch *batch, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    if (store->mode == STORE_READ) {
        return error_set(err, ERROR_STORE, "%.*s is open for reading only",
                         STR_ARG(store->target.table));
    }
    struct arena *arena = arena_new();
    uint64_t begun_us = store->world.now_us(store->world.context);
    bool ok = batch->alone ? bulk_commit(store, batch, err)
                           : run_waves(store, batch, arena, err) && intent_forget(store, err);
    if (batch->count > 0) {
        uint64_t took_us = store->world.now_us(store->world.context) - begun_us;
        ddb_page_size_written(&store->page_size, took_us);
    }
    arena_free(arena);
    return ok && (!effects_have_applied(batch->effects, batch->count) ||
                  control_commit(store, batch, err));
}
