#include "engine/store/dynamodb/ddb_intent_internal.h"

#include "engine/base/hash.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_undo_internal.h"

/* Of a record; Amazon DynamoDB Developer Guide, "Quotas": 400 KB an item. What one item puts fits
 * into the rest. */
enum { RECORD_FULL_BYTES = 256 * 1024 };

/* ---------------------------------------------------------------- bytes */

static void add_bytes(struct buffer *out, struct str bytes)
{
    buffer_add_varint(out, bytes.len);
    buffer_add(out, bytes);
}

static void add_digest(struct buffer *out, uint64_t digest)
{
    char bytes[8];
    undo_put_u64(bytes, digest);
    buffer_add(out, (struct str){bytes, sizeof bytes});
}

static void add_key(struct buffer *out, const struct key *key)
{
    struct buffer bytes = {0};
    key_encode(key, &bytes);
    add_bytes(out, buffer_str(&bytes));
    buffer_free(&bytes);
}

uint64_t intent_digest(struct value item)
{
    return hash_64((struct str){(const char *)item.bytes, item.len});
}

uint64_t intent_digest_of(const struct str *names, size_t count, struct value item)
{
    struct buffer bytes = {0};
    for (size_t i = 0; i < count; i++) {
        struct value value = value_member(item, names[i]);
        add_bytes(&bytes, (struct str){(const char *)value.bytes, value.len});
    }
    uint64_t digest = hash_64(buffer_str(&bytes));
    buffer_free(&bytes);
    return digest;
}

/* ---------------------------------------------------------------- an intent */

static void add_names(struct buffer *names, struct value one, struct value other, bool lacking)
{
    struct value_iter iter = value_members(one);
    struct attribute at;
    while (value_next(&iter, &at)) {
        struct value there = value_member(other, at.name);
        if (lacking ? value_is_missing(there) : !value_equal(at.value, there)) {
            buffer_add(names, (struct str){(const char *)&at.name, sizeof at.name});
        }
    }
}

/* The names of what the item's own write changes. */
static void add_changes(struct buffer *out, const struct step *own)
{
    struct buffer found = {0};
    if (own->kind == WRITE_UPDATE) {
        add_names(&found, own->before, own->item, false);
        add_names(&found, own->item, own->before, true);
    }
    const struct str *names = (const struct str *)(const void *)found.bytes;
    size_t count = found.len / sizeof *names;
    buffer_add_varint(out, count);
    for (size_t i = 0; i < count; i++) {
        add_bytes(out, names[i]);
    }
    add_digest(out, intent_digest_of(names, count, own->before));
    add_digest(out, intent_digest_of(names, count, own->item));
    buffer_free(&found);
}

static void add_target(struct buffer *out, const struct step *step)
{
    enum intent_target kind = step->kind == WRITE_MOVE           ? INTENT_MOVE
                              : value_is_missing(step->standing) ? INTENT_PUT
                                                                 : INTENT_OVER;
    buffer_add_char(out, (char)kind);
    add_key(out, &step->target);
    add_digest(out, intent_digest(step->item));
}

static bool is_needed(const struct flight *flight)
{
    return flight->phase != PHASE_DONE && flight->count > 1 &&
           flight->steps[flight->count - 1].kind != WRITE_PUT;
}

static void add_intent(struct buffer *out, const struct flight *flight)
{
    const struct step *own = &flight->steps[flight->count - 1];
    size_t targets = flight->count - (own->kind == WRITE_MOVE ? 0 : 1);
    buffer_add_char(out, (char)('0' + (int)own->kind));
    add_key(out, &own->key);
    add_changes(out, own);
    buffer_add_varint(out, targets);
    for (size_t i = 0; i < targets; i++) {
        add_target(out, &flight->steps[i]);
    }
}

/* ---------------------------------------------------------------- records */

static struct str record_name(const struct ddb_store *store, size_t number, struct arena *arena)
{
    return arena_format(arena, INTENT_PREFIX "%.*s/%05zu", STR_ARG(lease_self(store)), number);
}

/* Records under construction. */
struct records {
    const struct ddb_store *store;
    struct arena *arena;
    struct buffer controls; /* those that are whole */
    struct buffer bytes;    /* of the one at hand */
};

/* It replaces the record of its number. */
static void end_record(struct records *records)
{
    struct control control = {.value = arena_copy(records->arena, buffer_str(&records->bytes))};
    size_t number = records->controls.len / sizeof control;
    control.name = record_name(records->store, number, records->arena);
    buffer_add(&records->controls, (struct str){(const char *)&control, sizeof control});
    records->bytes.len = 0;
}

static void add_records(struct records *records, const struct flight *flights, size_t count,
                        enum intent_phase phase)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_needed(&flights[i])) {
            continue;
        }
        if (records->bytes.len == 0) {
            buffer_add_char(&records->bytes, (char)phase);
        }
        add_intent(&records->bytes, &flights[i]);
        if (records->bytes.len >= RECORD_FULL_BYTES) {
            end_record(records);
        }
    }
    if (records->bytes.len > 0) {
        end_record(records);
    }
}

/* One after the other: of the flights that are left, each record holds at least those of the record
 * that it replaces, and those behind stand until it is written. */
static bool write_records(struct ddb_store *store, const struct buffer *controls, struct error *err)
{
    const struct control *list = (const struct control *)(const void *)controls->bytes;
    size_t count = controls->len / sizeof *list;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = control_send(store, &list[i], 1, err);
    }
    return ok;
}

/* Records from that number on. */
static bool delete_records(struct ddb_store *store, size_t first, struct arena *arena,
                           struct error *err)
{
    size_t count = store->intents > first ? store->intents - first : 0;
    struct control *gone = arena_zero(arena, (count + 1) * sizeof *gone);
    for (size_t i = 0; i < count; i++) {
        gone[i].name = record_name(store, first + i, arena);
    }
    return control_send(store, gone, count, err);
}

bool intent_write(struct ddb_store *store, const struct flight *flights, size_t count,
                  enum intent_phase phase, struct error *err)
{
    struct records records = {.store = store, .arena = arena_new()};
    struct buffer *controls = &records.controls;
    add_records(&records, flights, count, phase);
    size_t written = controls->len / sizeof(struct control);
    bool ok =
        write_records(store, controls, err) && delete_records(store, written, records.arena, err);
    store->intents = ok ? written : store->intents;
    buffer_free(controls);
    buffer_free(&records.bytes);
    arena_free(records.arena);
    return ok;
}

bool intent_forget(struct ddb_store *store, struct error *err)
{
    return store->intents == 0 || intent_write(store, NULL, 0, INTENT_PUTS, err);
}
