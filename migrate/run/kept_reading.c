#include "migrate/run/kept_reading.h"

#include "engine/base/buffer.h"
#include "engine/base/folder.h"
#include "engine/base/hash.h"
#include "migrate/cli/files.h"
#include "migrate/cli/report.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/run/kept_manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Saved after a sixteenth of all that this attempt read, but not for fewer pages than PAGES, and in
 * any case after SECONDS: little is lost, and hours of reading are saved some thousand times. */
enum { PAGES = 16, SHARE = 16, SECONDS = 10, MANIFEST_MAX_BYTES = 1 << 28 };

#define MANIFEST "reading"

/* Files that belong to a manifest, besides the one that replaces it. */
static const char *const file_names[] = {MANIFEST, MANIFEST "-new", "claims", "holders"};

struct kept_reading {
    const struct runner_session *session;
    struct arena *arena;
    struct kept_purpose purpose;
    struct str folder;             /* of the files */
    struct str base;               /* how their paths begin */
    struct str name;               /* of the table's record */
    struct kept_manifest manifest; /* as it was found; then as it is saved */
    bool is_new;                   /* the table has not been told yet */
    const char *why;               /* it was found, and is not believed; NULL: nothing was */
    struct kept_place *begun;      /* by segment: where this attempt takes it up */
    struct buffer *cursors;        /* by segment */
    uint32_t *order;               /* of segments */
    atomic_uint next;              /* in that order */
    uint64_t pages;                /* this attempt's, */
    uint64_t pages_saved;          /* and those that are saved */
    time_t saved;
};

static time_t now(void)
{
    struct timespec clock = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &clock);
    return clock.tv_sec;
}

/* ---------------------------------------------------------------- files */

/* One folder may serve several tables, even of one name. */
static struct str base_of(const struct runner_session *session, uint32_t version,
                          const char *folder, struct arena *arena)
{
    const struct table_desc *table = &session->table;
    return arena_format(arena, "%s/%.*s-%016" PRIx64 "-%04" PRIu32, folder, STR_ARG(table->name),
                        hash_64(table->identity), version);
}

static void remove_files(struct str base, struct arena *arena)
{
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
        (void)unlink(arena_format(arena, "%.*s.%s", STR_ARG(base), file_names[i]).ptr);
    }
}

const char *kept_reading_path(const struct kept_reading *kept, const char *name)
{
    return arena_format(kept->arena, "%.*s.%s", STR_ARG(kept->base), name).ptr;
}

static bool fail(const char *path, struct error *err)
{
    return error_set(err, error_code_of_write(errno), "cannot write %s: %s", path, strerror(errno));
}

/* What the run's files begin with ends in the folder's slash. Who only makes an index, needs none.
 */
static bool find_folder(struct kept_reading *kept, struct error *err)
{
    const char *wanted = kept->session->store->run_files;
    char folder[PATH_MAX];
    folder_make(arena_format(kept->arena, "%.*s", (int)strlen(wanted) - 1, wanted).ptr);
    if (realpath(wanted, folder) == NULL || access(folder, W_OK | X_OK) != 0) {
        return fail(wanted, err);
    }
    kept->folder = arena_copy(kept->arena, (struct str){folder, strlen(folder)});
    kept->base = base_of(kept->session, kept->purpose.version, folder, kept->arena);
    return true;
}

static bool write_file(const char *path, struct str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    bool ok = fd >= 0;
    while (ok && bytes.len > 0) {
        ssize_t written = write(fd, bytes.ptr, bytes.len);
        ok = written >= 0 || errno == EINTR;
        size_t size = written > 0 ? (size_t)written : 0;
        bytes = (struct str){bytes.ptr + size, bytes.len - size};
    }
    ok = ok && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

static bool replace_manifest(const struct kept_reading *kept, struct str bytes, struct arena *arena,
                             struct error *err)
{
    const char *fresh = arena_format(arena, "%.*s." MANIFEST "-new", STR_ARG(kept->base)).ptr;
    const char *path = arena_format(arena, "%.*s." MANIFEST, STR_ARG(kept->base)).ptr;
    return (write_file(fresh, bytes) && rename(fresh, path) == 0 &&
            folder_sync(kept->folder.ptr)) ||
           fail(path, err);
}

/* ---------------------------------------------------------------- what the table knows */

static bool write_record(struct kept_reading *kept, struct error *err)
{
    struct arena *arena = kept->arena;
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "id", kept->manifest.id);
    ledger_json_add_text(object, "host", kept->manifest.host);
    ledger_json_add_text(object, "path", kept->base);
    struct control control = {.name = kept->name, .value = ledger_json_print(object, arena)};
    return ledger_commit(kept->session->store, &control, 1, err);
}

/* Sets `why`. */
static bool doubt(struct kept_reading *kept, const char *format, ...) PRINTF_LIKE(2, 3);
static bool doubt(struct kept_reading *kept, const char *format, ...)
{
    struct buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    char *room = buffer_reserve(&text, PATH_MAX);
    (void)vsnprintf(room, PATH_MAX, format, arguments);
    va_end(arguments);
    kept->why = arena_copy(kept->arena, (struct str){room, strlen(room)}).ptr;
    buffer_free(&text);
    return false;
}

/* True if the record says that the files are here; *id then is theirs. */
static bool is_here(struct kept_reading *kept, struct str record, struct str *id)
{
    struct arena *arena = kept->arena;
    struct error ignored;
    struct str host, path;
    cJSON *object = NULL;
    bool ok = ledger_json_parse(record, kept->name, &object, &ignored) &&
              ledger_json_text(object, "id", arena, id, &ignored) &&
              ledger_json_text(object, "host", arena, &host, &ignored) &&
              ledger_json_text(object, "path", arena, &path, &ignored);
    cJSON_Delete(object);
    if (!ok) {
        return doubt(kept, "what the table tells of it is damaged");
    }
    if (!str_equal(host, kept->manifest.host)) {
        return doubt(kept, "it was begun on host %.*s", STR_ARG(host));
    }
    return str_equal(path, kept->base) ||
           doubt(kept, "it was begun with other files, %.*s", STR_ARG(path));
}

static const char *difference(const struct kept_reading *kept, const struct kept_manifest *found,
                              struct str id)
{
    const struct kept_purpose *purpose = &kept->purpose;
    if (!str_equal(found->id, id)) {
        return "search"; /* an older one */
    }
    if (!str_equal(found->host, kept->manifest.host)) {
        return "host";
    }
    if (!str_equal(found->table, kept->session->table.identity)) {
        return "table";
    }
    if (!str_equal(found->hash, purpose->hash) || found->version != purpose->version) {
        return "plan";
    }
    if (found->stage != purpose->stage || found->pass != purpose->pass) {
        return "pass";
    }
    return found->segments != purpose->segments ? "number of segments" : NULL;
}

/* Reads the manifest; false, and `why`, where it is not to be believed. */
static bool read_manifest(struct kept_reading *kept, struct str id)
{
    struct kept_manifest found;
    struct error err;
    struct str text;
    const char *path = kept_reading_path(kept, MANIFEST);
    if (!file_read(path, MANIFEST_MAX_BYTES, kept->arena, &text, &err)) {
        return doubt(kept, "%s", err.text);
    }
    if (!kept_manifest_parse(text, kept->arena, &found, &err)) {
        return doubt(kept, "%s: %s", path, err.text);
    }
    const char *other = difference(kept, &found, id);
    if (other != NULL) {
        cJSON_Delete(found.part);
        return doubt(kept, "%s was written for another %s", path, other);
    }
    kept->manifest = found;
    return true;
}

/* ---------------------------------------------------------------- opening */

struct kept_purpose kept_purpose_of(const char *what, const struct runner_session *session,
                                    const struct ledger_record *record)
{
    uint32_t segments = record->segments > 0 ? record->segments : session->segments;
    return (struct kept_purpose){.what = what,
                                 .version = record->version,
                                 .hash = record->hash,
                                 .stage = record->stage,
                                 .pass = record->pass,
                                 .segments = segments};
}

/* From where it was, or from the start. */
static void set_out(struct kept_reading *kept)
{
    uint32_t segments = kept->purpose.segments;
    for (uint32_t i = 0; i < segments; i++) {
        kept->begun[i] = kept->manifest.part != NULL ? kept->manifest.places[i]
                                                     : (struct kept_place){.cursor = STR("")};
        kept->cursors[i].len = 0;
        buffer_add(&kept->cursors[i], kept->begun[i].cursor);
    }
    kept->manifest.places = arena_alloc(kept->arena, segments * sizeof *kept->manifest.places);
    memcpy(kept->manifest.places, kept->begun, segments * sizeof *kept->manifest.places);
    kept->saved = now();
}

static struct kept_reading *new_reading(const struct runner_session *session,
                                        const struct kept_purpose *purpose)
{
    struct arena *arena = arena_new();
    struct kept_reading *kept = arena_zero(arena, sizeof *kept);
    uint32_t segments = purpose->segments;
    kept->session = session;
    kept->arena = arena;
    kept->purpose = *purpose;
    kept->name = ledger_reading_name(purpose->version, purpose->stage, arena);
    kept->begun = arena_zero(arena, segments * sizeof *kept->begun);
    kept->cursors = arena_zero(arena, segments * sizeof *kept->cursors);
    kept->order = arena_alloc(arena, segments * sizeof *kept->order);
    scan_order(session->shuffle, segments, kept->order);
    kept->manifest = (struct kept_manifest){.host = ledger_host(arena)};
    return kept;
}

bool kept_reading_open(const struct runner_session *session, const struct kept_purpose *purpose,
                       struct kept_reading **out, struct error *err)
{
    struct str record, id = STR("");
    *out = NULL;
    if (!store_is_shared(session->store)) {
        return true;
    }
    struct kept_reading *kept = new_reading(session, purpose);
    struct error why;
    if (!find_folder(kept, &why)) {
        report_message(session->invocation, "nothing of %s is kept: %s", purpose->what, why.text);
        kept_reading_close(kept);
        return true;
    }
    if (!store_control_get(session->reader, kept->name, kept->arena, &record, err)) {
        kept_reading_close(kept);
        return false;
    }
    if (record.ptr != NULL && is_here(kept, record, &id) && read_manifest(kept, id)) {
        set_out(kept);
    }
    *out = kept;
    return true;
}

void kept_reading_close(struct kept_reading *kept)
{
    if (kept == NULL) {
        return;
    }
    for (uint32_t i = 0; i < kept->purpose.segments; i++) {
        buffer_free(&kept->cursors[i]);
    }
    cJSON_Delete(kept->manifest.part);
    arena_free(kept->arena);
}

const cJSON *kept_reading_part(const struct kept_reading *kept)
{
    return kept->manifest.part;
}

bool kept_reading_begin(struct kept_reading *kept, const char *why, struct error *err)
{
    enum { ID_BYTES = 16 };
    unsigned char random[ID_BYTES];
    char id[2 * ID_BYTES + 1];
    why = why != NULL ? why : kept->why;
    if (why != NULL) {
        report_message(kept->session->invocation, "%s begins anew: %s", kept->purpose.what, why);
    }
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return error_set(err, ERROR_STORE, "no random number: %s", strerror(errno));
    }
    hash_hex(random, sizeof random, id);
    cJSON_Delete(kept->manifest.part);
    kept->manifest = (struct kept_manifest){
        .id = arena_copy(kept->arena, (struct str){id, sizeof id - 1}),
        .host = ledger_host(kept->arena),
        .table = kept->session->table.identity,
        .hash = kept->purpose.hash,
        .version = kept->purpose.version,
        .stage = kept->purpose.stage,
        .pass = kept->purpose.pass,
        .segments = kept->purpose.segments,
    };
    set_out(kept);
    remove_files(kept->base, kept->arena);
    kept->is_new = true;
    return true;
}

void kept_reading_say(const struct kept_reading *kept)
{
    struct str items = report_counted(kept->arena, kept->manifest.items, "item was", "items were");
    report_message(kept->session->invocation, "%s goes on: %.*s read before", kept->purpose.what,
                   STR_ARG(items));
}

/* ---------------------------------------------------------------- reading */

bool kept_reading_next(struct kept_reading *kept, struct scan_turn *out)
{
    uint32_t segments = kept->purpose.segments;
    uint32_t turn = 0;
    do {
        turn = atomic_fetch_add(&kept->next, 1);
    } while (turn < segments && kept->begun[kept->order[turn]].done);
    out->none = turn >= segments;
    out->segment = out->none ? 0 : kept->order[turn];
    out->cursor = kept->begun[out->segment].cursor;
    return true;
}

void kept_reading_page(struct kept_reading *kept, const struct scan_page *page)
{
    struct buffer *cursor = &kept->cursors[page->segment];
    cursor->len = 0;
    buffer_add(cursor, page->cursor);
    kept->manifest.places[page->segment].done = page->last;
    kept->manifest.items += page->items;
}

uint64_t kept_reading_items(const struct kept_reading *kept)
{
    return kept->manifest.items;
}

uint32_t kept_reading_segments(const struct kept_reading *kept)
{
    return kept->purpose.segments;
}

bool kept_reading_is_due(struct kept_reading *kept, unsigned pages)
{
    kept->pages += pages;
    uint64_t since = kept->pages - kept->pages_saved;
    uint64_t share = kept->pages / SHARE;
    return since >= (share > PAGES ? share : PAGES) || now() - kept->saved >= SECONDS;
}

bool kept_reading_save(struct kept_reading *kept, cJSON *part, struct error *err)
{
    struct arena *arena = arena_new();
    cJSON_Delete(kept->manifest.part);
    kept->manifest.part = part;
    for (uint32_t i = 0; i < kept->purpose.segments; i++) {
        kept->manifest.places[i].cursor = buffer_str(&kept->cursors[i]);
    }
    /* The table never tells of a file that is not there. */
    bool ok = replace_manifest(kept, kept_manifest_print(&kept->manifest, arena), arena, err) &&
              (!kept->is_new || write_record(kept, err));
    kept->is_new = kept->is_new && !ok;
    kept->pages_saved = kept->pages;
    kept->saved = now();
    arena_free(arena);
    return ok;
}

/* ---------------------------------------------------------------- the end */

void kept_reading_forget(const struct runner_session *session, uint32_t version)
{
    char folder[PATH_MAX];
    if (!store_is_shared(session->store) || realpath(session->store->run_files, folder) == NULL) {
        return;
    }
    struct arena *arena = arena_new();
    remove_files(base_of(session, version, folder, arena), arena);
    arena_free(arena);
}
