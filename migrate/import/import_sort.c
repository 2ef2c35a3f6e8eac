#include "migrate/import/import_sort.h"

#include "engine/base/varint.h"
#include "engine/item/item.h"
#include "migrate/cli/report.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* How often the thread that waits looks at the stop flag and shows progress. */
enum { WATCH_MS = 50, SORTER_MEMORY_MIN = 1 << 20 };

/* What the workers share. */
struct sorting {
    const struct import_sort_options *options;
    atomic_bool stop; /* readers end: somebody failed, or the user wants it */
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    size_t running;
};

struct worker {
    struct sorting *sorting;
    pthread_t thread;
    bool started;
    struct sorter *sorter;
    struct arena *arena; /* of its counts */
    struct arena *scratch;
    struct buffer order; /* the sort key of the item at hand */
    struct buffer value;
    struct buffer largest; /* identity of the row of the largest item */
    uint32_t largest_entity;
    struct import_counts counts;
    bool ok;
    struct error err;
};

struct import_entry import_entry_read(struct str value)
{
    uint64_t entity = 0;
    uint64_t len = 0;
    const unsigned char *bytes = (const unsigned char *)value.ptr;
    size_t at = varint_get(bytes, value.len, &entity);
    at += varint_get(bytes + at, value.len - at, &len);
    return (struct import_entry){
        .row = {(uint32_t)entity, {value.ptr + at, (size_t)len}},
        .item = {bytes + at + len, value.len - at - (size_t)len},
    };
}

static bool take_reject(void *context, const struct source_row *row, const struct error *reason,
                        struct error *err)
{
    struct worker *worker = context;
    const struct import_sort_options *options = worker->sorting->options;
    struct str name = source_row_name(options->source, row, worker->scratch);
    bool ok = import_rejects_add(options->rejects, name, reason, err);
    arena_reset(worker->scratch);
    return ok;
}

static bool check_item(const struct worker *worker, struct value item, struct key *key,
                       struct error *err)
{
    const struct table_desc *table = worker->sorting->options->table;
    if (!key_of_item(&table->keys, item, key, err) || !item_check_limits(item, err)) {
        return false;
    }
    for (size_t i = 0; i < table->index_count; i++) {
        struct key index_key;
        bool present;
        if (!key_of_index(&table->indexes[i].keys, item, &index_key, &present, err)) {
            struct str name = table->indexes[i].name;
            return error_wrap(err, "index %.*s", STR_ARG(name));
        }
    }
    return true;
}

static void count_item(struct worker *worker, const struct source_row *row, struct value item)
{
    struct import_counts *counts = &worker->counts;
    size_t bytes = item_size_bytes(item);
    import_counts_item(counts, worker->sorting->options->table, row->entity, item, 1);
    if (bytes > counts->largest_bytes) {
        counts->largest_bytes = bytes;
        worker->largest_entity = row->entity;
        worker->largest.len = 0;
        buffer_add(&worker->largest, row->identity);
    }
}

static void write_entry(struct buffer *out, const struct source_row *row, struct value item)
{
    out->len = 0;
    buffer_add_varint(out, row->entity);
    buffer_add_varint(out, row->identity.len);
    buffer_add(out, row->identity);
    buffer_add(out, (struct str){(const char *)item.bytes, item.len});
}

static bool take_item(void *context, const struct source_row *row, struct value item,
                      struct error *err)
{
    struct worker *worker = context;
    const struct store *store = worker->sorting->options->store;
    struct key key;
    if (!check_item(worker, item, &key, err)) {
        struct error reason = *err;
        return take_reject(worker, row, &reason, err);
    }
    worker->order.len = 0;
    if (store != NULL) {
        store_order_key(store, &key, &worker->order);
    } else {
        key_encode(&key, &worker->order);
    }
    write_entry(&worker->value, row, item);
    count_item(worker, row, item);
    return sorter_add(worker->sorter, buffer_str(&worker->order), buffer_str(&worker->value), err);
}

static bool read_and_sort(struct worker *worker)
{
    struct sorting *sorting = worker->sorting;
    struct source_sink sink = {take_item, take_reject, worker, &sorting->stop};
    struct source_reader *reader = NULL;
    bool ok = source_reader_open(sorting->options->source, &reader, &worker->err) &&
              source_read(reader, &sink, &worker->err) &&
              sorter_finish(worker->sorter, &worker->err);
    source_reader_close(reader);
    return ok;
}

/* Once, at the end: a name may take a while to find. */
static void name_largest(struct worker *worker)
{
    if (worker->counts.items > 0) {
        struct source_row row = {worker->largest_entity, buffer_str(&worker->largest)};
        worker->counts.largest_row =
            source_row_name(worker->sorting->options->source, &row, worker->arena);
    }
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct sorting *sorting = worker->sorting;
    worker->ok = read_and_sort(worker);
    name_largest(worker);
    if (!worker->ok) {
        atomic_store(&sorting->stop, true);
    }
    (void)pthread_mutex_lock(&sorting->mutex);
    sorting->running--;
    (void)pthread_cond_signal(&sorting->ended);
    (void)pthread_mutex_unlock(&sorting->mutex);
    return NULL;
}

static uint64_t rows_read(const struct source *source)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < source->entity_count; i++) {
        rows += atomic_load_explicit(&source->entities[i].rows, memory_order_relaxed);
    }
    return rows;
}

static uint64_t rows_expected(const struct source *source)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < source->entity_count; i++) {
        rows += source->entities[i].rows_estimate;
    }
    return rows;
}

/* Waits for the workers, showing how far they are. */
static void watch(struct sorting *sorting)
{
    const struct import_sort_options *options = sorting->options;
    struct progress *progress =
        progress_open(options->invocation, "reading", rows_expected(options->source));
    (void)pthread_mutex_lock(&sorting->mutex);
    while (sorting->running > 0) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WATCH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        (void)pthread_cond_timedwait(&sorting->ended, &sorting->mutex, &until);
        if (atomic_load(options->invocation->stop)) {
            atomic_store(&sorting->stop, true);
        }
        progress_set(progress, rows_read(options->source));
    }
    (void)pthread_mutex_unlock(&sorting->mutex);
    progress_close(progress);
}

static void open_worker(struct worker *worker, struct sorting *sorting, size_t jobs)
{
    const struct import_sort_options *options = sorting->options;
    size_t memory = options->memory_bytes / jobs;
    struct sorter_options sorter = {memory < SORTER_MEMORY_MIN ? SORTER_MEMORY_MIN : memory,
                                    options->temp_dir, options->invocation->stop};
    worker->sorting = sorting;
    worker->sorter = sorter_new(&sorter);
    worker->arena = arena_new();
    worker->scratch = arena_new();
    import_counts_init(&worker->counts, options->source->entity_count, options->table->index_count,
                       worker->arena);
}

static void close_worker(struct worker *worker)
{
    arena_free(worker->arena);
    arena_free(worker->scratch);
    buffer_free(&worker->order);
    buffer_free(&worker->value);
    buffer_free(&worker->largest);
}

static void start_workers(struct sorting *sorting, struct worker *workers, size_t jobs)
{
    sorting->running = jobs;
    for (size_t i = 0; i < jobs; i++) {
        open_worker(&workers[i], sorting, jobs);
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
        if (!workers[i].started) {
            (void)error_set(&workers[i].err, ERROR_STORE, "no thread can be started");
            atomic_store(&sorting->stop, true);
            (void)pthread_mutex_lock(&sorting->mutex);
            sorting->running--;
            (void)pthread_mutex_unlock(&sorting->mutex);
        }
    }
}

/* The first error that is not the echo of another worker's. */
static bool result_of(const struct worker *workers, size_t jobs, const atomic_bool *stop,
                      struct error *err)
{
    const struct worker *failed = NULL;
    for (size_t i = 0; i < jobs; i++) {
        bool echo = workers[i].err.code == ERROR_STOPPED && !atomic_load(stop);
        if (!workers[i].ok && (failed == NULL || !echo)) {
            failed = &workers[i];
        }
    }
    if (failed != NULL) {
        *err = failed->err;
    }
    if (failed != NULL && failed->err.code == ERROR_STOPPED) {
        (void)error_set(err, ERROR_STOPPED, "interrupted\nhint: the same command starts again");
    }
    return failed == NULL;
}

static void collect(struct worker *workers, size_t jobs, struct import_sorted *out)
{
    out->arena = arena_new();
    out->sorters = arena_zero(out->arena, jobs * sizeof(struct sorter *));
    out->count = jobs;
    import_counts_init(&out->counts, workers[0].counts.entity_count, workers[0].counts.index_count,
                       out->arena);
    for (size_t i = 0; i < jobs; i++) {
        out->sorters[i] = workers[i].sorter;
        import_counts_add(&out->counts, &workers[i].counts, out->arena);
    }
}

bool import_sort(const struct import_sort_options *options, struct import_sorted *out,
                 struct error *err)
{
    size_t most = options->source->readers_max;
    size_t jobs = options->jobs < most ? options->jobs : most;
    struct sorting sorting = {.options = options};
    struct worker *workers = heap_alloc(jobs * sizeof *workers);
    (void)pthread_mutex_init(&sorting.mutex, NULL);
    (void)pthread_cond_init(&sorting.ended, NULL);
    start_workers(&sorting, workers, jobs);
    watch(&sorting);
    for (size_t i = 0; i < jobs; i++) {
        if (workers[i].started) {
            (void)pthread_join(workers[i].thread, NULL);
        }
    }
    struct import_sorted sorted;
    collect(workers, jobs, &sorted);
    bool ok = result_of(workers, jobs, options->invocation->stop, err);
    for (size_t i = 0; i < jobs; i++) {
        close_worker(&workers[i]);
    }
    heap_free(workers);
    (void)pthread_cond_destroy(&sorting.ended);
    (void)pthread_mutex_destroy(&sorting.mutex);
    if (ok) {
        *out = sorted;
    } else {
        import_sorted_free(&sorted);
    }
    return ok;
}

void import_sorted_free(struct import_sorted *sorted)
{
    for (size_t i = 0; i < sorted->count; i++) {
        sorter_free(sorted->sorters[i]);
    }
    arena_free(sorted->arena);
    *sorted = (struct import_sorted){0};
}
