#include "migrate/import/import_own.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "migrate/ledger/ledger.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "import/"

enum { DIGEST_BYTES = 16 };

struct digest {
    unsigned char bytes[DIGEST_BYTES];
};

struct import_own {
    uint64_t records; /* of earlier attempts, and of this one */
    struct arena *arena;
    struct digest *digests; /* of earlier attempts, sorted, each once */
    bool *derived;          /* by digest */
    size_t count;
};

/* Of the whole item, its key included. */
static struct digest digest_of(struct value item)
{
    struct digest digest = {{0}};
    hash_128((struct str){(const char *)item.bytes, item.len}, digest.bytes);
    return digest;
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

static void take_digests(struct import_own *own, struct str text)
{
    for (size_t at = 0; at < text.len; at += DIGEST_BYTES) {
        memcpy(own->digests[own->count++].bytes, text.ptr + at, DIGEST_BYTES);
    }
}

static void sort_digests(struct import_own *own)
{
    size_t kept = 0;
    qsort(own->digests, own->count, sizeof *own->digests, compare);
    for (size_t i = 0; i < own->count; i++) {
        if (kept == 0 || compare(&own->digests[kept - 1], &own->digests[i]) != 0) {
            own->digests[kept++] = own->digests[i];
        }
    }
    own->count = kept;
    own->derived = arena_zero(own->arena, kept + 1);
}

static bool read_records(struct import_own *own, struct store_reader *reader, struct arena *scratch,
                         struct error *err)
{
    struct control_list records = {NULL, 0};
    size_t bytes = 0;
    if (!store_control_list(reader, STR(PREFIX), scratch, &records, err)) {
        return false;
    }
    for (size_t i = 0; i < records.count; i++) {
        bytes += records.list[i].value.len;
        if (records.list[i].value.len % DIGEST_BYTES != 0) {
            return error_set(err, ERROR_DAMAGED, "the table's own record '%.*s' is damaged",
                             STR_ARG(records.list[i].name));
        }
    }
    own->records = records.count;
    own->digests = arena_alloc(own->arena, bytes + sizeof(struct digest));
    for (size_t i = 0; i < records.count; i++) {
        take_digests(own, records.list[i].value);
    }
    sort_digests(own);
    return true;
}

bool import_own_open(struct store_reader *reader, struct import_own **out, struct error *err)
{
    struct import_own *own = heap_alloc(sizeof *own);
    struct arena *scratch = arena_new();
    *own = (struct import_own){.arena = arena_new()};
    bool ok = read_records(own, reader, scratch, err);
    arena_free(scratch);
    if (!ok) {
        import_own_close(own);
        return false;
    }
    *out = own;
    return true;
}

void import_own_close(struct import_own *own)
{
    if (own != NULL) {
        arena_free(own->arena);
        heap_free(own);
    }
}

bool import_own_note(struct import_own *own, struct store *store, const struct effect *effects,
                     size_t count, struct error *err)
{
    struct arena *arena = arena_new();
    struct buffer digests = {0};
    for (size_t i = 0; i < count; i++) {
        struct digest digest = digest_of(effects[i].writes[0].item);
        buffer_add(&digests, (struct str){(const char *)digest.bytes, DIGEST_BYTES});
    }
    struct control control = {.name = arena_format(arena, PREFIX "%010" PRIu64, own->records),
                              .value = buffer_str(&digests)};
    bool ok = ledger_commit(store, &control, 1, err);
    own->records += ok ? 1 : 0;
    buffer_free(&digests);
    arena_free(arena);
    return ok || error_wrap(err, "noting what is imported");
}

/* Where the digest stands, or `count`. */
static size_t find(const struct import_own *own, struct value item)
{
    struct digest digest = digest_of(item);
    const struct digest *found =
        bsearch(&digest, own->digests, own->count, sizeof *own->digests, compare);
    return found == NULL ? own->count : (size_t)(found - own->digests);
}

bool import_own_wrote(const struct import_own *own, struct value item)
{
    return find(own, item) < own->count;
}

void import_own_derived(struct import_own *own, struct value item)
{
    size_t at = find(own, item);
    if (at < own->count) {
        own->derived[at] = true;
    }
}

bool import_own_is_left(const struct import_own *own, struct value item)
{
    size_t at = find(own, item);
    return at < own->count && !own->derived[at];
}

bool import_own_forget(struct store *store, struct store_reader *reader, struct error *err)
{
    return ledger_forget(store, reader, STR(PREFIX), err);
}
