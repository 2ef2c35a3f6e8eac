#include "migrate/run/rollback.h"

#include "migrate/cli/report.h"
#include "migrate/ledger/ledger.h"
#include "migrate/run/rollback_undo.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_compile.h"
#include "migrate/run/runner_index.h"

#include <inttypes.h>

/* One plan on its way back. */
struct retreat {
    struct runner_session *session;
    const struct plan *plan;       /* NULL: its undo log is the way */
    struct compiled_stages stages; /* of its reverse steps */
    struct ledger_record *record;
};

static bool find_way(struct retreat *retreat, const struct plan *plan, struct error *err)
{
    const struct ledger_record *record = retreat->record;
    if (!record->has_rollback) {
        return true;
    }
    if (plan == NULL) {
        return error_set(err, ERROR_PLAN,
                         "it has rollback steps of its own, but its file is not there");
    }
    if (!str_equal(plan->hash, record->hash)) {
        return error_set(err, ERROR_PLAN,
                         "%s was changed after it was applied: its hash was %.*s and is %.*s",
                         plan->file, STR_ARG(record->hash), STR_ARG(plan->hash));
    }
    struct compile_target target = {record, retreat->session->table};
    retreat->plan = plan;
    return runner_compile(&plan->rollback, &target, retreat->session->arena, &retreat->stages, err);
}

/* What the plan's own run kept is forgotten with the same commit. */
static bool begin(const struct retreat *retreat, struct error *err)
{
    struct runner_session *session = retreat->session;
    struct ledger_record *record = retreat->record;
    struct arena *arena = session->arena;
    record->faults = (struct fault_list){NULL, 0};
    record->violating = 0;
    record->who = ledger_who(arena);
    record->attempts++;
    if (record->state == RUN_ROLLING_BACK) {
        return record->pass == 0 ? ledger_settle(session->store, session->reader, record, err)
                                 : ledger_write(session->store, record, err);
    }
    record->state = RUN_ROLLING_BACK;
    record->stage = 0;
    record->pass = 0;
    record->undone = 0;
    record->left = 0;
    record->ended = STR("");
    if (retreat->plan != NULL) {
        record->steps = runner_steps(&retreat->stages, arena);
        record->step_count = retreat->stages.step_count;
        record->gone = (struct fault_list){NULL, 0};
    }
    return rollback_undo_begin(session->reader, record, err) &&
           ledger_settle(session->store, session->reader, record, err);
}

static uint64_t written_count(const struct ledger_record *record)
{
    uint64_t written = 0;
    for (size_t i = 0; i < record->step_count; i++) {
        written += record->steps[i].counts.written + record->steps[i].earlier;
    }
    return written;
}

static bool undo_writes(const struct retreat *retreat, struct error *err)
{
    struct runner_session *session = retreat->session;
    struct str phase =
        arena_format(session->arena, "rollback of %04" PRIu32, retreat->record->version);
    struct progress *progress =
        progress_open(session->invocation, phase.ptr, written_count(retreat->record));
    struct rollback_undo undo = {.store = session->store,
                                 .reader = session->reader,
                                 .keys = &session->table.keys,
                                 .record = retreat->record,
                                 .arena = session->arena,
                                 .progress = progress,
                                 .pause = {session->invocation->paused, session->invocation->stop}};
    bool ok = rollback_undo_run(&undo, err);
    progress_close(progress);
    return ok;
}

/* Indexes that the plan made go first: values from before may violate them. */
static bool go_by_undo_log(const struct retreat *retreat, struct error *err)
{
    return runner_index_drop_made(retreat->session, retreat->record, err) &&
           undo_writes(retreat, err);
}

static bool go_by_steps(const struct retreat *retreat, bool *failed, struct error *err)
{
    struct runner_session *session = retreat->session;
    if (!runner_roll_back(session, retreat->plan, &retreat->stages, failed, err)) {
        return false;
    }
    if (*failed) {
        return runner_index_refresh(session, err) &&
               ledger_settle(session->store, session->reader, retreat->record, err);
    }
    return runner_index_drop_made(session, retreat->record, err);
}

static bool end(const struct retreat *retreat, struct error *err)
{
    struct runner_session *session = retreat->session;
    struct ledger_record *record = retreat->record;
    if (!runner_index_make_dropped(session, record, err)) {
        return false;
    }
    runner_session_count_usage(session, &record->used);
    record->state = RUN_ROLLED_BACK;
    record->ended = ledger_now(session->arena);
    return store_undo_drop(session->store, record->version, err) &&
           ledger_settle(session->store, session->reader, record, err);
}

static bool go_back(struct retreat *retreat, const struct plan *plan, struct error *err)
{
    bool failed = false;
    if (!find_way(retreat, plan, err) || !begin(retreat, err)) {
        return false;
    }
    bool ok =
        retreat->plan == NULL ? go_by_undo_log(retreat, err) : go_by_steps(retreat, &failed, err);
    return ok && (failed || end(retreat, err));
}

bool rollback_plan(struct runner_session *session, const struct plan *plan,
                   struct ledger_record *record, struct error *err)
{
    struct retreat retreat = {.session = session, .record = record};
    return go_back(&retreat, plan, err) ||
           error_wrap(err, "rollback of plan %04" PRIu32, record->version);
}
