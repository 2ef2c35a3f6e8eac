#include "engine/base/hash.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_undo_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAME_MAX_BYTES = 1 << 30 };

struct place {
    uint64_t sequence;
    const char *path;
    uint64_t offset; /* of the frame */
    size_t length;
    uint64_t check;
};

struct undo_index {
    uint64_t log;
    struct arena *arena;
    struct buffer places; /* of struct place, by sequence */
};

void undo_index_free(struct undo_index *index)
{
    if (index != NULL) {
        buffer_free(&index->places);
        arena_free(index->arena);
        heap_free(index);
    }
}

/* What a control record tells of a file. */
struct listing {
    struct str host;
    struct str path;
    uint64_t length;
    uint64_t digest;
};

static bool read_listing(const struct control *control, struct arena *arena, struct listing *out,
                         struct error *err)
{
    struct json_options options = {.file = control->name.ptr};
    struct json *json = NULL;
    if (!json_parse(control->value, &options, arena, &json, err)) {
        err->code = ERROR_DAMAGED;
        return false;
    }
    const char *const names[] = {"host", "path", "length", "digest"};
    struct str texts[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *member = json->kind == JSON_OBJECT ? json_member(json, names[i]) : NULL;
        if (member == NULL || (member->kind != JSON_STRING && member->kind != JSON_NUMBER)) {
            return error_set(err, ERROR_DAMAGED, "the control record %.*s has no '%s'",
                             STR_ARG(control->name), names[i]);
        }
        texts[i] = arena_copy(arena, member->text);
    }
    *out = (struct listing){texts[0], texts[1], strtoull(texts[2].ptr, NULL, 10),
                            strtoull(texts[3].ptr, NULL, 16)};
    return true;
}

/* ---------------------------------------------------------------- a file */

static bool read_exactly(int fd, uint64_t offset, char *out, size_t size)
{
    size_t have = 0;
    while (have < size) {
        ssize_t got = pread(fd, out + have, size - have, (off_t)(offset + have));
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            return false;
        }
        have += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static void add_place(struct undo_index *index, const struct place *place)
{
    struct place *places = (struct place *)(void *)index->places.bytes;
    size_t count = index->places.len / sizeof *places;
    if (count > 0 && places[count - 1].sequence == place->sequence) {
        places[count - 1] = *place;
        return;
    }
    buffer_add(&index->places, (struct str){(const char *)place, sizeof *place});
}

/* Reads the heads of all entries that are whole: what follows the last was never relied on.
 * *matches tells whether the digest stood as listed at the listed length. */
static void read_entries(int fd, uint64_t size, const struct listing *listing,
                         struct undo_index *index, bool *matches)
{
    uint64_t offset = sizeof UNDO_MAGIC - 1;
    uint64_t digest = 0;
    char head[UNDO_HEAD_BYTES];
    *matches = offset == listing->length;
    while (size - offset >= UNDO_HEAD_BYTES && read_exactly(fd, offset, head, sizeof head)) {
        struct place place = {.sequence = undo_get_u64(head),
                              .path = listing->path.ptr,
                              .offset = offset + UNDO_HEAD_BYTES,
                              .check = undo_get_u64(head + 16)};
        uint64_t length = undo_get_u64(head + 8);
        if (length > FRAME_MAX_BYTES || length > size - place.offset) {
            return;
        }
        place.length = (size_t)length;
        add_place(index, &place);
        digest = undo_chain(digest, head);
        offset = place.offset + length;
        *matches = *matches || (offset == listing->length && digest == listing->digest);
    }
}

static bool read_file(const struct listing *listing, struct undo_index *index, struct error *err)
{
    struct stat status;
    char magic[sizeof UNDO_MAGIC - 1];
    bool matches = false;
    int fd = open(listing->path.ptr, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_set(err, ERROR_STORE,
                         "the undo log %.*s cannot be opened: %s\n"
                         "hint: rollback needs every undo file of the plan; nothing was changed",
                         STR_ARG(listing->path), strerror(errno));
    }
    if (fstat(fd, &status) == 0 && read_exactly(fd, 0, magic, sizeof magic) &&
        memcmp(magic, UNDO_MAGIC, sizeof magic) == 0) {
        read_entries(fd, (uint64_t)status.st_size, listing, index, &matches);
    }
    (void)close(fd);
    return matches || error_set(err, ERROR_DAMAGED, "the undo log %.*s is not what it was",
                                STR_ARG(listing->path));
}

static bool read_listed(const struct control *control, struct undo_index *index, struct error *err)
{
    struct listing listing;
    struct str here = undo_host(index->arena);
    if (!read_listing(control, index->arena, &listing, err)) {
        return false;
    }
    if (!str_equal(listing.host, here)) {
        return error_set(err, ERROR_STORE,
                         "the undo log %.*s lies on host %.*s, and this is %.*s\n"
                         "hint: roll back there, or with that file under the same path and name "
                         "of host; nothing was changed",
                         STR_ARG(listing.path), STR_ARG(listing.host), STR_ARG(here));
    }
    return read_file(&listing, index, err);
}

/* ---------------------------------------------------------------- the log */

static int compare_places(const void *left, const void *right)
{
    uint64_t a = ((const struct place *)left)->sequence;
    uint64_t b = ((const struct place *)right)->sequence;
    return a < b ? -1 : a > b;
}

static bool read_index(const struct ddb_reader *reader, uint64_t log, struct undo_index *index,
                       struct error *err)
{
    struct control_list controls = {0};
    struct ddb_asking asking = {ddb_of(reader->base.store), reader->client, index->arena};
    if (!control_query(&asking, undo_prefix(log, index->arena), &controls, err)) {
        return false;
    }
    for (size_t i = 0; i < controls.count; i++) {
        if (!read_listed(&controls.list[i], index, err)) {
            return false;
        }
    }
    if (index->places.len > 0) {
        qsort(index->places.bytes, index->places.len / sizeof(struct place), sizeof(struct place),
              compare_places);
    }
    return true;
}

static bool know_log(struct ddb_reader *reader, uint64_t log, struct error *err)
{
    if (reader->undo != NULL && reader->undo->log == log) {
        return true;
    }
    struct undo_index *index = heap_alloc(sizeof *index);
    index->log = log;
    index->arena = arena_new();
    if (!read_index(reader, log, index, err)) {
        undo_index_free(index);
        return false;
    }
    undo_index_free(reader->undo);
    reader->undo = index;
    return true;
}

static bool read_frame(const struct place *place, struct arena *arena, struct str *out,
                       struct error *err)
{
    char *bytes = arena_bytes(arena, place->length + 1);
    struct str frame = {bytes, place->length};
    int fd = open(place->path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && read_exactly(fd, place->offset, bytes, place->length);
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!ok) {
        return error_set(err, ERROR_STORE, "the undo log %s cannot be read: %s", place->path,
                         strerror(errno));
    }
    *out = frame;
    return hash_64(frame) == place->check ||
           error_set(err, ERROR_DAMAGED, "the undo log %s is damaged", place->path);
}

bool ddb_undo_last(struct store_reader *base, struct undo_place place, struct arena *arena,
                   struct undo_frame *out, struct error *err)
{
    struct ddb_reader *reader = ddb_reader_of(base);
    if (!know_log(reader, place.log, err)) {
        return false;
    }
    const struct place *places = (const struct place *)(void *)reader->undo->places.bytes;
    size_t count = reader->undo->places.len / sizeof *places;
    while (count > 0 &&
           (places[count - 1].sequence >= place.before || places[count - 1].length == 0)) {
        count--;
    }
    if (count == 0) {
        *out = (struct undo_frame){{NULL, 0}, 0};
        return true;
    }
    if (!read_frame(&places[count - 1], arena, &out->bytes, err)) {
        return false;
    }
    out->sequence = places[count - 1].sequence;
    return true;
}

bool ddb_undo_drop(struct store *base, uint64_t log, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct arena *arena = arena_new();
    struct ddb_asking asking = ddb_asking_of(store, arena);
    struct control_list controls = {0};
    struct str here = undo_host(arena);
    bool ok = control_query(&asking, undo_prefix(log, arena), &controls, err);
    struct listing *listings = arena_alloc(arena, (controls.count + 1) * sizeof *listings);
    for (size_t i = 0; ok && i < controls.count; i++) {
        ok = read_listing(&controls.list[i], arena, &listings[i], err);
        controls.list[i] = (struct control){.name = controls.list[i].name};
    }
    /* A file goes when nothing tells of it any more. */
    ok = ok && control_send(store, controls.list, controls.count, err);
    for (size_t i = 0; ok && i < controls.count; i++) {
        if (str_equal(listings[i].host, here)) {
            (void)unlink(listings[i].path.ptr);
        }
    }
    arena_free(arena);
    return ok;
}
