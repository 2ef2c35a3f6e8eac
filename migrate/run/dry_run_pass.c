#include "migrate/run/dry_run_pass.h"

#include "engine/item/key.h"
#include "engine/scan/scan.h"
#include "migrate/cli/report.h"
#include "migrate/run/dry_run_sample.h"
#include "migrate/run/runner_look_ahead.h"
#include "migrate/run/runner_tally.h"

#include <stdatomic.h>
#include <string.h>

/* A page's tally: this, then a struct runner_tally. */
struct dry_tally {
    int64_t entries[INDEXES_KNOWN_MAX];
};
_Static_assert(sizeof(struct dry_tally) % sizeof(uint64_t) == 0, "what follows is aligned");

/* What all threads share. */
struct rehearsal {
    struct dry_run_pass *pass;
    atomic_uint *samples_taken; /* by step */
    uint64_t items;
    struct progress *progress;
};

struct rehearser {
    struct rehearsal *rehearsal;
    struct runner_meeter meeter;
};

/* First byte of a note. */
enum { NOTE_FAULT = 'F', NOTE_SAMPLE = 'S' };

static size_t step_count(const struct dry_run_pass *pass)
{
    return pass->rules->facts->step_count;
}

/* ---------------------------------------------------------------- any thread */

static bool rehearser_open(void *context, struct store_reader *reader, void **out,
                           struct error *err)
{
    (void)err;
    struct rehearsal *rehearsal = context;
    struct rehearser *rehearser = heap_alloc(sizeof *rehearser);
    *rehearser = (struct rehearser){rehearsal, {rehearsal->pass->rules, reader}};
    *out = rehearser;
    return true;
}

static void rehearser_close(void *worker)
{
    heap_free(worker);
}

static bool look_ahead(void *worker, const struct page *page, struct error *err)
{
    const struct rehearser *rehearser = worker;
    return runner_look_ahead(&rehearser->meeter, page, err);
}

static int64_t is_in_index(const struct index_desc *index, struct value item)
{
    struct key key;
    bool present = false;
    struct error err = {0};
    return !value_is_missing(item) && key_of_index(&index->keys, item, &key, &present, &err) &&
                   present
               ? 1
               : 0;
}

static void count_entries(const struct table_desc *table, const struct runner_effect *effect,
                          struct dry_tally *tally)
{
    for (size_t i = 0; i < table->index_count; i++) {
        for (size_t w = 0; w < effect->write_count; w++) {
            const struct write *write = &effect->writes[w];
            struct value none = {NULL, 0};
            tally->entries[i] +=
                is_in_index(&table->indexes[i], write->kind == WRITE_DELETE ? none : write->item) -
                is_in_index(&table->indexes[i], write->before);
        }
    }
}

/* True if one of the steps that wrote has too few examples yet; this one is then one for each. */
static bool wants_sample(struct rehearsal *rehearsal, const struct runner_effect *effect)
{
    bool wanted = false;
    for (size_t i = 0; i < step_count(rehearsal->pass); i++) {
        wanted = wanted || (effect->result.outcomes[i] == STEP_WRITTEN &&
                            atomic_load(&rehearsal->samples_taken[i]) < DRY_RUN_SAMPLES);
    }
    for (size_t i = 0; wanted && i < step_count(rehearsal->pass); i++) {
        if (effect->result.outcomes[i] == STEP_WRITTEN) {
            (void)atomic_fetch_add(&rehearsal->samples_taken[i], 1);
        }
    }
    return wanted;
}

static struct str mark_note(char kind, struct str content, struct arena *arena)
{
    char *note = arena_bytes(arena, content.len + 1);
    note[0] = kind;
    memcpy(note + 1, content.ptr, content.len);
    return (struct str){note, content.len + 1};
}

static bool rehearse_item(void *worker, const struct stored_item *item, struct scan_result *out,
                          struct error *err)
{
    struct rehearser *rehearser = worker;
    struct rehearsal *rehearsal = rehearser->rehearsal;
    const struct runner_rules *rules = rehearsal->pass->rules;
    struct runner_effect effect;
    if (!runner_effect_of(&rehearser->meeter, item, out->arena, &effect, err)) {
        return false;
    }
    struct dry_tally *tally = out->tally;
    struct scan_result counted = *out;
    counted.tally = tally + 1;
    runner_tally_add(rules, &effect, item, &counted);
    if (counted.note.ptr != NULL) {
        out->note = mark_note(NOTE_FAULT, counted.note, out->arena);
    }
    out->writes = effect.writes;
    out->write_count = effect.write_count;
    if (effect.write_count > 0) {
        count_entries(rules->table, &effect, tally);
        if (wants_sample(rehearsal, &effect)) {
            bool json = rehearsal->pass->session->invocation->json;
            out->note = mark_note(
                NOTE_SAMPLE, dry_run_sample(&rules->table->keys, &effect, item, json, out->arena),
                out->arena);
        }
    }
    return true;
}

/* ---------------------------------------------------------------- the calling thread */

static void take_note(struct dry_run_pass *pass, struct str note)
{
    struct arena *arena = pass->session->arena;
    struct str content = {note.ptr + 1, note.len - 1};
    if (note.ptr[0] == NOTE_SAMPLE) {
        if (pass->sample_count < step_count(pass) * DRY_RUN_SAMPLES) {
            pass->samples[pass->sample_count++] = arena_copy(arena, content);
        }
    } else {
        fault_list_add(&pass->faults, runner_tally_fault(pass->rules->facts, content), arena);
    }
}

static bool take_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                      struct error *err)
{
    (void)out;
    (void)err;
    struct rehearsal *rehearsal = context;
    struct dry_run_pass *pass = rehearsal->pass;
    const struct dry_tally *tally = page->tally;
    const struct runner_tally *counted = (const struct runner_tally *)(const void *)(tally + 1);
    for (size_t i = 0; i < step_count(pass); i++) {
        step_counts_add(&pass->steps[i].counts, &counted->counts[i]);
    }
    for (size_t i = 0; i < INDEXES_KNOWN_MAX; i++) {
        pass->entries[i] += tally->entries[i];
    }
    for (size_t i = 0; i < page->note_count; i++) {
        take_note(pass, page->notes[i]);
    }
    rehearsal->items += page->items;
    progress_set(rehearsal->progress, rehearsal->items);
    return true;
}

/* An overlay applies everything. */
static bool nothing_to_correct(void *context, const struct effect *effect, const struct key *gone,
                               struct error *err)
{
    (void)context;
    (void)effect;
    (void)gone;
    (void)err;
    return true;
}

bool dry_run_pass(struct dry_run_pass *pass, struct error *err)
{
    const struct runner_session *session = pass->session;
    struct scan_options options = runner_session_scan(session);
    options.pass = pass->pass;
    options.skip_own_pass = true;
    options.read_only = !pass->keep;
    options.limits.may_be_stale = session->reads_stale;
    struct rehearsal rehearsal = {
        .pass = pass,
        .samples_taken =
            arena_zero(session->arena, step_count(pass) * sizeof *rehearsal.samples_taken)};
    struct scan_task task = {.context = &rehearsal,
                             .tally_bytes =
                                 sizeof(struct dry_tally) + runner_tally_bytes(step_count(pass)),
                             .worker_open = rehearser_open,
                             .worker_close = rehearser_close,
                             .look_ahead = look_ahead,
                             .item = rehearse_item,
                             .page = take_page,
                             .not_applied = nothing_to_correct};
    rehearsal.progress = progress_open_table(session->invocation, pass->phase, &session->table);
    bool ok = scan_run(&options, &task, err);
    progress_close(rehearsal.progress);
    if (ok && pass->rules->verdicts != NULL) {
        runner_tally_settle(pass->rules->verdicts, step_count(pass), pass->steps);
    }
    return ok;
}
