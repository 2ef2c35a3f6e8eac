#include "migrate/run/runner_segments.h"

#include "migrate/run/runner_cut.h"

#include <pthread.h>
#include <time.h>

enum {
    LOOK_MS = 250,  /* between looks at what others have */
    MAKE_MOST = 256 /* records in one round */
};

enum state { IS_FREE, IS_OURS, IS_THEIRS, IS_DONE };

/* Segments, and behind them ranges. A range without a record is none: it counts as done. */
struct runner_segments {
    const struct runner_session *session;
    const struct checkpoint_run *run;
    struct store_reader *reader; /* NULL: this process alone runs the pass */
    struct arena *arena;
    struct arena *scratch;
    uint32_t count;                 /* of all numbers */
    struct checkpoint *checkpoints; /* by number */
    enum state *states;             /* by number */
    struct runner_heat *heat;       /* by number: its reader's own */
    uint32_t *order;                /* in which they are taken */
    unsigned reading;               /* are being read by this process */
    pthread_mutex_t lock;           /* of all this, as long as threads run */
    pthread_cond_t changed;
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
    for (uint32_t i = 0; i < segments->count; i++) {
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
    bool any = false;
    bool ok = true;
    for (uint32_t i = 0; ok && i < segments->count; i++) {
        bool is_theirs = segments->states[i] == IS_THEIRS;
        any = any || is_theirs;
        ok = !is_theirs || look_at(segments, i, err);
    }
    return ok && (!any || free_the_dead(segments, err));
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
    for (uint32_t i = 0; i < segments->count; i++) {
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
    for (uint32_t i = 0; i < segments->count; i++) {
        const struct checkpoint *checkpoint = &segments->checkpoints[i];
        bool is_none = i >= segments->run->segments && checkpoint->record.ptr == NULL;
        segments->states[i] = is_none ? IS_DONE : state_of(segments, checkpoint);
    }
    return !shared || share(segments, err);
}

static void init_lock(struct runner_segments *segments)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&segments->lock, NULL);
    (void)pthread_cond_init(&segments->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
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
    uint32_t count = segments->count = run->segments + CHECKPOINT_RANGES_MAX;
    segments->checkpoints = arena_alloc(arena, count * sizeof *segments->checkpoints);
    segments->states = arena_alloc(arena, count * sizeof *segments->states);
    segments->heat = arena_zero(arena, count * sizeof *segments->heat);
    segments->order = arena_alloc(arena, count * sizeof *segments->order);
    for (uint32_t i = 0; i < CHECKPOINT_RANGES_MAX; i++) {
        segments->order[i] = run->segments + i; /* they may be long */
    }
    scan_order(session->shuffle, run->segments, segments->order + CHECKPOINT_RANGES_MAX);
    init_lock(segments);
    *out = segments;
    return read_all(segments, err);
}

void runner_segments_close(struct runner_segments *segments)
{
    if (segments != NULL) {
        if (segments->reader != NULL) {
            store_reader_close(segments->reader);
        }
        (void)pthread_cond_destroy(&segments->changed);
        (void)pthread_mutex_destroy(&segments->lock);
        arena_free(segments->scratch);
        arena_free(segments->arena);
    }
}

/* ---------------------------------------------------------------- taking one */

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
    for (uint32_t i = 0; i < segments->count; i++) {
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
        segments->states[segment] = IS_OURS;
        segments->reading++;
        *out =
            (struct scan_turn){out->halted, false, segment, checkpoint->cursor, checkpoint->until};
    }
    return true;
}

bool runner_segments_left(const struct runner_segments *segments)
{
    uint32_t segment = 0;
    return find(segments, IS_FREE, &segment) ||
           (segments->session->leads && find(segments, IS_THEIRS, &segment));
}

/* Whether collections can be divided here. */
static bool divides(const struct runner_segments *segments)
{
    return segments->reader != NULL && segments->session->table.keys.sort_count == 1;
}

/* Until something changes, or it is time to look again. Others have the lock meanwhile. */
static void rest(struct runner_segments *segments)
{
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&segments->changed, &segments->lock, &until);
}

/* The first number of a range that is not there; `count` where there are enough. */
static uint32_t find_number(const struct runner_segments *segments)
{
    uint32_t number = segments->run->segments;
    while (number < segments->count && segments->checkpoints[number].record.ptr != NULL) {
        number++;
    }
    return number;
}

/* Other processes may have made ranges before they came to the end of their segments. */
static bool find_more(struct runner_segments *segments, struct error *err)
{
    uint32_t number = find_number(segments);
    for (bool more = divides(segments); more && number < segments->count; number++) {
        if (!read_again(segments, number, err)) {
            return false;
        }
        more = segments->checkpoints[number].record.ptr != NULL;
    }
    return true;
}

/* Whether this process reads what may become more. */
static bool may_be_divided(const struct runner_segments *segments)
{
    return segments->reading > 0 && divides(segments) && !runner_session_stopped(segments->session);
}

/* Nothing is free: what is being read may be divided, and what others have may become free. The
 * one that leads has the pass to end. *over when there is nothing to wait for. */
static bool wait_for_more(struct runner_segments *segments, bool *over, struct error *err)
{
    uint32_t segment = 0;
    if (runner_session_stopped(segments->session) && runner_segments_left(segments)) {
        return error_set(err, ERROR_STOPPED, "stopped");
    }
    if (segments->session->leads && !(look_at_theirs(segments, err) && find_more(segments, err))) {
        return false;
    }
    *over = !may_be_divided(segments) && !runner_segments_left(segments);
    if (!*over && !find(segments, IS_FREE, &segment)) {
        rest(segments);
    }
    return true;
}

/* Until one is taken, or there is nothing to wait for. */
static bool take(struct runner_segments *segments, struct scan_turn *out, struct error *err)
{
    uint32_t segment = 0;
    bool over = false;
    bool ok = true;
    out->none = true;
    while (ok && out->none && !over && !atomic_load(out->halted)) {
        if (!find(segments, IS_FREE, &segment)) {
            ok = wait_for_more(segments, &over, err);
        } else if (runner_session_stopped(segments->session)) {
            ok = error_set(err, ERROR_STOPPED, "stopped");
        } else {
            ok = try_to_take(segments, segment, out, err);
        }
    }
    return ok;
}

bool runner_segments_next(struct runner_segments *segments, struct scan_turn *out,
                          struct error *err)
{
    (void)pthread_mutex_lock(&segments->lock);
    if (!out->none) {
        segments->reading--;
        (void)pthread_cond_broadcast(&segments->changed);
    }
    bool ok = take(segments, out, err);
    (void)pthread_mutex_unlock(&segments->lock);
    return ok;
}

/* ---------------------------------------------------------------- dividing one */

/* Makes a range that anybody may take; *made is false where there are enough. */
static bool make_range(struct runner_segments *segments, struct str from, struct str until,
                       bool *made, struct error *err)
{
    *made = false;
    for (uint32_t number = find_number(segments); !*made && number < segments->count;
         number = find_number(segments)) {
        struct checkpoint *checkpoint = &segments->checkpoints[number];
        checkpoint->cursor = arena_copy(segments->arena, from);
        checkpoint->until = until;
        struct control control = checkpoint_control(segments->run, checkpoint, segments->arena);
        control.conditional = true;
        if (!store_control_try(segments->reader, &control, 1, made, err) ||
            (!*made && !read_again(segments, number, err))) {
            return false;
        }
        if (*made) {
            checkpoint->record = control.value;
            segments->states[number] = IS_FREE;
        }
    }
    return true;
}

/* A range gives its upper half away. */
static bool divide_range(struct runner_segments *segments, const struct runner_cut *cut,
                         struct scan_turn *turn, struct error *err)
{
    bool made = false;
    bool ok = make_range(segments, cut->middle, cut->end, &made, err);
    turn->until = made ? cut->middle : turn->until;
    return ok;
}

/* A segment gives away all that is left of the collection, as far as there are numbers. */
static bool divide_segment(struct runner_segments *segments, const struct runner_cut *cut,
                           struct scan_turn *turn, struct error *err)
{
    bool lower = false;
    bool upper = false;
    if (!make_range(segments, turn->cursor, cut->middle, &lower, err) ||
        (lower && !make_range(segments, cut->middle, cut->end, &upper, err))) {
        return false;
    }
    turn->cursor = lower ? (upper ? cut->end : cut->middle) : turn->cursor;
    return true;
}

static bool divide(struct runner_segments *segments, struct scan_turn *turn, struct error *err)
{
    const struct str range[2] = {turn->cursor, turn->until};
    struct runner_cut cut = {.arena = segments->arena};
    if (find_number(segments) == segments->count) {
        return true;
    }
    if (!runner_cut_find(segments->reader, &segments->session->table.keys, range, &cut, err)) {
        return false;
    }
    if (cut.middle.ptr == NULL) {
        return true;
    }
    return turn->until.len > 0 ? divide_range(segments, &cut, turn, err)
                               : divide_segment(segments, &cut, turn, err);
}

bool runner_segments_advance(struct runner_segments *segments, struct scan_turn *turn,
                             struct error *err)
{
    const struct key_schema *keys = &segments->session->table.keys;
    if (!divides(segments) ||
        !runner_heat_add(&segments->heat[turn->segment], keys, turn->cursor)) {
        return true;
    }
    (void)pthread_mutex_lock(&segments->lock);
    bool ok = divide(segments, turn, err);
    (void)pthread_cond_broadcast(&segments->changed);
    (void)pthread_mutex_unlock(&segments->lock);
    return ok;
}

bool runner_segments_look(struct runner_segments *segments, struct error *err)
{
    struct checkpoint *now = arena_alloc(segments->arena, segments->count * sizeof *now);
    if (segments->reader == NULL) {
        return true;
    }
    if (!checkpoint_read(segments->reader, segments->run, segments->arena, now, err)) {
        return false;
    }
    for (uint32_t i = 0; i < segments->count; i++) {
        if (segments->states[i] != IS_OURS) {
            segments->checkpoints[i] = now[i];
        }
    }
    return true;
}

uint32_t runner_segments_count(const struct runner_segments *segments)
{
    return segments->count;
}

struct checkpoint *runner_segments_at(struct runner_segments *segments, uint32_t segment)
{
    return &segments->checkpoints[segment];
}
