#include "migrate/runner_segments.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum {
    LOOK_MS = 250,  /* between looks at what others have */
    MAKE_MOST = 256 /* records in one round */
};

enum state { IS_FREE, IS_OURS, IS_THEIRS, IS_DONE };

struct runner_segments {
    const struct runner_session *session;
    const struct checkpoint_run *run;
    struct store_reader *reader; /* NULL: this process alone runs the pass */
    struct arena *arena;
    struct arena *scratch;
    struct checkpoint *checkpoints; /* by segment */
    enum state *states;             /* by segment */
    uint32_t *order;                /* in which they are taken */
    pthread_mutex_t lock;           /* of all this, as long as threads run */
};

/* ---------------------------------------------------------------- what is known of them */

/* What others have is free as soon as they are gone: free_the_dead() finds out. */
static enum state state_of(const struct runner_segments *segments,
                           const struct checkpoint *checkpoint)
{
    bool is_theirs = checkpoint->owner.len > 0 &&
                     !str_equal(checkpoint->owner, store_self(segments->session->store));
    if (checkpoint->done) {
        return IS_DONE;
    }
    return segments->reader != NULL && is_theirs ? IS_THEIRS : IS_FREE;
}

/* A record that is gone was one of a pass that has ended. */
static bool read_again(struct runner_segments *segments, uint32_t segment, struct error *err)
{
    struct checkpoint *checkpoint = &segments->checkpoints[segment];
    if (!checkpoint_read_again(segments->reader, segments->run, segments->arena, checkpoint, err)) {
        return false;
    }
    segments->states[segment] =
        checkpoint->record.ptr == NULL ? IS_DONE : state_of(segments, checkpoint);
    return true;
}

static bool is_one_of(const struct run_members *members, struct str id)
{
    for (size_t i = 0; i < members->count; i++) {
        if (str_equal(members->list[i].id, id)) {
            return true;
        }
    }
    return false;
}

/* Whose record names an owner, was there when that was read: members are read after it. */
static bool free_the_dead(struct runner_segments *segments, struct error *err)
{
    struct run_members members;
    arena_reset(segments->scratch);
    if (!store_members(segments->reader, segments->scratch, &members, err)) {
        return false;
    }
    for (uint32_t i = 0; i < segments->run->segments; i++) {
        if (segments->states[i] == IS_THEIRS &&
            !is_one_of(&members, segments->checkpoints[i].owner)) {
            segments->states[i] = IS_FREE;
        }
    }
    return true;
}

/* What has not changed hands is not kept anew: this goes on for as long as others read. */
static bool look_at(struct runner_segments *segments, uint32_t segment, struct error *err)
{
    struct checkpoint now = {.segment = segment};
    arena_reset(segments->scratch);
    if (!checkpoint_read_again(segments->reader, segments->run, segments->scratch, &now, err)) {
        return false;
    }
    bool is_same = now.record.ptr != NULL && !now.done &&
                   str_equal(now.owner, segments->checkpoints[segment].owner);
    return is_same || read_again(segments, segment, err);
}

static bool look_at_theirs(struct runner_segments *segments, struct error *err)
{
    for (uint32_t i = 0; i < segments->run->segments; i++) {
        if (segments->states[i] == IS_THEIRS && !look_at(segments, i, err)) {
            return false;
        }
    }
    return free_the_dead(segments, err);
}

/* ---------------------------------------------------------------- opening */

/* Makes up to MAKE_MOST records from *at on that are missing. */
static bool make_some(struct runner_segments *segments, uint32_t *at, struct error *err)
{
    struct control controls[MAKE_MOST];
    uint32_t made[MAKE_MOST];
    bool written[MAKE_MOST];
    size_t count = 0;
    for (; *at < segments->run->segments && count < MAKE_MOST; (*at)++) {
        const struct checkpoint *checkpoint = &segments->checkpoints[*at];
        if (checkpoint->record.ptr == NULL) {
            controls[count] = checkpoint_control(segments->run, checkpoint, segments->arena);
            controls[count].conditional = true;
            made[count++] = *at;
        }
    }
    if (count > 0 && !store_control_try(segments->reader, controls, count, written, err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        segments->checkpoints[made[i]].record = controls[i].value;
        if (!written[i] && !read_again(segments, made[i], err)) {
            return false;
        }
    }
    return true;
}

static bool make_missing(struct runner_segments *segments, struct error *err)
{
    for (uint32_t at = 0; at < segments->run->segments;) {
        if (!make_some(segments, &at, err)) {
            return false;
        }
    }
    return true;
}

static bool are_all_made(const struct runner_segments *segments)
{
    for (uint32_t i = 0; i < segments->run->segments; i++) {
        if (segments->checkpoints[i].record.ptr == NULL) {
            return false;
        }
    }
    return true;
}

static bool share(struct runner_segments *segments, struct error *err)
{
    if (segments->session->leads) {
        return make_missing(segments, err) && free_the_dead(segments, err);
    }
    if (are_all_made(segments)) {
        return free_the_dead(segments, err);
    }
    for (uint32_t i = 0; i < segments->run->segments; i++) {
        segments->states[i] = IS_DONE;
    }
    return true;
}

static bool read_all(struct runner_segments *segments, struct error *err)
{
    const struct runner_session *session = segments->session;
    bool shared = store_is_shared(session->store);
    if ((shared && !store_reader_open(session->store, &segments->reader, err)) ||
        !checkpoint_read(session->reader, segments->run, segments->arena, segments->checkpoints,
                         err)) {
        return false;
    }
    for (uint32_t i = 0; i < segments->run->segments; i++) {
        segments->states[i] = state_of(segments, &segments->checkpoints[i]);
    }
    return !shared || share(segments, err);
}

bool runner_segments_open(const struct runner_session *session, const struct checkpoint_run *run,
                          struct runner_segments **out, struct error *err)
{
    struct arena *arena = arena_new();
    struct runner_segments *segments = arena_zero(arena, sizeof *segments);
    segments->session = session;
    segments->run = run;
    segments->arena = arena;
    segments->scratch = arena_new();
    segments->checkpoints = arena_alloc(arena, run->segments * sizeof *segments->checkpoints);
    segments->states = arena_alloc(arena, run->segments * sizeof *segments->states);
    segments->order = arena_alloc(arena, run->segments * sizeof *segments->order);
    scan_order(session->shuffle, run->segments, segments->order);
    (void)pthread_mutex_init(&segments->lock, NULL);
    *out = segments;
    return read_all(segments, err);
}

void runner_segments_close(struct runner_segments *segments)
{
    if (segments != NULL) {
        if (segments->reader != NULL) {
            store_reader_close(segments->reader);
        }
        (void)pthread_mutex_destroy(&segments->lock);
        arena_free(segments->scratch);
        arena_free(segments->arena);
    }
}

/* ---------------------------------------------------------------- taking one */

/* Keeps the examples that a checkpoint has, and makes room for more. */
static void widen_faults(struct runner_segments *segments, struct checkpoint *checkpoint)
{
    struct item_fault *faults = arena_alloc(segments->arena, LEDGER_FAULTS_MAX * sizeof *faults);
    size_t count = checkpoint->fault_count;
    count = count < LEDGER_FAULTS_MAX ? count : LEDGER_FAULTS_MAX;
    if (count > 0) {
        memcpy(faults, checkpoint->faults, count * sizeof *faults);
    }
    checkpoint->faults = faults;
    checkpoint->fault_count = count;
}

/* *won is false where another process took the segment since its record was read. */
static bool claim(struct runner_segments *segments, uint32_t segment, bool *won, struct error *err)
{
    struct checkpoint *checkpoint = &segments->checkpoints[segment];
    struct checkpoint wanted = *checkpoint;
    wanted.owner = store_self(segments->session->store);
    wanted.claim++;
    arena_reset(segments->scratch);
    struct control control = checkpoint_control(segments->run, &wanted, segments->scratch);
    control.conditional = true;
    control.expected = checkpoint->record;
    if (!store_control_try(segments->reader, &control, 1, won, err)) {
        return false;
    }
    if (!*won) {
        return read_again(segments, segment, err);
    }
    *checkpoint = wanted;
    return true;
}

/* The next in order that is in the state; false where there is none. */
static bool find(const struct runner_segments *segments, enum state state, uint32_t *out)
{
    for (uint32_t i = 0; i < segments->run->segments; i++) {
        *out = segments->order[i];
        if (segments->states[*out] == state) {
            return true;
        }
    }
    return false;
}

static bool try_to_take(struct runner_segments *segments, uint32_t segment, struct scan_turn *out,
                        struct error *err)
{
    bool won = true;
    if (segments->reader != NULL && !claim(segments, segment, &won, err)) {
        return false;
    }
    if (won) {
        struct checkpoint *checkpoint = &segments->checkpoints[segment];
        widen_faults(segments, checkpoint);
        segments->states[segment] = IS_OURS;
        *out = (struct scan_turn){out->halted, false, segment, checkpoint->cursor};
    }
    return true;
}

bool runner_segments_left(const struct runner_segments *segments)
{
    uint32_t segment = 0;
    return find(segments, IS_FREE, &segment) ||
           (segments->session->leads && find(segments, IS_THEIRS, &segment));
}

static void rest(void)
{
    struct timespec time = {.tv_nsec = LOOK_MS * 1000000L};
    (void)nanosleep(&time, NULL);
}

/* Until one is taken, or there is nothing to wait for. */
static bool take(struct runner_segments *segments, struct scan_turn *out, struct error *err)
{
    uint32_t segment = 0;
    out->none = true;
    while (out->none && !atomic_load(out->halted)) {
        if (!runner_segments_left(segments)) {
            return true;
        }
        bool is_free = find(segments, IS_FREE, &segment);
        if (runner_session_stopped(segments->session)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
        if (is_free ? !try_to_take(segments, segment, out, err) : !look_at_theirs(segments, err)) {
            return false;
        }
        if (!is_free) {
            rest();
        }
    }
    return true;
}

bool runner_segments_next(struct runner_segments *segments, struct scan_turn *out,
                          struct error *err)
{
    (void)pthread_mutex_lock(&segments->lock);
    bool ok = take(segments, out, err);
    (void)pthread_mutex_unlock(&segments->lock);
    return ok;
}

struct checkpoint *runner_segments_at(struct runner_segments *segments, uint32_t segment)
{
    return &segments->checkpoints[segment];
}
