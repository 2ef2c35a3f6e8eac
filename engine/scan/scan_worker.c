#include "engine/scan/scan_worker_internal.h"

#include "engine/item/key.h"
#include "engine/undo/undo.h"

#include <string.h>

bool scan_worker_open(struct scan_worker *worker, struct error *err)
{
    const struct scan_task *task = worker->task;
    worker->scratch = arena_new();
    if (!store_reader_open(worker->options->store, &worker->reader, err)) {
        return false;
    }
    if (task->worker_open == NULL) {
        worker->own = task->context;
        return true;
    }
    return task->worker_open(task->context, worker->reader, &worker->own, err);
}

void scan_worker_close(struct scan_worker *worker)
{
    if (worker->own != NULL && worker->task->worker_close != NULL) {
        worker->task->worker_close(worker->own);
    }
    store_reader_close(worker->reader);
    arena_free(worker->scratch);
    buffer_free(&worker->undo);
    buffer_free(&worker->cursor);
}

static bool is_of(const struct write *write, const struct key *source)
{
    return write->kind != WRITE_PUT && key_equal(&write->key, source);
}

static struct str undo_of(struct scan_worker *worker, const struct write *write,
                          struct arena *arena)
{
    struct value none = {NULL, 0};
    worker->undo.len = 0;
    undo_append(worker->keys, write->before, write->kind == WRITE_DELETE ? none : write->item,
                &worker->undo);
    return arena_copy(arena, buffer_str(&worker->undo));
}

static struct basis copy_basis(struct basis basis, struct arena *arena)
{
    if (basis.names != NULL) {
        struct str *names = arena_alloc(arena, (basis.count_without + 1) * sizeof *names);
        memcpy(names, basis.names, basis.count_without * sizeof *names);
        basis.names = names;
    }
    return basis;
}

static void copy_write(struct scan_worker *worker, const struct write *from, struct arena *arena,
                       struct write *to)
{
    *to = *from;
    if (worker->options->undo_log != 0) {
        to->undo = undo_of(worker, from, arena);
    }
    to->key = key_copy(&from->key, arena);
    to->item = value_copy(arena, from->item);
    bool needed = store_needs_before(worker->options->store);
    to->before = needed ? value_copy(arena, from->before) : (struct value){NULL, 0};
    to->basis = copy_basis(from->basis, arena);
}

static bool add_effect(struct scan_worker *worker, const struct stored_item *item,
                       const struct scan_result *result, struct page_batch *batch,
                       struct error *err)
{
    struct key source;
    if (!key_of_item(worker->keys, item->item, &source, err)) {
        return false;
    }
    struct effect *effect = page_batch_add(batch, &source, result->write_count, result->tag);
    for (size_t i = 0; i < result->write_count; i++) {
        struct write write = result->writes[i];
        if (is_of(&write, &source)) {
            write.before = item->item;
        }
        copy_write(worker, &write, batch->arena, &effect->writes[i]);
    }
    return true;
}

static bool meet(struct scan_worker *worker, const struct stored_item *item,
                 struct page_batch *batch, struct error *err)
{
    const struct scan_options *options = worker->options;
    if (options->skip_own_pass && item->pass == options->pass) {
        return true;
    }
    struct scan_result result = {.arena = worker->scratch, .tally = batch->tally};
    bool ok = worker->task->item(worker->own, item, &result, err);
    batch->items++;
    if (ok && result.note.ptr != NULL) {
        page_batch_note(batch, result.note);
    }
    if (ok && result.write_count > 0 && !options->read_only) {
        ok = add_effect(worker, item, &result, batch, err);
    }
    arena_reset(worker->scratch);
    return ok;
}

bool scan_worker_read(struct scan_worker *worker, const struct scan_turn *turn,
                      struct page_batch *batch, struct error *err)
{
    const struct scan_options *options = worker->options;
    struct page_limits limits = options->limits;
    limits.until = turn->until;
    struct segment all = {0, 1};
    struct segment segment = {turn->segment, options->segments};
    struct page_place place = {turn->until.len > 0 ? all : segment, turn->cursor, &limits};
    struct page page;
    batch->segment = turn->segment;
    batch->until = arena_copy(batch->arena, turn->until);
    if (!store_read_page(worker->reader, &place, &page, err)) {
        return false;
    }
    const struct scan_task *task = worker->task;
    bool ok = task->look_ahead == NULL || task->look_ahead(worker->own, &page, err);
    for (size_t i = 0; ok && i < page.count; i++) {
        ok = meet(worker, &page.items[i], batch, err);
    }
    batch->items += page.left_out;
    batch->cursor = arena_copy(batch->arena, page.cursor);
    batch->last = page.last;
    store_release(worker->reader);
    return ok;
}

bool scan_worker_meet_again(struct scan_worker *worker, const struct key *key,
                            struct page_batch *batch, bool *gone, struct error *err)
{
    struct stored_item item;
    if (!store_get(worker->reader, (struct key_list){key, 1}, batch->arena, &item, err)) {
        return false;
    }
    *gone = value_is_missing(item.item);
    return *gone || meet(worker, &item, batch, err);
}
