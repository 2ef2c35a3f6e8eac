#include "engine/store/store.h"
#include "migrate/cli/control_file.h"
#include "migrate/commands.h"
#include "migrate/import/import_leftovers.h"
#include "migrate/import/import_options.h"
#include "migrate/import/import_own.h"
#include "migrate/import/import_report.h"
#include "migrate/import/import_table.h"
#include "migrate/ledger/import_state.h"
#include "migrate/ledger/ledger.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { REJECTS_EXIT_STATUS = 3 };

static const struct option options[] = {
    {"from", "SOURCE", "postgresql://..., or a file of JSON lines"},
    {"map", "FILE", "how rows become items; goes with a database"},
    {"partition", "NAME:TYPE", "partition key of a new table (default PK:S)"},
    {"sort", "NAME:TYPE",
     "sort key of a new table (default SK:S; none if --partition is given alone)"},
    {"create", NULL, "make a table on a server that does not exist; a file is always made"},
    {"dry-run", NULL, "derive and check everything, write nothing"},
    {"on-conflict", "fail|skip|overwrite",
     "where an item stands with other content (default fail); needed beside applied plans"},
    {"rejects", "FILE", "go on without rows that give no item; they are written there"},
    {"jobs", "N", "connections or threads that read (default 2)"},
    {"memory", "MB", "memory for sorting (default 64)"},
    {"temp", "DIR", "folder for temporary sort files (default: $TMPDIR, or beside the table)"},
    {"max-rcu", "N|N%", "read capacity a second, or a share of what is provisioned"},
    {"max-wcu", "N|N%", "write capacity a second, likewise"},
    {"control", "FILE",
     "pause, abort or limit the run (default: NAME.refold-control or STATE/control)"},
};

/* One import from beginning to end. */
struct import_job {
    struct invocation *invocation;
    struct import_options options;
    struct import_table table;
    struct source *source;
    struct import_rejects *rejects;
    struct import_sorted sorted;
    struct import_record record;
    struct import_written written;
    struct import_own *own; /* NULL: the store knows by itself */
    struct control_file *control;
    uint64_t started_ms;
};

static uint64_t now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* An import into a table with items that was broken off is taken up only by itself. */
static bool check_resume(const struct import_job *job, struct error *err)
{
    const struct import_record *last = &job->table.last;
    struct str map = job->options.map == NULL ? STR("") : job->options.map->hash;
    if (!job->table.resumes ||
        (str_equal(last->map, map) && str_equal(last->source, job->source->name))) {
        return true;
    }
    return error_set(err, ERROR_STORE,
                     "an import from %.*s, begun %.*s, was not finished\n"
                     "hint: run that import again first",
                     STR_ARG(last->source), STR_ARG(last->started));
}

/* Versions of plans that stand. */
struct standing {
    uint32_t first, last; /* that change items; 0: none */
    uint32_t before;      /* below the first of those; 0: none */
};

/* Plans that only make or drop indexes leave items as they are imported; a map may need them. */
static struct standing find_standing(const struct ledger *ledger)
{
    struct standing found = {0, 0, 0};
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_record *record = &ledger->records[i];
        if (ledger_stands(record) && record->step_count > 0) {
            found.last = record->version;
            found.first = found.first == 0 ? record->version : found.first;
        } else if (ledger_stands(record) && found.first == 0) {
            found.before = record->version;
        }
    }
    return found;
}

/* What plans have moved is not met under its old key: an import would silently bring it twice. */
static bool check_plans(const struct import_job *job, struct error *err)
{
    struct invocation *invocation = job->invocation;
    struct ledger ledger = {NULL, 0};
    if (job->table.reader != NULL &&
        !ledger_read(job->table.reader, invocation->arena, &ledger, err)) {
        return false;
    }
    struct standing plans = find_standing(&ledger);
    if (plans.last == 0 || job->table.last.loading) {
        return true;
    }
    if (invocation_text(invocation, "on-conflict") != NULL) {
        (void)fprintf(invocation->messages,
                      "note: plans up to %04" PRIu32 " are applied, and 'refold apply' does not "
                      "run them on what is imported now; 'refold apply TABLE --sweep --from "
                      "%" PRIu32 "' does\n",
                      plans.last, plans.first);
        return true;
    }
    return error_set(err, ERROR_PLAN,
                     "plans up to %04" PRIu32 " are applied to %s, and do not run on what is "
                     "imported now: it would stand in its old form beside what they made\n"
                     "hint: 'refold rollback TABLE --to %" PRIu32 "', import, and apply again; or "
                     "import beside it with --on-conflict fail, skip or overwrite",
                     plans.last, invocation->table, plans.before);
}

static bool open_all(struct import_job *job, struct error *err)
{
    struct invocation *invocation = job->invocation;
    const struct import_options *wanted = &job->options;
    struct import_wish wish = {wanted->map, wanted->partition, wanted->sort,
                               invocation_flag(invocation, "create")};
    struct import_make_options make = {wanted->temp_dir, wanted->memory_bytes};
    struct import_rejects_options rejects = {
        .path = wanted->rejects, .messages = wanted->dry_run ? invocation->messages : NULL};
    if (!import_table_open(invocation, &wish, !wanted->dry_run, &job->table, err) ||
        !check_plans(job, err) ||
        !import_source_open(wanted, &job->table.desc, invocation->stop, &job->source, err) ||
        !check_resume(job, err) || !import_rejects_open(&rejects, &job->rejects, err)) {
        return false;
    }
    for (size_t i = 0; i < job->source->notice_count; i++) {
        (void)fprintf(invocation->messages, "%.*s\n", STR_ARG(job->source->notices[i]));
    }
    return wanted->dry_run || import_table_make(invocation, &job->table, &make, err);
}

static bool sort(struct import_job *job, struct error *err)
{
    struct import_sort_options sorting = {
        .invocation = job->invocation,
        .source = job->source,
        .table = &job->table.desc,
        .store = job->table.store,
        .rejects = job->rejects,
        .jobs = job->options.jobs,
        .memory_bytes = job->options.memory_bytes,
        .temp_dir = job->options.temp_dir,
    };
    return import_sort(&sorting, &job->sorted, err);
}

static struct import_load_options load_options(struct import_job *job,
                                               struct import_rejects *rejects)
{
    return (struct import_load_options){
        .invocation = job->invocation,
        .store = job->table.store,
        .making = job->table.making,
        .stream = {.sorted = &job->sorted,
                   .source = job->source,
                   .keys = &job->table.desc.keys,
                   .rejects = rejects,
                   .counts = &job->sorted.counts,
                   .table = &job->table.desc},
        .items = job->sorted.counts.items,
        .pass = job->table.resumes ? job->table.last.pass : job->record.pass,
        .conflict = job->options.conflict,
        .empty = job->table.is_empty && !job->table.resumes,
        .alone = !job->table.exists,
        .resumes = job->table.resumes,
        .own = job->own,
    };
}

static bool write_record(struct import_job *job, struct error *err)
{
    struct arena *arena = job->invocation->arena;
    struct import_record *record = &job->record;
    record->loading = true;
    record->created = !job->table.exists;
    record->was_empty = job->table.is_empty && !job->table.resumes;
    record->map = job->options.map == NULL ? STR("") : job->options.map->hash;
    record->source = job->source->name;
    record->snapshot = job->source->snapshot;
    record->snapshot_time = job->source->time;
    record->started = ledger_now(arena);
    record->ended = STR("");
    record->who = ledger_who(arena);
    if (job->table.resumes) {
        record->pass = job->table.last.pass;
    } else if (!ledger_next_pass(job->table.store, job->table.reader, &record->pass, err)) {
        return false;
    }
    return import_state_write(job->table.store, record, err);
}

static bool finish_record(struct import_job *job, struct error *err)
{
    job->record.loading = false;
    job->record.ended = ledger_now(job->invocation->arena);
    job->record.items = job->sorted.counts.items;
    for (size_t i = 0; i < job->source->entity_count; i++) {
        job->record.rows += atomic_load(&job->source->entities[i].rows);
    }
    return import_state_write(job->table.store, &job->record, err);
}

/* Notes of an import that was finished, or taken back, are nobody's. */
static bool open_own(struct import_job *job, struct error *err)
{
    struct import_table *table = &job->table;
    if (store_keeps_pass(table->store)) {
        return true;
    }
    bool clears = !table->resumes && !job->options.dry_run;
    return (!clears || import_own_forget(table->store, table->reader, err)) &&
           import_own_open(table->reader, &job->own, err);
}

/* What a merge would do; every conflict is found on the way. */
static bool compare(struct import_job *job, struct import_written *out, struct error *err)
{
    if (!open_own(job, err)) {
        return false;
    }
    struct import_load_options comparing = load_options(job, job->rejects);
    return import_compare(&comparing, out, err);
}

/* Where items stand already, all conflicts are found before anything is written. */
static bool merge(struct import_job *job, struct error *err)
{
    struct import_written ignored;
    if (!compare(job, &ignored, err) || !write_record(job, err)) {
        return false;
    }
    struct import_load_options write = load_options(job, NULL);
    return import_merge(&write, &job->written, err) &&
           (!job->table.resumes || import_remove_leftovers(&write, &job->written, err)) &&
           import_finish_indexes(&write, err) && finish_record(job, err) &&
           (job->own == NULL || import_own_forget(job->table.store, job->table.reader, err));
}

/* Into a table that stood empty: nothing of this attempt stays, and nothing is to be said of it. */
static void take_back(struct import_job *job, struct error *err)
{
    const struct import_table *table = &job->table;
    struct error second;
    bool ok = job->own == NULL ||
              import_take_back(table->store, table->reader, &table->desc.keys, &second);
    ok = ok && (table->has_last ? import_state_write(table->store, &table->last, &second)
                                : import_state_forget(table->store, &second));
    if (!ok) {
        (void)error_wrap(err, "%s; and before that", second.text);
    }
}

/* All or nothing, as no item stands that could conflict. */
static bool load(struct import_job *job, struct error *err)
{
    if (!open_own(job, err) || !write_record(job, err)) {
        return false;
    }
    struct import_load_options loading = load_options(job, job->rejects);
    bool is_shared = job->own != NULL;
    bool ok = is_shared ? import_merge(&loading, &job->written, err)
                        : import_load(&loading, &job->written, err);
    if (!ok) {
        take_back(job, err);
        return false;
    }
    return finish_record(job, err) &&
           (!is_shared || import_own_forget(job->table.store, job->table.reader, err));
}

/* Counts what would be written; every shared key and conflict is found on the way. */
static bool rehearse(struct import_job *job, struct error *err)
{
    if (job->table.store != NULL) {
        return compare(job, &job->written, err);
    }
    struct import_load_options comparing = load_options(job, job->rejects);
    struct import_stream *stream = NULL;
    struct import_item item = {.item = {NULL, 0}};
    bool ok = import_stream_open(&comparing.stream, &stream, err) &&
              import_stream_next(stream, &item, err);
    while (ok && !value_is_missing(item.item)) {
        job->written.written++;
        ok = import_stream_next(stream, &item, err);
    }
    import_stream_close(stream);
    return ok;
}

static bool watch_control(struct import_job *job, struct error *err)
{
    struct control_watch watch = {.invocation = job->invocation,
                                  .store = job->table.store,
                                  .limits = job->options.limits,
                                  .path = invocation_text(job->invocation, "control")};
    return watch.store == NULL || control_file_open(&watch, &job->control, err);
}

static bool run_job(struct import_job *job, struct error *err)
{
    if (!open_all(job, err) || !watch_control(job, err) || !sort(job, err)) {
        return false;
    }
    bool empty = job->table.is_empty && !job->table.resumes;
    bool ok = job->options.dry_run ? rehearse(job, err) : empty ? load(job, err) : merge(job, err);
    return ok && import_rejects_keep(job->rejects, err);
}

static void report(struct import_job *job)
{
    struct import_summary summary = {
        .source = job->source,
        .table = &job->table.desc,
        .counts = &job->sorted.counts,
        .written = job->written,
        .rejected = import_rejects_count(job->rejects),
        .milliseconds = now_ms() - job->started_ms,
        .dry_run = job->options.dry_run,
    };
    import_report(job->invocation, &summary);
    job->invocation->exit_status = summary.rejected > 0 ? REJECTS_EXIT_STATUS : 0;
}

static bool run(struct invocation *invocation, struct error *err)
{
    struct import_job job = {.invocation = invocation, .started_ms = now_ms()};
    if (!import_options_read(invocation, &job.options, err)) {
        return false;
    }
    bool ok = run_job(&job, err);
    if (ok) {
        report(&job);
    }
    control_file_close(job.control);
    import_own_close(job.own);
    import_sorted_free(&job.sorted);
    import_rejects_close(job.rejects);
    import_table_close(invocation, &job.table, !ok);
    source_close(job.source);
    return ok;
}

const struct command command_import = {
    .name = "import",
    .synopsis = "TABLE --from SOURCE [--map FILE] [--dry-run] [--rejects FILE]",
    .summary = "Fold a database, or a file of JSON lines, into the table.",
    .details =
        "A table that does not exist is made, with the keys and indexes of the map or of\n"
        "--partition and --sort. Rows are read from one snapshot by several connections,\n"
        "sorted, and checked for shared keys before the first item is written; two rows that\n"
        "fold to one key are an error, and so is an item that stands with other content.\n"
        "An import that was broken off is started again by the same command.\n"
        "\n"
        "Where plans that change items are applied already, an import is refused: they would not\n"
        "run on what it brings, and what they have moved would stand there twice. Roll them back\n"
        "first. With --on-conflict it is imported all the same, as the map makes it, and\n"
        "'refold apply TABLE --sweep --from VERSION' runs them on it.\n"
        "\n"
        "In the report, \"left out\" counts attributes that items do not have because their value\n"
        "was NULL or missing. --control is explained by 'refold help apply'.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 1,
    .operands_max = 1,
    .takes_table = true,
    .run = run,
};
