#include "migrate/run/probe_verdicts.h"

#include "engine/base/hash.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Verdicts in one record: well below the 400 KB of an item, where records are items. */
enum { CHUNK_VERDICTS = 500, CHUNK_BYTES = 300 << 10, VERDICT_BYTES = 250, REASON_MAX_BYTES = 600 };

static const char *const ruling_names[] = {
    [PROBE_FAIL] = "fail", [PROBE_LOSE] = "lose",           [PROBE_STAND] = "stand",
    [PROBE_SKIP] = "skip", [PROBE_OVERWRITE] = "overwrite",
};
_Static_assert(sizeof ruling_names / sizeof *ruling_names == PROBE_RULING_COUNT, "a name each");

void probe_digest(const struct key *key, unsigned char out[PROBE_DIGEST_BYTES])
{
    struct buffer encoded = {0};
    key_encode(key, &encoded);
    hash_128(buffer_str(&encoded), out);
    buffer_free(&encoded);
}

struct value probe_newer(const struct pass_step *rule, struct value item)
{
    bool compares = rule->collision == COLLISION_KEEP_NEWER;
    return compares ? value_member(item, rule->newer) : (struct value){NULL, 0};
}

void probe_basis(const struct key *key, struct value newer, unsigned char out[PROBE_DIGEST_BYTES])
{
    struct buffer encoded = {0};
    key_encode(key, &encoded);
    buffer_add(&encoded, (struct str){(const char *)newer.bytes, newer.len});
    hash_128(buffer_str(&encoded), out);
    buffer_free(&encoded);
}

static int compare_verdicts(const void *a, const void *b)
{
    const struct probe_verdict *left = a;
    const struct probe_verdict *right = b;
    int order = memcmp(left->source, right->source, PROBE_DIGEST_BYTES);
    return order != 0 ? order : (left->step > right->step) - (left->step < right->step);
}

void probe_verdicts_sort(struct probe_verdicts *verdicts)
{
    if (verdicts->count > 0) {
        qsort(verdicts->list, verdicts->count, sizeof *verdicts->list, compare_verdicts);
    }
}

/* The first verdict whose source is not below the digest. */
static size_t lower_bound(const struct probe_verdicts *verdicts, const unsigned char *digest)
{
    size_t low = 0;
    size_t high = verdicts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memcmp(verdicts->list[middle].source, digest, PROBE_DIGEST_BYTES) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const struct probe_verdict *probe_verdicts_of(const struct probe_verdicts *verdicts,
                                              const struct key *key, size_t *count)
{
    *count = 0;
    if (verdicts->count == 0) {
        return NULL;
    }
    unsigned char digest[PROBE_DIGEST_BYTES];
    probe_digest(key, digest);
    size_t first = lower_bound(verdicts, digest);
    size_t end = first;
    while (end < verdicts->count &&
           memcmp(verdicts->list[end].source, digest, PROBE_DIGEST_BYTES) == 0) {
        end++;
    }
    *count = end - first;
    return end > first ? &verdicts->list[first] : NULL;
}

uint64_t probe_verdicts_overwritten(const struct probe_verdicts *verdicts, uint32_t step)
{
    uint64_t count = 0;
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct probe_verdict *verdict = &verdicts->list[i];
        bool loses = verdict->ruling == PROBE_LOSE || verdict->ruling == PROBE_STAND;
        count += loses && verdict->step == step ? 1 : 0;
    }
    return count;
}

struct str probe_prefix(uint32_t version, uint32_t stage, struct arena *arena)
{
    return arena_format(arena, "probe/%010" PRIu32 "/%05" PRIu32 "/", version, stage);
}

/* ---------------------------------------------------------------- records */

static void add_hex(cJSON *object, const char *name, struct str bytes)
{
    char *hex = heap_alloc(2 * bytes.len + 1);
    hash_hex((const unsigned char *)bytes.ptr, bytes.len, hex);
    (void)cJSON_AddStringToObject(object, name, hex);
    heap_free(hex);
}

static void add_digest(cJSON *object, const char *name, const unsigned char *digest)
{
    add_hex(object, name, (struct str){(const char *)digest, PROBE_DIGEST_BYTES});
}

static bool has_basis(enum probe_ruling ruling)
{
    return ruling == PROBE_LOSE || ruling == PROBE_OVERWRITE;
}

static cJSON *verdict_to_json(const struct probe_verdict *verdict)
{
    cJSON *object = cJSON_CreateObject();
    add_digest(object, "source", verdict->source);
    (void)cJSON_AddStringToObject(object, "ruling", ruling_names[verdict->ruling]);
    (void)cJSON_AddNumberToObject(object, "step", verdict->step);
    struct str reason = verdict->reason;
    reason.len = reason.len < REASON_MAX_BYTES ? reason.len : REASON_MAX_BYTES;
    ledger_json_add_text(object, "reason", reason);
    if (has_basis(verdict->ruling)) {
        add_digest(object, "wanted", verdict->wanted);
        add_digest(object, "standing", verdict->standing);
        add_hex(object, "winner", verdict->winner);
    }
    return object;
}

/* Behind the last verdict of the record that begins with `first`. */
static size_t chunk_end(const struct probe_verdicts *verdicts, size_t first)
{
    size_t bytes = 0;
    size_t end = first;
    while (end < verdicts->count && end - first < CHUNK_VERDICTS && bytes < CHUNK_BYTES) {
        const struct probe_verdict *verdict = &verdicts->list[end++];
        bytes += VERDICT_BYTES + verdict->reason.len + 2 * verdict->winner.len;
    }
    return end;
}

static struct control chunk_control(struct str prefix, const struct probe_verdicts *verdicts,
                                    size_t first, size_t number, struct arena *arena)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(object, "verdicts");
    for (size_t i = first; i < chunk_end(verdicts, first); i++) {
        (void)cJSON_AddItemToArray(list, verdict_to_json(&verdicts->list[i]));
    }
    return (struct control){
        .name = arena_format(arena, "%.*s%010zu", STR_ARG(prefix), number),
        .value = ledger_json_print(object, arena),
    };
}

static struct control done_control(struct str prefix, const struct probe_verdicts *verdicts,
                                   struct arena *arena)
{
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "count", (double)verdicts->count);
    cJSON *merged = cJSON_AddArrayToObject(object, "merged");
    for (size_t i = 0; i < verdicts->step_count; i++) {
        cJSON *step = cJSON_CreateObject();
        (void)cJSON_AddNumberToObject(step, "puts", (double)verdicts->merged[i]);
        (void)cJSON_AddItemToArray(merged, step);
    }
    return (struct control){
        .name = arena_format(arena, "%.*sdone", STR_ARG(prefix)),
        .value = ledger_json_print(object, arena),
    };
}

bool probe_verdicts_save(struct store *store, struct str prefix,
                         const struct probe_verdicts *verdicts, struct error *err)
{
    struct arena *arena = arena_new();
    bool ok = true;
    size_t number = 0;
    for (size_t first = 0; ok && first < verdicts->count; first = chunk_end(verdicts, first)) {
        struct control chunk = chunk_control(prefix, verdicts, first, number++, arena);
        ok = ledger_commit(store, &chunk, 1, err);
        arena_reset(arena);
    }
    struct control done = done_control(prefix, verdicts, arena);
    ok = ok && ledger_commit(store, &done, 1, err);
    arena_free(arena);
    return ok;
}

/* Half as many bytes as there are digits. */
static bool read_hex(struct str hex, unsigned char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < hex.len; i++) {
        const char *digit = memchr(digits, hex.ptr[i], sizeof digits - 1);
        if (digit == NULL) {
            return false;
        }
        unsigned int value = (unsigned int)(digit - digits);
        out[i / 2] = (unsigned char)(i % 2 == 0 ? value << 4 : out[i / 2] | value);
    }
    return true;
}

static bool read_digest(const cJSON *object, const char *name, struct arena *arena,
                        unsigned char *out, struct error *err)
{
    struct str hex;
    return ledger_json_text(object, name, arena, &hex, err) &&
           ((hex.len == (size_t)2 * PROBE_DIGEST_BYTES && read_hex(hex, out)) ||
            error_set(err, ERROR_DAMAGED, "a verdict is not one"));
}

static bool read_winner(const cJSON *object, struct arena *arena, struct str *out,
                        struct error *err)
{
    struct str hex;
    if (!ledger_json_text(object, "winner", arena, &hex, err)) {
        return false;
    }
    char *bytes = arena_bytes(arena, hex.len / 2 + 1);
    *out = (struct str){bytes, hex.len / 2};
    return (hex.len % 2 == 0 && read_hex(hex, (unsigned char *)bytes)) ||
           error_set(err, ERROR_DAMAGED, "a verdict is not one");
}

static bool read_basis(const cJSON *object, struct arena *arena, struct probe_verdict *out,
                       struct error *err)
{
    return read_digest(object, "wanted", arena, out->wanted, err) &&
           read_digest(object, "standing", arena, out->standing, err) &&
           read_winner(object, arena, &out->winner, err);
}

static bool read_verdict(const cJSON *object, struct arena *arena, struct probe_verdict *out,
                         struct error *err)
{
    struct str ruling;
    uint64_t step = 0;
    if (!read_digest(object, "source", arena, out->source, err) ||
        !ledger_json_text(object, "ruling", arena, &ruling, err) ||
        !ledger_json_number(object, "step", &step, err) ||
        !ledger_json_text(object, "reason", arena, &out->reason, err)) {
        return false;
    }
    out->step = (uint32_t)step;
    out->ruling = PROBE_RULING_COUNT;
    for (int i = 0; i < PROBE_RULING_COUNT; i++) {
        if (str_equal(ruling, (struct str){ruling_names[i], strlen(ruling_names[i])})) {
            out->ruling = (enum probe_ruling)i;
        }
    }
    if (out->ruling == PROBE_RULING_COUNT) {
        return error_set(err, ERROR_DAMAGED, "a verdict is not one");
    }
    return !has_basis(out->ruling) || read_basis(object, arena, out, err);
}

/* Adds the chunk's verdicts to *out, which has room for `room` in all. */
static bool read_chunk(const struct control *control, struct arena *arena, size_t room,
                       struct probe_verdicts *out, struct error *err)
{
    cJSON *object = NULL;
    const cJSON *list = NULL;
    if (!ledger_json_parse(control->value, control->name, &object, err)) {
        return false;
    }
    bool ok = ledger_json_array(object, "verdicts", &list, err);
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        ok = ok && (out->count < room || error_set(err, ERROR_DAMAGED, "too many verdicts")) &&
             read_verdict(member, arena, &out->list[out->count], err);
        out->count += ok ? 1 : 0;
    }
    cJSON_Delete(object);
    return ok ||
           error_wrap(err, "the table's own record '%.*s' is damaged", STR_ARG(control->name));
}

static bool read_merged(const cJSON *object, struct arena *arena, struct probe_verdicts *out,
                        struct error *err)
{
    const cJSON *list = NULL;
    if (!ledger_json_array(object, "merged", &list, err)) {
        return false;
    }
    out->merged = arena_zero(arena, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *out->merged);
    out->step_count = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        if (!ledger_json_number(member, "puts", &out->merged[out->step_count], err)) {
            return false;
        }
        out->step_count++;
    }
    return true;
}

/* Sets what the record says of all verdicts, and how many of them there must be. */
static bool read_done(const struct control *control, struct arena *arena,
                      struct probe_verdicts *out, uint64_t *count, struct error *err)
{
    cJSON *object = NULL;
    if (!ledger_json_parse(control->value, control->name, &object, err)) {
        return false;
    }
    bool ok =
        ledger_json_number(object, "count", count, err) && read_merged(object, arena, out, err);
    cJSON_Delete(object);
    return ok ||
           error_wrap(err, "the table's own record '%.*s' is damaged", STR_ARG(control->name));
}

bool probe_verdicts_load(struct store_reader *reader, struct str prefix, struct arena *arena,
                         struct probe_verdicts *out, struct error *err)
{
    struct control_list found = {NULL, 0};
    uint64_t expected = 0;
    if (!store_control_list(reader, prefix, arena, &found, err)) {
        return false;
    }
    const struct control *controls = found.list;
    size_t count = found.count;
    /* "done" sorts behind the digits of the chunks. */
    struct str last = arena_format(arena, "%.*sdone", STR_ARG(prefix));
    if (count == 0 || !str_equal(controls[count - 1].name, last)) {
        *out = (struct probe_verdicts){.list = NULL};
        return true;
    }
    struct probe_verdicts read = {.count = 0};
    if (!read_done(&controls[count - 1], arena, &read, &expected, err)) {
        return false;
    }
    size_t room = (count - 1) * CHUNK_VERDICTS;
    read.list = arena_zero(arena, (room + 1) * sizeof *read.list);
    for (size_t i = 0; i + 1 < count; i++) {
        if (!read_chunk(&controls[i], arena, room, &read, err)) {
            return false;
        }
    }
    if (read.count != expected) {
        return error_set(err, ERROR_DAMAGED, "the table's own records '%.*s' are not complete",
                         STR_ARG(prefix));
    }
    probe_verdicts_sort(&read);
    *out = read;
    return true;
}
