#include "engine/sort/sorter.h"

#include "engine/base/arena.h"
#include "engine/sort/pair_list_internal.h"
#include "engine/sort/run_file_internal.h"
#include "engine/sort/sorted_internal.h"

#include <assert.h>
#include <string.h>

/* A merge holds one block of each run: a small memory gets small blocks, so that many fit. */
enum {
    MEMORY_MIN_BYTES = 1 << 20,
    BLOCKS_MIN = 64,
    BLOCK_MAX_BYTES = 64 << 10,
    PAIR_MAX_BYTES = RUN_BLOCK_MAX_BYTES / 2
};

struct sorter {
    size_t memory_bytes;
    size_t block_bytes;
    const char *temp_dir;
    const atomic_bool *stop;
    struct pair_list pairs; /* at hand; all of them where there are no runs */
    struct run_file file;
    bool is_open; /* the file: where there are runs, or it has a name */
    bool is_kept; /* it has */
    struct sorted_run *runs;
    size_t run_count;
    struct buffer last; /* key of the last run, if this sorter wrote that */
    uint64_t count;
    bool finished;
};

struct sorter *sorter_new(const struct sorter_options *options)
{
    struct sorter *sorter = heap_alloc(sizeof *sorter);
    size_t memory = options->memory_bytes;
    sorter->memory_bytes = memory < MEMORY_MIN_BYTES ? MEMORY_MIN_BYTES : memory;
    size_t block = sorter->memory_bytes / BLOCKS_MIN;
    sorter->block_bytes = block < BLOCK_MAX_BYTES ? block : BLOCK_MAX_BYTES;
    sorter->temp_dir = options->temp_dir;
    sorter->stop = options->stop;
    return sorter;
}

void sorter_free(struct sorter *sorter)
{
    if (sorter == NULL) {
        return;
    }
    if (sorter->is_open) {
        run_file_close(&sorter->file);
    }
    buffer_free(&sorter->last);
    pair_list_free(&sorter->pairs);
    heap_free(sorter->runs);
    heap_free(sorter);
}

uint64_t sorter_count(const struct sorter *sorter)
{
    return sorter->count;
}

static bool is_stopped(const struct sorter *sorter)
{
    return sorter->stop != NULL && atomic_load_explicit(sorter->stop, memory_order_relaxed);
}

static bool copy_pairs(const struct sorter *sorter, struct sorted *from, struct run_writer *to,
                       struct error *err)
{
    struct str key, value;
    bool more = true;
    while (more) {
        if (is_stopped(sorter)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
        if (!sorted_next(from, &key, &value, &more, err) ||
            (more && !run_writer_add(to, key, value, err))) {
            return false;
        }
    }
    return true;
}

/* Writes all that comes out of `pairs` with the writer, and closes both. */
static bool write_run(const struct sorter *sorter, struct sorted *pairs, struct run_writer *writer,
                      struct sorted_run *out, struct error *err)
{
    bool ok = sorted_start(pairs, err) && copy_pairs(sorter, pairs, writer, err) &&
              run_writer_finish(writer, out, err);
    run_writer_close(writer);
    sorted_close(pairs);
    return ok;
}

/* Pairs that come in order make the last run longer. */
static bool goes_on(const struct sorter *sorter)
{
    struct str key, value;
    pair_list_at(&sorter->pairs, 0, &key, &value);
    return sorter->last.len > 0 && str_compare(key, buffer_str(&sorter->last)) >= 0;
}

static void note_last(struct sorter *sorter)
{
    struct str key, value;
    pair_list_at(&sorter->pairs, sorter->pairs.count - 1, &key, &value);
    sorter->last.len = 0;
    buffer_add(&sorter->last, key);
}

/* The file exists from the first run on. */
static bool spill(struct sorter *sorter, struct error *err)
{
    if (!sorter->is_open && !run_file_open(sorter->temp_dir, &sorter->file, err)) {
        return false;
    }
    sorter->is_open = true;
    pair_list_sort(&sorter->pairs);
    struct sorted *pairs = sorted_new(1);
    sorted_add_list(pairs, &sorter->pairs);
    bool longer = goes_on(sorter);
    struct run_file file = sorter->file; /* which ends where it did, if this fails */
    struct sorted_run run;
    struct run_writer writer = run_writer_open(
        &file, sorter->block_bytes, longer ? &sorter->runs[sorter->run_count - 1] : NULL);
    if (!write_run(sorter, pairs, &writer, &run, err)) {
        return false;
    }
    sorter->file = file;
    sorter->runs = heap_resize(sorter->runs, (sorter->run_count + 1) * sizeof run);
    sorter->run_count += longer ? 0 : 1;
    sorter->runs[sorter->run_count - 1] = run;
    note_last(sorter);
    pair_list_clear(&sorter->pairs);
    return true;
}

bool sorter_add(struct sorter *sorter, struct str key, struct str value, struct error *err)
{
    assert(!sorter->finished);
    if (key.len > PAIR_MAX_BYTES || value.len > PAIR_MAX_BYTES - key.len) {
        return error_set(err, ERROR_LIMIT, "a pair to sort is over %d bytes", PAIR_MAX_BYTES);
    }
    size_t used = pair_list_used_bytes(&sorter->pairs);
    if (sorter->pairs.count > 0 && used + key.len + value.len > sorter->memory_bytes &&
        !spill(sorter, err)) {
        return false;
    }
    pair_list_add(&sorter->pairs, key, value);
    sorter->count++;
    return true;
}

static void add_runs(const struct sorter *sorter, size_t first, size_t count, struct sorted *out)
{
    for (size_t i = first; i < first + count; i++) {
        sorted_add_run(out, &sorter->file, sorter->runs[i]);
    }
}

/* Neighbouring runs become one, in a new file, so that equal keys keep their order. */
static bool merge_runs(struct sorter *sorter, size_t at_once, struct error *err)
{
    struct run_file file;
    if (!run_file_open(sorter->temp_dir, &file, err)) {
        return false;
    }
    size_t merged = 0;
    for (size_t first = 0; first < sorter->run_count; first += at_once) {
        size_t left = sorter->run_count - first;
        size_t count = left < at_once ? left : at_once;
        struct sorted *group = sorted_new(count);
        add_runs(sorter, first, count, group);
        struct run_writer writer = run_writer_open(&file, sorter->block_bytes, NULL);
        if (!write_run(sorter, group, &writer, &sorter->runs[merged], err)) {
            run_file_close(&file);
            return false;
        }
        merged++;
    }
    run_file_close(&sorter->file);
    sorter->file = file;
    sorter->run_count = merged;
    return true;
}

bool sorter_finish(struct sorter *sorter, struct error *err)
{
    assert(!sorter->finished);
    if (sorter->run_count == 0) {
        pair_list_sort(&sorter->pairs);
        sorter->finished = true;
        return true;
    }
    if (sorter->pairs.count > 0 && !spill(sorter, err)) {
        return false;
    }
    pair_list_free(&sorter->pairs);
    size_t at_once = sorter->memory_bytes / sorter->block_bytes;
    while (sorter->run_count > at_once) {
        if (!merge_runs(sorter, at_once, err)) {
            return false;
        }
    }
    sorter->finished = true;
    return true;
}

bool sorter_keep_in(struct sorter *sorter, const char *path, const struct sorted_run *runs,
                    size_t count, struct error *err)
{
    assert(sorter->count == 0 && !sorter->is_open);
    struct run_file file;
    if (!run_file_open_named(path, count == 0 ? 0 : runs[count - 1].end, &file, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!run_file_check(&file, &runs[i], sorter->stop, err)) {
            run_file_close(&file);
            return false;
        }
    }
    sorter->file = file;
    sorter->is_open = sorter->is_kept = true;
    sorter->runs = heap_resize(sorter->runs, (count + 1) * sizeof *runs);
    if (count > 0) {
        memcpy(sorter->runs, runs, count * sizeof *runs);
    }
    sorter->run_count = count;
    return true;
}

bool sorter_keep(struct sorter *sorter, const struct sorted_run **runs, size_t *count,
                 struct error *err)
{
    assert(sorter->is_kept && !sorter->finished);
    const atomic_bool *stop = sorter->stop;
    sorter->stop = NULL; /* who stops wants it kept */
    bool ok = (sorter->pairs.count == 0 || spill(sorter, err)) && run_file_sync(&sorter->file, err);
    sorter->stop = stop;
    if (!ok) {
        return false;
    }
    *runs = sorter->runs;
    *count = sorter->run_count;
    return true;
}

bool sorted_open(struct sorter *const *sorters, size_t count, struct sorted **out,
                 struct error *err)
{
    size_t sources = 0;
    for (size_t i = 0; i < count; i++) {
        assert(sorters[i]->finished || sorters[i]->is_kept);
        sources += sorters[i]->run_count + 1;
    }
    struct sorted *sorted = sorted_new(sources);
    for (size_t i = 0; i < count; i++) {
        if (sorters[i]->finished) {
            sorted_add_list(sorted, &sorters[i]->pairs);
        }
        add_runs(sorters[i], 0, sorters[i]->run_count, sorted);
    }
    if (!sorted_start(sorted, err)) {
        sorted_close(sorted);
        return false;
    }
    *out = sorted;
    return true;
}
