#include "engine/base/pause.h"
#include "engine/base/queue.h"
#include "engine/scan/page_batch_internal.h"
#include "engine/scan/scan.h"
#include "engine/scan/scan_worker_internal.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum {
    PAGES_A_WORKER = 4,
    TRIES_MAX = 16 /* of an item that changes between being read and being written */
};

/* What the threads share. */
struct scan {
    const struct scan_options *options;
    const struct scan_task *task;
    struct queue *full;    /* page batches */
    const uint32_t *order; /* of segments, where the task leaves it to us */
    atomic_uint next_turn; /* in that order */
    atomic_uint running;   /* workers */
    atomic_bool halted;    /* something failed */
    atomic_bool left;      /* a worker was stopped before its segments ended */
    pthread_mutex_t lock;
    struct error err; /* the first; under the lock, as long as threads run */
};

/* The committer's own: it meets items again. */
struct committer {
    struct scan *scan;
    struct scan_worker worker;
    struct page_batch *retries[2];
};

static void fail(struct scan *scan, const struct error *err)
{
    (void)pthread_mutex_lock(&scan->lock);
    if (scan->err.code == ERROR_NONE) {
        scan->err = *err;
    }
    (void)pthread_mutex_unlock(&scan->lock);
    atomic_store(&scan->halted, true);
}

/* ---------------------------------------------------------------- workers */

static void rest(struct scan *scan)
{
    struct pause pause = {scan->options->paused, scan->options->stop};
    while (!atomic_load(&scan->halted) && pause_rest(&pause)) {
    }
}

static bool is_stopped(const struct scan *scan)
{
    const atomic_bool *stop = scan->options->stop;
    return stop != NULL && atomic_load(stop);
}

static bool is_to_end(struct scan *scan)
{
    rest(scan);
    if (is_stopped(scan)) {
        atomic_store(&scan->left, true);
        return true;
    }
    return atomic_load(&scan->halted);
}

/* The batch belongs to the committer once it is pushed, so the cursor is copied before. */
static bool read_page(struct scan *scan, struct scan_worker *worker, struct scan_turn *turn,
                      bool *last, struct error *err)
{
    struct page_batch *batch = queue_pop(worker->empty);
    page_batch_reset(batch);
    bool ok = scan_worker_read(worker, turn, batch, err);
    *last = batch->last;
    worker->cursor.len = 0;
    buffer_add(&worker->cursor, batch->cursor);
    turn->cursor = buffer_str(&worker->cursor);
    (void)queue_push(ok ? scan->full : worker->empty, batch);
    return ok;
}

static bool read_turn(struct scan *scan, struct scan_worker *worker, struct scan_turn *turn,
                      struct error *err)
{
    const struct scan_task *task = scan->task;
    bool ok = true;
    for (bool last = false; ok && !last && !is_to_end(scan);) {
        ok = read_page(scan, worker, turn, &last, err) &&
             (last || task->advance == NULL || task->advance(task->context, turn, err));
    }
    return ok || error_wrap(err, "segment %u", (unsigned)turn->segment);
}

static bool find_turn(struct scan *scan, struct scan_turn *out, struct error *err)
{
    out->halted = &scan->halted;
    out->cursor = out->until = STR("");
    if (scan->task->next != NULL) {
        return scan->task->next(scan->task->context, out, err);
    }
    uint32_t turn = atomic_fetch_add(&scan->next_turn, 1);
    out->none = turn >= scan->options->segments;
    out->segment = out->none ? 0 : scan->order[turn];
    return true;
}

struct thread {
    pthread_t id;
    struct scan *scan;
    struct scan_worker worker;
};

static void leave(struct scan *scan)
{
    if (atomic_fetch_sub(&scan->running, 1) == 1) {
        queue_close(scan->full);
    }
}

static void *work(void *argument)
{
    struct thread *thread = argument;
    struct scan *scan = thread->scan;
    struct error err = {0};
    struct scan_turn turn = {.none = true};
    bool ok = find_turn(scan, &turn, &err);
    while (ok && !turn.none) {
        ok = read_turn(scan, &thread->worker, &turn, &err) && find_turn(scan, &turn, &err);
    }
    if (!ok) {
        fail(scan, &err);
    }
    leave(scan);
    return NULL;
}

/* ---------------------------------------------------------------- the committer */

/* Counts and checkpoints come first, so that they become durable with the writes. */
static bool commit(const struct committer *committer, struct page_batch *batch, struct error *err)
{
    const struct scan_options *options = committer->scan->options;
    const struct scan_task *task = committer->scan->task;
    struct scan_page page = {.segment = batch->segment,
                             .cursor = batch->cursor,
                             .until = batch->until,
                             .last = batch->last,
                             .again = batch->again,
                             .items = batch->items,
                             .tally = batch->tally,
                             .notes = batch->notes,
                             .note_count = batch->note_count};
    struct scan_checkpoint checkpoint = {.arena = batch->arena};
    if (!task->page(task->context, &page, &checkpoint, err)) {
        return false;
    }
    struct batch writes = {.effects = batch->effects,
                           .count = batch->count,
                           .controls = checkpoint.controls,
                           .control_count = checkpoint.count,
                           .pass = options->pass,
                           .undo_log = options->undo_log,
                           .arena = batch->arena};
    return options->read_only || store_commit(options->store, &writes, err);
}

/* Takes what did not apply out of the count, and meets stale items again: `again` gets the rest of
 * the page. The flush lets the committer's reader see what it has written itself. */
static bool correct(struct committer *committer, const struct page_batch *batch,
                    struct page_batch *again, struct error *err)
{
    const struct scan_task *task = committer->scan->task;
    bool flushed = false;
    page_batch_reset(again);
    again->segment = batch->segment;
    again->cursor = arena_copy(again->arena, batch->cursor);
    again->until = arena_copy(again->arena, batch->until);
    again->last = batch->last;
    again->again = true;
    for (size_t i = 0; i < batch->count; i++) {
        const struct effect *effect = &batch->effects[i];
        bool stale = effect->outcome == OUTCOME_STALE;
        bool gone = false;
        if (effect->outcome == OUTCOME_APPLIED) {
            continue;
        }
        if (stale &&
            !((flushed || store_flush(committer->scan->options->store, err)) &&
              scan_worker_meet_again(&committer->worker, &batch->sources[i], again, &gone, err))) {
            return false;
        }
        const struct key *lost = gone ? &batch->sources[i] : NULL;
        if (!task->not_applied(task->context, effect, lost, err)) {
            return false;
        }
        flushed = flushed || stale;
    }
    again->items = 0; /* they counted when they were first met */
    return true;
}

/* A change or two of an item are met again at once. */
static void let_rest(const struct scan_options *options, unsigned tries)
{
    enum { AT_ONCE = 2, DOUBLED_MAX = 5 };
    if (tries >= AT_ONCE) {
        unsigned doubled = tries - AT_ONCE < DOUBLED_MAX ? tries - AT_ONCE : DOUBLED_MAX;
        pause_sleep(options->rest_ms << doubled, options->stop);
    }
}

/* Of tries without a rest, which a stop makes them, nobody learns that an item never rests: the
 * page is then left without its checkpoint, as a kill would leave it. */
static bool give_up(const struct committer *committer, const struct page_batch *batch,
                    struct error *err)
{
    if (is_stopped(committer->scan)) {
        return error_set(err, ERROR_STOPPED, "stopped while an item changed again and again");
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct effect *effect = &batch->effects[i];
        if (effect->outcome == OUTCOME_STALE) {
            effect->outcome = OUTCOME_REJECTED;
            effect->refusal = "it changes faster than it can be written";
        }
    }
    return true;
}

static bool commit_page(struct committer *committer, struct page_batch *batch, struct error *err)
{
    if (!commit(committer, batch, err)) {
        return false;
    }
    for (unsigned tries = 0; !effects_have_applied(batch->effects, batch->count); tries++) {
        if (tries < TRIES_MAX) {
            let_rest(committer->scan->options, tries);
        } else if (!give_up(committer, batch, err)) {
            return false;
        }
        struct page_batch *again = committer->retries[tries % 2];
        if (!correct(committer, batch, again, err) || !commit(committer, again, err)) {
            return false;
        }
        batch = again;
    }
    return true;
}

/* What is written already does not wait for the end of the pause to be durable. */
static bool hold(struct scan *scan, struct error *err)
{
    struct pause pause = {scan->options->paused, scan->options->stop};
    if (!pause_is_wanted(&pause)) {
        return true;
    }
    if (!scan->options->read_only && !store_flush(scan->options->store, err)) {
        return false;
    }
    rest(scan);
    return true;
}

/* To the end of the queue even after a failure, so that no worker waits for an empty batch. */
static void commit_pages(struct committer *committer)
{
    struct scan *scan = committer->scan;
    bool ok = true;
    for (struct page_batch *batch; (batch = queue_pop(scan->full)) != NULL;) {
        struct error err = {0};
        uint32_t segment = batch->segment;
        ok = ok && hold(scan, &err) && commit_page(committer, batch, &err);
        if (err.code != ERROR_NONE) {
            (void)error_wrap(&err, "segment %u", (unsigned)segment);
            fail(scan, &err);
        }
        (void)queue_push(batch->home, batch);
    }
    struct error err = {0};
    if (!scan->options->read_only && !store_flush(scan->options->store, &err)) {
        fail(scan, &err);
    }
}

/* ---------------------------------------------------------------- the whole */

static void start_threads(struct scan *scan, struct thread *threads, unsigned *started)
{
    struct error err = {0};
    unsigned workers = scan->options->workers;
    for (*started = 0; *started < workers; (*started)++) {
        int failure = pthread_create(&threads[*started].id, NULL, work, &threads[*started]);
        if (failure != 0) {
            (void)error_set(&err, ERROR_STORE, "no thread: %s", strerror(failure));
            fail(scan, &err);
            break;
        }
    }
    for (unsigned i = *started; i < workers; i++) {
        leave(scan);
    }
}

static size_t pages_a_worker(const struct scan_options *options)
{
    if (options->pages_a_worker > 0) {
        return options->pages_a_worker;
    }
    return !options->read_only && store_needs_before(options->store) ? 1 : PAGES_A_WORKER;
}

static struct queue *open_empty(const struct scan *scan)
{
    size_t pages = pages_a_worker(scan->options);
    struct queue *empty = queue_new(pages);
    for (size_t i = 0; i < pages; i++) {
        struct page_batch *batch = page_batch_new(scan->task->tally_bytes);
        batch->home = empty;
        (void)queue_push(empty, batch);
    }
    return empty;
}

static void close_empty(struct queue *empty)
{
    queue_close(empty);
    for (struct page_batch *batch; (batch = queue_pop(empty)) != NULL;) {
        page_batch_free(batch);
    }
    queue_free(empty);
}

/* Readers and workers are opened and closed in the calling thread: the store belongs to it. */
static bool open_workers(struct scan *scan, const struct key_schema *keys, struct thread *threads,
                         struct committer *committer, struct error *err)
{
    struct scan_worker blank = {.options = scan->options, .task = scan->task, .keys = keys};
    bool ok = true;
    for (unsigned i = 0; i < scan->options->workers; i++) {
        threads[i] = (struct thread){.scan = scan, .worker = blank};
        threads[i].worker.empty = open_empty(scan);
        ok = ok && scan_worker_open(&threads[i].worker, err);
    }
    committer->worker = blank;
    return ok && scan_worker_open(&committer->worker, err);
}

static void run_threads(struct scan *scan, struct thread *threads, struct committer *committer)
{
    unsigned started = 0;
    start_threads(scan, threads, &started);
    commit_pages(committer);
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(threads[i].id, NULL);
    }
}

static bool run_open(struct scan *scan, const struct key_schema *keys, struct arena *arena)
{
    unsigned workers = scan->options->workers;
    struct thread *threads = arena_zero(arena, workers * sizeof *threads);
    size_t tally_bytes = scan->task->tally_bytes;
    struct committer committer = {.scan = scan};
    committer.retries[0] = page_batch_new(tally_bytes);
    committer.retries[1] = page_batch_new(tally_bytes);
    if (open_workers(scan, keys, threads, &committer, &scan->err)) {
        run_threads(scan, threads, &committer);
    }
    for (unsigned i = 0; i < workers; i++) {
        scan_worker_close(&threads[i].worker);
        close_empty(threads[i].worker.empty);
    }
    scan_worker_close(&committer.worker);
    page_batch_free(committer.retries[0]);
    page_batch_free(committer.retries[1]);
    return scan->err.code == ERROR_NONE;
}

void scan_order(uint64_t seed, uint32_t count, uint32_t *out)
{
    uint64_t state = seed;
    for (uint32_t i = 0; i < count; i++) {
        /* Marsaglia, "Xorshift RNGs", 2003. */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint32_t at = seed == 0 ? i : (uint32_t)(state % (i + 1));
        if (at != i) {
            out[i] = out[at];
        }
        out[at] = i;
    }
}

bool scan_run(const struct scan_options *options, const struct scan_task *task, struct error *err)
{
    assert(options->workers > 0 && options->segments > 0);
    struct arena *arena = arena_new();
    struct table_desc table;
    bool ok = store_describe(options->store, arena, &table, err);
    if (ok) {
        uint32_t *order = arena_alloc(arena, options->segments * sizeof *order);
        scan_order(options->shuffle, options->segments, order);
        struct scan scan = {
            .options = options, .task = task, .running = options->workers, .order = order};
        (void)pthread_mutex_init(&scan.lock, NULL);
        scan.full = queue_new(pages_a_worker(options) * options->workers);
        ok = run_open(&scan, &table.keys, arena);
        queue_free(scan.full);
        (void)pthread_mutex_destroy(&scan.lock);
        if (!ok) {
            *err = scan.err;
        } else if (atomic_load(&scan.left)) {
            ok = error_set(err, ERROR_STOPPED, "stopped; what was read is written");
        }
    }
    arena_free(arena);
    return ok;
}
