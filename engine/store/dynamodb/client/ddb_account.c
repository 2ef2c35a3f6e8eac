#include "engine/store/dynamodb/client/ddb_account_internal.h"

#include "engine/base/hash.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/random.h>
#include <time.h>

enum { TIMEOUT_MS = 30000, DAY_S = 24 * 60 * 60 };

/* A key is renewed this long before it expires. Where that fails, or brings one that is no younger,
 * it is tried again after a tenth of what was left, or after the longest. */
enum { RENEW_BEFORE_S = 300, RENEW_PART = 10, RENEW_AGAIN_MAX_S = 30 };

/* A table has few indexes and key ranges that are hot; more would be a flood. */
enum { THROTTLES_TOLD = 8 };

struct ddb_account {
    struct arena *arena; /* owns the texts of these, which stay as they are */
    struct ddb_world world;
    struct ddb_endpoint endpoint;
    struct str region;
    struct str profile;
    unsigned timeout_ms;

    pthread_mutex_t lock; /* for all that follows */
    struct arena *key_arena;
    struct ddb_credentials key;
    uint64_t generation;
    int64_t renewed_s; /* when its source was last asked */
    int64_t skew_s;
    bool skew_said;
    bool known;
    struct ddb_limit limit;
    struct ddb_stats stats;
    uint64_t told[THROTTLES_TOLD]; /* digests of what throttled, as far as the user was told */
    size_t told_count;
};

/* ---------------------------------------------------------------- the system's world */

static uint64_t system_now_us(void *context)
{
    (void)context;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int64_t system_wall_s(void *context)
{
    (void)context;
    return (int64_t)time(NULL);
}

static uint64_t system_random(void *context)
{
    (void)context;
    uint64_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
        bits = system_now_us(NULL) * 0x9e3779b97f4a7c15U;
    }
    return bits;
}

static const struct ddb_world system_world = {
    .now_us = system_now_us, .wall_s = system_wall_s, .random = system_random};

/* ---------------------------------------------------------------- opening */

static bool is_region(struct str region)
{
    for (size_t i = 0; i < region.len; i++) {
        char c = region.ptr[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') {
            return false;
        }
    }
    return region.len > 0;
}

static struct str first_set(const struct str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (texts[i].len > 0) {
            return texts[i];
        }
    }
    return STR("");
}

static bool find_place(struct ddb_account *account, const struct ddb_options *options,
                       struct error *err)
{
    struct ddb_shared_files files;
    struct arena *scratch = arena_new();
    ddb_shared_files_read(scratch, &files);
    struct str variable = ddb_environment("AWS_PROFILE");
    struct str profile = first_set((struct str[]){options->profile, variable, STR("default")}, 3);
    struct str endpoint =
        first_set((struct str[]){options->endpoint, ddb_environment("AWS_ENDPOINT_URL_DYNAMODB"),
                                 ddb_environment("AWS_ENDPOINT_URL"),
                                 ddb_profile_get(&files, profile, "endpoint_url")},
                  4);
    struct str region = first_set((struct str[]){options->region, ddb_environment("AWS_REGION"),
                                                 ddb_environment("AWS_DEFAULT_REGION"),
                                                 ddb_profile_get(&files, profile, "region"),
                                                 endpoint.len > 0 ? STR("us-east-1") : STR("")},
                                  5);
    bool ok =
        is_region(region) ||
        error_set(err, ERROR_USAGE,
                  region.len == 0
                      ? "no region is set\nhint: add ?region=… to the target, or set AWS_REGION"
                      : "\"%.*s\" is not a region",
                  STR_ARG(region));
    if (ok) {
        account->region = arena_copy(account->arena, region);
        if (endpoint.len == 0) {
            endpoint = ddb_endpoint_of("dynamodb", region, scratch);
        }
        ok = ddb_endpoint_parse(endpoint, account->arena, &account->endpoint, err);
    }
    arena_free(scratch);
    return ok;
}

/* It may take its time, and needs no lock. */
static bool find_key(const struct ddb_account *account, int64_t now_s, struct arena *arena,
                     struct ddb_credentials *out, struct error *err)
{
    struct ddb_credentials_ask ask = {
        .profile = account->profile, .region = account->region, .wall_s = now_s, .arena = arena};
    return ddb_credentials_find(&ask, out, err);
}

/* The caller holds the lock. An equal key keeps its generation. The arena owns what was found. */
static void take_key(struct ddb_account *account, const struct ddb_credentials *found,
                     struct arena *arena)
{
    bool same = str_equal(found->key_id, account->key.key_id) &&
                str_equal(found->secret, account->key.secret) &&
                str_equal(found->token, account->key.token);
    account->generation += same ? 0 : 1;
    account->key = *found;
    arena_free(account->key_arena);
    account->key_arena = arena;
}

static int64_t server_now_s(const struct ddb_account *account)
{
    return account->world.wall_s(account->world.context) + account->skew_s;
}

/* The caller holds the lock. */
static bool read_key(struct ddb_account *account, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_credentials found = {0};
    account->renewed_s = server_now_s(account);
    if (!find_key(account, account->renewed_s, arena, &found, err)) {
        arena_free(arena);
        return false;
    }
    take_key(account, &found, arena);
    return true;
}

/* The caller holds the lock, which others have meanwhile: the key is good yet. */
static void renew_early(struct ddb_account *account)
{
    struct error ignored = {0};
    struct arena *arena = arena_new();
    struct ddb_credentials found = {0};
    int64_t now_s = account->renewed_s = server_now_s(account);
    (void)pthread_mutex_unlock(&account->lock);
    bool ok = find_key(account, now_s, arena, &found, &ignored);
    (void)pthread_mutex_lock(&account->lock);
    if (ok) {
        take_key(account, &found, arena);
    } else {
        arena_free(arena);
    }
}

bool ddb_account_open(const struct ddb_options *options, struct ddb_account **out,
                      struct error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return error_set(err, ERROR_STORE, "libcurl cannot be started");
    }
    struct ddb_account *account = heap_alloc(sizeof *account);
    account->arena = arena_new();
    account->world = options->world == NULL ? system_world : *options->world;
    account->profile = arena_copy(account->arena, options->profile);
    account->timeout_ms = options->timeout_ms == 0 ? TIMEOUT_MS : options->timeout_ms;
    (void)pthread_mutex_init(&account->lock, NULL);
    ddb_limit_init(&account->limit, options->max_rcu, options->max_wcu);
    if (!find_place(account, options, err) || !read_key(account, err)) {
        ddb_account_close(account);
        return false;
    }
    *out = account;
    return true;
}

void ddb_account_close(struct ddb_account *account)
{
    if (account == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&account->lock);
    arena_free(account->key_arena);
    arena_free(account->arena);
    heap_free(account);
    curl_global_cleanup();
}

/* ---------------------------------------------------------------- what it knows */

const struct ddb_world *ddb_account_world(const struct ddb_account *account)
{
    return &account->world;
}

const struct ddb_endpoint *ddb_account_endpoint(const struct ddb_account *account)
{
    return &account->endpoint;
}

struct str ddb_account_region(const struct ddb_account *account)
{
    return account->region;
}

unsigned ddb_account_timeout_ms(const struct ddb_account *account)
{
    return account->timeout_ms;
}

void ddb_account_identify(struct ddb_account *account, struct arena *arena,
                          struct ddb_identity *out)
{
    enum { KEY_END = 4 };
    (void)pthread_mutex_lock(&account->lock);
    struct str id = account->key.key_id;
    size_t shown = id.len > (size_t)2 * KEY_END ? KEY_END : 0;
    *out = (struct ddb_identity){
        .endpoint = arena_copy(arena, account->endpoint.url),
        .region = arena_copy(arena, account->region),
        .key_end = arena_copy(arena, (struct str){id.ptr + id.len - shown, shown}),
        .key_source = arena_format(arena, "%s", account->key.source),
    };
    (void)pthread_mutex_unlock(&account->lock);
}

struct str ddb_account_describe(struct ddb_account *account, struct arena *arena)
{
    struct ddb_identity who;
    ddb_account_identify(account, arena, &who);
    return arena_format(arena, "endpoint %.*s, region %.*s, key id ...%.*s from %.*s",
                        STR_ARG(who.endpoint), STR_ARG(who.region), STR_ARG(who.key_end),
                        STR_ARG(who.key_source));
}

void ddb_account_set_limits(struct ddb_account *account, double max_rcu, double max_wcu)
{
    (void)pthread_mutex_lock(&account->lock);
    ddb_limit_set(&account->limit, max_rcu, max_wcu);
    (void)pthread_mutex_unlock(&account->lock);
}

void ddb_account_stats(struct ddb_account *account, struct ddb_stats *out)
{
    (void)pthread_mutex_lock(&account->lock);
    *out = account->stats;
    out->skew_s = account->skew_s;
    (void)pthread_mutex_unlock(&account->lock);
}

bool ddb_account_is_known(struct ddb_account *account)
{
    (void)pthread_mutex_lock(&account->lock);
    bool known = account->known;
    (void)pthread_mutex_unlock(&account->lock);
    return known;
}

/* ---------------------------------------------------------------- the key */

struct ddb_key *ddb_key_new(void)
{
    struct ddb_key *key = heap_alloc(sizeof *key);
    key->arena = arena_new();
    return key;
}

void ddb_key_free(struct ddb_key *key)
{
    if (key != NULL) {
        explicit_bzero(&key->signing, sizeof key->signing);
        arena_free(key->arena);
        heap_free(key);
    }
}

/* The caller holds the lock. Until the key is really over, a source that fails is asked again, and
 * what is urgent does not wait for it. */
static bool keep_fresh(struct ddb_account *account, int64_t now_s, bool urgent, struct error *err)
{
    int64_t expires_s = account->key.expires_s;
    if (expires_s != 0 && now_s >= expires_s) {
        return read_key(account, err) || error_wrap(err, "the credentials have expired");
    }
    bool soon = expires_s != 0 && now_s >= expires_s - RENEW_BEFORE_S;
    int64_t again_s = (expires_s - account->renewed_s) / RENEW_PART;
    again_s = again_s < RENEW_AGAIN_MAX_S ? again_s : RENEW_AGAIN_MAX_S;
    if (soon && !urgent && now_s - account->renewed_s >= again_s) {
        renew_early(account);
    }
    return true;
}

/* The caller holds the lock. */
static void copy_key(struct ddb_account *account, struct ddb_key *key, int64_t now_s)
{
    if (key->generation == account->generation && key->day == now_s / DAY_S) {
        return;
    }
    char date[DDB_DATE_SIZE];
    ddb_date_format(now_s, date);
    arena_reset(key->arena);
    key->generation = account->generation;
    key->day = now_s / DAY_S;
    key->key_id = arena_copy(key->arena, account->key.key_id);
    key->token = arena_copy(key->arena, account->key.token);
    struct ddb_sign_scope scope = {key->key_id, account->region, STR("dynamodb"), date};
    ddb_signing_key_make(account->key.secret, &scope, &key->signing);
}

bool ddb_account_key(struct ddb_account *account, bool urgent, struct ddb_key *key, int64_t *now_s,
                     struct error *err)
{
    (void)pthread_mutex_lock(&account->lock);
    bool ok = keep_fresh(account, server_now_s(account), urgent, err);
    *now_s = server_now_s(account);
    if (ok) {
        copy_key(account, key, *now_s);
    }
    (void)pthread_mutex_unlock(&account->lock);
    return ok;
}

void ddb_account_renew(struct ddb_account *account, uint64_t generation)
{
    struct error ignored = {0};
    (void)pthread_mutex_lock(&account->lock);
    if (account->generation == generation) {
        (void)read_key(account, &ignored);
    }
    (void)pthread_mutex_unlock(&account->lock);
}

void ddb_account_clock(struct ddb_account *account, int64_t server_s)
{
    (void)pthread_mutex_lock(&account->lock);
    bool said = account->skew_said;
    account->skew_said = true;
    account->skew_s = server_s - account->world.wall_s(account->world.context);
    int64_t ahead_s = account->skew_s;
    (void)pthread_mutex_unlock(&account->lock);
    if (!said && account->world.say != NULL) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "the server's clock is %" PRId64
                       " s %s this host's: requests are signed for it",
                       ahead_s < 0 ? -ahead_s : ahead_s, ahead_s < 0 ? "behind" : "ahead of");
        account->world.say(account->world.context, text);
    }
}

/* ---------------------------------------------------------------- limits and counts */

enum ddb_grant ddb_account_take(struct ddb_account *account, const struct ddb_demand *demand,
                                uint64_t *wait_us)
{
    uint64_t now_us = account->world.now_us(account->world.context);
    (void)pthread_mutex_lock(&account->lock);
    enum ddb_grant grant = ddb_limit_take(&account->limit, demand, now_us, wait_us);
    (void)pthread_mutex_unlock(&account->lock);
    return grant;
}

static void count(struct ddb_stats *stats, const struct ddb_demand *demand,
                  const struct ddb_attempt_end *end)
{
    stats->attempts++;
    stats->requests += end->final ? 1 : 0;
    stats->throttled += end->end.result == DDB_RESULT_THROTTLED ? 1 : 0;
    double units = end->end.consumed < 0 ? demand->units : end->end.consumed;
    if (end->end.result == DDB_RESULT_FINE && demand->side != DDB_CONTROL) {
        *(demand->side == DDB_READ ? &stats->read_units : &stats->write_units) += units;
    }
    if (end->reason.len > 0) {
        (void)snprintf(stats->throttled_by, sizeof stats->throttled_by, "%.*s",
                       STR_ARG(end->reason));
    }
}

/* The caller holds the lock. True for what was not told of yet. */
static bool is_news(struct ddb_account *account, struct str reason)
{
    uint64_t digest = hash_64(reason);
    for (size_t i = 0; i < account->told_count; i++) {
        if (account->told[i] == digest) {
            return false;
        }
    }
    bool has_room = account->told_count < THROTTLES_TOLD && account->world.say != NULL;
    if (has_room) {
        account->told[account->told_count++] = digest;
    }
    return has_room;
}

static void tell_throttled(const struct ddb_account *account, struct str reason)
{
    char text[256];
    (void)snprintf(text, sizeof text, "the server throttles: %.*s", STR_ARG(reason));
    account->world.say(account->world.context, text);
}

void ddb_account_end(struct ddb_account *account, const struct ddb_demand *demand,
                     const struct ddb_attempt_end *end)
{
    uint64_t now_us = account->world.now_us(account->world.context);
    (void)pthread_mutex_lock(&account->lock);
    ddb_limit_end(&account->limit, demand, &end->end, now_us);
    count(&account->stats, demand, end);
    account->known |= end->replied;
    bool is_new = end->reason.len > 0 && is_news(account, end->reason);
    (void)pthread_mutex_unlock(&account->lock);
    if (is_new) {
        tell_throttled(account, end->reason);
    }
}

void ddb_account_throttled(struct ddb_account *account, enum ddb_side side, double units)
{
    uint64_t now_us = account->world.now_us(account->world.context);
    (void)pthread_mutex_lock(&account->lock);
    ddb_limit_throttled(&account->limit, side, units, now_us);
    (void)pthread_mutex_unlock(&account->lock);
}

unsigned ddb_account_lump(struct ddb_account *account, enum ddb_side side, unsigned most)
{
    uint64_t now_us = account->world.now_us(account->world.context);
    (void)pthread_mutex_lock(&account->lock);
    unsigned lump = ddb_limit_lump(&account->limit, side, most, now_us);
    (void)pthread_mutex_unlock(&account->lock);
    return lump;
}
