#include "engine/sort/sorter.h"

#include "engine/base/arena.h"
#include "engine/sort/pair_list_internal.h"
#include "engine/sort/run_file_internal.h"
#include "engine/sort/sorted_internal.h"

#include <assert.h>

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
    struct run_file file;   /* open where there are runs */
    struct run *runs;
    size_t run_count;
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
    if (sorter->run_count > 0) {
        run_file_close(&sorter->file);
    }
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

/* Writes all that comes out of `pairs` as one run, and closes them. */
static bool write_run(const struct sorter *sorter, struct sorted *pairs, struct run_file *file,
                      struct run *out, struct error *err)
{
    struct run_writer writer = run_writer_open(file, sorter->block_bytes);
    bool ok = sorted_start(pairs, err) && copy_pairs(sorter, pairs, &writer, err) &&
              run_writer_finish(&writer, out, err);
    run_writer_close(&writer);
    sorted_close(pairs);
    return ok;
}

/* The file exists from the first run on. */
static bool spill(struct sorter *sorter, struct error *err)
{
    struct run_file file = sorter->file;
    if (sorter->run_count == 0 && !run_file_open(sorter->temp_dir, &file, err)) {
        return false;
    }
    pair_list_sort(&sorter->pairs);
    struct sorted *pairs = sorted_new(1);
    sorted_add_list(pairs, &sorter->pairs);
    struct run run;
    if (!write_run(sorter, pairs, &file, &run, err)) {
        if (sorter->run_count == 0) {
            run_file_close(&file);
        }
        return false;
    }
    sorter->file = file;
    sorter->runs = heap_resize(sorter->runs, (sorter->run_count + 1) * sizeof run);
    sorter->runs[sorter->run_count++] = run;
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
        if (!write_run(sorter, group, &file, &sorter->runs[merged], err)) {
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

bool sorted_open(struct sorter *const *sorters, size_t count, struct sorted **out,
                 struct error *err)
{
    size_t sources = 0;
    for (size_t i = 0; i < count; i++) {
        assert(sorters[i]->finished);
        sources += sorters[i]->run_count + 1;
    }
    struct sorted *sorted = sorted_new(sources);
    for (size_t i = 0; i < count; i++) {
        sorted_add_list(sorted, &sorters[i]->pairs);
        add_runs(sorters[i], 0, sorters[i]->run_count, sorted);
    }
    if (!sorted_start(sorted, err)) {
        sorted_close(sorted);
        return false;
    }
    *out = sorted;
    return true;
}
