#include "migrate/import/import_verify.h"

#include "engine/base/buffer.h"
#include "migrate/cli/target.h"
#include "migrate/import/import_load.h"
#include "migrate/import/import_options.h"
#include "migrate/import/import_replay.h"
#include "migrate/import/import_sort.h"
#include "migrate/import/table_compare.h"
#include "migrate/ledger/import_state.h"
#include "migrate/ledger/ledger.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 2, MEMORY_BYTES = 64 << 20 };

/* The derived items' own table, in a folder of its own. */
struct derived {
    struct invocation invocation; /* of the plans that go through it */
    struct str folder;
    const char *file;
    struct import_options options;
    struct index_progress *making; /* of its indexes */
    struct table_desc table;       /* as the import made it */
    struct import_record import;
    struct ledger ledger;
    struct buffer rejects; /* each ends in a NUL */
};

static bool make_folder(struct derived *derived, struct error *err)
{
    struct arena *arena = derived->invocation.arena;
    char *path = arena_alloc(arena, strlen(derived->options.temp_dir) + 32);
    (void)snprintf(path, strlen(derived->options.temp_dir) + 32, "%s/refold-verify-XXXXXX",
                   derived->options.temp_dir);
    if (mkdtemp(path) == NULL) {
        return error_set(err, ERROR_STORE, "%s: %s", path, strerror(errno));
    }
    derived->folder = (struct str){path, strlen(path)};
    derived->file = arena_format(arena, "%s/derived.refold", path).ptr;
    derived->invocation.table = derived->file;
    return true;
}

static void remove_folder(const struct derived *derived)
{
    static const char *const suffixes[] = {"", "-lock", "-run"};
    if (derived->folder.len == 0) {
        return;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        struct str path =
            arena_format(derived->invocation.arena, "%s%s", derived->file, suffixes[i]);
        (void)unlink(path.ptr);
    }
    (void)rmdir(derived->folder.ptr);
}

/* What the ledger says of the import, and the table as that import found or made it. */
static bool read_past(struct derived *derived, struct store *store, struct error *err)
{
    struct arena *arena = derived->invocation.arena;
    struct store_reader *reader = NULL;
    struct table_desc now;
    bool found = false;
    bool ok = store_describe(store, arena, &now, err) && store_reader_open(store, &reader, err) &&
              import_state_read(reader, arena, &derived->import, &found, err) &&
              ledger_read(reader, arena, &derived->ledger, err);
    if (reader != NULL) {
        store_reader_close(reader);
    }
    derived->table.keys = now.keys;
    derived->table.indexes = derived->options.map->indexes;
    derived->table.index_count = derived->options.map->index_count;
    return ok;
}

/* Plans pass over what is written under their own number: the items need another. */
static bool take_pass(struct store *store, uint64_t *out, struct error *err)
{
    struct store_reader *reader = NULL;
    bool ok = store_reader_open(store, &reader, err) && ledger_next_pass(store, reader, out, err);
    if (reader != NULL) {
        store_reader_close(reader);
    }
    return ok;
}

static bool load(struct derived *derived, struct store *store, struct source *source,
                 struct error *err)
{
    const struct import_options *wanted = &derived->options;
    struct import_rejects_options gather = {.told = &derived->rejects};
    struct import_rejects *rejects = NULL;
    struct import_sorted sorted = {0};
    struct import_written ignored;
    struct import_sort_options sorting = {.invocation = &derived->invocation,
                                          .source = source,
                                          .table = &derived->table,
                                          .store = store,
                                          .jobs = JOBS,
                                          .memory_bytes = MEMORY_BYTES,
                                          .temp_dir = wanted->temp_dir};
    struct import_load_options loading = {
        .invocation = &derived->invocation, .store = store, .making = derived->making};
    bool ok = take_pass(store, &loading.pass, err) && import_rejects_open(&gather, &rejects, err);
    sorting.rejects = rejects;
    ok = ok && import_sort(&sorting, &sorted, err);
    loading.items = sorted.counts.items;
    loading.stream = (struct import_stream_options){
        .sorted = &sorted, .source = source, .keys = &derived->table.keys, .rejects = rejects};
    ok = ok && import_load(&loading, &ignored, err);
    import_sorted_free(&sorted);
    import_rejects_close(rejects);
    return ok;
}

static bool derive(struct derived *derived, struct import_verified *out, struct error *err)
{
    struct arena *arena = derived->invocation.arena;
    struct store *store = NULL;
    struct source *source = NULL;
    derived->making = index_progress_new(&derived->invocation);
    struct store_options create = {.mode = STORE_CREATE,
                                   .create = &derived->table,
                                   .temp_dir = derived->options.temp_dir,
                                   .voice = index_progress_voice(derived->making),
                                   .stop = derived->invocation.stop};
    bool ok = import_source_open(&derived->options, &derived->table, derived->invocation.stop,
                                 &source, err) &&
              target_open(derived->file, &create, &store, err) && load(derived, store, source, err);
    if (ok) {
        out->snapshot_time = arena_copy(arena, source->time);
    }
    store_close(store);
    source_close(source);
    return ok && import_replay(&derived->invocation, &derived->ledger, derived->import.ended, err);
}

/* The table cannot hold an item of theirs: what is missing there is said in no other way. */
static void tell_rejects(const struct derived *derived, const struct import_verify_options *options)
{
    const char *end = derived->rejects.bytes + derived->rejects.len;
    for (const char *at = derived->rejects.bytes; at < end; at += strlen(at) + 1) {
        options->finding(options->context, at);
    }
}

static bool compare(struct derived *derived, struct store *store,
                    const struct import_verify_options *options, struct import_verified *out,
                    struct error *err)
{
    struct store_options reading = {.mode = STORE_READ};
    struct table_comparison comparison = {.found = store,
                                          .keys = &derived->table.keys,
                                          .stop = derived->invocation.stop,
                                          .finding = options->finding,
                                          .context = options->context};
    struct table_comparison_counts counts;
    tell_rejects(derived, options);
    bool ok = target_open(derived->file, &reading, &comparison.wanted, err) &&
              table_compare(&comparison, &counts, err);
    if (ok) {
        out->derived = counts.wanted;
        out->equal = counts.equal;
        out->import_time = derived->import.snapshot_time;
    }
    store_close(comparison.wanted);
    return ok;
}

bool import_verify(struct invocation *invocation, struct store *store,
                   const struct import_verify_options *options, struct import_verified *out,
                   struct error *err)
{
    struct derived derived = {.invocation = *invocation};
    struct import_verified verified = {0};
    derived.options.from = options->from;
    derived.options.temp_dir = import_temp_dir(invocation, NULL);
    bool ok = import_map_read(options->map, invocation->arena, &derived.options.map, err) &&
              read_past(&derived, store, err) && make_folder(&derived, err) &&
              derive(&derived, &verified, err) && compare(&derived, store, options, &verified, err);
    remove_folder(&derived);
    buffer_free(&derived.rejects);
    if (ok) {
        *out = verified;
    }
    return ok;
}
