#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/ledger/import_state.h"
#include "migrate/ledger/ledger_checkpoint.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/plan_status.h"
#include "migrate/run/runner_report.h"
#include "migrate/run/runner_session.h"
#include "migrate/table_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"plans", "DIR", "the folder of plans (default plans)"},
    {"exit-code", NULL, "exit 4 if plans are pending, 3 if one has failed"},
};

/* All that is to be said. */
struct state {
    struct runner_session session;
    struct plan_list plans;
    bool has_plans;             /* there is a folder of plans */
    struct str owner;           /* of the lease, or who is left of a run; ptr NULL: nobody */
    struct run_members members; /* who takes part in a run that is shared */
    struct import_record import;
    bool imported;
    struct plan_status *list;
    size_t count;
    struct str next; /* the command that goes on; empty: nothing is to be done */
};

/* ---------------------------------------------------------------- finding out */

static bool read_plans(struct state *state, struct error *err)
{
    const struct invocation *invocation = state->session.invocation;
    state->has_plans =
        invocation_text(invocation, "plans") != NULL || plan_folder_exists(invocation->plans_dir);
    return !state->has_plans ||
           plan_folder_read(invocation->plans_dir, invocation->arena, &state->plans, err);
}

static bool is_to_do(const struct plan_status *status)
{
    return status->state == PLAN_PENDING || status->state == PLAN_INTERRUPTED ||
           status->state == PLAN_FAILED;
}

/* The command that goes on: a rollback comes to its end first. NULL: nothing is to be done. */
static const char *next_verb(const struct state *state)
{
    const char *verb = NULL;
    for (size_t i = 0; i < state->count; i++) {
        if (state->list[i].state == PLAN_HALF_BACK) {
            return "rollback";
        }
        if (is_to_do(&state->list[i])) {
            verb = "apply";
        }
    }
    return verb;
}

/* Copied from the terminal, it runs. While somebody is at work there is none. */
static struct str next_command(const struct state *state)
{
    const struct invocation *invocation = state->session.invocation;
    const char *verb = next_verb(state);
    if (state->owner.ptr != NULL) {
        return STR("");
    }
    if (state->imported && state->import.loading) {
        return STR("the same refold import again");
    }
    if (verb == NULL) {
        return STR("");
    }
    const char *plans = invocation_text(invocation, "plans");
    return arena_format(invocation->arena, "refold %s %s%s%s", verb, invocation->table,
                        plans == NULL ? "" : " --plans ", plans == NULL ? "" : plans);
}

static bool find_out(struct state *state, struct error *err)
{
    struct runner_session *session = &state->session;
    if (!read_plans(state, err) ||
        !store_lease_owner(session->store, session->arena, &state->owner, err) ||
        !store_members(session->reader, session->arena, &state->members, err) ||
        !import_state_read(session->reader, session->arena, &state->import, &state->imported,
                           err)) {
        return false;
    }
    if (state->owner.ptr == NULL && state->members.count > 0) {
        state->owner = state->members.list[0].owner;
    }
    state->list = plan_status_all(&session->ledger, state->has_plans ? &state->plans : NULL,
                                  state->owner.ptr != NULL, session->arena, &state->count);
    state->next = next_command(state);
    return true;
}

/* ---------------------------------------------------------------- exit status */

/* What one plan asks for; the gravest of all counts. */
static enum error_code code_of(const struct plan_status *status)
{
    static const enum error_code codes[] = {
        [PLAN_PENDING] = ERROR_PENDING,     [PLAN_RUNNING] = ERROR_PENDING,
        [PLAN_INTERRUPTED] = ERROR_PENDING, [PLAN_APPLIED] = ERROR_NONE,
        [PLAN_FAILED] = ERROR_ITEM,         [PLAN_ROLLING_BACK] = ERROR_PENDING,
        [PLAN_HALF_BACK] = ERROR_PENDING,   [PLAN_ROLLED_BACK] = ERROR_NONE,
    };
    return status->changed || status->out_of_order ? ERROR_PLAN : codes[status->state];
}

static bool any_plan(const struct state *state, enum error_code code)
{
    for (size_t i = 0; i < state->count; i++) {
        if (code_of(&state->list[i]) == code) {
            return true;
        }
    }
    return false;
}

static int exit_status(const struct state *state)
{
    static const enum error_code gravest_first[] = {ERROR_PLAN, ERROR_ITEM, ERROR_PENDING};
    if (state->imported && state->import.loading) {
        return error_exit_status(ERROR_STORE);
    }
    for (size_t i = 0; i < sizeof gravest_first / sizeof *gravest_first; i++) {
        if (any_plan(state, gravest_first[i])) {
            return error_exit_status(gravest_first[i]);
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- as text */

static uint64_t written_count(const struct ledger_record *record)
{
    uint64_t written = 0;
    for (size_t i = 0; i < record->step_count; i++) {
        written += record->steps[i].counts.written + record->steps[i].earlier;
    }
    return written;
}

static struct str state_text(const struct plan_status *status, struct arena *arena)
{
    const char *more = "";
    if (status->changed) {
        more = ", but its file was changed since";
    } else if (status->file_missing) {
        more = ", but its file is gone";
    } else if (status->out_of_order) {
        more = ", but out of order";
    } else if (status->state == PLAN_PENDING && status->record != NULL) {
        more = ", was rolled back";
    }
    return arena_format(arena, "%s%s", plan_state_name(status->state), more);
}

/* Columns that are there only if a plan has something in them. */
struct extra_columns {
    bool gone;
    bool capacity;
};

static struct extra_columns find_extra(const struct state *state)
{
    struct extra_columns extra = {false, false};
    for (size_t i = 0; i < state->count; i++) {
        const struct ledger_record *record = state->list[i].record;
        if (record != NULL) {
            extra.gone = extra.gone || runner_report_gone(record->steps, record->step_count) > 0;
            extra.capacity =
                extra.capacity || record->used.read_units + record->used.write_units > 0;
        }
    }
    return extra;
}

/* The cells of a plan that has a record, behind its name and state. */
static void fill_cells(const struct ledger_record *record, struct extra_columns extra,
                       struct arena *arena, struct str *cells)
{
    uint64_t failed = runner_report_failed(record->steps, record->step_count);
    uint64_t gone = runner_report_gone(record->steps, record->step_count);
    *cells++ = record->ended.len > 0 ? record->ended : record->started;
    *cells++ = record->who;
    *cells++ = report_count(arena, written_count(record));
    *cells++ = report_count(arena, failed);
    if (extra.gone) {
        *cells++ = report_count(arena, gone);
    }
    if (extra.capacity) {
        *cells = runner_report_capacity(&record->used, arena);
    }
}

static void print_plans(const struct state *state)
{
    enum { COLUMNS = 6, ALL_COLUMNS = 8, OWN = 2 };
    const struct invocation *invocation = state->session.invocation;
    struct arena *arena = invocation->arena;
    struct extra_columns extra = find_extra(state);
    size_t columns = COLUMNS + (size_t)extra.gone + (size_t)extra.capacity;
    struct report_table *table = report_table_new(arena, columns);
    report_table_row(table, (struct str[ALL_COLUMNS]){STR("plan"), STR("state"), STR("when"),
                                                      STR("who"), STR("written"), STR("failed"),
                                                      extra.gone ? STR("gone") : STR("capacity"),
                                                      STR("capacity")});
    for (size_t i = 0; i < state->count; i++) {
        const struct plan_status *status = &state->list[i];
        struct str cells[ALL_COLUMNS] = {runner_report_name(status->version, status->name, arena),
                                         state_text(status, arena)};
        if (status->record != NULL) {
            fill_cells(status->record, extra, arena, cells + OWN);
        }
        report_table_row(table, cells);
    }
    (void)fputc('\n', invocation->out);
    report_table_fit(table, report_width(invocation->out));
    report_table_print(table, invocation->out, 1, invocation->color);
}

/* What is half done, and how far it has come. */
static bool print_progress(const struct state *state, const struct plan_status *status,
                           struct error *err)
{
    struct invocation *invocation = state->session.invocation;
    const struct ledger_record *record = status->record;
    struct checkpoint_list found;
    uint64_t items = 0;
    uint64_t failed = 0;
    size_t done = 0;
    if (!checkpoint_glance(state->session.reader, status->version, invocation->arena, &found,
                           err)) {
        return false;
    }
    for (size_t i = 0; i < found.count; i++) {
        items += found.list[i].items;
        failed += found.list[i].failed;
        done += found.list[i].done ? 1 : 0;
    }
    struct str read = report_counted(invocation->arena, items, "item", "items");
    struct str errors = report_counted(invocation->arena, failed, "item error", "item errors");
    (void)fprintf(invocation->out, "\n%04" PRIu32 " is %s in stage %" PRIu32, status->version,
                  plan_state_name(status->state), record->stage + 1);
    if (record->segments > 0) {
        size_t total = found.count > record->segments ? found.count : record->segments;
        (void)fprintf(invocation->out, ": %.*s read, ", STR_ARG(read));
        if (failed > 0) {
            (void)fprintf(invocation->out, "%.*s, ", STR_ARG(errors));
        }
        (void)fprintf(invocation->out, "%zu of %zu segments", done, total);
    }
    (void)fputc('\n', invocation->out);
    return true;
}

static bool print_details(const struct state *state, struct error *err)
{
    struct invocation *invocation = state->session.invocation;
    for (size_t i = 0; i < state->count; i++) {
        const struct plan_status *status = &state->list[i];
        if ((status->state == PLAN_RUNNING || status->state == PLAN_INTERRUPTED) &&
            !print_progress(state, status, err)) {
            return false;
        }
        if (status->state == PLAN_FAILED) {
            (void)fputc('\n', invocation->out);
            runner_report_record(invocation, status->record);
        }
    }
    return true;
}

static void print_import(const struct state *state)
{
    const struct import_record *import = &state->import;
    struct invocation *invocation = state->session.invocation;
    if (state->imported) {
        (void)fprintf(invocation->out, "import from %.*s: %s, %.*s\n", STR_ARG(import->source),
                      import->loading ? "not finished, begun" : "done",
                      STR_ARG(import->loading ? import->started : import->ended));
    }
}

static void print_writers(const struct state *state)
{
    FILE *out = state->session.invocation->out;
    if (state->owner.ptr != NULL) {
        (void)fprintf(out, "being written by %.*s\n", STR_ARG(state->owner));
    }
    for (size_t i = 0; i < state->members.count; i++) {
        struct str member = state->members.list[i].owner;
        if (!str_equal(member, state->owner)) {
            (void)fprintf(out, "and by %.*s\n", STR_ARG(member));
        }
    }
}

static bool print_text(const struct state *state, struct error *err)
{
    struct invocation *invocation = state->session.invocation;
    table_report_print(invocation, &state->session.table);
    print_import(state);
    print_writers(state);
    if (state->count > 0) {
        print_plans(state);
    }
    if (!print_details(state, err)) {
        return false;
    }
    if (state->next.len > 0) {
        (void)fprintf(invocation->out, "\nnext: %.*s\n", STR_ARG(state->next));
    }
    return true;
}

/* ---------------------------------------------------------------- as JSON */

static void add_text_or_null(cJSON *object, const char *name, struct str text)
{
    if (text.len > 0) {
        ledger_json_add_text(object, name, text);
    } else {
        (void)cJSON_AddNullToObject(object, name);
    }
}

static cJSON *status_to_json(const struct plan_status *status)
{
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "version", status->version);
    ledger_json_add_text(object, "name", status->name);
    (void)cJSON_AddStringToObject(object, "state", plan_state_name(status->state));
    (void)cJSON_AddBoolToObject(object, "changed", status->changed);
    (void)cJSON_AddBoolToObject(object, "file_missing", status->file_missing);
    (void)cJSON_AddBoolToObject(object, "out_of_order", status->out_of_order);
    (void)cJSON_AddItemToObject(object, "record",
                                status->record == NULL ? cJSON_CreateNull()
                                                       : ledger_record_to_json(status->record));
    return object;
}

static void print_json(const struct state *state)
{
    cJSON *object = table_report_json(state->session.invocation, &state->session.table);
    add_text_or_null(object, "owner", state->owner);
    cJSON *members = cJSON_AddArrayToObject(object, "members");
    for (size_t i = 0; i < state->members.count; i++) {
        cJSON *member = cJSON_CreateObject();
        ledger_json_add_text(member, "who", state->members.list[i].owner);
        (void)cJSON_AddItemToArray(members, member);
    }
    cJSON *import = cJSON_AddObjectToObject(object, "import");
    add_text_or_null(import, "source", state->import.source);
    (void)cJSON_AddBoolToObject(import, "unfinished", state->import.loading);
    cJSON *plans = cJSON_AddArrayToObject(object, "plans");
    for (size_t i = 0; i < state->count; i++) {
        (void)cJSON_AddItemToArray(plans, status_to_json(&state->list[i]));
    }
    add_text_or_null(object, "next", state->next);
    report_json(state->session.invocation, object);
}

static bool status(struct state *state, struct error *err)
{
    struct invocation *invocation = state->session.invocation;
    if (!find_out(state, err)) {
        return false;
    }
    if (invocation_flag(invocation, "exit-code")) {
        invocation->exit_status = exit_status(state);
    }
    if (invocation->json) {
        print_json(state);
        return true;
    }
    return print_text(state, err);
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct state state = {.session = {.invocation = invocation}};
    bool ok =
        runner_session_open(invocation, STORE_READ, &state.session, err) && status(&state, err);
    runner_session_close(&state.session);
    return ok;
}

const struct command command_status = {
    .name = "status",
    .synopsis = "TABLE [--plans DIR] [--exit-code]",
    .summary = "Show the table, its plans, and what to run next.",
    .details =
        "Lists every plan of the folder and of the table's own ledger. A plan that is under way\n"
        "and that no process is running is interrupted; the last line is the command that goes\n"
        "on.\n"
        "\n"
        "With --exit-code: 4 if plans are pending or under way, 3 if one has failed, 2 if one\n"
        "was changed after it was applied or is out of order, 1 if an import is not finished.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};
