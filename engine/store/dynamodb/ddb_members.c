#include "engine/base/buffer.h"
#include "engine/store/dynamodb/ddb_intent_internal.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_lease_internal.h"

#include <string.h>

enum { ID_BYTES = 16 };

/* The last beat that was seen of a member, and when it was new. */
struct seen {
    char id[ID_BYTES];
    uint64_t beat;
    uint64_t since_ms;
};

struct member_watch {
    struct buffer seen; /* of struct seen */
    bool beats;
};

struct member_watch *member_watch_new(void)
{
    return heap_alloc(sizeof(struct member_watch));
}

void member_watch_free(struct member_watch *watch)
{
    if (watch != NULL) {
        buffer_free(&watch->seen);
        heap_free(watch);
    }
}

bool member_watch_beats(const struct member_watch *watch)
{
    return watch->beats;
}

/* ---------------------------------------------------------------- one member */

static struct str id_of(const struct lease_record *record)
{
    size_t cut = sizeof MEMBER_PREFIX - 1;
    return (struct str){record->name.ptr + cut, record->name.len - cut};
}

/* What was seen of a member before; its beat at hand, where it was not met yet. */
static struct seen *recall(struct member_watch *watch, const struct lease_record *record)
{
    struct str id = id_of(record);
    struct seen *list = (struct seen *)(void *)watch->seen.bytes;
    for (size_t i = 0; i < watch->seen.len / sizeof *list; i++) {
        if (str_equal((struct str){list[i].id, ID_BYTES}, id)) {
            return &list[i];
        }
    }
    struct seen seen = {.beat = record->beat, .since_ms = lease_now_ms()};
    memcpy(seen.id, id.ptr, id.len < ID_BYTES ? id.len : ID_BYTES);
    buffer_add(&watch->seen, (struct str){(const char *)&seen, sizeof seen});
    list = (struct seen *)(void *)watch->seen.bytes;
    return &list[watch->seen.len / sizeof *list - 1];
}

static bool is_silent(struct member_watch *watch, const struct lease_record *record)
{
    struct seen *seen = recall(watch, record);
    if (seen->beat != record->beat) {
        seen->beat = record->beat;
        seen->since_ms = lease_now_ms();
        watch->beats = true;
    }
    return lease_now_ms() - seen->since_ms >= WATCH_MS;
}

static bool is_dead(struct member_watch *watch, const struct lease_record *record)
{
    return record->holder.len == 0 || lease_holder_is_dead(record->holder) ||
           is_silent(watch, record);
}

/* ---------------------------------------------------------------- all of them */

struct records {
    struct lease_record *list;
    size_t count;
};

/* Those that stand. */
static bool read_records(const struct ddb_asking *asking, struct records *out, struct error *err)
{
    struct control_list names = {NULL, 0};
    if (!control_query(asking, STR(MEMBER_PREFIX), &names, err)) {
        return false;
    }
    *out = (struct records){arena_alloc(asking->arena, (names.count + 1) * sizeof *out->list), 0};
    for (size_t i = 0; i < names.count; i++) {
        struct lease_record *record = &out->list[out->count];
        if (!lease_record_read(asking, names.list[i].name, record, err)) {
            return false;
        }
        out->count += record->token > 0 ? 1 : 0;
    }
    return true;
}

/* What they left undone first: without a record, others take their segments. */
static bool bury(const struct ddb_asking *asking, const struct records *dead,
                 struct run_members *living, struct error *err)
{
    bool ok = dead->count == 0 || intent_settle(asking, living, err);
    for (size_t i = 0; ok && i < dead->count; i++) {
        bool gone = false;
        const struct lease_record *record = &dead->list[i];
        ok = lease_record_bury(asking, record, &gone, err);
        if (ok && !gone) {
            living->list[living->count++] = (struct run_member){id_of(record), record->owner};
        }
    }
    return ok;
}

bool members_look(const struct ddb_asking *asking, struct member_watch *watch,
                  struct run_members *out, struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct records records;
    if (!read_records(asking, &records, err)) {
        return false;
    }
    struct records dead = {arena_alloc(asking->arena, (records.count + 1) * sizeof *dead.list), 0};
    struct run_members living = {
        arena_alloc(asking->arena, (records.count + 1) * sizeof *living.list), 0};
    for (size_t i = 0; i < records.count; i++) {
        const struct lease_record *record = &records.list[i];
        if (str_equal(id_of(record), lease_self(store))) {
            continue;
        }
        if (is_dead(watch, record) && (store->lease == NULL || lease_leads(store))) {
            dead.list[dead.count++] = *record;
        } else {
            living.list[living.count++] = (struct run_member){id_of(record), record->owner};
        }
    }
    *out = living;
    return !lease_leads(store) || bury(asking, &dead, out, err);
}

bool members_have(const struct ddb_asking *asking, struct str holder, bool *out, struct error *err)
{
    struct records records;
    *out = false;
    if (!read_records(asking, &records, err)) {
        return false;
    }
    for (size_t i = 0; i < records.count; i++) {
        *out = *out || str_equal(records.list[i].holder, holder);
    }
    return true;
}

bool ddb_members(struct store_reader *base, struct arena *arena, struct run_members *out,
                 struct error *err)
{
    const struct ddb_store *store = ddb_of(base->store);
    struct ddb_asking asking = {store, ddb_reader_of(base)->client, arena};
    struct member_watch *watch = lease_watch(store);
    struct member_watch *glance = watch == NULL ? member_watch_new() : NULL;
    bool ok = members_look(&asking, watch == NULL ? glance : watch, out, err);
    member_watch_free(glance);
    return ok;
}
