#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"

#include <string.h>

/* Effects that touch no key in common: they are under way all at once. */
struct wave {
    struct ddb_store *store;
    struct batch *batch;
    struct effect *effects;
    size_t count;
    struct arena *arena;
    struct flight *flights;
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

/* ---------------------------------------------------------------- undo */

/* The records of effects that are to be done, or of those that were. */
static void collect_undo(const struct wave *wave, bool applied_only, struct buffer *records)
{
    records->len = 0;
    for (size_t i = 0; i < wave->count; i++) {
        const struct effect *effect = &wave->effects[i];
        const struct flight *flight = &wave->flights[i];
        if (applied_only ? effect->outcome != OUTCOME_APPLIED : flight->phase == PHASE_DONE) {
            continue;
        }
        for (size_t w = 0; w < effect->count; w++) {
            buffer_add(records, effect->writes[w].undo);
        }
    }
}

static bool log_undo(const struct wave *wave, struct error *err)
{
    if (wave->batch->undo_log == 0) {
        return true;
    }
    struct buffer records = {0};
    collect_undo(wave, false, &records);
    bool ok = records.len == 0 ||
              undo_write(wave->store, wave->batch->undo_log, buffer_str(&records), err);
    buffer_free(&records);
    return ok;
}

static bool have_applied(const struct effect *effects, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (effects[i].outcome != OUTCOME_APPLIED) {
            return false;
        }
    }
    return true;
}

/* Effects that did not apply leave nothing to be taken back. */
static bool correct_undo(const struct wave *wave, struct error *err)
{
    if (wave->batch->undo_log == 0 || have_applied(wave->effects, wave->count)) {
        return true;
    }
    struct buffer records = {0};
    collect_undo(wave, true, &records);
    bool ok = undo_correct(wave->store, buffer_str(&records), err);
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
    if (store->transactions != TRANSACTIONS_UNKNOWN || !is_any_move(wave)) {
        return true;
    }
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

static bool run_wave(struct wave *wave, struct error *err)
{
    if (!find_transactions(wave, err)) {
        return false;
    }
    wave->flights = arena_alloc(wave->arena, (wave->count + 1) * sizeof *wave->flights);
    for (size_t i = 0; i < wave->count; i++) {
        flight_begin(wave->store, &wave->effects[i], wave->batch->arena, wave->arena,
                     &wave->flights[i]);
    }
    return log_undo(wave, err) &&
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
    bool ok = run_waves(store, batch, arena, err) && intent_forget(store, err);
    if (batch->count > 0) {
        uint64_t took_us = store->world.now_us(store->world.context) - begun_us;
        ddb_page_size_written(&store->page_size, took_us);
    }
    arena_free(arena);
    return ok && (!have_applied(batch->effects, batch->count) || control_commit(store, batch, err));
}
