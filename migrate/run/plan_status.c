#include "migrate/run/plan_status.h"

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

/* Ledger and folder side by side, both by version. */
struct walk {
    const struct ledger *ledger;
    const struct plan_list *files;
    size_t record, file;
};

/* What the lower of the next versions has on either side, NULL where it has nothing. */
static bool walk_next(struct walk *walk, const struct ledger_record **record,
                      const struct plan **plan)
{
    uint64_t none = UINT64_MAX;
    uint64_t record_version =
        walk->record < walk->ledger->count ? walk->ledger->records[walk->record].version : none;
    uint64_t file_version =
        walk->file < walk->files->count ? walk->files->plans[walk->file]->version : none;
    uint64_t lower = record_version < file_version ? record_version : file_version;
    if (lower == none) {
        return false;
    }
    *record = record_version == lower ? &walk->ledger->records[walk->record++] : NULL;
    *plan = file_version == lower ? walk->files->plans[walk->file++] : NULL;
    return true;
}

static struct plan_status of_record(const struct ledger_record *record, const struct plan *plan,
                                    bool live)
{
    return (struct plan_status){
        .version = record->version,
        .name = plan != NULL ? plan->name : record->name,
        .state = state_of(record, plan != NULL, live),
        .record = record,
        .changed = plan != NULL && ledger_stands(record) && !str_equal(plan->hash, record->hash),
    };
}

struct plan_status *plan_status_all(const struct ledger *ledger, const struct plan_list *plans,
                                    bool live, struct arena *arena, size_t *count)
{
    static const struct plan_list none = {NULL, 0};
    struct walk walk = {.ledger = ledger, .files = plans == NULL ? &none : plans};
    struct plan_status *list =
        arena_alloc(arena, (ledger->count + walk.files->count + 1) * sizeof *list);
    const struct ledger_record *newest = ledger_newest(ledger);
    uint32_t newest_version = newest == NULL ? 0 : newest->version;
    const struct ledger_record *record = NULL;
    const struct plan *plan = NULL;
    *count = 0;
    while (walk_next(&walk, &record, &plan)) {
        struct plan_status *status = &list[(*count)++];
        if (record != NULL) {
            *status = of_record(record, plan, live);
            status->file_missing = plans != NULL && plan == NULL && ledger_stands(record);
        } else if (plan != NULL) {
            *status = (struct plan_status){.version = plan->version, .name = plan->name};
        }
        status->out_of_order = status->state == PLAN_PENDING && status->version < newest_version;
    }
    return list;
}
