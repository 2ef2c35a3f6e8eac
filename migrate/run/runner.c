#include "migrate/run/runner.h"

#include "migrate/ledger/ledger.h"
#include "migrate/run/kept_reading.h"
#include "migrate/run/probe.h"
#include "migrate/run/runner_index.h"
#include "migrate/run/runner_pass.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* One plan being run. */
struct run {
    struct runner_session *session;
    const struct plan *plan;
    const struct compiled_stages *stages;
    struct ledger_record *record;
    uint64_t undo_log; /* 0: no undo is kept */
    bool sweeps;       /* the ledger's record is another, and stays as it is */
};

/* ---------------------------------------------------------------- the record */

struct ledger_step *runner_steps(const struct compiled_stages *stages, struct arena *arena)
{
    struct ledger_step *steps = arena_zero(arena, (stages->step_count + 1) * sizeof *steps);
    for (size_t i = 0; i < stages->count; i++) {
        const struct compiled_stage *stage = &stages->list[i];
        for (size_t step = 0; stage->pass != NULL && step < stage->facts->step_count; step++) {
            steps[stage->first_step + step].label = stage->facts->steps[step].label;
        }
    }
    return steps;
}

static void clear_faults(struct ledger_record *record)
{
    record->faults = (struct fault_list){NULL, 0};
    record->violating = 0;
}

static void begin_record(const struct run *run)
{
    struct arena *arena = run->session->arena;
    *run->record = (struct ledger_record){
        .version = run->plan->version,
        .name = run->plan->name,
        .hash = run->plan->hash,
        .has_rollback = run->plan->has_rollback,
        .started = ledger_now(arena),
        .steps = runner_steps(run->stages, arena),
        .step_count = run->stages->step_count,
    };
}

/* The pass is taken up again: what it wrote before is counted apart. */
static void retry_stage(const struct run *run)
{
    const struct compiled_stage *stage = &run->stages->list[run->record->stage];
    if (stage->pass == NULL) {
        return;
    }
    for (size_t i = 0; i < stage->facts->step_count; i++) {
        struct ledger_step *step = &run->record->steps[stage->first_step + i];
        step->earlier += step->counts.written;
        step->counts = (struct step_counts){.overwritten = step->counts.overwritten,
                                            .gone = step->counts.gone};
    }
}

/* What an ended pass has kept may stand still, where a kill left it. */
static bool settle(const struct run *run, struct error *err)
{
    return ledger_settle(run->session->store, run->session->reader, run->record, err);
}

static bool take_up(const struct run *run, struct error *err)
{
    struct ledger_record *record = run->record;
    struct arena *arena = run->session->arena;
    if (record->step_count != run->stages->step_count || record->stage > run->stages->count) {
        return error_set(err, ERROR_DAMAGED, "its ledger record does not fit the plan");
    }
    if (record->state == RUN_FAILED && record->stage < run->stages->count) {
        retry_stage(run);
        record->segments = run->session->segments;
    }
    run->session->reads_stale &= record->stage == 0;
    record->state = RUN_RUNNING;
    record->attempts++;
    record->who = ledger_who(arena);
    record->ended = STR("");
    clear_faults(record);
    return record->pass == 0 ? settle(run, err) : ledger_write(run->session->store, record, err);
}

/* ---------------------------------------------------------------- a pass */

static bool begin_pass(const struct run *run, struct error *err)
{
    struct runner_session *session = run->session;
    struct ledger_record *record = run->record;
    if (record->pass != 0) {
        return true;
    }
    record->segments = session->segments;
    return ledger_next_pass(session->store, session->reader, &record->pass, err) &&
           (run->sweeps || ledger_write(session->store, record, err));
}

static bool probe(const struct run *run, const struct runner_rules *rules, struct str prefix,
                  struct probe_verdicts *out, struct error *err)
{
    struct runner_session *session = run->session;
    struct probe_scope scope = {.pass = run->record->pass};
    struct kept_purpose purpose =
        kept_purpose_of("the search for collisions", session, run->record);
    bool keeps = !run->sweeps; /* a sweep begins anew with each attempt */
    bool ok = ledger_forget(session->store, session->reader, prefix, err) &&
              (!keeps || kept_reading_open(session, &purpose, &scope.reading, err)) &&
              probe_run(session, rules, &scope, out, err) &&
              probe_verdicts_save(session->store, prefix, out, err);
    kept_reading_close(scope.reading);
    return ok;
}

/* Verdicts that are durable are obeyed; else the table is read for them. */
static bool find_verdicts(const struct run *run, const struct runner_rules *rules,
                          struct probe_verdicts *out, struct error *err)
{
    struct runner_session *session = run->session;
    struct str prefix = probe_prefix(run->plan->version, run->record->stage, session->arena);
    if (!probe_verdicts_load(session->reader, prefix, session->arena, out, err) ||
        (out->list == NULL && !probe(run, rules, prefix, out, err))) {
        return false;
    }
    kept_reading_forget(session, run->plan->version);
    return true;
}

static bool write_pass(const struct run *run, const struct compiled_stage *stage,
                       const struct runner_rules *rules, struct store_usage *used,
                       struct error *err)
{
    struct runner_session *session = run->session;
    struct ledger_record *record = run->record;
    struct runner_pass pass = {
        .session = session,
        .rules = rules,
        .run = {.version = record->version,
                .hash = record->hash,
                .table = session->table.identity,
                .stage = record->stage,
                .pass = record->pass,
                .segments = record->segments,
                .step_count = stage->facts->step_count},
        .undo_log = run->undo_log,
        .phase = arena_format(session->arena, "plan %04" PRIu32, record->version).ptr,
        .steps = record->steps + stage->first_step,
        .faults = &record->faults,
        .gone = &record->gone,
        .used = used,
    };
    return runner_pass_run(&pass, err);
}

static bool run_pass(const struct run *run, const struct compiled_stage *stage, bool *failed,
                     struct error *err)
{
    struct probe_verdicts verdicts = {.count = 0};
    struct runner_rules rules = {
        .pass = stage->pass, .facts = stage->facts, .table = &run->session->table};
    if (!begin_pass(run, err) ||
        (stage->facts->needs_probe && !find_verdicts(run, &rules, &verdicts, err))) {
        return false;
    }
    rules.verdicts = &verdicts;
    struct store_usage used = {.read_units = 0};
    bool ok = write_pass(run, stage, &rules, &used, err);
    *failed = ledger_steps_failed(run->record->steps + stage->first_step, stage->facts->step_count);
    bool over = ok || (err->code == ERROR_ITEM && *failed);
    if (over) {
        run->record->used.read_units += used.read_units;
        run->record->used.write_units += used.write_units;
    }
    return over;
}

/* ---------------------------------------------------------------- table steps */

static bool check_index(const struct run *run, const struct stage *stage, struct index_counts *out,
                        struct error *err)
{
    struct runner_session *session = run->session;
    struct str name = stage->index.name;
    const char *what = arena_format(session->arena, "the check of index %.*s", STR_ARG(name)).ptr;
    struct kept_purpose purpose = kept_purpose_of(what, session, run->record);
    struct index_stage checked = {.stage = stage, .record = run->record};
    /* Neither its pass nor its stage tells the check of a rollback from that of the plan. */
    bool keeps = run->record->state == RUN_RUNNING;
    bool ok = (!keeps || kept_reading_open(session, &purpose, &checked.reading, err)) &&
              runner_index_check(session, &checked, out, err);
    kept_reading_close(checked.reading);
    return ok;
}

static bool create_index(const struct run *run, const struct stage *stage, bool *failed,
                         struct error *err)
{
    struct index_counts counts = {0};
    if (table_index(&run->session->table, stage->index.name) == NULL) {
        if (!check_index(run, stage, &counts, err)) {
            return false;
        }
        *failed = counts.violating > 0 && !stage->leave_out;
        run->record->violating = *failed ? counts.violating : 0;
    }
    if (!*failed && !runner_index_create(run->session, stage, run->record, err)) {
        return false;
    }
    kept_reading_forget(run->session, run->record->version);
    return true;
}

/* ---------------------------------------------------------------- all stages */

static bool run_stage(const struct run *run, bool *failed, struct error *err)
{
    const struct compiled_stage *stage = &run->stages->list[run->record->stage];
    *failed = false;
    switch (stage->stage->kind) {
    case STAGE_PASS:
        return run_pass(run, stage, failed, err);
    case STAGE_CREATE_INDEX:
        return create_index(run, stage->stage, failed, err);
    case STAGE_DROP_INDEX:
        return runner_index_drop(run->session, stage->stage, run->record, err);
    }
    return true;
}

/* It is told that the stage is done before what it kept is forgotten: a server does not do both at
 * once, and its pass is not to be read again. */
static bool next_stage(const struct run *run, struct error *err)
{
    runner_session_count_usage(run->session, &run->record->used);
    run->record->stage++;
    run->record->pass = 0;
    run->record->segments = 0;
    return ledger_write(run->session->store, run->record, err) && settle(run, err);
}

static bool run_stages(const struct run *run, bool *failed, struct error *err)
{
    *failed = false;
    while (run->record->stage < run->stages->count) {
        if (runner_session_stopped(run->session)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
        if (!run_stage(run, failed, err)) {
            return false;
        }
        if (*failed) {
            return true;
        }
        if (!next_stage(run, err)) {
            return false;
        }
    }
    return true;
}

static bool end(const struct run *run, enum run_state state, struct error *err)
{
    runner_session_count_usage(run->session, &run->record->used);
    run->record->state = state;
    run->record->ended = ledger_now(run->session->arena);
    return settle(run, err);
}

static bool run_all(const struct run *run, struct error *err)
{
    bool failed = false;
    if (!take_up(run, err) || !run_stages(run, &failed, err)) {
        return false;
    }
    if (failed) {
        return runner_index_refresh(run->session, err) && end(run, RUN_FAILED, err);
    }
    return runner_index_finish(run->session, run->record, err) && end(run, RUN_APPLIED, err);
}

bool runner_apply(struct runner_session *session, const struct plan *plan,
                  const struct compiled_stages *stages, struct ledger_record **out,
                  struct error *err)
{
    struct run run = {session,       plan, stages, ledger_standing(&session->ledger, plan->version),
                      plan->version, false};
    if (run.record == NULL) {
        run.record = arena_zero(session->arena, sizeof *run.record);
        begin_record(&run);
    }
    *out = run.record;
    return run_all(&run, err) || error_wrap(err, "%s", plan->file);
}

bool runner_roll_back(struct runner_session *session, const struct plan *plan,
                      const struct compiled_stages *stages, bool *failed, struct error *err)
{
    struct run run = {session, plan, stages, ledger_find(&session->ledger, plan->version),
                      0,       false};
    assert(run.record != NULL && run.record->state == RUN_ROLLING_BACK);
    clear_faults(run.record);
    return run_stages(&run, failed, err) || error_wrap(err, "%s", plan->file);
}

/* ---------------------------------------------------------------- another's run */

bool runner_take_part(struct runner_session *session, const struct plan *plan,
                      const struct compiled_stages *stages, struct ledger_record *record,
                      struct error *err)
{
    struct run run = {session, plan, stages, record, plan->version, false};
    const struct compiled_stage *stage =
        record->stage < stages->count ? &stages->list[record->stage] : NULL;
    if (stage == NULL || stage->pass == NULL || record->step_count != stages->step_count) {
        return true;
    }
    struct probe_verdicts verdicts = {.count = 0};
    struct runner_rules rules = {
        .pass = stage->pass, .facts = stage->facts, .table = &session->table};
    struct str prefix = probe_prefix(plan->version, record->stage, session->arena);
    if (stage->facts->needs_probe &&
        !probe_verdicts_load(session->reader, prefix, session->arena, &verdicts, err)) {
        return false;
    }
    if (stage->facts->needs_probe && verdicts.list == NULL) {
        return true;
    }
    rules.verdicts = &verdicts;
    clear_faults(record);
    struct store_usage used = {.read_units = 0}; /* the leader adds up */
    return write_pass(&run, stage, &rules, &used, err) || error_wrap(err, "%s", plan->file);
}

/* ---------------------------------------------------------------- sweeping */

/* The pass of a stage once more, from the start. What an earlier sweep kept is forgotten. */
static bool sweep_stage(const struct run *run, const struct ledger_record *record, bool *failed,
                        struct error *err)
{
    struct runner_session *session = run->session;
    run->record->pass = 0;
    return ledger_settle(session->store, session->reader, record, err) &&
           run_pass(run, &run->stages->list[run->record->stage], failed, err);
}

static bool sweep_stages(const struct run *run, const struct ledger_record *record, bool *failed,
                         struct error *err)
{
    for (size_t i = 0; i < run->stages->count && !*failed; i++) {
        run->record->stage = (uint32_t)i;
        if (runner_session_stopped(run->session)) {
            return error_set(err, ERROR_STOPPED, "stopped");
        }
        if (run->stages->list[i].pass != NULL && !sweep_stage(run, record, failed, err)) {
            return false;
        }
    }
    return true;
}

/* Of the counts of a round only those of items that were gone outlast it. */
static struct ledger_step *next_round(const struct compiled_stages *stages,
                                      const struct ledger_step *last, struct arena *arena)
{
    struct ledger_step *steps = runner_steps(stages, arena);
    for (size_t i = 0; last != NULL && i < stages->step_count; i++) {
        steps[i].counts.gone = last[i].counts.gone;
    }
    return steps;
}

static uint64_t add_written(const struct ledger_record *swept, struct ledger_record *record)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < swept->step_count; i++) {
        record->steps[i].earlier += swept->steps[i].counts.written;
        sum += swept->steps[i].counts.written;
    }
    record->used = swept->used;
    return sum;
}

bool runner_sweep(struct runner_session *session, const struct plan *plan,
                  const struct compiled_stages *stages, struct runner_swept *out, struct error *err)
{
    struct ledger_record *record = ledger_find(&session->ledger, plan->version);
    assert(record != NULL && record->state == RUN_APPLIED);
    assert(record->step_count == stages->step_count);
    struct ledger_record swept = *record;
    struct run run = {session, plan, stages, &swept, plan->version, true};
    *out = (struct runner_swept){.written = 0};
    clear_faults(&swept);
    swept.steps = NULL;
    swept.gone = (struct fault_list){NULL, 0};
    bool failed = false;
    for (uint64_t more = 1; more > 0 && !failed; out->written += more, out->rounds++) {
        swept.steps = next_round(stages, swept.steps, session->arena);
        if (!sweep_stages(&run, record, &failed, err)) {
            return error_wrap(err, "%s", plan->file);
        }
        more = add_written(&swept, record);
        if (!ledger_settle(session->store, session->reader, record, err)) {
            return false;
        }
    }
    out->record = swept;
    return runner_index_refresh(session, err);
}
