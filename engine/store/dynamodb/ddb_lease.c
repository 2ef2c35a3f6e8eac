#include "engine/base/ticker.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_lease_internal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* A watcher takes the lease over after WATCH_MS without a beat; its holder writes nothing any more
 * LIVE_MS after the last beat that was acknowledged. What lies between covers a request's way. */
enum { BEAT_MS = 2000, LIVE_MS = 10000, WATCH_MS = 15000, LOOK_MS = 250 };

struct ddb_lease {
    const struct ddb_store *store;
    struct ddb_client *client; /* the heart's own */
    uint64_t token;
    struct str holder;
    struct arena *arena;
    atomic_uint_fast64_t deadline_ms; /* on this host's monotonic clock */
    atomic_bool lost;
    struct ticker *heart;
};

static uint64_t now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- what others ask */

uint64_t lease_token(const struct ddb_store *store)
{
    return store->lease == NULL ? 0 : store->lease->token;
}

bool lease_is_lost(const struct ddb_store *store)
{
    struct ddb_lease *lease = store->lease;
    return lease != NULL &&
           (atomic_load(&lease->lost) || now_ms() >= atomic_load(&lease->deadline_ms));
}

bool lease_check(const struct ddb_store *store, struct error *err)
{
    return !lease_is_lost(store) ||
           error_set(err, ERROR_BUSY,
                     "%.*s: the lease of this run was lost: another run may be writing\n"
                     "hint: 'refold status TABLE' tells; the same command goes on",
                     STR_ARG(store->target.table));
}

/* ---------------------------------------------------------------- the heart */

static void beat(void *context)
{
    struct ddb_lease *lease = context;
    if (atomic_load(&lease->lost)) {
        return;
    }
    uint64_t sent_ms = now_ms();
    struct arena *arena = arena_new();
    struct ddb_asking asking = {lease->store, lease->client, arena};
    struct lease_record record = {.token = lease->token, .holder = lease->holder};
    struct error err = {0};
    bool held = true;
    if (lease_record_beat(&asking, &record, &held, &err)) {
        if (held) {
            atomic_store(&lease->deadline_ms, sent_ms + LIVE_MS);
        } else {
            atomic_store(&lease->lost, true);
        }
    }
    arena_free(arena);
}

/* ---------------------------------------------------------------- taking it */

static bool refuse(const struct ddb_store *store, const struct lease_record *record,
                   struct error *err)
{
    return error_set(err, ERROR_BUSY, "%.*s is being written by %.*s", STR_ARG(store->target.table),
                     STR_ARG(record->owner));
}

/* Waits until the lease is free: released, its owner dead, or without a beat for WATCH_MS by this
 * host's own clock. ERROR_BUSY: it beats. */
static bool await_free(const struct ddb_asking *asking, struct lease_record *record,
                       struct error *err)
{
    if (!lease_record_read(asking, record, err)) {
        return false;
    }
    uint64_t seen_token = record->token;
    uint64_t seen_beat = record->beat;
    uint64_t since_ms = now_ms();
    while (record->holder.len > 0 && !lease_holder_is_dead(record->holder) &&
           now_ms() - since_ms < WATCH_MS) {
        ddb_sleep_ms(LOOK_MS);
        if (!lease_record_read(asking, record, err)) {
            return false;
        }
        if (record->token != seen_token || record->beat != seen_beat) {
            return record->holder.len == 0 || refuse(asking->store, record, err);
        }
    }
    return true;
}

static bool take(struct ddb_store *store, struct ddb_lease *lease, const char *owner,
                 struct error *err)
{
    struct arena *arena = lease->arena;
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct lease_record standing;
    uint64_t sent_ms = 0;
    bool taken = false;
    if (!home_make(store, err) || !await_free(&asking, &standing, err)) {
        return false;
    }
    lease->token = standing.token + 1;
    lease->holder = lease_holder_self(arena);
    sent_ms = now_ms();
    struct lease_record wanted = {
        .owner = {owner, strlen(owner)}, .holder = lease->holder, .token = lease->token};
    if (!lease_record_take(&asking, &standing, &wanted, &taken, err)) {
        return false;
    }
    atomic_store(&lease->deadline_ms, sent_ms + LIVE_MS);
    return taken || error_set(err, ERROR_BUSY, "%.*s: another run took the lease just now",
                              STR_ARG(store->target.table));
}

static void free_lease(struct ddb_lease *lease)
{
    ddb_client_close(lease->client);
    arena_free(lease->arena);
    heap_free(lease);
}

bool ddb_lease_take(struct store *base, const char *owner, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    if (store->mode == STORE_READ) {
        return error_set(err, ERROR_STORE, "%.*s is open for reading only",
                         STR_ARG(store->target.table));
    }
    if (store->lease != NULL) {
        return lease_check(store, err);
    }
    struct ddb_lease *lease = heap_alloc(sizeof *lease);
    lease->store = store;
    lease->arena = arena_new();
    if (!ddb_client_open(store->account, &lease->client, err) || !take(store, lease, owner, err) ||
        !ticker_start(BEAT_MS, beat, lease, &lease->heart, err)) {
        free_lease(lease);
        return false;
    }
    store->lease = lease;
    if (!intent_settle(store, err)) {
        ddb_lease_release(base);
        return false;
    }
    return true;
}

void ddb_lease_release(struct store *base)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_lease *lease = store->lease;
    if (lease == NULL) {
        return;
    }
    ticker_stop(lease->heart);
    if (!lease_is_lost(store)) {
        struct arena *arena = arena_new();
        struct ddb_asking asking = {store, lease->client, arena};
        struct lease_record record = {.token = lease->token, .holder = lease->holder};
        struct error err = {0};
        if (!lease_record_free(&asking, &record, &err)) {
            atomic_store(&lease->lost, true); /* a watcher waits until it is sure of that */
        }
        arena_free(arena);
    }
    store->lease = NULL;
    free_lease(lease);
}

bool ddb_lease_owner(struct store *base, struct arena *arena, struct str *owner, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct lease_record record = {.token = 0};
    *owner = (struct str){NULL, 0};
    if (store->home.stands && !lease_record_read(&asking, &record, err)) {
        return false;
    }
    if (record.holder.len > 0 && !lease_holder_is_dead(record.holder)) {
        *owner = record.owner;
    }
    return true;
}
