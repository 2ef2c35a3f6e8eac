#include "migrate/run/dry_run.h"

#include "migrate/run/dry_run_pass.h"
#include "migrate/run/dry_run_report.h"
#include "migrate/run/overlay.h"
#include "migrate/run/probe.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_index.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of passes that are not real are far above those that are. */
#define FIRST_PASS ((uint64_t)1 << 62)

struct rehearsal {
    const struct runner_session *session; /* of the real table */
    struct runner_session view;           /* of the table as it would be at the stage at hand */
    struct store *overlay;                /* NULL until a pass is kept */
    const struct plan_list *plans;
    const struct compiled_stages *stages; /* by plan */
    uint64_t passes;
};

/* ---------------------------------------------------------------- what comes later */

static size_t first_stage(const struct rehearsal *rehearsal, size_t plan)
{
    const struct ledger_record *record =
        ledger_standing(&rehearsal->session->ledger, rehearsal->plans->plans[plan]->version);
    return record != NULL ? record->stage : 0;
}

static bool reads_table(const struct compiled_stages *stages, size_t first)
{
    for (size_t i = first; i < stages->count; i++) {
        if (stages->list[i].stage->kind != STAGE_DROP_INDEX) {
            return true;
        }
    }
    return false;
}

/* True if a later stage, of this plan or another, reads the table. */
static bool is_read_later(const struct rehearsal *rehearsal, size_t plan, size_t stage)
{
    bool reads = reads_table(&rehearsal->stages[plan], stage + 1);
    for (size_t i = plan + 1; i < rehearsal->plans->count; i++) {
        reads = reads || reads_table(&rehearsal->stages[i], 0);
    }
    return reads;
}

static bool open_overlay(struct rehearsal *rehearsal, struct error *err)
{
    struct store_reader *reader = NULL;
    if (rehearsal->overlay != NULL) {
        return true;
    }
    if (!overlay_open(rehearsal->session->store, &rehearsal->view.table,
                      rehearsal->session->temp_dir, &rehearsal->overlay, err) ||
        !store_reader_open(rehearsal->overlay, &reader, err)) {
        return false;
    }
    rehearsal->view.store = rehearsal->overlay;
    rehearsal->view.reader = reader;
    return true;
}

/* ---------------------------------------------------------------- a pass */

/* Of a pass that is half done, what is left; its verdicts stand already. */
struct begun {
    uint64_t pass;                  /* 0: not begun */
    struct probe_verdicts verdicts; /* list NULL: not decided */
};

static bool find_begun(const struct rehearsal *rehearsal, size_t plan, size_t stage,
                       struct begun *out, struct error *err)
{
    const struct runner_session *session = rehearsal->session;
    uint32_t version = rehearsal->plans->plans[plan]->version;
    const struct ledger_record *record = ledger_standing(&session->ledger, version);
    *out = (struct begun){.pass = 0};
    if (record == NULL || record->stage != stage) {
        return true;
    }
    out->pass = record->pass;
    struct str prefix = probe_prefix(version, record->stage, session->arena);
    return probe_verdicts_load(session->reader, prefix, session->arena, &out->verdicts, err);
}

/* Entries that the pass would add to indexes, or take away. */
static void move_entries(struct table_desc *table, const int64_t *entries, struct arena *arena)
{
    struct index_desc *indexes = arena_alloc(arena, (table->index_count + 1) * sizeof *indexes);
    for (size_t i = 0; i < table->index_count; i++) {
        indexes[i] = table->indexes[i];
        int64_t count = (int64_t)indexes[i].entry_count + entries[i];
        indexes[i].entry_count = count < 0 ? 0 : (uint64_t)count;
    }
    table->indexes = indexes;
}

static bool find_verdicts(const struct rehearsal *rehearsal, const struct runner_rules *rules,
                          struct begun *begun, struct error *err)
{
    if (!rules->facts->needs_probe || begun->verdicts.list != NULL) {
        return true;
    }
    struct probe_scope scope = {.pass = begun->pass};
    return probe_run(&rehearsal->view, rules, &scope, &begun->verdicts, err);
}

static struct ledger_step *label_steps(const struct pass_facts *facts, struct arena *arena)
{
    struct ledger_step *steps = arena_zero(arena, facts->step_count * sizeof *steps);
    for (size_t i = 0; i < facts->step_count; i++) {
        steps[i].label = facts->steps[i].label;
    }
    return steps;
}

static bool rehearse_pass(struct rehearsal *rehearsal, size_t plan, size_t stage,
                          struct dry_stage *out, struct error *err)
{
    struct arena *arena = rehearsal->session->arena;
    const struct compiled_stage *compiled = &rehearsal->stages[plan].list[stage];
    struct runner_rules rules = {
        .pass = compiled->pass, .facts = compiled->facts, .table = &rehearsal->view.table};
    struct begun begun;
    bool keep = is_read_later(rehearsal, plan, stage);
    if (!find_begun(rehearsal, plan, stage, &begun, err)) {
        return false;
    }
    out->begun = begun.pass != 0;
    if (!out->begun) {
        begun.pass = FIRST_PASS + rehearsal->passes++;
    }
    if ((keep && !open_overlay(rehearsal, err)) || !find_verdicts(rehearsal, &rules, &begun, err)) {
        return false;
    }
    rules.verdicts = &begun.verdicts;
    size_t steps = compiled->facts->step_count;
    struct dry_run_pass pass = {
        .session = &rehearsal->view,
        .rules = &rules,
        .pass = begun.pass,
        .keep = keep,
        .phase =
            arena_format(arena, "dry run of %04" PRIu32, rehearsal->plans->plans[plan]->version)
                .ptr,
        .steps = label_steps(compiled->facts, arena),
        .samples = arena_alloc(arena, steps * DRY_RUN_SAMPLES * sizeof *pass.samples)};
    if (!dry_run_pass(&pass, err)) {
        return false;
    }
    move_entries(&rehearsal->view.table, pass.entries, arena);
    out->steps = pass.steps;
    out->step_count = steps;
    out->sent = store_needs_before(rehearsal->session->store) ? compiled->facts->steps : NULL;
    out->proved = compiled->facts->proved;
    out->colliding = begun.verdicts.count;
    for (size_t i = 0; i < begun.verdicts.step_count; i++) {
        out->merges = out->merges || begun.verdicts.merged[i] > 0;
    }
    out->samples = pass.samples;
    out->sample_count = pass.sample_count;
    out->faults = pass.faults;
    return true;
}

/* ---------------------------------------------------------------- table steps */

static bool rehearse_create(struct rehearsal *rehearsal, const struct stage *stage,
                            struct dry_stage *out, struct error *err)
{
    struct arena *arena = rehearsal->session->arena;
    struct ledger_record record = {.version = 0};
    bool standing = table_index(&rehearsal->view.table, stage->index.name) != NULL;
    struct stage listed = *stage;
    listed.leave_out = false; /* those that are left out are listed too */
    struct index_stage checked = {.stage = &listed, .record = &record};
    if (!runner_index_check(&rehearsal->view, &checked, &out->index, err)) {
        return false;
    }
    out->faults = record.faults;
    out->failed = out->index.violating > 0 && !stage->leave_out && !standing;
    if (!out->failed) {
        struct stage counted = *stage;
        counted.index.entry_count = out->index.whole;
        runner_compile_step(&counted, &rehearsal->view.table, arena);
    }
    return true;
}

static bool rehearse_stage(struct rehearsal *rehearsal, size_t plan, size_t stage,
                           struct dry_stage *out, struct error *err)
{
    const struct stage *what = rehearsal->stages[plan].list[stage].stage;
    *out = (struct dry_stage){.stage = what};
    switch (what->kind) {
    case STAGE_PASS:
        if (!rehearse_pass(rehearsal, plan, stage, out, err)) {
            return false;
        }
        out->failed = ledger_steps_failed(out->steps, out->step_count);
        return true;
    case STAGE_CREATE_INDEX:
        return rehearse_create(rehearsal, what, out, err);
    case STAGE_DROP_INDEX:
        runner_compile_step(what, &rehearsal->view.table, rehearsal->session->arena);
        return true;
    }
    return true;
}

/* ---------------------------------------------------------------- plans */

static bool merges_puts(const struct dry_plan *plan)
{
    for (size_t i = 0; i < plan->stage_count; i++) {
        if (plan->stages[i].merges) {
            return true;
        }
    }
    return false;
}

static void note_indexes(const struct rehearsal *rehearsal, size_t plan, struct dry_plan *out)
{
    const struct compiled_stages *stages = &rehearsal->stages[plan];
    out->indexes =
        arena_alloc(rehearsal->session->arena, (stages->count + 1) * sizeof *out->indexes);
    for (size_t i = 0; i < stages->count; i++) {
        const struct stage *stage = stages->list[i].stage;
        const struct index_desc *index = table_index(&rehearsal->view.table, stage->index.name);
        if (stage->kind == STAGE_CREATE_INDEX && index != NULL) {
            out->indexes[out->index_count++] =
                (struct dry_index){index->name, index->entry_count, !merges_puts(out)};
        }
    }
}

static bool rehearse_plan(struct rehearsal *rehearsal, size_t plan, struct dry_plan *out,
                          struct error *err)
{
    const struct compiled_stages *stages = &rehearsal->stages[plan];
    *out = (struct dry_plan){.plan = rehearsal->plans->plans[plan],
                             .stages = arena_alloc(rehearsal->session->arena,
                                                   (stages->count + 1) * sizeof *out->stages)};
    for (size_t i = first_stage(rehearsal, plan); i < stages->count && !out->failed; i++) {
        struct dry_stage *stage = &out->stages[out->stage_count++];
        if (!rehearse_stage(rehearsal, plan, i, stage, err)) {
            return error_wrap(err, "%s", out->plan->file);
        }
        out->failed = stage->failed;
    }
    if (!out->failed) {
        note_indexes(rehearsal, plan, out);
    }
    return true;
}

static bool rehearse_all(struct rehearsal *rehearsal, struct error *err)
{
    struct invocation *invocation = rehearsal->session->invocation;
    size_t pending = rehearsal->plans->count;
    struct dry_plan *plans = arena_alloc(rehearsal->session->arena, (pending + 1) * sizeof *plans);
    bool failed = false;
    size_t count = 0;
    while (count < pending && !failed) {
        if (!rehearse_plan(rehearsal, count, &plans[count], err)) {
            return false;
        }
        failed = plans[count++].failed;
    }
    if (pending > 0) {
        invocation->exit_status = error_exit_status(failed ? ERROR_ITEM : ERROR_PENDING);
    }
    dry_run_report(invocation, plans, count, pending);
    return true;
}

bool dry_run(struct runner_session *session, const struct plan_list *plans,
             const struct compiled_stages *stages, struct error *err)
{
    struct rehearsal rehearsal = {
        .session = session, .view = *session, .plans = plans, .stages = stages};
    bool ok = rehearse_all(&rehearsal, err);
    if (rehearsal.overlay != NULL) {
        if (rehearsal.view.reader != session->reader) {
            store_reader_close(rehearsal.view.reader);
        }
        store_close(rehearsal.overlay);
    }
    if (!ok && err->code == ERROR_STOPPED) {
        return error_set(err, ERROR_STOPPED, "interrupted; a dry run writes nothing");
    }
    return ok;
}
