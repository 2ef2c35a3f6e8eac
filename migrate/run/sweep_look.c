#include "migrate/run/sweep_look.h"

#include "migrate/run/dry_run_pass.h"
#include "migrate/run/probe.h"
#include "migrate/run/runner_report.h"

/* No record carries it. */
#define NO_PASS ((uint64_t)1 << 62)

static bool look(const struct runner_session *session, const struct compiled_stage *stage,
                 struct ledger_record *record, struct error *err)
{
    struct arena *arena = session->arena;
    struct probe_verdicts verdicts = {.count = 0};
    struct probe_scope scope = {.pass = NO_PASS};
    struct runner_rules rules = {
        .pass = stage->pass, .facts = stage->facts, .table = &session->table};
    if (stage->facts->needs_probe && !probe_run(session, &rules, &scope, &verdicts, err)) {
        return false;
    }
    rules.verdicts = &verdicts;
    size_t steps = stage->facts->step_count;
    struct dry_run_pass pass = {
        .session = session,
        .rules = &rules,
        .pass = NO_PASS,
        .phase = "looking",
        .steps = record->steps + stage->first_step,
        .faults = record->faults,
        .samples = arena_alloc(arena, steps * DRY_RUN_SAMPLES * sizeof *pass.samples)};
    bool ok = dry_run_pass(&pass, err);
    record->faults = pass.faults;
    return ok;
}

bool sweep_look(struct runner_session *session, const struct plan *plan,
                const struct compiled_stages *stages, struct runner_swept *out, struct error *err)
{
    *out = (struct runner_swept){.record = *ledger_find(&session->ledger, plan->version)};
    struct ledger_record *record = &out->record;
    record->steps = runner_steps(stages, session->arena);
    record->faults = record->gone = (struct fault_list){NULL, 0};
    for (size_t i = 0;
         i < stages->count && runner_report_failed(record->steps, record->step_count) == 0; i++) {
        if (stages->list[i].pass != NULL && !look(session, &stages->list[i], record, err)) {
            return error_wrap(err, "%s", plan->file);
        }
    }
    for (size_t i = 0; i < record->step_count; i++) {
        out->written += record->steps[i].counts.written;
    }
    return true;
}
