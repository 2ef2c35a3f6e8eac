#include "migrate/run/plan_folder.h"

#include <inttypes.h>
#include <unistd.h>

static bool read_plan(const char *path, struct arena *arena, const struct plan **out,
                      struct error *err)
{
    struct arena *scratch = arena_new();
    struct str text;
    bool ok = file_read(path, PLAN_FILE_MAX_BYTES, scratch, &text, err) &&
              plan_parse(text, path, arena, out, err);
    arena_free(scratch);
    return ok;
}

/* Keeps the list sorted; folders are nearly in order already. */
static bool insert(struct plan_list *list, const struct plan *plan, struct error *err)
{
    size_t at = list->count;
    while (at > 0 && list->plans[at - 1]->version > plan->version) {
        list->plans[at] = list->plans[at - 1];
        at--;
    }
    if (at > 0 && list->plans[at - 1]->version == plan->version) {
        return error_set(err, ERROR_PLAN,
                         "%s and %s have the same version %" PRIu32
                         "\nhint: rename the one that came later to a new version",
                         list->plans[at - 1]->file, plan->file, plan->version);
    }
    list->plans[at] = plan;
    list->count++;
    return true;
}

bool plan_folder_names(const char *dir, struct arena *arena, struct file_names *out,
                       struct error *err)
{
    if (!folder_list(dir, ".json", arena, out, err)) {
        return error_hint(err, PLAN_FOLDER_HINT);
    }
    size_t count = 0;
    for (size_t i = 0; i < out->count; i++) {
        if (!str_begins(out->list[i], STR("."))) {
            out->list[count++] = out->list[i];
        }
    }
    out->count = count;
    return true;
}

bool plan_folder_read(const char *dir, struct arena *arena, struct plan_list *out,
                      struct error *err)
{
    struct file_names names;
    if (!plan_folder_names(dir, arena, &names, err)) {
        return false;
    }
    struct plan_list list = {arena_alloc(arena, (names.count + 1) * sizeof *list.plans), 0};
    for (size_t i = 0; i < names.count; i++) {
        struct str path = arena_format(arena, "%s/%.*s", dir, STR_ARG(names.list[i]));
        const struct plan *plan = NULL;
        if (!read_plan(path.ptr, arena, &plan, err) || !insert(&list, plan, err)) {
            return false;
        }
    }
    *out = list;
    return true;
}

bool plan_folder_exists(const char *dir)
{
    return access(dir, F_OK) == 0;
}

const struct plan *plan_list_find(const struct plan_list *list, uint32_t version)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->plans[i]->version == version) {
            return list->plans[i];
        }
    }
    return NULL;
}

static bool check_record(const struct plan_list *list, const struct ledger_record *record,
                         struct error *err)
{
    if (record->state == RUN_ROLLING_BACK) {
        return error_set(err, ERROR_STORE,
                         "the rollback of plan %04" PRIu32 " is not finished\n"
                         "hint: 'refold rollback TABLE' goes on with it",
                         record->version);
    }
    if (record->state != RUN_APPLIED && plan_list_find(list, record->version) == NULL) {
        return error_set(err, ERROR_PLAN,
                         "plan %04" PRIu32 " (%.*s) is %s, but its file is not there\n"
                         "hint: put the file back, or take back what was done with 'refold "
                         "rollback TABLE'",
                         record->version, STR_ARG(record->name), run_state_name(record->state));
    }
    return true;
}

static bool check_target(const struct plan_list *list, uint32_t to, uint32_t newest,
                         struct error *err)
{
    if (to == 0) {
        return true;
    }
    if (to < newest) {
        return error_set(err, ERROR_USAGE,
                         "version %04" PRIu32 " is below %04" PRIu32 ", which is applied\n"
                         "hint: 'refold rollback TABLE --to %" PRIu32 "' takes back what is above",
                         to, newest, to);
    }
    if (plan_list_find(list, to) == NULL) {
        return error_set(err, ERROR_USAGE, "no plan has version %04" PRIu32, to);
    }
    return true;
}

static uint32_t newest_version(const struct ledger *ledger)
{
    const struct ledger_record *newest = ledger_newest(ledger);
    return newest == NULL ? 0 : newest->version;
}

static bool check_order(const struct plan *plan, uint32_t newest, struct error *err)
{
    if (plan->version > newest) {
        return true;
    }
    return error_set(err, ERROR_PLAN,
                     "%s is out of order: it was never applied, but %04" PRIu32 " is\n"
                     "hint: rename it to a version above %" PRIu32
                     ", or roll back to below it first",
                     plan->file, newest, newest);
}

bool plan_list_check_one(const struct plan *plan, const struct ledger *ledger, struct error *err)
{
    const struct ledger_record *record = ledger_standing(ledger, plan->version);
    if (record == NULL) {
        return check_order(plan, newest_version(ledger), err);
    }
    if (str_equal(plan->hash, record->hash)) {
        return true;
    }
    return error_set(err, ERROR_PLAN,
                     "%s was changed after it was applied: its hash was %.*s and is %.*s\n"
                     "hint: put the file back as it was and write the change as a new plan, or "
                     "roll it back first",
                     plan->file, STR_ARG(record->hash), STR_ARG(plan->hash));
}

static bool check_records(const struct plan_list *list, const struct ledger *ledger,
                          struct error *err)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger_stands(&ledger->records[i]) && !check_record(list, &ledger->records[i], err)) {
            return false;
        }
    }
    return true;
}

static bool check_plans(const struct plan_list *list, const struct ledger *ledger,
                        struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!plan_list_check_one(list->plans[i], ledger, err)) {
            return false;
        }
    }
    return true;
}

bool plan_list_check(const struct plan_list *list, const struct ledger *ledger, uint32_t to,
                     struct error *err)
{
    return check_records(list, ledger, err) && check_plans(list, ledger, err) &&
           check_target(list, to, newest_version(ledger), err);
}

struct plan_list plan_list_pending(const struct plan_list *list, const struct ledger *ledger,
                                   uint32_t to, struct arena *arena)
{
    struct plan_list pending = {arena_alloc(arena, (list->count + 1) * sizeof *pending.plans), 0};
    for (size_t i = 0; i < list->count; i++) {
        const struct plan *plan = list->plans[i];
        const struct ledger_record *record = ledger_standing(ledger, plan->version);
        bool applied = record != NULL && record->state == RUN_APPLIED;
        if (!applied && (to == 0 || plan->version <= to)) {
            pending.plans[pending.count++] = plan;
        }
    }
    return pending;
}
