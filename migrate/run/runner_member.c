#include "migrate/run/runner_member.h"

#include "migrate/cli/report.h"
#include "migrate/ledger/ledger_checkpoint.h"
#include "migrate/run/runner.h"
#include "migrate/run/runner_compile.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { LOOK_MS = 250, LOOK_MOST_MS = 1000 }; /* between looks at what the others do */

struct membership {
    struct runner_session *session;
    const struct plan_list *plans;
    struct arena *arena; /* for one look */
    struct ledger ledger;
    unsigned rest_ms;
};

/* ---------------------------------------------------------------- what the ledger says */

/* A plan that had failed before may be about to be taken up again. */
static bool has_failed(const struct membership *membership, const struct ledger_record *record)
{
    const struct ledger_record *before = ledger_find(&membership->session->ledger, record->version);
    bool is_old =
        before != NULL && before->state == RUN_FAILED && before->attempts == record->attempts;
    return record->state == RUN_FAILED && !is_old;
}

/* True where there is nothing more to take part in. */
static bool is_over(const struct membership *membership)
{
    size_t applied = 0;
    for (size_t i = 0; i < membership->plans->count; i++) {
        const struct ledger_record *record =
            ledger_find(&membership->ledger, membership->plans->plans[i]->version);
        if (record != NULL && has_failed(membership, record)) {
            return true;
        }
        applied += record != NULL && record->state == RUN_APPLIED ? 1 : 0;
    }
    return applied == membership->plans->count;
}

/* NULL: none is under way. */
static struct ledger_record *find_running(const struct membership *membership)
{
    for (size_t i = 0; i < membership->ledger.count; i++) {
        if (membership->ledger.records[i].state == RUN_RUNNING) {
            return &membership->ledger.records[i];
        }
    }
    return NULL;
}

static bool find_plan(const struct membership *membership, const struct ledger_record *record,
                      const struct plan **out, struct error *err)
{
    *out = plan_list_find(membership->plans, record->version);
    if (*out == NULL) {
        return error_set(err, ERROR_PLAN,
                         "plan %04" PRIu32
                         " (%.*s) is under way, but it is none of those to run here",
                         record->version, STR_ARG(record->name));
    }
    return str_equal((*out)->hash, record->hash) ||
           error_set(err, ERROR_PLAN,
                     "%s is not the plan that is under way: its hash is %.*s, of that %.*s",
                     (*out)->file, STR_ARG((*out)->hash), STR_ARG(record->hash));
}

/* ---------------------------------------------------------------- a pass */

static bool lives(const struct run_members *members, struct str id)
{
    bool found = false;
    for (size_t i = 0; i < members->count; i++) {
        found = found || str_equal(members->list[i].id, id);
    }
    return found;
}

/* The leader has made all checkpoints, and nobody has what one of them covers. */
static bool is_any_free(const struct membership *membership, const struct ledger_record *record,
                        bool *out, struct error *err)
{
    struct store_reader *reader = membership->session->reader;
    struct checkpoint_list found;
    struct run_members members;
    *out = false;
    if (!checkpoint_glance(reader, record->version, membership->arena, &found, err) ||
        !store_members(reader, membership->arena, &members, err)) {
        return false;
    }
    for (size_t i = 0; i < found.count && found.count >= record->segments; i++) {
        *out = *out || (!found.list[i].done && !lives(&members, found.list[i].owner));
    }
    return true;
}

/* A pass that was ended under our hands is none of ours any more, nor a segment that another took,
 * if only we live. */
static bool forgive(const struct runner_session *session, struct error *err)
{
    struct error lost = {0};
    if (err->code != ERROR_BUSY || !store_flush(session->store, &lost)) {
        return false;
    }
    report_message(session->invocation, "%s; this process goes on with what is free", err->text);
    *err = lost;
    return true;
}

/* What it takes is kept for this pass only. */
static bool help(struct membership *membership, struct ledger_record *record, struct error *err)
{
    struct runner_session session = *membership->session;
    const struct plan *plan = NULL;
    struct compiled_stages stages;
    session.arena = membership->arena;
    session.reads_stale = false;
    if (!runner_session_describe(&session, err)) {
        return false;
    }
    struct compile_target target = {record, session.table};
    bool ok = find_plan(membership, record, &plan, err) &&
              runner_compile(&plan->steps, &target, session.arena, &stages, err) &&
              (runner_take_part(&session, plan, &stages, record, err) || forgive(&session, err));
    membership->session->counted = session.counted;
    return ok;
}

/* ---------------------------------------------------------------- the whole */

/* Longer each time, while there is nothing to do. */
static void rest(struct membership *membership)
{
    struct timespec time = {.tv_sec = membership->rest_ms / 1000,
                            .tv_nsec = membership->rest_ms % 1000 * 1000000L};
    (void)nanosleep(&time, NULL);
    unsigned longer = 2 * membership->rest_ms;
    membership->rest_ms = longer < LOOK_MOST_MS ? longer : LOOK_MOST_MS;
}

static bool take_part(struct membership *membership, struct error *err)
{
    struct ledger_record *record = find_running(membership);
    const struct plan *plan = NULL;
    bool free = false;
    if (record == NULL) {
        return true;
    }
    if (!find_plan(membership, record, &plan, err) ||
        (record->pass != 0 && !is_any_free(membership, record, &free, err)) ||
        (free && !help(membership, record, err))) {
        return false;
    }
    membership->rest_ms = free ? LOOK_MS : membership->rest_ms;
    return true;
}

static bool look(struct membership *membership, bool *over, struct error *err)
{
    struct runner_session *session = membership->session;
    arena_reset(membership->arena);
    if (!runner_session_join(session, membership->arena, err)) {
        return false;
    }
    *over = session->leads;
    if (*over) {
        return true;
    }
    if (!ledger_read(session->reader, membership->arena, &membership->ledger, err)) {
        return false;
    }
    *over = is_over(membership);
    if (*over) {
        return true;
    }
    return runner_session_stopped(session) ? error_set(err, ERROR_STOPPED, "stopped")
                                           : take_part(membership, err);
}

static void say_joining(const struct runner_session *session)
{
    bool is_limited = session->limits.read.units > 0 || session->limits.write.units > 0;
    (void)fprintf(session->invocation->messages, "joining the run of %.*s%s\n",
                  STR_ARG(session->leader),
                  is_limited ? "; --max-rcu and --max-wcu are of this process alone" : "");
}

bool runner_member_run(struct runner_session *session, const struct plan_list *plans,
                       struct error *err)
{
    struct membership membership = {
        .session = session, .plans = plans, .arena = arena_new(), .rest_ms = LOOK_MS};
    bool over = false;
    bool ok = true;
    if (!session->invocation->quiet && session->leader.len > 0) {
        say_joining(session);
    }
    while (ok && !over) {
        ok = look(&membership, &over, err);
        if (ok && !over) {
            rest(&membership);
        }
    }
    session->leader = STR("");
    arena_free(membership.arena);
    return ok && runner_session_read(session, err);
}
