#include "migrate/import/import_replay.h"

#include "migrate/import/import_options.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_compile.h"
#include "migrate/run/runner_session.h"

#include <inttypes.h>

/* As apply has them where nothing else is said. */
enum { WORKERS = 2, SEGMENTS = 64 };

static bool find_plan(const struct plan_list *plans, const struct ledger_record *record,
                      const struct plan **out, struct error *err)
{
    *out = plan_list_find(plans, record->version);
    if (*out == NULL || !str_equal((*out)->hash, record->hash)) {
        return error_set(err, ERROR_PLAN,
                         "plan %04" PRIu32 " was applied, but %s\n"
                         "hint: --plans DIR says where the plans are",
                         record->version,
                         *out == NULL ? "its file is not there" : "its file was changed since");
    }
    return true;
}

static bool replay_plan(struct runner_session *session, const struct plan *plan, struct error *err)
{
    struct compiled_stages stages;
    struct ledger_record *record;
    struct compile_target target = {.table = session->table};
    if (!runner_compile(&plan->steps, &target, session->arena, &stages, err) ||
        !runner_apply(session, plan, &stages, &record, err)) {
        return error_wrap(err, "%s", plan->file);
    }
    if (record->state == RUN_FAILED) {
        return error_set(err, ERROR_ITEM, "%s fails on the items as they are derived now",
                         plan->file);
    }
    return runner_session_describe(session, err);
}

static bool is_since(const struct ledger_record *record, struct str since)
{
    return ledger_stands(record) && str_compare(record->started, since) >= 0;
}

static bool replay_all(struct runner_session *session, const struct ledger *ledger,
                       struct str since, struct error *err)
{
    struct plan_list plans = {0};
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_record *record = &ledger->records[i];
        const struct plan *plan;
        if (!is_since(record, since)) {
            continue;
        }
        if (record->state != RUN_APPLIED) {
            return error_set(err, ERROR_STORE, "plan %04" PRIu32 " is not finished: it is %s",
                             record->version, run_state_name(record->state));
        }
        if (plans.count == 0 &&
            !plan_folder_read(session->invocation->plans_dir, session->arena, &plans, err)) {
            return false;
        }
        if (!find_plan(&plans, record, &plan, err) || !replay_plan(session, plan, err)) {
            return false;
        }
    }
    return true;
}

bool import_replay(struct invocation *invocation, const struct ledger *ledger, struct str since,
                   struct error *err)
{
    struct runner_session session = {.invocation = invocation,
                                     .workers = WORKERS,
                                     .segments = SEGMENTS,
                                     .max_item_errors = UINT64_MAX,
                                     .temp_dir = import_temp_dir(invocation, NULL)};
    bool ok = runner_session_open(invocation, STORE_WRITE, &session, err) &&
              replay_all(&session, ledger, since, err);
    runner_session_close(&session);
    return ok;
}
