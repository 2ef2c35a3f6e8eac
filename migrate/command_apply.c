#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/run/dry_run.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_compile.h"
#include "migrate/run/runner_member.h"
#include "migrate/run/runner_report.h"
#include "migrate/run/runner_session.h"
#include "migrate/run/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"plans", "DIR", "the folder of plans (default plans)"},
    {"to", "VERSION", "apply up to and including this version (default: all)"},
    {"dry-run", NULL, "say what would happen; nothing is written to the table"},
    {"sweep", NULL, "put the newest applied plan through the table again until it writes nothing"},
    {"from", "VERSION", "with --sweep: begin with this plan, not the newest"},
    {"workers", "N", "threads that read and compute (default: one a processor)"},
    {"segments", "N", "parts that the table is read in (default 64)"},
    {"page-size", "N", "items a page at most (default: what is written in half a second)"},
    {"no-consistent-read", NULL, "read a server's table at half the price: see above"},
    {"max-item-errors", "N", "stop a pass after more than N item errors (default: never)"},
    {"temp", "DIR", "folder for temporary sort files (default: $TMPDIR, else /tmp)"},
    {"state", "DIR", "files of a run on a server's table (default .refold-state/TABLE)"},
    {"max-rcu", "N|N%", "read capacity a second, or a share of what is provisioned"},
    {"max-wcu", "N|N%", "write capacity a second, likewise"},
    {"control", "FILE",
     "pause, abort or limit the run (default: NAME.refold-control or STATE/control)"},
};

/* Plans that are to run, each compiled against the table that the ones before leave. */
struct pending {
    struct plan_list plans;
    struct compiled_stages *stages;
};

/* All that are to run until the command ends, whoever does. */
struct applying {
    struct plan_list plans;  /* of the folder */
    struct pending pending;  /* as it is now */
    struct plan_list wanted; /* that were pending at first */
    struct ledger before;    /* at first */
    struct ledger_record **records;
    size_t done; /* of `records` */
};

/* Errors that have a place in the file name it already. */
static bool name_file(const struct plan *plan, struct error *err)
{
    return strncmp(err->text, plan->file, strlen(plan->file)) != 0 &&
           error_wrap(err, "%s", plan->file);
}

static bool compile_all(const struct runner_session *session, struct pending *pending,
                        struct error *err)
{
    struct compile_target target = {.table = session->table};
    pending->stages =
        arena_alloc(session->arena, (pending->plans.count + 1) * sizeof *pending->stages);
    for (size_t i = 0; i < pending->plans.count; i++) {
        const struct plan *plan = pending->plans.plans[i];
        target.record = ledger_standing(&session->ledger, plan->version);
        if (!runner_compile(&plan->steps, &target, session->arena, &pending->stages[i], err)) {
            return name_file(plan, err);
        }
    }
    return true;
}

static bool find_pending(const struct runner_session *session, const struct plan_list *plans,
                         struct pending *out, struct error *err)
{
    uint64_t to = 0;
    if (!invocation_number(session->invocation, "to", (struct number_range){1, UINT32_MAX}, &to,
                           err) ||
        !plan_list_check(plans, &session->ledger, (uint32_t)to, err)) {
        return false;
    }
    out->plans = plan_list_pending(plans, &session->ledger, (uint32_t)to, session->arena);
    return compile_all(session, out, err);
}

static void report(struct invocation *invocation, struct ledger_record *const *records,
                   size_t count)
{
    if (invocation->json) {
        cJSON *object = cJSON_CreateObject();
        cJSON *list = cJSON_AddArrayToObject(object, "plans");
        for (size_t i = 0; i < count; i++) {
            (void)cJSON_AddItemToArray(list, ledger_record_to_json(records[i]));
        }
        report_json(invocation, object);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        runner_report_record(invocation, records[i]);
    }
    if (count > 0 && records[count - 1]->state == RUN_FAILED) {
        (void)fprintf(
            invocation->out,
            "hint: correct these items, or roll the plan back and change it; 'refold apply' "
            "takes it up again and writes only what is left\n");
    }
}

static void report_nothing(const struct runner_session *session, const struct plan_list *plans)
{
    if (!session->invocation->json) {
        runner_report_nothing(session->invocation, &session->ledger, plans);
    }
}

static bool say_interrupted(const struct plan *plan, struct error *err)
{
    return error_set(err, ERROR_STOPPED,
                     "interrupted in plan %04" PRIu32 "; what was done is kept\n"
                     "hint: run the same command again, it goes on from here",
                     plan->version);
}

/* Runs what is pending. */
static bool lead(struct runner_session *session, struct applying *applying, struct error *err)
{
    const struct pending *pending = &applying->pending;
    bool failed = false;
    for (size_t i = 0; i < pending->plans.count && !failed; i++) {
        const struct plan *plan = pending->plans.plans[i];
        struct ledger_record **record = &applying->records[applying->done];
        if (!runner_apply(session, plan, &pending->stages[i], record, err)) {
            return err->code == ERROR_STOPPED && say_interrupted(plan, err);
        }
        applying->done++;
        failed = (*record)->state == RUN_FAILED;
    }
    return true;
}

/* What others did of the plans, up to one that failed. */
static void take_done(const struct runner_session *session, struct applying *applying)
{
    const struct plan_list *plans = &applying->wanted;
    bool more = true;
    for (size_t i = 0; i < plans->count && more; i++) {
        struct ledger_record *record = ledger_find(&session->ledger, plans->plans[i]->version);
        more = record != NULL && record->state == RUN_APPLIED;
        if (more || (record != NULL && record->state == RUN_FAILED && !session->leads)) {
            applying->records[applying->done++] = record;
        }
    }
}

/* What somebody took back while this process was taken for dead, it does not apply again unasked.
 */
static bool expect_standing(const struct applying *applying, const struct ledger *now,
                            struct error *err)
{
    for (size_t i = 0; i < applying->wanted.count; i++) {
        const struct plan *plan = applying->wanted.plans[i];
        const struct ledger_record *before = ledger_find(&applying->before, plan->version);
        const struct ledger_record *record = ledger_find(now, plan->version);
        bool is_back = record != NULL && !ledger_stands(record);
        bool was_back = before != NULL && !ledger_stands(before);
        if (is_back && !(was_back && str_equal(before->started, record->started))) {
            return error_set(err, ERROR_STORE, "%s was rolled back meanwhile", plan->file);
        }
    }
    return true;
}

static bool follow(struct runner_session *session, struct applying *applying, struct error *err)
{
    struct pending *pending = &applying->pending;
    if (!runner_member_run(session, &applying->wanted, err)) {
        const struct plan *plan = pending->plans.plans[0];
        return err->code == ERROR_STOPPED && say_interrupted(plan, err);
    }
    if (!expect_standing(applying, &session->ledger, err)) {
        return false;
    }
    take_done(session, applying);
    return !session->leads || find_pending(session, &applying->plans, pending, err);
}

/* As a member of another's run, until this process leads; then what is left of it. */
static bool follow_or_lead(struct runner_session *session, struct applying *applying,
                           struct error *err)
{
    applying->done = 0;
    if (applying->wanted.count > 0 && !session->leads && !follow(session, applying, err)) {
        return false;
    }
    return !session->leads || lead(session, applying, err);
}

static bool apply_all(struct runner_session *session, struct applying *applying, struct error *err)
{
    struct invocation *invocation = session->invocation;
    applying->wanted = applying->pending.plans;
    applying->before = session->ledger;
    applying->records =
        arena_alloc(session->arena, (applying->wanted.count + 1) * sizeof(struct ledger_record *));
    bool ok = follow_or_lead(session, applying, err);
    while (!ok && runner_session_give_up(session, err)) {
        ok = follow_or_lead(session, applying, err);
    }
    if (ok || applying->done > 0) {
        report(invocation, applying->records, applying->done);
    }
    if (ok && applying->done == 0) {
        report_nothing(session, &applying->plans);
    }
    if (applying->done > 0 && applying->records[applying->done - 1]->state == RUN_FAILED) {
        invocation->exit_status = error_exit_status(ERROR_ITEM);
    }
    return ok;
}

static bool apply(struct runner_session *session, struct error *err)
{
    struct invocation *invocation = session->invocation;
    struct applying applying = {.done = 0};
    struct pending *pending = &applying.pending;
    if (!plan_folder_read(invocation->plans_dir, session->arena, &applying.plans, err) ||
        !find_pending(session, &applying.plans, pending, err)) {
        return false;
    }
    if (invocation_flag(invocation, "sweep")) {
        return sweep(session, &applying.plans, &pending->plans, err);
    }
    if (invocation_flag(invocation, "dry-run")) {
        if (pending->plans.count == 0) {
            report_nothing(session, &applying.plans);
        }
        return dry_run(session, &pending->plans, pending->stages, err);
    }
    return apply_all(session, &applying, err);
}

static bool check_options(const struct invocation *invocation, struct error *err)
{
    return invocation_flag(invocation, "sweep") || invocation_text(invocation, "from") == NULL ||
           error_set(err, ERROR_USAGE, "--from needs --sweep");
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct runner_session session = {.invocation = invocation,
                                     .reads_stale =
                                         invocation_flag(invocation, "no-consistent-read"),
                                     .shares = !invocation_flag(invocation, "sweep")};
    enum store_mode mode = invocation_flag(invocation, "dry-run") ? STORE_READ : STORE_WRITE;
    bool ok = check_options(invocation, err) && runner_session_options(invocation, &session, err) &&
              runner_session_open(invocation, mode, &session, err) &&
              runner_session_check_import(&session, err) && apply(&session, err);
    runner_session_close(&session);
    return ok;
}

const struct command command_apply = {
    .name = "apply",
    .synopsis = "TABLE [--plans DIR] [--to VERSION] [--dry-run] [--sweep]",
    .summary = "Run the plans that are pending.",
    .details =
        "Runs each plan that is not applied yet, oldest first. A run that was interrupted, by a\n"
        "signal, a crash or a full disk, goes on where it was; nothing is lost or done twice.\n"
        "\n"
        "An item that a step cannot compute stays as it was and is counted; the pass goes on to\n"
        "its end, then the plan stops as failed (exit 3). The same command takes it up again and\n"
        "writes only what is left.\n"
        "\n"
        "Where the table is on a server, the same command in another process, on this host or\n"
        "another, joins the run: each takes parts of the table, and the last one there finishes.\n"
        "Give --max-item-errors to all of them: it counts the item errors of the whole run.\n"
        "--max-rcu and --max-wcu are limits of each process: what they take adds up.\n"
        "A process that is not heard of for 15 seconds is taken for dead: the others read what it\n"
        "had, and if it comes back, it joins anew.\n"
        "\n"
        "With --dry-run the table is only read. Exit 4: changes are pending; 3: there are\n"
        "problems; 0: nothing to do.\n"
        "\n"
        "--sweep is for tables that other programs write while a plan is applied. It runs the\n"
        "newest plan again on items that were created or put back behind it, until a round writes\n"
        "nothing. Run it once those programs write the new form. Where several plans were applied\n"
        "meanwhile, --from VERSION begins with an earlier one; do not name a plan whose effect a\n"
        "later plan reverses, nor one that deletes or overwrites what a later plan has changed:\n"
        "rollbacks go plan by plan, and would bring it back as changed. With --dry-run it says\n"
        "what it would write (exit 4: something, 0: every item has been reached).\n"
        "\n"
        "Reads of a table on a server are consistent. With --no-consistent-read the first pass\n"
        "reads at half the price what may be a moment old. Nothing is overwritten by that, as\n"
        "each write holds only for what was read; but what was written in the last seconds may be\n"
        "missed, or counted as an item error: apply again, or --sweep, finds it. Later passes,\n"
        "look-ups and the search for collisions stay consistent.\n"
        "\n"
        "--control FILE is looked at while the run goes on: NAME.refold-control beside the table,\n"
        "or control in the folder of --state, if none is named. One setting a line: max-rcu N,\n"
        "max-wcu N, pause, abort.\n"
        "\n"
        "--to VERSION runs plans up to and including that version. A version below what is\n"
        "applied is refused: see 'refold help rollback'.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};
