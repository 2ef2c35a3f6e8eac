#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/rollback.h"
#include "migrate/run/runner_report.h"
#include "migrate/run/runner_session.h"

#include <inttypes.h>
#include <stdio.h>

static const struct option options[] = {
    {"plans", "DIR", "the folder of plans (default plans)"},
    {"to", "VERSION", "roll back all plans above this version; 0: all (default: the newest only)"},
    {"workers", "N", "threads that read and compute (default: one a processor)"},
    {"segments", "N", "parts that the table is read in (default 64)"},
    {"page-size", "N", "items a page at most (default: what is written in half a second)"},
    {"max-item-errors", "N", "stop a pass after more than N item errors (default: never)"},
    {"temp", "DIR", "folder for temporary sort files (default: $TMPDIR, else /tmp)"},
    {"state", "DIR", "files of a run on a server's table (default .refold-state/TABLE)"},
    {"max-rcu", "N|N%", "read capacity a second, or a share of what is provisioned"},
    {"max-wcu", "N|N%", "write capacity a second, likewise"},
    {"control", "FILE",
     "pause, abort or limit the run (default: NAME.refold-control or STATE/control)"},
};

/* Records that are to go, newest first. */
struct doomed {
    struct ledger_record **records;
    size_t count;
    uint32_t keep; /* the newest version that stays; 0: none */
};

/* The lowest version that goes is the first above `keep`. */
static bool find_keep(const struct runner_session *session, uint32_t *keep, struct error *err)
{
    const struct ledger_record *newest = ledger_newest(&session->ledger);
    if (invocation_text(session->invocation, "to") == NULL) {
        *keep = newest == NULL ? 0 : newest->version - 1;
        return true;
    }
    uint64_t to = 0;
    if (!invocation_number(session->invocation, "to", (struct number_range){0, UINT32_MAX}, &to,
                           err)) {
        return false;
    }
    if (to != 0 && ledger_standing(&session->ledger, (uint32_t)to) == NULL) {
        return error_set(err, ERROR_USAGE,
                         "version %04" PRIu64 " is not applied\n"
                         "hint: --to names the version that is to be the newest afterwards",
                         to);
    }
    *keep = (uint32_t)to;
    return true;
}

static struct doomed find_doomed(const struct runner_session *session, uint32_t keep)
{
    const struct ledger *ledger = &session->ledger;
    struct doomed doomed = {
        arena_alloc(session->arena, (ledger->count + 1) * sizeof(struct ledger_record *)), 0, keep};
    for (size_t i = ledger->count; i > 0; i--) {
        struct ledger_record *record = &ledger->records[i - 1];
        if (record->version > keep && ledger_stands(record)) {
            doomed.records[doomed.count++] = record;
        }
    }
    return doomed;
}

/* So that nobody is surprised by one plan too many or too few. */
static void announce(const struct runner_session *session, struct doomed doomed)
{
    struct invocation *invocation = session->invocation;
    for (size_t i = 0; i < doomed.count; i++) {
        struct str name =
            runner_report_name(doomed.records[i]->version, doomed.records[i]->name, session->arena);
        (void)fprintf(invocation->messages, "%s%.*s", i == 0 ? "rolling back " : ", ",
                      STR_ARG(name));
    }
    if (doomed.count > 0) {
        (void)fprintf(invocation->messages,
                      doomed.keep == 0 ? "; none stays\n" : "; up to %04u stays\n",
                      (unsigned)doomed.keep);
    }
}

static void report_one(struct invocation *invocation, const struct ledger_record *record)
{
    struct arena *arena = invocation->arena;
    if (record->has_rollback) {
        runner_report_record(invocation, record);
        return;
    }
    struct str name = runner_report_name(record->version, record->name, arena);
    (void)fprintf(invocation->out, "%.*s: %s\n", STR_ARG(name), run_state_name(record->state));
    struct str undone =
        report_counted(arena, record->undone, "write taken back", "writes taken back");
    struct str left = report_count(arena, record->left);
    (void)fprintf(invocation->out, "  %.*s, %.*s left alone\n", STR_ARG(undone), STR_ARG(left));
    runner_report_used(invocation, &record->used);
    runner_report_faults(invocation, &record->faults, record->left);
}

static void report(struct invocation *invocation, struct doomed done)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(object, "plans");
    for (size_t i = 0; i < done.count; i++) {
        (void)cJSON_AddItemToArray(list, ledger_record_to_json(done.records[i]));
    }
    if (invocation->json) {
        report_json(invocation, object);
        return;
    }
    cJSON_Delete(object);
    for (size_t i = 0; i < done.count; i++) {
        report_one(invocation, done.records[i]);
    }
    if (done.count == 0) {
        (void)fprintf(invocation->out,
                      done.keep == 0 ? "nothing to roll back: no plan is applied\n"
                                     : "nothing to roll back: no plan above %04u is applied\n",
                      (unsigned)done.keep);
    }
}

static bool say_interrupted(const struct ledger_record *record, struct error *err)
{
    return error_set(err, ERROR_STOPPED,
                     "interrupted in the rollback of plan %04" PRIu32 "; what was done is kept\n"
                     "hint: run the same command again, it goes on from here",
                     record->version);
}

/* True if the plan is wholly back; what could not be taken back shows in the exit status. */
static bool is_back(struct invocation *invocation, const struct ledger_record *record)
{
    bool back = record->state == RUN_ROLLED_BACK;
    if (!back || record->left > 0) {
        invocation->exit_status = error_exit_status(ERROR_ITEM);
    }
    return back;
}

static bool roll_back_all(struct runner_session *session, const struct plan_list *plans,
                          struct doomed doomed, struct error *err)
{
    struct invocation *invocation = session->invocation;
    struct doomed done = {doomed.records, 0, doomed.keep};
    bool ok = true;
    bool back = true;
    while (back && done.count < doomed.count) {
        struct ledger_record *record = doomed.records[done.count];
        ok = rollback_plan(session, plan_list_find(plans, record->version), record, err);
        back = ok && is_back(invocation, record);
        done.count += ok ? 1 : 0;
    }
    if (ok || done.count > 0) {
        report(invocation, done);
    }
    return ok || (err->code == ERROR_STOPPED && say_interrupted(doomed.records[done.count], err));
}

/* Plans that have no reverse steps are rolled back without their files. */
static bool read_plans(const struct invocation *invocation, struct plan_list *out,
                       struct error *err)
{
    *out = (struct plan_list){NULL, 0};
    bool wanted = invocation_text(invocation, "plans") != NULL;
    return (!wanted && !plan_folder_exists(invocation->plans_dir)) ||
           plan_folder_read(invocation->plans_dir, invocation->arena, out, err);
}

static bool roll_back(struct runner_session *session, struct error *err)
{
    struct plan_list plans;
    uint32_t keep = 0;
    if (!read_plans(session->invocation, &plans, err) || !find_keep(session, &keep, err)) {
        return false;
    }
    struct doomed doomed = find_doomed(session, keep);
    announce(session, doomed);
    return roll_back_all(session, &plans, doomed, err);
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct runner_session session = {.invocation = invocation};
    bool ok = runner_session_options(invocation, &session, err) &&
              runner_session_open(invocation, STORE_WRITE, &session, err) &&
              runner_session_check_import(&session, err) && roll_back(&session, err);
    runner_session_close(&session);
    return ok;
}

const struct command command_rollback = {
    .name = "rollback",
    .synopsis = "TABLE [--to VERSION]",
    .summary = "Take plans back, the newest first.",
    .details =
        "Without --to the newest plan is rolled back, and only that. --to VERSION rolls back\n"
        "every plan above VERSION, so that VERSION is the newest afterwards; --to 0 all of them.\n"
        "\n"
        "A plan that has \"rollback\" steps is taken back by them. Any other by its undo log,\n"
        "attribute by attribute: what somebody has changed since is left alone and reported\n"
        "(exit 3). Indexes that the plan made are dropped, those that it dropped are made again.\n"
        "\n"
        "There is no dry run of a rollback: 'refold status' shows which plans are applied. An\n"
        "interrupted rollback is taken up by the same command.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};
