#include "engine/base/ticker.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_lease_internal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { RECORDS_MAX = 2 }; /* a member's own and the lease */

struct ddb_lease {
    const struct ddb_store *store;
    struct ddb_client *client; /* the heart's own */
    struct str id;
    struct str holder;
    struct str owner;
    uint64_t token; /* of the lease as it was last seen, by whoever */
    struct arena *arena;
    struct lease_record seen; /* the lease of another, since seen_ms */
    uint64_t seen_ms;
    struct member_watch *watch;
    atomic_uint_fast64_t deadline_ms; /* as lease_now_ms() */
    atomic_bool lost;
    struct ticker *heart;
    struct lease_record records[RECORDS_MAX]; /* that it keeps alive; they only become more */
    atomic_size_t record_count;
};

uint64_t lease_now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---------------------------------------------------------------- what others ask */

uint64_t lease_token(const struct ddb_store *store)
{
    return store->lease == NULL ? 0 : store->lease->token;
}

struct str lease_self(const struct ddb_store *store)
{
    return store->lease == NULL ? STR("") : store->lease->id;
}

bool lease_leads(const struct ddb_store *store)
{
    struct ddb_lease *lease = store->lease;
    size_t count = lease == NULL ? 0 : atomic_load(&lease->record_count);
    return count > 0 && str_equal(lease->records[count - 1].name, STR(LEASE_NAME));
}

struct member_watch *lease_watch(const struct ddb_store *store)
{
    return store->lease == NULL ? NULL : store->lease->watch;
}

struct str ddb_self(const struct store *base)
{
    return lease_self((const struct ddb_store *)(const void *)base);
}

bool lease_is_lost(const struct ddb_store *store)
{
    struct ddb_lease *lease = store->lease;
    return lease != NULL &&
           (atomic_load(&lease->lost) || lease_now_ms() >= atomic_load(&lease->deadline_ms));
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

/* False where the beat was not acknowledged. */
static bool beat_one(struct ddb_lease *lease, const struct lease_record *record)
{
    struct arena *arena = arena_new();
    struct ddb_asking asking = {lease->store, lease->client, arena};
    struct error err = {0};
    bool held = true;
    bool heard = lease_record_beat(&asking, record, &held, &err);
    if (heard && !held) {
        atomic_store(&lease->lost, true);
    }
    arena_free(arena);
    return heard;
}

static void beat(void *context)
{
    struct ddb_lease *lease = context;
    size_t count = atomic_load(&lease->record_count);
    uint64_t sent_ms = lease_now_ms();
    bool heard = true;
    for (size_t i = 0; i < count && !atomic_load(&lease->lost); i++) {
        heard = beat_one(lease, &lease->records[i]) && heard;
    }
    if (heard) {
        atomic_store(&lease->deadline_ms, sent_ms + LIVE_MS);
    }
}

/* ---------------------------------------------------------------- a part in a run */

static struct ddb_lease *new_lease(const struct ddb_store *store, const char *owner)
{
    struct ddb_lease *lease = heap_alloc(sizeof *lease);
    lease->store = store;
    lease->arena = arena_new();
    lease->watch = member_watch_new();
    uint64_t id = store->world.random(store->world.context);
    lease->id = arena_format(lease->arena, "%016" PRIx64, id);
    lease->holder = lease_holder_self(lease->arena);
    lease->owner = arena_copy(lease->arena, (struct str){owner, strlen(owner)});
    return lease;
}

static void free_lease(struct ddb_lease *lease)
{
    ddb_client_close(lease->client);
    member_watch_free(lease->watch);
    arena_free(lease->arena);
    heap_free(lease);
}

/* Writes a record of this process where another stands as `standing`. */
static bool put_own(struct ddb_lease *lease, const struct ddb_asking *asking,
                    const struct lease_record *standing, bool *taken, struct error *err)
{
    struct lease_record wanted = {.name = standing->name,
                                  .owner = lease->owner,
                                  .holder = lease->holder,
                                  .token = standing->token + 1};
    uint64_t sent_ms = lease_now_ms();
    if (!lease_record_take(asking, standing, &wanted, taken, err)) {
        return false;
    }
    size_t count = atomic_load(&lease->record_count);
    if (*taken && count == 0) {
        atomic_store(&lease->deadline_ms, sent_ms + LIVE_MS);
    }
    if (*taken) {
        lease->records[count] = wanted;
        atomic_store(&lease->record_count, count + 1);
    }
    return true;
}

static bool put_lease(struct ddb_lease *lease, const struct ddb_asking *asking,
                      struct lease_record *standing, bool *taken, struct error *err)
{
    standing->name = STR(LEASE_NAME);
    bool ok = put_own(lease, asking, standing, taken, err);
    lease->token = ok && *taken ? standing->token + 1 : standing->token;
    return ok;
}

/* ---------------------------------------------------------------- taking it alone */

static bool refuse(const struct ddb_store *store, struct str owner, struct error *err)
{
    return error_set(err, ERROR_BUSY, "%.*s is being written by %.*s", STR_ARG(store->target.table),
                     STR_ARG(owner));
}

static bool is_held(const struct lease_record *record)
{
    return record->holder.len > 0 && !lease_holder_is_dead(record->holder);
}

/* Waits until the lease is free: released, its owner dead, or without a beat for WATCH_MS by this
 * host's own clock. ERROR_BUSY: it beats. */
static bool await_free(const struct ddb_asking *asking, struct lease_record *record,
                       struct error *err)
{
    if (!lease_record_read(asking, STR(LEASE_NAME), record, err)) {
        return false;
    }
    struct lease_record seen = *record;
    uint64_t since_ms = lease_now_ms();
    while (is_held(record) && lease_now_ms() - since_ms < WATCH_MS) {
        ddb_sleep_ms(LOOK_MS);
        if (!lease_record_read(asking, STR(LEASE_NAME), record, err)) {
            return false;
        }
        if (record->token != seen.token || record->beat != seen.beat) {
            return record->holder.len == 0 || refuse(asking->store, record->owner, err);
        }
    }
    return true;
}

/* Of a run that lost its leader others may be at work still. They find the lease taken by one who
 * does not share it, and nobody joins them. ERROR_BUSY: they live. */
static bool await_alone(struct ddb_store *store, struct error *err)
{
    struct member_watch *watch = store->lease->watch;
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct run_members others;
    bool ok = members_look(&asking, watch, &others, err);
    while (ok && others.count > 0 && !member_watch_beats(watch)) {
        ddb_sleep_ms(LOOK_MS);
        arena_reset(arena);
        ok = members_look(&asking, watch, &others, err);
    }
    ok = ok && (others.count == 0 || refuse(store, others.list[0].owner, err)) &&
         intent_settle(&asking, &others, err);
    arena_free(arena);
    return ok;
}

static bool take(struct ddb_store *store, struct ddb_lease *lease, struct error *err)
{
    struct ddb_asking asking = ddb_asking_of(store, lease->arena);
    struct lease_record standing;
    bool taken = false;
    return ddb_client_open(store->account, &lease->client, err) && home_make(store, err) &&
           await_free(&asking, &standing, err) &&
           put_lease(lease, &asking, &standing, &taken, err) &&
           (taken || error_set(err, ERROR_BUSY, "%.*s: another run took the lease just now",
                               STR_ARG(store->target.table))) &&
           ticker_start(BEAT_MS, beat, lease, &lease->heart, err);
}

static bool expect_writable(const struct ddb_store *store, struct error *err)
{
    return store->mode != STORE_READ || error_set(err, ERROR_STORE, "%.*s is open for reading only",
                                                  STR_ARG(store->target.table));
}

bool ddb_lease_take(struct store *base, const char *owner, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    if (store->lease != NULL) {
        return lease_check(store, err);
    }
    if (!expect_writable(store, err)) {
        return false;
    }
    struct ddb_lease *lease = new_lease(store, owner);
    if (!take(store, lease, err)) {
        free_lease(lease);
        return false;
    }
    store->lease = lease;
    if (!await_alone(store, err)) {
        ddb_lease_release(base);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- sharing it */

static bool put_member(struct ddb_lease *lease, const struct ddb_asking *asking, struct error *err)
{
    struct lease_record none = {
        .name = arena_format(lease->arena, MEMBER_PREFIX "%.*s", STR_ARG(lease->id))};
    bool taken = false;
    return put_own(lease, asking, &none, &taken, err) &&
           (taken || error_set(err, ERROR_STORE, "two processes have drawn one number"));
}

/* The record of a member stands before its owner takes the lease, and longer than it has it. */
static bool expect_sharing(struct ddb_store *store, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct lease_record record;
    bool shares = true;
    bool ok = lease_record_read(&asking, STR(LEASE_NAME), &record, err) &&
              (!is_held(&record) || members_have(&asking, record.holder, &shares, err)) &&
              (shares || await_free(&asking, &record, err));
    arena_free(arena);
    return ok;
}

static bool enter(struct ddb_store *store, const char *owner, struct error *err)
{
    if (!expect_writable(store, err)) {
        return false;
    }
    struct ddb_lease *lease = new_lease(store, owner);
    struct ddb_asking asking = ddb_asking_of(store, lease->arena);
    if (!ddb_client_open(store->account, &lease->client, err) || !home_make(store, err) ||
        !put_member(lease, &asking, err) ||
        !ticker_start(BEAT_MS, beat, lease, &lease->heart, err)) {
        free_lease(lease);
        return false;
    }
    store->lease = lease;
    if (!expect_sharing(store, err)) {
        ddb_lease_release(&store->base);
        return false;
    }
    return true;
}

/* Whether another holds the lease, as far as can be known by now. */
static bool is_anothers(struct ddb_lease *lease, const struct lease_record *record)
{
    if (record->token != lease->seen.token || record->beat != lease->seen.beat) {
        lease->seen = (struct lease_record){.token = record->token, .beat = record->beat};
        lease->seen_ms = lease_now_ms();
    }
    return is_held(record) && lease_now_ms() - lease->seen_ms < WATCH_MS;
}

/* What the last to have it left undone, is taken back first. */
static bool begin_to_lead(const struct ddb_asking *asking, struct error *err)
{
    struct run_members others;
    return members_look(asking, lease_watch(asking->store), &others, err) &&
           intent_settle(asking, &others, err);
}

bool ddb_lease_join(struct store *base, const char *owner, struct arena *arena, struct str *leader,
                    struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct lease_record record;
    bool taken = lease_leads(store);
    *leader = (struct str){NULL, 0};
    if ((store->lease == NULL && !enter(store, owner, err)) || !lease_check(store, err)) {
        return false;
    }
    while (!taken) {
        if (!lease_record_read(&asking, STR(LEASE_NAME), &record, err)) {
            return false;
        }
        if (is_anothers(store->lease, &record)) {
            store->lease->token = record.token;
            *leader = record.owner;
            return true;
        }
        if (!put_lease(store->lease, &asking, &record, &taken, err) ||
            (taken && !begin_to_lead(&asking, err))) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- giving it back */

/* The lease first: whoever finds it held, finds its owner among the members. */
static void free_records(struct ddb_lease *lease)
{
    for (size_t i = atomic_load(&lease->record_count); i > 0; i--) {
        struct arena *arena = arena_new();
        struct ddb_asking asking = {lease->store, lease->client, arena};
        struct error err = {0};
        if (!lease_record_free(&asking, &lease->records[i - 1], &err)) {
            atomic_store(&lease->lost, true); /* a watcher waits until it is sure of that */
        }
        arena_free(arena);
    }
}

void ddb_lease_release(struct store *base)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_lease *lease = store->lease;
    undo_close(store); /* its file bears the id of the member */
    if (lease == NULL) {
        return;
    }
    ticker_stop(lease->heart);
    if (!lease_is_lost(store)) {
        free_records(lease);
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
    if (store->home.stands && !lease_record_read(&asking, STR(LEASE_NAME), &record, err)) {
        return false;
    }
    if (is_held(&record)) {
        *owner = record.owner;
    }
    return true;
}
