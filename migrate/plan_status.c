#include "migrate/plan_status.h"

static const char *const state_names[] = {
    [PLAN_PENDING] = "pending",
    [PLAN_RUNNING] = "running",
    [PLAN_INTERRUPTED] = "interrupted",
    [PLAN_APPLIED] = "applied",
    [PLAN_FAILED] = "failed",
    [PLAN_ROLLING_BACK] = "rolling back",
    [PLAN_HALF_BACK] = "rollback interrupted",
    [PLAN_ROLLED_BACK] = "rolled back",
};

const char *plan_state_name(enum plan_state state)
{
    return state_names[state];
}

static enum plan_state state_of(const struct ledger_record *record, bool has_file, bool live)
{
    if (record == NULL) {
        return PLAN_PENDING;
    }
    switch (record->state) {
    case RUN_RUNNING:
        return live ? PLAN_RUNNING : PLAN_INTERRUPTED;
    case RUN_APPLIED:
        return PLAN_APPLIED;
    case RUN_FAILED:
        return PLAN_FAILED;
    case RUN_ROLLING_BACK:
        return live ? PLAN_ROLLING_BACK : PLAN_HALF_BACK;
    case RUN_ROLLED_BACK:
        break;
    }
    return has_file ? PLAN_PENDING : PLAN_ROLLED_BACK;
}

/* The status of one version, from either side or both. */
static struct plan_status status_of(const struct ledger_record *record, const struct plan *plan,
                                    bool live)
{
    bool stands = record != NULL && ledger_stands(record);
    return (struct plan_status){
        .version = plan != NULL ? plan->version : record->version,
        .name = plan != NULL ? plan->name : record->name,
        .state = state_of(record, plan != NULL, live),
        .record = record,
        .changed = stands && plan != NULL && !str_equal(plan->hash, record->hash),
    };
}

struct plan_status *plan_status_all(const struct ledger *ledger, const struct plan_list *plans,
                                    bool live, struct arena *arena, size_t *count)
{
    static const struct plan_list none = {NULL, 0};
    const struct plan_list *files = plans == NULL ? &none : plans;
    struct plan_status *list =
        arena_alloc(arena, (ledger->count + files->count + 1) * sizeof *list);
    const struct ledger_record *newest = ledger_newest(ledger);
    size_t file = 0;
    size_t record = 0;
    *count = 0;
    while (file < files->count || record < ledger->count) {
        const struct plan *plan = file < files->count ? files->plans[file] : NULL;
        const struct ledger_record *own = record < ledger->count ? &ledger->records[record] : NULL;
        if (plan != NULL && own != NULL && plan->version != own->version) {
            plan = plan->version < own->version ? plan : NULL;
            own = plan == NULL ? own : NULL;
        }
        file += plan != NULL ? 1 : 0;
        record += own != NULL ? 1 : 0;
        struct plan_status *status = &list[(*count)++];
        *status = status_of(own, plan, live);
        status->file_missing = plans != NULL && plan == NULL && ledger_stands(own);
        status->out_of_order =
            status->state == PLAN_PENDING && newest != NULL && status->version < newest->version;
    }
    return list;
}
