#include "migrate/run/runner_pass.h"

#include "engine/base/buffer.h"
#include "engine/item/key.h"
#include "engine/scan/scan.h"
#include "migrate/cli/report.h"
#include "migrate/run/runner_look_ahead.h"
#include "migrate/run/runner_segments.h"
#include "migrate/run/runner_tally.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* What the committer keeps while the pass is under way. */
struct writing {
    const struct runner_pass *pass;
    struct arena *arena;
    struct runner_segments *segments;
    struct buffer *places;       /* by segment: what the checkpoints' cursors point to */
    struct step_counts *sums;    /* by step: what all checkpoints count, once they are added up */
    struct step_counts *pending; /* by step: corrections that no checkpoint holds yet */
    struct fault_list pending_faults;
    struct fault_list pending_gone;
    struct arena *pending_arena; /* of both lists */
    uint64_t items;
    bool *is_own;           /* by segment: its checkpoint is the newest word on it */
    uint64_t own_failed;    /* item errors of these, and of the others, when that was last */
    uint64_t others_failed; /* looked up */
    struct progress *progress;
};

static size_t step_count(const struct writing *writing)
{
    return writing->pass->run.step_count;
}

/* ---------------------------------------------------------------- any thread */

static bool meeter_open(void *context, struct store_reader *reader, void **out, struct error *err)
{
    (void)err;
    const struct writing *writing = context;
    struct runner_meeter *meeter = heap_alloc(sizeof *meeter);
    *meeter = (struct runner_meeter){writing->pass->rules, reader};
    *out = meeter;
    return true;
}

static bool look_ahead(void *worker, const struct page *page, struct error *err)
{
    return runner_look_ahead(worker, page, err);
}

static bool meet_item(void *worker, const struct stored_item *item, struct scan_result *out,
                      struct error *err)
{
    const struct runner_meeter *meeter = worker;
    struct runner_effect effect;
    if (!runner_effect_of(meeter, item, out->arena, &effect, err)) {
        return false;
    }
    runner_tally_add(meeter->rules, &effect, item, out);
    out->writes = effect.writes;
    out->write_count = effect.write_count;
    out->tag = (struct str){(const char *)effect.result.outcomes, meeter->rules->facts->step_count};
    return true;
}

/* ---------------------------------------------------------------- the committer */

static void add_faults(struct fault_list *to, const struct fault_list *from, struct arena *arena)
{
    for (size_t i = 0; i < from->count; i++) {
        fault_list_add(to, from->list[i], arena);
    }
}

static void add_to_checkpoint(struct writing *writing, struct checkpoint *checkpoint,
                              const struct scan_page *page)
{
    const struct runner_tally *tally = page->tally;
    for (size_t i = 0; i < step_count(writing); i++) {
        step_counts_add(&checkpoint->counts[i], &tally->counts[i]);
        step_counts_add(&checkpoint->counts[i], &writing->pending[i]);
    }
    memset(writing->pending, 0, step_count(writing) * sizeof *writing->pending);
    for (size_t i = 0; i < page->note_count; i++) {
        struct item_fault fault = runner_tally_fault(writing->pass->rules->facts, page->notes[i]);
        fault_list_add(&checkpoint->faults, fault, writing->arena);
    }
    add_faults(&checkpoint->faults, &writing->pending_faults, writing->arena);
    add_faults(&checkpoint->gone, &writing->pending_gone, writing->arena);
    writing->pending_faults = writing->pending_gone = (struct fault_list){NULL, 0};
    arena_reset(writing->pending_arena);
    runner_session_count_usage(writing->pass->session, &checkpoint->used);
    checkpoint->items += page->items;
    writing->items += page->items;
}

static void move_cursor(struct writing *writing, struct checkpoint *checkpoint,
                        const struct scan_page *page)
{
    struct buffer *place = &writing->places[page->segment];
    size_t cut = page->cursor.len;
    place->len = 0;
    buffer_add(place, page->cursor);
    buffer_add(place, page->until);
    struct str both = buffer_str(place);
    checkpoint->cursor = (struct str){both.ptr, cut};
    checkpoint->until = (struct str){both.ptr + cut, both.len - cut};
    checkpoint->done = page->last;
}

static uint64_t count_own_failed(const struct writing *writing)
{
    uint64_t failed = 0;
    for (uint32_t i = 0; i < runner_segments_count(writing->segments); i++) {
        const struct step_counts *counts = runner_segments_at(writing->segments, i)->counts;
        for (size_t step = 0; writing->is_own[i] && step < step_count(writing); step++) {
            failed += counts[step].failed;
        }
    }
    return failed;
}

/* What other processes have told of in their checkpoints. */
static bool look_at_others(struct writing *writing, struct error *err)
{
    const struct runner_session *session = writing->pass->session;
    if (!store_is_shared(session->store)) {
        return true;
    }
    struct arena *arena = arena_new();
    struct checkpoint_list found;
    bool ok = checkpoint_glance(session->reader, writing->pass->run.version, arena, &found, err);
    writing->others_failed = 0;
    for (size_t i = 0; ok && i < found.count; i++) {
        bool is_own = str_equal(found.list[i].owner, store_self(session->store));
        writing->others_failed += is_own ? 0 : found.list[i].failed;
    }
    arena_free(arena);
    return ok;
}

/* Before the page that comes next, so that what is counted is what is committed. The others are
 * looked at when there are errors here, and at what they may have left. */
static bool check_failures(struct writing *writing, uint32_t segment, struct error *err)
{
    uint64_t most = writing->pass->session->max_item_errors;
    if (most == UINT64_MAX) {
        return true;
    }
    bool is_new = !writing->is_own[segment];
    writing->is_own[segment] = true;
    uint64_t failed = count_own_failed(writing);
    if ((is_new || failed != writing->own_failed) && !look_at_others(writing, err)) {
        return false;
    }
    writing->own_failed = failed;
    return failed + writing->others_failed <= most ||
           error_set(err, ERROR_ITEM, "more than %" PRIu64 " item errors", most);
}

static bool take_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                      struct error *err)
{
    struct writing *writing = context;
    if (!page->again && !check_failures(writing, page->segment, err)) {
        return false;
    }
    struct checkpoint *checkpoint = runner_segments_at(writing->segments, page->segment);
    add_to_checkpoint(writing, checkpoint, page);
    move_cursor(writing, checkpoint, page);
    progress_set(writing->progress, writing->items);
    struct control *control = arena_alloc(out->arena, sizeof *control);
    *control = checkpoint_control(&writing->pass->run, checkpoint, out->arena);
    out->controls = control;
    out->count = 1;
    return true;
}

/* The key of the item that the effect came of, or of what it puts. */
static struct str print_source(const struct writing *writing, const struct effect *effect)
{
    const struct key_schema *keys = &writing->pass->rules->table->keys;
    const struct write *write = &effect->writes[effect->count - 1];
    struct key key = write->key;
    struct error err = {0};
    if (write->kind == WRITE_PUT && !key_of_item(keys, write->item, &key, &err)) {
        return STR("an item without a key");
    }
    return key_print(keys, &key, writing->pending_arena);
}

static void refuse(struct writing *writing, const struct effect *effect)
{
    size_t step = runner_effect_writer(effect->tag, step_count(writing));
    const char *reason =
        effect->refusal != NULL ? effect->refusal : "another item stands under its new key";
    struct item_fault fault = {.step = writing->pass->rules->facts->steps[step].label,
                               .key = print_source(writing, effect),
                               .reason = {reason, strlen(reason)}};
    writing->pending[step].failed++;
    fault_list_add(&writing->pending_faults, fault, writing->pending_arena);
}

/* The item was deleted since it was read, and is not put back. */
static void skip_gone(struct writing *writing, const struct effect *effect, const struct key *key)
{
    const struct runner_rules *rules = writing->pass->rules;
    size_t step = runner_effect_writer(effect->tag, step_count(writing));
    struct item_fault fault = {.step = rules->facts->steps[step].label,
                               .key = key_print(&rules->table->keys, key, writing->pending_arena),
                               .reason = STR("gone, skipped")};
    writing->pending[step].gone++;
    fault_list_add(&writing->pending_gone, fault, writing->pending_arena);
}

/* Another has made the same change before: the steps that would have written leave the item as it
 * is, or there is none any more. */
static void count_unchanged(struct writing *writing, const struct effect *effect)
{
    const unsigned char *outcomes = effect->tag;
    runner_effect_uncount(outcomes, step_count(writing), writing->pending);
    bool gone = effect->writes[effect->count - 1].kind == WRITE_DELETE;
    for (size_t i = 0; i < step_count(writing) && !gone; i++) {
        bool stands = outcomes[i] == STEP_WRITTEN || outcomes[i] == STEP_UNCHANGED;
        writing->pending[i].unchanged += stands ? 1 : 0;
    }
}

/* In a pass with a probe UNCHANGED comes of puts, which the probe has counted. */
static bool take_back(void *context, const struct effect *effect, const struct key *gone,
                      struct error *err)
{
    (void)err;
    struct writing *writing = context;
    if (effect->outcome == OUTCOME_UNCHANGED) {
        if (!writing->pass->rules->facts->needs_probe) {
            count_unchanged(writing, effect);
        }
        return true;
    }
    runner_effect_uncount(effect->tag, step_count(writing), writing->pending);
    if (gone != NULL) {
        skip_gone(writing, effect, gone);
    } else if (effect->outcome != OUTCOME_STALE) {
        refuse(writing, effect);
    }
    return true;
}

/* ---------------------------------------------------------------- the whole */

static void meeter_close(void *worker)
{
    heap_free(worker);
}

static bool next_segment(void *context, struct scan_turn *out, struct error *err)
{
    struct writing *writing = context;
    return runner_segments_next(writing->segments, out, err);
}

static bool advance(void *context, struct scan_turn *turn, struct error *err)
{
    struct writing *writing = context;
    return runner_segments_advance(writing->segments, turn, err);
}

/* What all checkpoints count. */
static void sum_up(struct writing *writing)
{
    writing->items = 0;
    memset(writing->sums, 0, step_count(writing) * sizeof *writing->sums);
    for (uint32_t i = 0; i < runner_segments_count(writing->segments); i++) {
        const struct checkpoint *checkpoint = runner_segments_at(writing->segments, i);
        writing->items += checkpoint->items;
        for (size_t step = 0; step < step_count(writing); step++) {
            step_counts_add(&writing->sums[step], &checkpoint->counts[step]);
        }
    }
}

/* What stands when the pass begins or goes on. */
static void begin_counting(struct writing *writing)
{
    bool alone = !store_is_shared(writing->pass->session->store);
    sum_up(writing);
    for (uint32_t i = 0; i < runner_segments_count(writing->segments); i++) {
        writing->is_own[i] = alone;
    }
}

static void settle(struct writing *writing)
{
    struct arena *arena = writing->pass->session->arena;
    const struct runner_pass *pass = writing->pass;
    sum_up(writing);
    for (size_t i = 0; i < step_count(writing); i++) {
        struct step_counts *counts = &pass->steps[i].counts;
        struct step_counts before = *counts; /* by earlier attempts */
        *counts = writing->sums[i];
        counts->overwritten = before.overwritten;
        counts->gone += before.gone;
    }
    if (pass->rules->verdicts != NULL) {
        runner_tally_settle(pass->rules->verdicts, step_count(writing), pass->steps);
    }
    for (uint32_t i = 0; i < runner_segments_count(writing->segments); i++) {
        const struct checkpoint *checkpoint = runner_segments_at(writing->segments, i);
        pass->used->read_units += checkpoint->used.read_units;
        pass->used->write_units += checkpoint->used.write_units;
        add_faults(pass->faults, &checkpoint->faults, arena);
        add_faults(pass->gone, &checkpoint->gone, arena);
    }
}

/* A verdict may speak of an item that no step matches. */
static const struct page_use *use_of(const struct runner_rules *rules)
{
    bool ruled = rules->verdicts != NULL && rules->verdicts->count > 0;
    return ruled ? NULL : &rules->facts->use;
}

static bool scan(struct writing *writing, struct error *err)
{
    const struct runner_pass *pass = writing->pass;
    struct scan_options options = runner_session_scan(pass->session);
    options.segments = pass->run.segments;
    options.pass = pass->run.pass;
    options.skip_own_pass = true;
    options.undo_log = pass->undo_log;
    options.limits.may_be_stale = pass->session->reads_stale;
    options.limits.use = use_of(pass->rules);
    struct scan_task task = {.context = writing,
                             .tally_bytes = runner_tally_bytes(step_count(writing)),
                             .worker_open = meeter_open,
                             .worker_close = meeter_close,
                             .next = next_segment,
                             .look_ahead = look_ahead,
                             .advance = advance,
                             .item = meet_item,
                             .page = take_page,
                             .not_applied = take_back};
    writing->progress =
        progress_open_table(pass->session->invocation, pass->phase, &pass->session->table);
    bool ok = scan_run(&options, &task, err);
    progress_close(writing->progress);
    pass->session->reads_stale = false; /* a later pass has to see what this one wrote */
    return ok;
}

/* A pass with too many item errors is over: its record has those of all. Returns false. */
static bool count_all(struct writing *writing, struct error *err)
{
    struct error lost = {0};
    if (err->code == ERROR_ITEM && !runner_segments_look(writing->segments, &lost)) {
        *err = lost;
    }
    return false;
}

static void open_writing(struct writing *writing, const struct runner_pass *pass)
{
    size_t numbers = (size_t)pass->run.segments + CHECKPOINT_RANGES_MAX;
    size_t steps = pass->run.step_count;
    *writing = (struct writing){.pass = pass, .arena = arena_new(), .pending_arena = arena_new()};
    writing->places = arena_zero(writing->arena, numbers * sizeof *writing->places);
    writing->is_own = arena_zero(writing->arena, numbers * sizeof *writing->is_own);
    writing->sums = arena_zero(writing->arena, steps * sizeof *writing->sums);
    writing->pending = arena_zero(writing->arena, steps * sizeof *writing->pending);
}

static void close_writing(struct writing *writing)
{
    for (size_t i = 0; i < (size_t)writing->pass->run.segments + CHECKPOINT_RANGES_MAX; i++) {
        buffer_free(&writing->places[i]);
    }
    runner_segments_close(writing->segments);
    arena_free(writing->pending_arena);
    arena_free(writing->arena);
}

bool runner_pass_run(const struct runner_pass *pass, struct error *err)
{
    assert(pass->run.segments > 0 && pass->run.step_count > 0);
    struct writing writing;
    open_writing(&writing, pass);
    bool ok = runner_segments_open(pass->session, &pass->run, &writing.segments, err);
    if (ok) {
        begin_counting(&writing);
        ok = !runner_segments_left(writing.segments) || scan(&writing, err) ||
             count_all(&writing, err);
        settle(&writing);
    }
    close_writing(&writing);
    return ok;
}
