#include "engine/base/varint.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_undo_internal.h"

#include <string.h>

struct target {
    enum intent_target kind;
    struct key key;
    uint64_t digest;
    struct value found;
};

struct intent {
    enum intent_phase phase;
    enum write_kind own;
    struct key key;
    struct str *names;
    uint64_t name_count;
    uint64_t before, after;
    struct target *targets;
    uint64_t target_count;
    struct value found; /* under `key` */
};

/* ---------------------------------------------------------------- reading */

/* Bytes that are left, and whether all that was asked for was there. */
struct bytes {
    struct str rest;
    bool whole;
};

static struct str take(struct bytes *bytes, uint64_t len)
{
    bytes->whole = bytes->whole && len <= bytes->rest.len;
    size_t taken = bytes->whole ? (size_t)len : 0;
    struct str out = {bytes->rest.ptr, taken};
    bytes->rest = (struct str){bytes->rest.ptr + taken, bytes->rest.len - taken};
    return out;
}

static char take_char(struct bytes *bytes)
{
    struct str one = take(bytes, 1);
    return (char)(one.len == 1 ? one.ptr[0] : '\0');
}

static uint64_t take_number(struct bytes *bytes)
{
    uint64_t n = 0;
    size_t size = varint_get((const unsigned char *)bytes->rest.ptr, bytes->rest.len, &n);
    bytes->whole = bytes->whole && size > 0;
    (void)take(bytes, size);
    return bytes->whole ? n : 0;
}

static uint64_t take_digest(struct bytes *bytes)
{
    struct str digest = take(bytes, 8);
    return digest.len == 8 ? undo_get_u64(digest.ptr) : 0;
}

static struct key take_key(struct bytes *bytes, const struct key_schema *keys)
{
    struct key key = {.count = 0};
    struct error ignored;
    struct str encoded = take(bytes, take_number(bytes));
    bytes->whole = bytes->whole &&
                   key_decode(encoded, keys->partition_count + keys->sort_count, &key, &ignored);
    return key;
}

/* A count of what takes at least a byte each. */
static uint64_t take_count(struct bytes *bytes)
{
    uint64_t count = take_number(bytes);
    bytes->whole = bytes->whole && count <= bytes->rest.len;
    return bytes->whole ? count : 0;
}

static void read_intent(const struct key_schema *keys, struct bytes *bytes, struct arena *arena,
                        struct intent *out)
{
    out->own = (enum write_kind)(take_char(bytes) - '0');
    out->key = take_key(bytes, keys);
    out->name_count = take_count(bytes);
    out->names = arena_alloc(arena, (out->name_count + 1) * sizeof *out->names);
    for (size_t i = 0; i < out->name_count; i++) {
        out->names[i] = take(bytes, take_number(bytes));
    }
    out->before = take_digest(bytes);
    out->after = take_digest(bytes);
    out->target_count = take_count(bytes);
    out->targets = arena_zero(arena, (out->target_count + 1) * sizeof *out->targets);
    for (size_t i = 0; i < out->target_count; i++) {
        struct target *target = &out->targets[i];
        target->kind = (enum intent_target)take_char(bytes);
        target->key = take_key(bytes, keys);
        target->digest = take_digest(bytes);
    }
}

static bool read_record(const struct ddb_store *store, const struct control *control,
                        struct buffer *intents, struct arena *arena, struct error *err)
{
    struct bytes bytes = {control->value, true};
    enum intent_phase phase = (enum intent_phase)take_char(&bytes);
    while (bytes.whole && bytes.rest.len > 0) {
        struct intent intent = {.phase = phase};
        read_intent(&store->table.desc.keys, &bytes, arena, &intent);
        buffer_add(intents, (struct str){(const char *)&intent, sizeof intent});
    }
    return bytes.whole || error_set(err, ERROR_DAMAGED, "the control record %.*s is damaged",
                                    STR_ARG(control->name));
}

/* ---------------------------------------------------------------- what stands */

struct settling {
    struct ddb_store *store;
    struct arena *arena;
    struct intent *intents;
    size_t count;
};

static size_t count_keys(const struct settling *settling)
{
    size_t count = 0;
    for (size_t i = 0; i < settling->count; i++) {
        count += 1 + (size_t)settling->intents[i].target_count;
    }
    return count;
}

static bool look(const struct settling *settling, struct error *err)
{
    size_t count = count_keys(settling);
    struct key *keys = arena_alloc(settling->arena, (count + 1) * sizeof *keys);
    struct value *items = arena_alloc(settling->arena, (count + 1) * sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < settling->count; i++) {
        const struct intent *intent = &settling->intents[i];
        keys[n++] = intent->key;
        for (size_t t = 0; t < intent->target_count; t++) {
            keys[n++] = intent->targets[t].key;
        }
    }
    struct ddb_asking asking = ddb_asking_of(settling->store, settling->arena);
    if (!get_items(&asking, (struct key_list){keys, count}, items, err)) {
        return false;
    }
    for (size_t i = 0; i < settling->count; i++) {
        struct intent *intent = &settling->intents[i];
        intent->found = *items++;
        for (size_t t = 0; t < intent->target_count; t++) {
            intent->targets[t].found = *items++;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- what was not done */

static bool stands_as_put(const struct target *target)
{
    return !value_is_missing(target->found) && intent_digest(target->found) == target->digest;
}

/* A transaction moves all or nothing, so a new item beside an old one is of somebody who has put
 * the old one since. */
static bool is_moved(const struct intent *intent)
{
    const struct target *target = &intent->targets[intent->target_count - 1];
    return value_is_missing(intent->found) ? !value_is_missing(target->found)
                                           : stands_as_put(target);
}

/* docs/architecture.md, "What a crash leaves", has the table. */
static bool was_done(const struct intent *intent)
{
    bool is_gone = value_is_missing(intent->found);
    switch (intent->own) {
    case WRITE_UPDATE:
        return !is_gone && intent_digest_of(intent->names, (size_t)intent->name_count,
                                            intent->found) != intent->before;
    case WRITE_DELETE:
        return is_gone && intent->phase == INTENT_OWN;
    case WRITE_MOVE:
        return intent->target_count > 0 && is_moved(intent);
    case WRITE_PUT:
        break;
    }
    return true;
}

static void say_left(const struct settling *settling, const struct target *target)
{
    struct str key = key_print(&settling->store->table.desc.keys, &target->key, settling->arena);
    const char *why = stands_as_put(target)
                          ? "replaced another item, which 'refold rollback' brings back"
                          : "is not what was put there";
    ddb_say(settling->store,
            arena_format(settling->arena,
                         "%.*s was written for an item that is gone since, and %s: it is left",
                         STR_ARG(key), why)
                .ptr);
}

/* Where the item that the effect put stands; NULL where nothing is left of it, or where it is sure
 * who took the old one away: nobody has, or a transaction with the put. */
static const struct target *find_taken_as_moved(const struct intent *intent)
{
    bool unsure = intent->own == WRITE_DELETE && was_done(intent);
    for (size_t i = 0; unsure && i < intent->target_count; i++) {
        if (!value_is_missing(intent->targets[i].found)) {
            return &intent->targets[i];
        }
    }
    return NULL;
}

/* The delete may have been another's, who did not know the new key: nothing on the server tells,
 * but the user may know. */
static void say_taken_as_moved(const struct settling *settling)
{
    enum { EXAMPLES = 3 };
    const struct key_schema *keys = &settling->store->table.desc.keys;
    struct buffer examples = {0};
    size_t count = 0;
    for (size_t i = 0; i < settling->count; i++) {
        const struct intent *intent = &settling->intents[i];
        const struct target *target = find_taken_as_moved(intent);
        if (target != NULL && count++ < EXAMPLES) {
            struct str old = key_print(keys, &intent->key, settling->arena);
            struct str now = key_print(keys, &target->key, settling->arena);
            buffer_format(&examples, "%s%.*s is now %.*s", count == 1 ? "" : ", ", STR_ARG(old),
                          STR_ARG(now));
        }
    }
    if (count > 0) {
        ddb_say(settling->store,
                arena_format(settling->arena,
                             "items that were on the move when a run was broken off, are gone "
                             "under their old keys, and are taken as moved: %zu. If others have "
                             "deleted one there, its new one is left: %.*s%s",
                             count, STR_ARG(buffer_str(&examples)), count > EXAMPLES ? ", ..." : "")
                    .ptr);
    }
    buffer_free(&examples);
}

/* The steps of a flight that has put what stands as it was put, and is to take it back. */
static void begin_back(const struct settling *settling, const struct intent *intent,
                       struct flight *out)
{
    struct effect *effect = arena_zero(settling->arena, sizeof *effect);
    *out = (struct flight){.effect = effect, .arena = settling->arena};
    out->steps = arena_zero(settling->arena, (intent->target_count + 1) * sizeof *out->steps);
    for (size_t i = 0; i < intent->target_count; i++) {
        const struct target *target = &intent->targets[i];
        if (target->kind == INTENT_PUT && stands_as_put(target)) {
            out->steps[out->count++] = (struct step){
                .kind = WRITE_PUT, .done = true, .target = target->key, .item = target->found};
        } else if (value_is_missing(intent->found) && !value_is_missing(target->found) &&
                   target->kind != INTENT_MOVE) {
            say_left(settling, target);
        }
    }
    out->at = out->count;
    flight_take_back(out);
}

static bool take_back(const struct settling *settling, struct error *err)
{
    struct flight *flights = arena_alloc(settling->arena, (settling->count + 1) * sizeof *flights);
    size_t count = 0;
    for (size_t i = 0; i < settling->count; i++) {
        if (!was_done(&settling->intents[i])) {
            begin_back(settling, &settling->intents[i], &flights[count++]);
        }
    }
    return flights_run(settling->store, flights, count, settling->arena, err);
}

static bool settle(struct settling *settling, const struct control_list *records, struct error *err)
{
    struct buffer intents = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < records->count; i++) {
        ok = read_record(settling->store, &records->list[i], &intents, settling->arena, err);
        records->list[i].value = (struct str){NULL, 0};
    }
    settling->intents = (struct intent *)(void *)intents.bytes;
    settling->count = intents.len / sizeof *settling->intents;
    ok = ok && look(settling, err) && take_back(settling, err) &&
         control_send(settling->store, records->list, records->count, err);
    if (ok) {
        say_taken_as_moved(settling);
    }
    buffer_free(&intents);
    return ok;
}

/* Drops the records of those who may do themselves what they intend. */
static void leave_to_the_living(const struct ddb_store *store, const struct run_members *living,
                                struct control_list *records)
{
    size_t kept = 0;
    for (size_t i = 0; i < records->count; i++) {
        struct str rest = records->list[i].name;
        rest = (struct str){rest.ptr + sizeof INTENT_PREFIX - 1,
                            rest.len - (sizeof INTENT_PREFIX - 1)};
        bool lives = str_begins(rest, lease_self(store));
        for (size_t m = 0; m < living->count; m++) {
            lives = lives || str_begins(rest, living->list[m].id);
        }
        if (!lives) {
            records->list[kept++] = records->list[i];
        }
    }
    records->count = kept;
}

bool intent_settle(const struct ddb_asking *asking, const struct run_members *living,
                   struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct ddb_store own = {.base = store->base,
                            .target = store->target,
                            .mode = store->mode,
                            .account = store->account,
                            .client = asking->client,
                            .table = store->table,
                            .home = store->home,
                            .lease = store->lease,
                            .voice = store->voice};
    struct control_list records = {0};
    struct settling settling = {.store = &own, .arena = asking->arena};
    bool ok = control_query(asking, STR(INTENT_PREFIX), &records, err);
    if (ok) {
        leave_to_the_living(store, living, &records);
        ok = records.count == 0 || settle(&settling, &records, err);
    }
    composer_free(&own.composer);
    return ok || error_wrap(err, "taking back what a run that was broken off has put");
}
