#include "engine/store/store.h"
#include "migrate/cli/files.h"
#include "migrate/cli/report.h"
#include "migrate/cli/target.h"
#include "migrate/commands.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner_compile.h"
#include "migrate/table_session.h"
#include "plans/map.h"
#include "plans/pass.h"
#include "plans/plan.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const struct option options[] = {
    {"plans", "DIR", "the folder of plans (default plans)"},
    {"map", "FILE", "check this map too, and the plans against its table"},
};

/* What is checked against what, and what was found. */
struct checking {
    struct invocation *invocation;
    bool knows_table;
    struct table_desc table; /* as the plan at hand meets it */
    struct ledger ledger;    /* of the table */
    size_t file_count, wrong_count;
    cJSON *list; /* of plans, or NULL: text */
};

/* ---------------------------------------------------------------- reporting */

static void report_wrong(struct checking *checking, const char *file, const struct error *err)
{
    checking->wrong_count++;
    if (checking->list == NULL) {
        (void)fprintf(checking->invocation->out, "%s\n", err->text);
        return;
    }
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "file", file);
    (void)cJSON_AddStringToObject(object, "error", err->text);
    (void)cJSON_AddItemToArray(checking->list, object);
}

/* What check found of one stage, in words. */
struct stage_verdict {
    const char *kind;
    struct str what;
    bool is_pass, was_compiled, proved;
};

/* `compiled` is NULL where there is no table to compile for. */
static struct stage_verdict judge_stage(const struct stage *stage,
                                        const struct compiled_stage *compiled, struct arena *arena)
{
    struct stage_verdict verdict = {.is_pass = stage->kind == STAGE_PASS};
    if (verdict.is_pass) {
        verdict.kind = "pass";
        verdict.what = report_counted(arena, stage->step_count, "step", "steps");
        verdict.was_compiled = compiled != NULL;
        verdict.proved = compiled != NULL && compiled->facts->proved;
    } else {
        verdict.kind = stage->kind == STAGE_CREATE_INDEX ? "create index" : "drop index";
        verdict.what = stage->index.name;
    }
    return verdict;
}

static const char *convergence(const struct stage_verdict *verdict)
{
    if (!verdict->is_pass) {
        return "";
    }
    if (!verdict->was_compiled) {
        return ": not checked against a table";
    }
    return verdict->proved ? ": converges, proved" : ": convergence is checked item by item";
}

static void report_stage(struct checking *checking, cJSON *stages,
                         const struct stage_verdict *verdict)
{
    if (stages == NULL) {
        (void)fprintf(checking->invocation->out, "  %s: %.*s%s\n", verdict->kind,
                      STR_ARG(verdict->what), convergence(verdict));
        return;
    }
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "kind", verdict->kind);
    ledger_json_add_text(object, "what", verdict->what);
    if (verdict->was_compiled) {
        (void)cJSON_AddBoolToObject(object, "converges", verdict->proved);
    }
    (void)cJSON_AddItemToArray(stages, object);
}

/* Returns the array for the plan's stages; NULL: text. */
static cJSON *report_plan(struct checking *checking, const struct plan *plan, bool applied)
{
    if (checking->list == NULL) {
        (void)fprintf(checking->invocation->out, "%s: ok%s\n", plan->file,
                      applied ? ", applied already" : "");
        return NULL;
    }
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "file", plan->file);
    (void)cJSON_AddNumberToObject(object, "version", plan->version);
    ledger_json_add_text(object, "hash", plan->hash);
    (void)cJSON_AddItemToArray(checking->list, object);
    return cJSON_AddArrayToObject(object, "stages");
}

/* ---------------------------------------------------------------- plans */

/* Later plans meet the indexes that this one leaves. */
static void follow_indexes(struct checking *checking, const struct stage_list *stages)
{
    for (size_t i = 0; i < stages->count; i++) {
        if (stages->stages[i].kind != STAGE_PASS) {
            runner_compile_step(&stages->stages[i], &checking->table, checking->invocation->arena);
        }
    }
}

/* As apply will, and its way back as rollback will. */
static bool compile_plan(struct checking *checking, const struct plan *plan,
                         struct compiled_stages *out, struct error *err)
{
    struct arena *arena = checking->invocation->arena;
    struct compile_target target = {ledger_standing(&checking->ledger, plan->version),
                                    checking->table};
    struct compiled_stages back;
    bool ok = runner_compile(&plan->steps, &target, arena, out, err);
    follow_indexes(checking, &plan->steps);
    target.table = checking->table;
    return ok && runner_compile(&plan->rollback, &target, arena, &back, err);
}

static bool read_plan(const char *path, struct arena *arena, const struct plan **out,
                      struct error *err)
{
    struct str text;
    return file_read(path, PLAN_FILE_MAX_BYTES, arena, &text, err) &&
           plan_parse(text, path, arena, out, err);
}

static bool check_plan(struct checking *checking, const char *path, struct error *err)
{
    struct arena *arena = checking->invocation->arena;
    const struct plan *plan = NULL;
    if (!read_plan(path, arena, &plan, err)) {
        return false;
    }
    if (!plan_list_check_one(plan, &checking->ledger, err)) {
        return false;
    }
    const struct ledger_record *record = ledger_standing(&checking->ledger, plan->version);
    if (record != NULL && record->state == RUN_APPLIED) {
        (void)report_plan(checking, plan, true);
        return true;
    }
    struct compiled_stages compiled = {NULL, 0, 0};
    if (checking->knows_table && !compile_plan(checking, plan, &compiled, err)) {
        return false;
    }
    cJSON *stages = report_plan(checking, plan, false);
    for (size_t i = 0; i < plan->steps.count; i++) {
        struct stage_verdict verdict = judge_stage(
            &plan->steps.stages[i], checking->knows_table ? &compiled.list[i] : NULL, arena);
        report_stage(checking, stages, &verdict);
    }
    return true;
}

/* What only all of them together show. */
static bool check_list(struct checking *checking, struct error *err)
{
    struct invocation *invocation = checking->invocation;
    struct plan_list list;
    struct error doubled = {0};
    if (!plan_folder_read(invocation->plans_dir, invocation->arena, &list, &doubled)) {
        report_wrong(checking, invocation->plans_dir, &doubled);
        return true;
    }
    return plan_list_check(&list, &checking->ledger, 0, err);
}

/* A project may have a map and no plans yet. */
static bool wants_plans(const struct invocation *invocation)
{
    return !invocation_flag(invocation, "map") || invocation_flag(invocation, "plans");
}

/* Every file is looked at, so that one call shows what is wrong with each. */
static bool check_plans(struct checking *checking, struct error *err)
{
    struct invocation *invocation = checking->invocation;
    struct file_names names;
    if (!plan_folder_names(invocation->plans_dir, invocation->arena, &names, err)) {
        return false;
    }
    if (names.count == 0 && wants_plans(invocation)) {
        error_set(err, ERROR_USAGE, "there are no plans in %s", invocation->plans_dir);
        return error_hint(err, PLAN_FOLDER_HINT);
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *path = arena_format(invocation->arena, "%s/%.*s", invocation->plans_dir,
                                        STR_ARG(names.list[i]))
                               .ptr;
        struct error wrong = {0};
        checking->file_count++;
        if (!check_plan(checking, path, &wrong)) {
            report_wrong(checking, path, &wrong);
        }
    }
    return checking->wrong_count > 0 || check_list(checking, err);
}

/* ---------------------------------------------------------------- the map and the table */

static bool check_map_file(struct checking *checking, const char *path, struct error *err)
{
    struct invocation *invocation = checking->invocation;
    const struct map *map = NULL;
    struct str text;
    if (!file_read(path, MAP_FILE_MAX_BYTES, invocation->arena, &text, err) ||
        !map_parse(text, path, invocation->arena, &map, err)) {
        return false;
    }
    if (map->has_table && checking->knows_table &&
        !key_schema_equal(&map->keys, &checking->table.keys)) {
        return error_set(err, ERROR_PLAN, "%s: table: its keys are not those of %s", path,
                         invocation->table);
    }
    if (map->has_table && !checking->knows_table) {
        checking->knows_table = true;
        checking->table = (struct table_desc){
            .keys = map->keys, .indexes = map->indexes, .index_count = map->index_count};
    }
    if (checking->list == NULL) {
        struct str entities =
            report_counted(invocation->arena, map->entity_count, "entity", "entities");
        (void)fprintf(invocation->out, "%s: ok\n  %.*s\n", path, STR_ARG(entities));
    } else {
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "file", path);
        ledger_json_add_text(object, "hash", map->hash);
        (void)cJSON_AddNumberToObject(object, "entities", (double)map->entity_count);
        (void)cJSON_AddItemToArray(checking->list, object);
    }
    return true;
}

static void check_map(struct checking *checking)
{
    const char *path = invocation_text(checking->invocation, "map");
    if (path == NULL) {
        return;
    }
    struct error wrong = {0};
    checking->file_count++;
    if (!check_map_file(checking, path, &wrong)) {
        report_wrong(checking, path, &wrong);
    }
}

static bool check_files(struct checking *checking, struct error *err)
{
    struct invocation *invocation = checking->invocation;
    cJSON *object = invocation->json ? cJSON_CreateObject() : NULL;
    checking->list = cJSON_AddArrayToObject(object, "files");
    check_map(checking);
    bool looks = wants_plans(invocation) || access(invocation->plans_dir, F_OK) == 0;
    bool ok = !looks || check_plans(checking, err);
    if (object != NULL) {
        report_json(invocation, object);
    }
    if (ok && checking->wrong_count > 0) {
        struct str files = report_counted(invocation->arena, checking->file_count, "file", "files");
        return error_set(err, ERROR_PLAN, "%zu of %.*s %s wrong", checking->wrong_count,
                         STR_ARG(files), checking->wrong_count == 1 ? "is" : "are");
    }
    return ok;
}

static bool check_with_table(struct invocation *invocation, struct store *store,
                             struct store_reader *reader, struct error *err)
{
    struct checking checking = {.invocation = invocation, .knows_table = true};
    return store_describe(store, invocation->arena, &checking.table, err) &&
           ledger_read(reader, invocation->arena, &checking.ledger, err) &&
           check_files(&checking, err);
}

static bool run(struct invocation *invocation, struct error *err)
{
    /* A table that was not imported yet is no reason to leave plans unchecked. */
    bool exists = false;
    if (invocation->table != NULL && !target_exists(invocation->table, &exists, err)) {
        return false;
    }
    if (invocation->table != NULL && !exists) {
        (void)fprintf(invocation->messages, "%s does not exist: the plans' keys are not checked\n",
                      invocation->table);
    }
    if (!exists) {
        struct checking checking = {.invocation = invocation};
        return check_files(&checking, err);
    }
    return table_session_inspect(invocation, check_with_table, err);
}

const struct command command_check = {
    .name = "check",
    .synopsis = "[TABLE] [--plans DIR] [--map FILE]",
    .summary = "Check plans and a map, without touching anything.",
    .details =
        "The first fault of each file is printed, with its line and column. With a TABLE, or a\n"
        "map that has one, the plans are also checked against its keys and indexes, and each pass\n"
        "is shown to converge where the text alone can prove it. Of a TABLE, its ledger is asked\n"
        "too: a plan that was changed after it was applied, or comes below one, is wrong.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_max = 1,
    .takes_table = true,
    .table_optional = true,
    .run = run,
};
