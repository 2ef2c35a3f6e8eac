#include "engine/store/store.h"
#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/import/import_verify.h"
#include "migrate/key_only.h"
#include "migrate/ledger/import_state.h"
#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/table_session.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

enum { FINDINGS_EXIT_STATUS = 3 };

static const struct option options[] = {
    {"from", "SOURCE", "postgresql://...: derive the items again from it and compare"},
    {"map", "FILE", "the map that the table was imported with"},
    {"plans", "DIR", "the folder of plans that were applied since (default plans)"},
};

/* Where findings go. */
struct findings {
    struct invocation *invocation;
    uint64_t count;
    cJSON *list; /* --format json */
};

static void take_finding(void *context, const char *text)
{
    struct findings *findings = context;
    findings->count++;
    if (findings->list != NULL) {
        cJSON *entry = cJSON_CreateObject();
        ledger_json_add_text(entry, "finding", (struct str){text, strlen(text)});
        (void)cJSON_AddItemToArray(findings->list, entry);
    } else {
        (void)fprintf(findings->invocation->out, "%s\n", text);
    }
}

/* Items may be missing. */
static bool find_unfinished_import(struct store_reader *reader, struct findings *findings,
                                   struct error *err)
{
    bool unfinished = false;
    struct str detail;
    if (!import_is_unfinished(reader, findings->invocation->arena, &unfinished, &detail, err)) {
        return false;
    }
    if (unfinished) {
        take_finding(findings, arena_copy(findings->invocation->arena, detail).ptr);
    }
    return true;
}

/* A run that was broken off leaves the table between two plans. */
static bool find_unfinished_runs(struct store_reader *reader, struct findings *findings,
                                 struct error *err)
{
    struct arena *arena = findings->invocation->arena;
    struct ledger ledger = {0};
    if (!ledger_read(reader, arena, &ledger, err)) {
        return false;
    }
    for (size_t i = 0; i < ledger.count; i++) {
        const struct ledger_record *record = &ledger.records[i];
        if (record->state == RUN_RUNNING || record->state == RUN_ROLLING_BACK) {
            take_finding(findings,
                         arena_format(arena, "plan %04" PRIu32 " is not finished: it is %s",
                                      record->version, run_state_name(record->state))
                             .ptr);
        }
    }
    return true;
}

/* The items derived again from their source, against those that stand. */
static bool compare_with_source(struct invocation *invocation, struct store *store,
                                struct findings *findings, cJSON *object, struct error *err)
{
    struct import_verified verified;
    struct import_verify_options wanted = {.from = invocation_text(invocation, "from"),
                                           .map = invocation_text(invocation, "map"),
                                           .finding = take_finding,
                                           .context = findings};
    if (wanted.from == NULL) {
        return true;
    }
    if (!import_verify(invocation, store, &wanted, &verified, err)) {
        return false;
    }
    if (invocation->json) {
        (void)cJSON_AddNumberToObject(object, "derived", (double)verified.derived);
        (void)cJSON_AddNumberToObject(object, "equal", (double)verified.equal);
        ledger_json_add_text(object, "import_time", verified.import_time);
        ledger_json_add_text(object, "snapshot_time", verified.snapshot_time);
        return true;
    }
    struct arena *arena = invocation->arena;
    (void)fprintf(invocation->out, "%.*s derived as of %.*s, %.*s equal; imported as of %.*s\n",
                  STR_ARG(report_counted(arena, verified.derived, "item", "items")),
                  STR_ARG(verified.snapshot_time), STR_ARG(report_count(arena, verified.equal)),
                  STR_ARG(verified.import_time));
    return true;
}

/* What is damaged is found already. */
static bool look_for_keys_alone(const struct findings *findings, struct store_reader *reader,
                                const struct table_desc *table, struct key_only *out,
                                struct error *err)
{
    return key_only_find(findings->invocation, reader, table, out, err) ||
           (findings->count > 0 && err->code == ERROR_DAMAGED);
}

static size_t example_count(const struct key_only *key_only)
{
    return key_only->count < KEY_ONLY_EXAMPLES ? (size_t)key_only->count : KEY_ONLY_EXAMPLES;
}

/* It is no finding: whoever made the table knows whether it is meant to have such. */
static void print_keys_alone(struct invocation *invocation, const struct key_only *key_only)
{
    size_t count = example_count(key_only);
    if (key_only->count == 0) {
        return;
    }
    (void)fprintf(invocation->out,
                  "note: items with nothing but their key, as an update leaves where its item was "
                  "deleted: %.*s\n",
                  STR_ARG(report_count(invocation->arena, key_only->count)));
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(invocation->out, "  %.*s\n", STR_ARG(key_only->examples[i]));
    }
    if (key_only->count > count) {
        struct str more = report_count(invocation->arena, key_only->count - count);
        (void)fprintf(invocation->out, "  and %.*s more\n", STR_ARG(more));
    }
}

static void add_keys_alone(cJSON *object, const struct key_only *key_only)
{
    cJSON *member = cJSON_AddObjectToObject(object, "key_only");
    (void)cJSON_AddNumberToObject(member, "items", (double)key_only->count);
    cJSON *examples = cJSON_AddArrayToObject(member, "examples");
    for (size_t i = 0; i < example_count(key_only); i++) {
        cJSON *example = cJSON_CreateObject();
        ledger_json_add_text(example, "key", key_only->examples[i]);
        (void)cJSON_AddItemToArray(examples, example);
    }
}

static void print_result(const struct findings *findings, const struct table_desc *table,
                         const struct key_only *key_only, cJSON *object)
{
    struct invocation *invocation = findings->invocation;
    if (invocation->json) {
        add_keys_alone(object, key_only);
        (void)cJSON_AddNumberToObject(object, "items", (double)table->item_count);
        (void)cJSON_AddBoolToObject(object, "sound", findings->count == 0);
        report_json(invocation, object);
    } else {
        print_keys_alone(invocation, key_only);
        struct arena *arena = invocation->arena;
        (void)fprintf(invocation->out, "%.*s, %.*s: %.*s\n",
                      STR_ARG(report_counted(arena, table->item_count, "item", "items")),
                      STR_ARG(report_counted(arena, table->index_count, "index", "indexes")),
                      STR_ARG(report_counted(arena, findings->count, "finding", "findings")));
    }
}

static bool verify(struct invocation *invocation, struct store *store, struct store_reader *reader,
                   struct error *err)
{
    cJSON *object = invocation->json ? cJSON_CreateObject() : NULL;
    struct findings findings = {.invocation = invocation,
                                .list = cJSON_AddArrayToObject(object, "findings")};
    struct table_desc table;
    struct key_only key_only = {.count = 0};
    bool ok = store_describe(store, invocation->arena, &table, err) &&
              store_verify(store, take_finding, &findings, err) &&
              look_for_keys_alone(&findings, reader, &table, &key_only, err) &&
              find_unfinished_import(reader, &findings, err) &&
              find_unfinished_runs(reader, &findings, err) &&
              compare_with_source(invocation, store, &findings, object, err);
    if (!ok) {
        cJSON_Delete(object);
        return false;
    }
    print_result(&findings, &table, &key_only, object);
    invocation->exit_status = findings.count == 0 ? 0 : FINDINGS_EXIT_STATUS;
    return true;
}

static bool run(struct invocation *invocation, struct error *err)
{
    if (invocation_flag(invocation, "from") != invocation_flag(invocation, "map")) {
        return error_set(err, ERROR_USAGE, "--from and --map go together");
    }
    return table_session_inspect(invocation, verify, err);
}

const struct command command_verify = {
    .name = "verify",
    .synopsis = "TABLE [--from SOURCE --map FILE [--plans DIR]]",
    .summary = "Check that the table agrees with itself, and with its source.",
    .details =
        "Checks every record, count and index entry. With --from and --map the items are\n"
        "derived again from the database, put through the plans that were applied since the\n"
        "import, and compared both ways. Rows that give no item are findings too, as those that\n"
        "'refold import --rejects' has left out. Findings give exit status 3.\n"
        "\n"
        "Items that consist of their key alone are named in a note, not as findings. A program\n"
        "that updates an item after it was deleted creates such items; but some tables have them\n"
        "on purpose.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};
