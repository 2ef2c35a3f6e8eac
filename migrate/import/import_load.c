#include "migrate/import/import_load.h"

#include "engine/base/arena.h"
#include "engine/base/pause.h"
#include "migrate/cli/report.h"

#include <string.h>

/* Items compared and committed together. */
enum { BATCH_ITEMS = 500, BATCH_BYTES = 4 << 20, SHOW_INTERVAL = 1024 };

static bool say_stopped(struct error *err)
{
    return error_set(err, ERROR_STOPPED, "interrupted\nhint: the same command starts again");
}

/* Rests while a pause is wanted. */
static bool stopped(const struct import_load_options *options, struct error *err)
{
    struct pause pause = {options->invocation->paused, options->invocation->stop};
    while (pause_rest(&pause)) {
    }
    return atomic_load_explicit(options->invocation->stop, memory_order_relaxed) &&
           !say_stopped(err);
}

static bool load_items(const struct import_load_options *options, struct import_stream *stream,
                       struct import_written *counts, struct error *err)
{
    struct progress *progress = progress_open(options->invocation, "loading", options->items);
    struct import_item item = {.item = {NULL, 0}};
    bool ok = import_stream_next(stream, &item, err);
    while (ok && !value_is_missing(item.item)) {
        ok = !stopped(options, err) && store_load_item(options->store, &item.key, item.item, err);
        counts->written += ok ? 1 : 0;
        if (counts->written % SHOW_INTERVAL == 0) {
            progress_set(progress, counts->written);
        }
        ok = ok && import_stream_next(stream, &item, err);
    }
    progress_close(progress);
    return ok;
}

static bool close_load(const struct import_load_options *options, struct error *err)
{
    index_progress_begin(options->making, "indexes", 0, false);
    bool ok = store_load_close(options->store, err);
    index_progress_end(options->making);
    return ok || (err->code == ERROR_STOPPED && say_stopped(err));
}

bool import_load(const struct import_load_options *options, struct import_written *out,
                 struct error *err)
{
    struct import_stream *stream = NULL;
    struct import_written counts = {0};
    if (!store_load_open(options->store, options->pass, err)) {
        return false;
    }
    bool ok = import_stream_open(&options->stream, &stream, err) &&
              load_items(options, stream, &counts, err) && close_load(options, err);
    import_stream_close(stream);
    if (ok) {
        *out = counts;
        return true;
    }
    struct error second;
    if (!store_load_abort(options->store, &second)) {
        (void)error_wrap(err, "%s; and before that", second.text);
    }
    return false;
}

/* Items at hand, copied from the stream. */
struct merge {
    const struct import_load_options *options;
    struct store_reader *reader;
    struct arena *arena; /* of one batch */
    struct key keys[BATCH_ITEMS];
    struct value items[BATCH_ITEMS];
    struct source_row rows[BATCH_ITEMS];
    struct stored_item standing[BATCH_ITEMS];
    struct write writes[BATCH_ITEMS];
    struct effect effects[BATCH_ITEMS];
    size_t places[BATCH_ITEMS];      /* of the effects among the items */
    uint64_t *counters[BATCH_ITEMS]; /* where an effect that applied counts */
    size_t count;
    size_t effect_count;
    size_t bytes;
    struct import_written counts;
    bool writes_on; /* else only compares */
};

static bool refuse_conflict(struct merge *merge, size_t i, struct error *err)
{
    const struct import_stream_options *stream = &merge->options->stream;
    struct str name = source_row_name(stream->source, &merge->rows[i], merge->arena);
    struct str shown = key_print(stream->keys, &merge->keys[i], merge->arena);
    return error_set(err, ERROR_CONFLICT,
                     "%.*s: the item %.*s stands already with other content\n"
                     "hint: --on-conflict skip leaves such items, --on-conflict overwrite replaces "
                     "them",
                     STR_ARG(name), STR_ARG(shown));
}

/* In the place of what stands, if anything does. */
static void add_write(struct merge *merge, size_t i, uint64_t *counter)
{
    size_t at = merge->effect_count++;
    struct value before = merge->standing[i].item;
    merge->writes[at] = (struct write){.kind = WRITE_PUT,
                                       .overwrite = !value_is_missing(before),
                                       .before = before,
                                       .item = merge->items[i]};
    merge->effects[at] = (struct effect){.writes = &merge->writes[at], .count = 1};
    merge->places[at] = i;
    merge->counters[at] = counter;
}

/* Whether an attempt before this one wrote what stands. */
static bool is_own(const struct import_load_options *options, const struct stored_item *standing)
{
    return options->resumes &&
           (options->own == NULL ? standing->pass == options->pass
                                 : import_own_wrote(options->own, standing->item));
}

/* Decides about one item, given what stands. */
static bool decide(struct merge *merge, size_t i, struct error *err)
{
    const struct import_load_options *options = merge->options;
    const struct stored_item *standing = &merge->standing[i];
    bool stands = !value_is_missing(standing->item);
    if (stands && value_equal(standing->item, merge->items[i])) {
        merge->counts.unchanged++;
    } else if (!stands || is_own(options, standing)) {
        add_write(merge, i, &merge->counts.written);
    } else if (options->conflict == IMPORT_OVERWRITE) {
        add_write(merge, i, &merge->counts.overwritten);
    } else if (options->conflict == IMPORT_SKIP) {
        merge->counts.skipped++;
    } else {
        return refuse_conflict(merge, i, err);
    }
    return true;
}

static bool commit(struct merge *merge, struct error *err)
{
    struct batch batch = {.effects = merge->effects,
                          .count = merge->effect_count,
                          .pass = merge->options->pass,
                          .alone = merge->options->alone,
                          .arena = merge->arena};
    struct import_own *own = merge->options->own;
    struct store *store = merge->options->store;
    return (own == NULL || import_own_note(own, store, batch.effects, batch.count, err)) &&
           store_commit(store, &batch, err);
}

/* Counts what was done; the items that met another in their place are those of the batch now. */
static bool take_outcomes(struct merge *merge, struct error *err)
{
    merge->count = 0;
    for (size_t i = 0; i < merge->effect_count; i++) {
        size_t place = merge->places[i];
        switch (merge->effects[i].outcome) {
        case OUTCOME_APPLIED:
            ++*merge->counters[i];
            break;
        case OUTCOME_UNCHANGED:
            merge->counts.unchanged++;
            break;
        case OUTCOME_STALE:
        case OUTCOME_CONFLICT:
            merge->keys[merge->count] = merge->keys[place];
            merge->items[merge->count] = merge->items[place];
            merge->rows[merge->count] = merge->rows[place];
            merge->count++;
            break;
        default:
            return error_set(err, ERROR_STORE, "an item was not written: %s",
                             merge->effects[i].refusal);
        }
    }
    return true;
}

static void count_all(struct merge *merge)
{
    for (size_t i = 0; i < merge->effect_count; i++) {
        ++*merge->counters[i];
    }
    merge->count = 0;
}

static bool look(struct merge *merge, bool looks, struct error *err)
{
    memset(merge->standing, 0, sizeof merge->standing);
    return !looks || merge->count == 0 ||
           store_get(merge->reader, (struct key_list){merge->keys, merge->count}, merge->arena,
                     merge->standing, err);
}

/* Decides and writes; what is left then has met what somebody wrote meanwhile. */
static bool pass_over(struct merge *merge, bool looks, struct error *err)
{
    merge->effect_count = 0;
    if (stopped(merge->options, err) || !look(merge, looks, err)) {
        return false;
    }
    for (size_t i = 0; i < merge->count; i++) {
        if (!decide(merge, i, err)) {
            return false;
        }
    }
    if (!merge->writes_on || merge->effect_count == 0) {
        count_all(merge);
        return true;
    }
    return commit(merge, err) && take_outcomes(merge, err);
}

static bool finish_batch(struct merge *merge, struct error *err)
{
    struct import_own *own = merge->options->own;
    for (size_t i = 0; own != NULL && i < merge->count; i++) {
        import_own_derived(own, merge->items[i]);
    }
    bool ok = pass_over(merge, !merge->options->empty, err);
    while (ok && merge->count > 0) {
        ok = pass_over(merge, true, err);
    }
    merge->bytes = 0;
    arena_reset(merge->arena);
    return ok;
}

static void take(struct merge *merge, const struct import_item *item)
{
    size_t i = merge->count++;
    merge->items[i] = value_copy(merge->arena, item->item);
    merge->keys[i] = key_copy(&item->key, merge->arena);
    merge->rows[i] =
        (struct source_row){item->row.entity, arena_copy(merge->arena, item->row.identity)};
    merge->bytes += item->item.len;
}

static bool merge_items(struct merge *merge, struct import_stream *stream, struct error *err)
{
    const struct import_load_options *options = merge->options;
    struct progress *progress = progress_open(
        options->invocation, merge->writes_on ? "writing" : "comparing", options->items);
    struct import_item item = {.item = {NULL, 0}};
    uint64_t done = 0;
    bool ok = import_stream_next(stream, &item, err);
    while (ok && !value_is_missing(item.item)) {
        take(merge, &item);
        done++;
        if (merge->count == BATCH_ITEMS || merge->bytes >= BATCH_BYTES) {
            ok = finish_batch(merge, err);
            progress_set(progress, done);
        }
        ok = ok && import_stream_next(stream, &item, err);
    }
    ok = ok && finish_batch(merge, err);
    progress_close(progress);
    return ok;
}

static bool run_merge(const struct import_load_options *options, bool writes_on,
                      struct import_written *out, struct error *err)
{
    struct import_stream *stream = NULL;
    struct merge *merge = heap_alloc(sizeof *merge);
    merge->options = options;
    merge->arena = arena_new();
    merge->writes_on = writes_on;
    bool ok = store_reader_open(options->store, &merge->reader, err) &&
              import_stream_open(&options->stream, &stream, err) && merge_items(merge, stream, err);
    if (ok) {
        *out = merge->counts;
    }
    import_stream_close(stream);
    if (merge->reader != NULL) {
        store_reader_close(merge->reader);
    }
    arena_free(merge->arena);
    heap_free(merge);
    return ok;
}

bool import_compare(const struct import_load_options *options, struct import_written *out,
                    struct error *err)
{
    return run_merge(options, false, out, err);
}

bool import_merge(const struct import_load_options *options, struct import_written *out,
                  struct error *err)
{
    return run_merge(options, true, out, err) && store_flush(options->store, err);
}

static bool finish_index(const struct import_load_options *options, const struct index_desc *index,
                         struct arena *arena, struct error *err)
{
    const char *what = arena_format(arena, "index %.*s", STR_ARG(index->name)).ptr;
    index_progress_begin(options->making, what, 0, false);
    bool ok = store_index_finish(options->store, index->name, err);
    index_progress_end(options->making);
    return ok || (err->code == ERROR_STOPPED && say_stopped(err));
}

bool import_finish_indexes(const struct import_load_options *options, struct error *err)
{
    struct arena *arena = arena_new();
    struct table_desc table;
    bool ok = store_describe(options->store, arena, &table, err);
    for (size_t i = 0; ok && i < table.index_count; i++) {
        ok = table.indexes[i].state != INDEX_BEHIND ||
             finish_index(options, &table.indexes[i], arena, err);
    }
    arena_free(arena);
    return ok && store_flush(options->store, err);
}
