#include "migrate/run/sweep.h"

#include "migrate/cli/report.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_compile.h"
#include "migrate/run/runner_report.h"
#include "migrate/run/sweep_look.h"

#include <inttypes.h>
#include <stdio.h>

/* ---------------------------------------------------------------- which plans */

static bool check_pending(const struct runner_session *session, const struct plan_list *pending,
                          struct error *err)
{
    for (size_t i = 0; i < pending->count; i++) {
        uint32_t version = pending->plans[i]->version;
        if (ledger_standing(&session->ledger, version) != NULL) {
            return error_set(err, ERROR_PLAN,
                             "plan %04" PRIu32 " is not applied to its end\n"
                             "hint: run 'refold apply' without --sweep first",
                             version);
        }
    }
    return true;
}

/* The newest applied plan unless --from names one. */
static bool find_first(const struct runner_session *session, uint32_t *out, struct error *err)
{
    const struct ledger_record *newest = ledger_newest(&session->ledger);
    uint64_t from = 0;
    if (!invocation_number(session->invocation, "from", (struct number_range){1, UINT32_MAX}, &from,
                           err)) {
        return false;
    }
    if (from != 0 && ledger_standing(&session->ledger, (uint32_t)from) == NULL) {
        return error_set(err, ERROR_USAGE, "plan %04" PRIu64 " is not applied", from);
    }
    *out = from != 0 ? (uint32_t)from : newest == NULL ? UINT32_MAX : newest->version;
    return true;
}

/* ---------------------------------------------------------------- one plan */

static void report_plan(struct invocation *invocation, const struct runner_swept *swept)
{
    const struct ledger_record *record = &swept->record;
    struct arena *arena = invocation->arena;
    struct str name = runner_report_name(record->version, record->name, arena);
    struct str written = report_count(arena, swept->written);
    if (swept->rounds == 0) {
        (void)fprintf(invocation->out, "%.*s: a sweep would write %.*s\n", STR_ARG(name),
                      STR_ARG(written));
    } else {
        (void)fprintf(invocation->out, "%.*s: swept, %.*s written in %" PRIu64 " round%s\n",
                      STR_ARG(name), STR_ARG(written), swept->rounds,
                      swept->rounds == 1 ? "" : "s");
    }
    runner_report_faults(invocation, &record->faults,
                         runner_report_failed(record->steps, record->step_count));
    runner_report_gone_items(invocation, record);
}

static void add_plan(cJSON *list, const struct runner_swept *swept)
{
    cJSON *object = ledger_record_to_json(&swept->record);
    (void)cJSON_AddNumberToObject(object, "swept", (double)swept->written);
    (void)cJSON_AddNumberToObject(object, "rounds", (double)swept->rounds);
    (void)cJSON_AddItemToArray(list, object);
}

static bool sweep_plan(struct runner_session *session, const struct plan *plan, cJSON *list,
                       struct error *err)
{
    struct compile_target target = {ledger_find(&session->ledger, plan->version), session->table};
    struct compiled_stages stages;
    struct runner_swept swept;
    bool dry = invocation_flag(session->invocation, "dry-run");
    if (!runner_compile(&plan->steps, &target, session->arena, &stages, err) ||
        !(dry ? sweep_look(session, plan, &stages, &swept, err)
              : runner_sweep(session, plan, &stages, &swept, err))) {
        return false;
    }
    if (dry && swept.written > 0) {
        session->invocation->exit_status = error_exit_status(ERROR_PENDING);
    }
    if (runner_report_failed(swept.record.steps, swept.record.step_count) > 0) {
        session->invocation->exit_status = error_exit_status(ERROR_ITEM);
    }
    if (list != NULL) {
        add_plan(list, &swept);
    } else {
        report_plan(session->invocation, &swept);
    }
    return true;
}

/* ---------------------------------------------------------------- the whole */

static bool sweep_all(struct runner_session *session, const struct plan_list *plans, uint32_t first,
                      cJSON *list, struct error *err)
{
    size_t swept = 0;
    int failed = error_exit_status(ERROR_ITEM);
    for (size_t i = 0; i < plans->count && session->invocation->exit_status != failed; i++) {
        const struct plan *plan = plans->plans[i];
        const struct ledger_record *record = ledger_find(&session->ledger, plan->version);
        if (plan->version < first || record == NULL || record->state != RUN_APPLIED) {
            continue;
        }
        if (!sweep_plan(session, plan, list, err)) {
            return false;
        }
        swept++;
    }
    if (swept == 0 && list == NULL) {
        (void)fprintf(session->invocation->out, "nothing to sweep: no plan is applied\n");
    }
    return true;
}

bool sweep(struct runner_session *session, const struct plan_list *plans,
           const struct plan_list *pending, struct error *err)
{
    struct invocation *invocation = session->invocation;
    uint32_t first = 0;
    session->reads_stale = false; /* a sweep looks for what was just written */
    if (!check_pending(session, pending, err) || !find_first(session, &first, err)) {
        return false;
    }
    if (!invocation->json) {
        return sweep_all(session, plans, first, NULL, err);
    }
    cJSON *object = cJSON_CreateObject();
    bool ok = sweep_all(session, plans, first, cJSON_AddArrayToObject(object, "plans"), err);
    report_json(invocation, object);
    return ok;
}
