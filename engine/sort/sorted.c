#include "engine/sort/sorted_internal.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/sort/pair_internal.h"
#include "engine/sort/sorter.h"

#include <stdint.h>

struct source {
    const struct pair_list *list; /* NULL: a run */
    size_t place;
    struct run_reader run;
    struct str key;
    struct str value;
};

/* A merge: the heap has the source of the least key on top. */
struct sorted {
    struct source *sources;
    size_t source_count;
    struct source **heap;
    size_t heap_count;
    bool top_is_read;     /* its pair was handed out */
    struct buffer packed; /* shared by the runs */
};

struct sorted *sorted_new(size_t capacity)
{
    struct sorted *sorted = heap_alloc(sizeof *sorted);
    sorted->sources = heap_alloc(capacity * sizeof *sorted->sources);
    sorted->heap = heap_alloc(capacity * sizeof(struct source *));
    return sorted;
}

void sorted_close(struct sorted *sorted)
{
    if (sorted == NULL) {
        return;
    }
    for (size_t i = 0; i < sorted->source_count; i++) {
        run_reader_close(&sorted->sources[i].run);
    }
    heap_free(sorted->sources);
    heap_free(sorted->heap);
    buffer_free(&sorted->packed);
    heap_free(sorted);
}

void sorted_add_list(struct sorted *sorted, const struct pair_list *list)
{
    sorted->sources[sorted->source_count++].list = list;
}

void sorted_add_run(struct sorted *sorted, const struct run_file *file, struct sorted_run run)
{
    sorted->sources[sorted->source_count++].run = run_reader_open(file, run, &sorted->packed);
}

static bool advance(struct source *source, bool *more, struct error *err)
{
    if (source->list == NULL) {
        return run_reader_next(&source->run, &source->key, &source->value, more, err);
    }
    *more = source->place < source->list->count;
    if (*more) {
        pair_list_at(source->list, source->place++, &source->key, &source->value);
    }
    return true;
}

/* Sources lie in the order in which they were added, so their addresses break ties. */
static bool is_before(const struct source *a, const struct source *b)
{
    int order = str_compare(a->key, b->key);
    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct sorted *sorted, size_t place)
{
    struct source *moved = sorted->heap[place];
    for (size_t child = 2 * place + 1; child < sorted->heap_count; child = 2 * place + 1) {
        if (child + 1 < sorted->heap_count &&
            is_before(sorted->heap[child + 1], sorted->heap[child])) {
            child++;
        }
        if (is_before(moved, sorted->heap[child])) {
            break;
        }
        sorted->heap[place] = sorted->heap[child];
        place = child;
    }
    sorted->heap[place] = moved;
}

bool sorted_start(struct sorted *sorted, struct error *err)
{
    for (size_t i = 0; i < sorted->source_count; i++) {
        bool more = false;
        if (!advance(&sorted->sources[i], &more, err)) {
            return false;
        }
        if (more) {
            sorted->heap[sorted->heap_count++] = &sorted->sources[i];
        }
    }
    for (size_t i = sorted->heap_count / 2; i-- > 0;) {
        sift_down(sorted, i);
    }
    return true;
}

static bool drop_top(struct sorted *sorted, struct error *err)
{
    bool more = false;
    if (!advance(sorted->heap[0], &more, err)) {
        return false;
    }
    if (!more) {
        sorted->heap[0] = sorted->heap[--sorted->heap_count];
    }
    if (sorted->heap_count > 1) {
        sift_down(sorted, 0);
    }
    return true;
}

bool sorted_next(struct sorted *sorted, struct str *key, struct str *value, bool *more,
                 struct error *err)
{
    if (sorted->top_is_read && !drop_top(sorted, err)) {
        return false;
    }
    *more = sorted->heap_count > 0;
    sorted->top_is_read = *more;
    if (*more) {
        *key = sorted->heap[0]->key;
        *value = sorted->heap[0]->value;
    }
    return true;
}
