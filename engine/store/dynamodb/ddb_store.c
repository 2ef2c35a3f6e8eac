#include "engine/store/dynamodb/ddb_store.h"

#include "engine/base/hash.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_segments_internal.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

/* ---------------------------------------------------------------- the world */

static uint64_t now_us(void *context)
{
    (void)context;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int64_t wall_s(void *context)
{
    (void)context;
    return (int64_t)time(NULL);
}

static uint64_t draw(void *context)
{
    uint64_t number = 0;
    return getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number ? number
                                                                          : now_us(context);
}

/* Nothing is sent, nor tried again, once the lease may be another's. */
static bool is_stopped(void *context)
{
    return lease_is_lost(context);
}

static void say(void *context, const char *sentence)
{
    ddb_say(context, sentence);
}

/* ---------------------------------------------------------------- opening */

static void ddb_close(struct store *base)
{
    struct ddb_store *store = ddb_of(base);
    ddb_lease_release(base);
    ddb_client_close(store->client);
    ddb_account_close(store->account);
    composer_free(&store->composer);
    statements_free(&store->statements);
    ddb_segments_free(store->segments);
    arena_free(store->arena);
    heap_free(store);
}

static bool ddb_flush(struct store *base, struct error *err)
{
    return lease_check(ddb_of(base), err);
}

/* Keys spread over the server's partitions, so that what is written in this order is never all for
 * one of them; collections stay together, in the order of their bytes. */
static void ddb_order_key(const struct store *base, const struct key *key, struct buffer *out)
{
    (void)base;
    struct str partition = {(const char *)key->parts[0].bytes, key->parts[0].len};
    uint64_t hash = hash_64(partition);
    for (int shift = 56; shift >= 0; shift -= 8) {
        buffer_add_char(out, (char)(unsigned char)(hash >> shift));
    }
    key_encode(key, out);
}

static const struct store_server *
describe_server(const struct ddb_store *store, const struct ddb_table *table, struct arena *arena)
{
    struct ddb_identity who;
    struct store_server *server = arena_alloc(arena, sizeof *server);
    ddb_account_identify(store->account, arena, &who);
    *server = (struct store_server){.endpoint = who.endpoint,
                                    .region = who.region,
                                    .account = table->account,
                                    .key_end = who.key_end,
                                    .key_from = who.key_source,
                                    .is_provisioned = table->provisioned,
                                    .read_units = table->read_units,
                                    .write_units = table->write_units};
    return server;
}

static bool same_indexes(const struct table_desc *a, const struct table_desc *b)
{
    bool same = a->index_count == b->index_count;
    for (size_t i = 0; same && i < a->index_count; i++) {
        same = str_equal(a->indexes[i].name, b->indexes[i].name) &&
               key_schema_equal(&a->indexes[i].keys, &b->indexes[i].keys);
    }
    return same;
}

/* Another process may have changed the indexes: what is written is checked against those that it
 * will meet. */
bool ddb_describe(struct store *base, struct arena *arena, struct table_desc *out,
                  struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_place place = ddb_place_of(store);
    struct ddb_table table;
    if (!ddb_table_read(&place, arena, &table, NULL, err)) {
        return false;
    }
    *out = table.desc;
    out->server = describe_server(store, &table, arena);
    return same_indexes(&store->table.desc, out) ||
           ddb_table_read(&place, store->arena, &store->table, NULL, err);
}

static const struct store_ops ops = {
    .close = ddb_close,
    .describe = ddb_describe,
    .reader_open = ddb_reader_open,
    .reader_close = ddb_reader_close,
    .read_page = ddb_read_page,
    .query = ddb_query,
    .release = ddb_release,
    .get = ddb_get,
    .expect = ddb_expect,
    .commit = ddb_commit,
    .flush = ddb_flush,
    .index_create = ddb_index_create,
    .index_finish = ddb_index_finish,
    .index_drop = ddb_index_drop,
    .control_get = ddb_control_get,
    .control_list = ddb_control_list,
    .control_try = ddb_control_try,
    .undo_last = ddb_undo_last,
    .undo_drop = ddb_undo_drop,
    .lease_take = ddb_lease_take,
    .lease_owner = ddb_lease_owner,
    .lease_release = ddb_lease_release,
    .lease_join = ddb_lease_join,
    .self = ddb_self,
    .members = ddb_members,
    .order_key = ddb_order_key,
    .set_limits = ddb_set_limits,
    .usage = ddb_usage,
    .verify = ddb_verify,
    .needs_before = true,
    .keeps_pass = false,
    .shares = true,
};

static const char *choose_state_dir(struct ddb_store *store, const char *wanted)
{
    if (wanted != NULL && wanted[0] != '\0') {
        return arena_copy(store->arena, (struct str){wanted, strlen(wanted)}).ptr;
    }
    struct str name = store->target.table;
    const char *slash = memrchr(name.ptr, '/', name.len); /* of an ARN: what follows is the name */
    const char *start = slash == NULL ? name.ptr : slash + 1;
    return arena_format(store->arena, ".refold-state/%s", start).ptr;
}

static bool connect(struct ddb_store *store, const char *place, struct error *err)
{
    store->world = (struct ddb_world){.context = store,
                                      .now_us = now_us,
                                      .wall_s = wall_s,
                                      .random = draw,
                                      .stopped = is_stopped,
                                      .say = say};
    if (!ddb_target_parse(place, store->arena, &store->target, err)) {
        return false;
    }
    store->target.options.world = &store->world;
    return ddb_account_open(&store->target.options, &store->account, err) &&
           ddb_client_open(store->account, &store->client, err);
}

static bool open_table(struct ddb_store *store, const struct store_options *options,
                       struct error *err)
{
    struct ddb_place where = ddb_place_of(store);
    if (options->mode == STORE_CREATE && !ddb_table_create(&where, options->create, err)) {
        return false;
    }
    if (!ddb_table_read(&where, store->arena, &store->table, NULL, err)) {
        return false;
    }
    store->read_units = store->table.read_units;
    store->write_units = store->table.write_units;
    return home_find(store, err) &&
           ddb_set_limits(&store->base, &(struct store_limits){.read = {.units = 0}}, err);
}

static struct ddb_store *new_store(enum store_mode mode)
{
    struct ddb_store *store = heap_alloc(sizeof *store);
    store->base.ops = &ops;
    store->arena = arena_new();
    store->segments = ddb_segments_new();
    ddb_page_size_init(&store->page_size, mode != STORE_READ);
    store->mode = mode;
    return store;
}

bool ddb_store_open(const char *place, const struct store_options *options, struct store **out,
                    struct error *err)
{
    struct ddb_store *store = new_store(options->mode);
    store->voice = options->voice;
    store->stop = options->stop;
    if (!connect(store, place, err) || !open_table(store, options, err)) {
        ddb_close(&store->base);
        return false;
    }
    store->state_dir = choose_state_dir(store, options->state_dir);
    store->base.run_files = arena_format(store->arena, "%s/", store->state_dir).ptr;
    *out = &store->base;
    return true;
}

bool ddb_store_exists(const char *place, bool *out, struct error *err)
{
    struct ddb_store *store = new_store(STORE_READ);
    bool missing = false;
    bool ok = connect(store, place, err);
    if (ok) {
        struct ddb_place where = ddb_place_of(store);
        ok = ddb_table_read(&where, store->arena, &store->table, &missing, err);
    }
    *out = !missing;
    ddb_close(&store->base);
    return ok;
}
