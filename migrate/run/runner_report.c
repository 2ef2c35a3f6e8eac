#include "migrate/run/runner_report.h"

#include "migrate/cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct str runner_report_name(uint32_t version, struct str name, struct arena *arena)
{
    return arena_format(arena, "%04" PRIu32 " %.*s", version, STR_ARG(name));
}

/* Plans of the folder that --to left for later. */
static size_t count_later(const struct plan_list *plans, uint32_t version)
{
    size_t later = 0;
    for (size_t i = 0; i < plans->count; i++) {
        later += plans->plans[i]->version > version ? 1 : 0;
    }
    return later;
}

void runner_report_nothing(struct invocation *invocation, const struct ledger *ledger,
                           const struct plan_list *plans)
{
    const struct ledger_record *last = ledger_newest(ledger);
    if (last == NULL) {
        (void)fprintf(invocation->out, "nothing to do: there are no plans in %s\n",
                      invocation->plans_dir);
        return;
    }
    struct arena *arena = invocation->arena;
    struct str name = runner_report_name(last->version, last->name, arena);
    size_t later = count_later(plans, last->version);
    if (later == 0) {
        (void)fprintf(invocation->out, "nothing to do: all plans are applied, the last is %.*s\n",
                      STR_ARG(name));
        return;
    }
    struct str pending = report_counted(arena, later, "later plan is", "later plans are");
    (void)fprintf(invocation->out, "nothing to do: %.*s is applied, %.*s pending\n", STR_ARG(name),
                  STR_ARG(pending));
}

static uint64_t matched(const struct ledger_step *step)
{
    return step_counts_matched(&step->counts);
}

static uint64_t written(const struct ledger_step *step)
{
    return step->counts.written;
}

static uint64_t unchanged(const struct ledger_step *step)
{
    return step->counts.unchanged;
}

static uint64_t skipped(const struct ledger_step *step)
{
    return step->counts.skipped;
}

static uint64_t failed(const struct ledger_step *step)
{
    return step->counts.failed;
}

static uint64_t overwritten(const struct ledger_step *step)
{
    return step->counts.overwritten;
}

static uint64_t gone(const struct ledger_step *step)
{
    return step->counts.gone;
}

static uint64_t earlier(const struct ledger_step *step)
{
    return step->earlier;
}

static uint64_t sum(const struct ledger_step *steps, size_t count,
                    uint64_t (*value)(const struct ledger_step *step))
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        total += value(&steps[i]);
    }
    return total;
}

uint64_t runner_report_failed(const struct ledger_step *steps, size_t count)
{
    return sum(steps, count, failed);
}

uint64_t runner_report_gone(const struct ledger_step *steps, size_t count)
{
    return sum(steps, count, gone);
}

static const struct column {
    const char *head;
    uint64_t (*value)(const struct ledger_step *step);
    bool always; /* also where it is zero throughout */
} columns[] = {
    {"matched", matched, true},     {"written", written, true},
    {"unchanged", unchanged, true}, {"skipped", skipped, true},
    {"failed", failed, true},       {"overwritten", overwritten, false},
    {"gone", gone, false},          {"written before", earlier, false},
};

enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

void runner_report_steps(struct invocation *invocation, const struct ledger_step *steps,
                         size_t count)
{
    struct arena *arena = invocation->arena;
    const struct column *shown[COLUMN_COUNT];
    struct str cells[COLUMN_COUNT + 1] = {STR("  step")};
    size_t width = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (columns[i].always || sum(steps, count, columns[i].value) > 0) {
            shown[width++] = &columns[i];
            cells[width] = (struct str){columns[i].head, strlen(columns[i].head)};
        }
    }
    if (count == 0) {
        return;
    }
    struct report_table *table = report_table_new(arena, width + 1);
    report_table_row(table, cells);
    for (size_t i = 0; i < count; i++) {
        cells[0] = arena_format(arena, "  %.*s", STR_ARG(steps[i].label));
        for (size_t cell = 0; cell < width; cell++) {
            cells[cell + 1] = report_count(arena, shown[cell]->value(&steps[i]));
        }
        report_table_row(table, cells);
    }
    report_table_print(table, invocation->out, 1, false);
}

void runner_report_faults(struct invocation *invocation, const struct fault_list *faults,
                          uint64_t total)
{
    for (size_t i = 0; i < faults->count; i++) {
        const struct item_fault *fault = &faults->list[i];
        (void)fprintf(invocation->out, "  %.*s: %.*s%s%.*s\n", STR_ARG(fault->step),
                      STR_ARG(fault->key), fault->key.len > 0 ? ": " : "", STR_ARG(fault->reason));
    }
    if (total > faults->count) {
        struct str more = report_count(invocation->arena, total - faults->count);
        (void)fprintf(invocation->out, "  and %.*s more\n", STR_ARG(more));
    }
}

void runner_report_gone_items(struct invocation *invocation, const struct ledger_record *record)
{
    uint64_t count = runner_report_gone(record->steps, record->step_count);
    if (count > 0) {
        (void)fprintf(invocation->out, "%.*s deleted by others before they could be written:\n",
                      STR_ARG(report_count(invocation->arena, count)));
        runner_report_faults(invocation, &record->gone, count);
    }
}

void runner_report_unmatched(struct invocation *invocation, const struct ledger_step *steps,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (matched(&steps[i]) == 0 && earlier(&steps[i]) == 0) {
            (void)fprintf(invocation->out, "  note: no item matched %.*s\n",
                          STR_ARG(steps[i].label));
        }
    }
}

struct str runner_report_capacity(const struct store_usage *used, struct arena *arena)
{
    if (used->read_units <= 0 && used->write_units <= 0) {
        return STR("");
    }
    struct str read = report_count(arena, (uint64_t)(used->read_units + 0.5));
    struct str write = report_count(arena, (uint64_t)(used->write_units + 0.5));
    return arena_format(arena, "%.*s read, %.*s write", STR_ARG(read), STR_ARG(write));
}

void runner_report_used(struct invocation *invocation, const struct store_usage *used)
{
    struct str text = runner_report_capacity(used, invocation->arena);
    if (text.len > 0) {
        (void)fprintf(invocation->out, "  capacity units: %.*s\n", STR_ARG(text));
    }
}

void runner_report_record(struct invocation *invocation, const struct ledger_record *record)
{
    struct str name = runner_report_name(record->version, record->name, invocation->arena);
    uint64_t errors = runner_report_failed(record->steps, record->step_count);
    (void)fprintf(invocation->out, "%.*s: %s\n", STR_ARG(name), run_state_name(record->state));
    runner_report_steps(invocation, record->steps, record->step_count);
    if (record->state == RUN_APPLIED) {
        runner_report_unmatched(invocation, record->steps, record->step_count);
    }
    runner_report_used(invocation, &record->used);
    if (errors > 0) {
        struct str count = report_counted(invocation->arena, errors, "item error", "item errors");
        (void)fprintf(invocation->out, "%.*s:\n", STR_ARG(count));
    } else if (record->violating > 0) {
        struct str count =
            report_counted(invocation->arena, record->violating, "item violates", "items violate");
        (void)fprintf(invocation->out,
                      "%.*s the index, which was not made (\"on_violation\": "
                      "\"leave_out\" would leave them out):\n",
                      STR_ARG(count));
    }
    runner_report_faults(invocation, &record->faults, errors + record->violating);
    runner_report_gone_items(invocation, record);
}
