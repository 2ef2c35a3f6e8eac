#include "migrate/run/probe.h"

#include "engine/base/buffer.h"
#include "engine/item/key.h"
#include "engine/scan/scan.h"
#include "engine/sort/sorter.h"
#include "migrate/cli/report.h"
#include "migrate/run/probe_claims.h"
#include "migrate/run/probe_internal.h"
#include "migrate/run/runner_look_ahead.h"

/* Of each worker's sorter, or the kept one; what does not fit is sorted on disk. */
enum { SORT_MEMORY_BYTES = 32 << 20 };

/* What a thread needs. */
struct prober {
    const struct probe *probe;
    struct runner_meeter meeter;
    struct sorter *sorter; /* NULL: claims are kept, and go to the committer */
    struct claim_pair pair;
    struct buffer note; /* of the item at hand */
};

static bool add_claim(struct prober *prober, const struct wish *wish, struct error *err)
{
    const struct probe *probe = prober->probe;
    struct claim_pair *pair = &prober->pair;
    const struct pass_step *rule = &probe->rules.facts->steps[wish->step];
    claim_write(probe->session->store, rule, wish, probe->kept != NULL, pair);
    if (probe->kept != NULL) {
        probe_kept_note(pair, &prober->note);
        return true;
    }
    return sorter_add(prober->sorter, buffer_str(&pair->key), buffer_str(&pair->value), err);
}

/* ---------------------------------------------------------------- any thread */

static struct sorter_options sorting(const struct probe *probe)
{
    const struct runner_session *session = probe->session;
    return (struct sorter_options){SORT_MEMORY_BYTES, session->temp_dir, session->invocation->stop};
}

static struct sorter *add_sorter(struct probe *probe, struct sorter *sorter)
{
    size_t count = probe->sorter_count + 1;
    probe->sorters = heap_resize(probe->sorters, count * sizeof(struct sorter *));
    probe->sorters[probe->sorter_count++] = sorter;
    return sorter;
}

static bool prober_open(void *context, struct store_reader *reader, void **out, struct error *err)
{
    (void)err;
    struct probe *probe = context;
    struct sorter_options options = sorting(probe);
    struct prober *prober = heap_alloc(sizeof *prober);
    *prober = (struct prober){.probe = probe, .meeter = {&probe->rules, reader}};
    if (probe->kept == NULL) {
        prober->sorter = add_sorter(probe, sorter_new(&options));
    }
    *out = prober;
    return true;
}

static void prober_close(void *worker)
{
    struct prober *prober = worker;
    claim_pair_free(&prober->pair);
    buffer_free(&prober->note);
    heap_free(prober);
}

static bool look_ahead(void *worker, const struct page *page, struct error *err)
{
    const struct prober *prober = worker;
    return runner_look_ahead(&prober->meeter, page, err);
}

static bool equal_puts(const struct pass_result *a, const struct pass_result *b)
{
    bool equal = a->put_count == b->put_count;
    for (size_t i = 0; equal && i < a->put_count; i++) {
        equal = a->puts[i].step == b->puts[i].step && value_equal(a->puts[i].item, b->puts[i].item);
    }
    return equal;
}

/* An item whose effect wants keys. */
struct claimant {
    const struct stored_item *item;
    struct key source; /* its key */
    const struct pass_result *result;
};

/* If on_collision let the item keep its key, would later steps fail, or put other items? */
static bool is_unsteady(const struct prober *prober, const struct claimant *claimant,
                        struct arena *arena, bool *out, struct error *err)
{
    struct runner_rules rules = prober->probe->rules;
    const struct pass_result *moved = claimant->result;
    *out = false;
    if (rules.facts->steps[moved->rekey_step].collision != COLLISION_SKIP || !rules.facts->puts) {
        return true;
    }
    struct probe_verdict kept = {.ruling = PROBE_SKIP, .step = (uint32_t)moved->rekey_step};
    struct probe_verdicts verdicts = {.list = &kept, .count = 1};
    probe_digest(&claimant->source, kept.source);
    rules.verdicts = &verdicts;
    struct runner_meeter meeter = {&rules, prober->meeter.reader};
    struct runner_effect effect;
    if (!runner_effect_of(&meeter, claimant->item, arena, &effect, err)) {
        return false;
    }
    *out = effect.result.fate == PASS_FAILED || !equal_puts(&effect.result, moved);
    return true;
}

static bool add_puts(struct prober *prober, const struct claimant *claimant, struct error *err)
{
    const struct pass_result *result = claimant->result;
    for (size_t i = 0; i < result->put_count; i++) {
        const struct pass_put *put = &result->puts[i];
        struct wish wish = {put->step, true, false, &claimant->source, &put->key, put->item};
        if (!add_claim(prober, &wish, err)) {
            return false;
        }
    }
    return true;
}

static bool add_claims(struct prober *prober, struct claimant *claimant, struct arena *arena,
                       struct error *err)
{
    const struct pass_result *result = claimant->result;
    const struct key_schema *keys = &prober->probe->rules.table->keys;
    if (!key_of_item(keys, claimant->item->item, &claimant->source, err) ||
        !add_puts(prober, claimant, err)) {
        return false;
    }
    struct wish wish = {result->rekey_step, false,        false,
                        &claimant->source,  &result->key, result->item};
    return result->fate != PASS_MOVE ||
           (is_unsteady(prober, claimant, arena, &wish.unsteady, err) &&
            add_claim(prober, &wish, err));
}

static bool probe_item(void *worker, const struct stored_item *item, struct scan_result *out,
                       struct error *err)
{
    struct prober *prober = worker;
    struct runner_effect effect;
    if (!runner_effect_of(&prober->meeter, item, out->arena, &effect, err)) {
        return false;
    }
    struct claimant claimant = {.item = item, .result = &effect.result};
    if (effect.result.fate != PASS_MOVE && effect.result.put_count == 0) {
        return true;
    }
    prober->note.len = 0;
    bool ok = add_claims(prober, &claimant, out->arena, err);
    out->note = buffer_str(&prober->note);
    return ok;
}

static bool next_segment(void *context, struct scan_turn *out, struct error *err)
{
    (void)err;
    const struct probe *probe = context;
    return probe_kept_next(probe->kept, out);
}

/* ---------------------------------------------------------------- the committer */

static bool probe_page(void *context, const struct scan_page *page, struct scan_checkpoint *out,
                       struct error *err)
{
    (void)out;
    struct probe *probe = context;
    probe->items += page->items;
    progress_set(probe->progress, probe->items);
    return probe->kept == NULL || probe_kept_page(probe->kept, page, err);
}

static bool read_table(struct probe *probe, struct error *err)
{
    const struct runner_session *session = probe->session;
    struct scan_options options = runner_session_scan(session);
    options.pass = probe->pass;
    options.skip_own_pass = true;
    options.read_only = true;
    struct scan_task task = {.context = probe,
                             .worker_open = prober_open,
                             .worker_close = prober_close,
                             .look_ahead = look_ahead,
                             .item = probe_item,
                             .page = probe_page};
    if (probe->kept != NULL) {
        options.segments = probe_kept_segments(probe->kept);
        task.next = next_segment;
    }
    probe->progress =
        progress_open_table(session->invocation, "looking for collisions", &session->table);
    bool ok = scan_run(&options, &task, err);
    progress_close(probe->progress);
    for (size_t i = 0; ok && i < probe->sorter_count && probe->kept == NULL; i++) {
        ok = sorter_finish(probe->sorters[i], err);
    }
    return ok && (probe->kept == NULL || probe_kept_turn(probe->kept, err));
}

/* ---------------------------------------------------------------- the whole */

static bool open_kept(struct probe *probe, struct kept_reading *reading, struct error *err)
{
    struct sorter_options options = sorting(probe);
    bool compares = false;
    for (size_t i = 0; i < probe->rules.facts->step_count; i++) {
        compares = compares || probe->rules.facts->steps[i].collision == COLLISION_KEEP_NEWER;
    }
    if (!probe_kept_open(reading, &options, compares, &probe->kept, err)) {
        return false;
    }
    (void)add_sorter(probe, probe_kept_claims(probe->kept));
    probe->items = kept_reading_items(reading);
    return true;
}

/* Which puts are no write can be told only when it is known who puts nothing. */
static bool count_merged(const struct probe *probe, struct arena *arena, struct probe_verdicts *out,
                         struct error *err)
{
    struct probe_verdicts again;
    if (out->count == 0 || !probe->rules.facts->puts) {
        return true;
    }
    if (!probe_judge(probe, out, arena, &again, err)) {
        return false;
    }
    out->merged = again.merged;
    return true;
}

static void close(struct probe *probe)
{
    for (size_t i = 0; i < probe->sorter_count && probe->kept == NULL; i++) {
        sorter_free(probe->sorters[i]);
    }
    probe_kept_close(probe->kept);
    heap_free(probe->sorters);
}

bool probe_run(const struct runner_session *session, const struct runner_rules *rules,
               const struct probe_scope *scope, struct probe_verdicts *out, struct error *err)
{
    struct arena *arena = session->arena;
    struct probe probe = {.session = session, .rules = *rules, .pass = scope->pass};
    bool ok = (scope->reading == NULL || open_kept(&probe, scope->reading, err)) &&
              read_table(&probe, err) && probe_judge(&probe, NULL, arena, out, err) &&
              count_merged(&probe, arena, out, err);
    if (!ok && probe.kept != NULL) {
        probe_kept_break_off(probe.kept);
    }
    close(&probe);
    return ok;
}
