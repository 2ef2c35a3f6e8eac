#include "engine/store/dynamodb/ddb_undo_internal.h"

#include "engine/base/folder.h"
#include "engine/base/hash.h"
#include "engine/item/item_json.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/undo/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Item data: nobody else's business. */
enum { FILE_MODE = 0600 };

/* The file that this process appends to: one for each log and process, so that nobody ever appends
 * to another's. Sequences are drawn from the table: of two processes that write one item, the later
 * has seen what the other wrote before it draws. */
struct ddb_undo {
    uint64_t log;
    struct str self;
    uint64_t sequence;
    bool is_listed;
    uint64_t length;
    uint64_t digest;
    int fd;
    struct str path;
    struct arena *arena;
};

/* ---------------------------------------------------------------- bytes */

void undo_put_u64(char out[8], uint64_t n)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (char)(unsigned char)(n >> (8 * i));
    }
}

uint64_t undo_get_u64(const char in[8])
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        n |= (uint64_t)(unsigned char)in[i] << (8 * i);
    }
    return n;
}

uint64_t undo_chain(uint64_t digest, const char head[UNDO_HEAD_BYTES])
{
    char both[8 + UNDO_HEAD_BYTES];
    undo_put_u64(both, digest);
    memcpy(both + 8, head, UNDO_HEAD_BYTES);
    return hash_64((struct str){both, sizeof both});
}

/* ---------------------------------------------------------------- the file */

static bool fail(const char *what, const char *path, struct error *err)
{
    return error_set(err, error_code_of_write(errno), "the undo log %s cannot be %s: %s", path,
                     what, strerror(errno));
}

static bool write_at(int fd, uint64_t offset, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t written = pwrite(fd, bytes.ptr, bytes.len, (off_t)offset);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        size_t size = written > 0 ? (size_t)written : 0;
        bytes = (struct str){bytes.ptr + size, bytes.len - size};
        offset += size;
    }
    return true;
}

static bool open_file(struct ddb_store *store, struct ddb_undo *undo, struct error *err)
{
    folder_make(store->state_dir);
    char folder[PATH_MAX];
    if (realpath(store->state_dir, folder) == NULL) {
        return fail("made", store->state_dir, err);
    }
    /* One folder may serve several tables, even of one name. */
    const struct table_desc *table = &store->table.desc;
    undo->path = arena_format(undo->arena, "%s/%.*s-%016" PRIx64 "-%04" PRIu64 "-%.*s.undo", folder,
                              STR_ARG(table->name), hash_64(table->identity), undo->log,
                              STR_ARG(undo->self));
    undo->fd = open(undo->path.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (undo->fd < 0 || !write_at(undo->fd, 0, STR(UNDO_MAGIC)) || !folder_sync(store->state_dir)) {
        return fail("made", undo->path.ptr, err);
    }
    undo->length = sizeof UNDO_MAGIC - 1;
    return true;
}

void undo_close(struct ddb_store *store)
{
    struct ddb_undo *undo = store->undo;
    if (undo != NULL) {
        if (undo->fd >= 0) {
            (void)close(undo->fd);
        }
        arena_free(undo->arena);
        heap_free(undo);
        store->undo = NULL;
    }
}

static bool begin(struct ddb_store *store, uint64_t log, struct error *err)
{
    if (store->undo != NULL && store->undo->log == log) {
        return true;
    }
    undo_close(store);
    struct ddb_undo *undo = heap_alloc(sizeof *undo);
    undo->arena = arena_new();
    undo->log = log;
    undo->self = arena_copy(undo->arena, lease_self(store));
    undo->fd = -1;
    store->undo = undo;
    if (!open_file(store, undo, err)) {
        undo_close(store);
        return false;
    }
    return true;
}

/* Length and digest are listed on the server: they are of what is durable. */
static bool append(struct ddb_undo *undo, struct str records, struct error *err)
{
    struct buffer frame = {0};
    char head[UNDO_HEAD_BYTES];
    if (records.len > 0) {
        undo_pack(records, &frame);
    }
    undo_put_u64(head, undo->sequence);
    undo_put_u64(head + 8, frame.len);
    undo_put_u64(head + 16, hash_64(buffer_str(&frame)));
    bool ok = write_at(undo->fd, undo->length, (struct str){head, sizeof head}) &&
              write_at(undo->fd, undo->length + sizeof head, buffer_str(&frame)) &&
              fdatasync(undo->fd) == 0;
    if (ok) {
        undo->length += sizeof head + frame.len;
        undo->digest = undo_chain(undo->digest, head);
    }
    buffer_free(&frame);
    return ok || fail("written", undo->path.ptr, err);
}

bool undo_write(struct ddb_store *store, uint64_t log, struct str records, struct error *err)
{
    if (!begin(store, log, err)) {
        return false;
    }
    struct ddb_undo *undo = store->undo;
    if (!control_draw(store, &undo->sequence, err) || !append(undo, records, err)) {
        return false;
    }
    if (undo->is_listed) {
        return true;
    }
    struct arena *arena = arena_new();
    struct control listing = undo_listing(store, arena);
    undo->is_listed = control_send(store, &listing, 1, err);
    arena_free(arena);
    return undo->is_listed;
}

/* A frame of the same number replaces the one before it. */
bool undo_correct(struct ddb_store *store, struct str records, struct error *err)
{
    return append(store->undo, records, err);
}

/* ---------------------------------------------------------------- the control records */

struct str undo_prefix(uint64_t log, struct arena *arena)
{
    return arena_format(arena, "undo/%010" PRIu64 "/", log);
}

struct str undo_host(struct arena *arena)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) {
        host[0] = '\0';
    }
    return arena_copy(arena, (struct str){host, strlen(host)});
}

struct control undo_listing(struct ddb_store *store, struct arena *arena)
{
    const struct ddb_undo *undo = store->undo;
    if (undo == NULL) {
        return (struct control){.name = {NULL, 0}};
    }
    struct buffer json = {0};
    buffer_add(&json, STR("{\"host\":"));
    json_write_string(&json, undo_host(arena));
    buffer_add(&json, STR(",\"path\":"));
    json_write_string(&json, undo->path);
    buffer_format(&json, ",\"length\":%" PRIu64 ",\"digest\":\"%016" PRIx64 "\"}", undo->length,
                  undo->digest);
    struct str prefix = undo_prefix(undo->log, arena);
    struct control listing = {
        .name = arena_format(arena, "%.*s%.*s", STR_ARG(prefix), STR_ARG(undo->self)),
        .value = arena_copy(arena, buffer_str(&json)),
    };
    buffer_free(&json);
    return listing;
}
