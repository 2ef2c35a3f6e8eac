#include "migrate/run/dry_run_report.h"

#include "migrate/cli/report.h"
#include "migrate/ledger/ledger_json.h"
#include "migrate/run/runner_report.h"

#include <stdio.h>

/* ---------------------------------------------------------------- for people */

static void print_sent(struct invocation *invocation, const struct dry_stage *stage)
{
    for (size_t i = 0; stage->sent != NULL && i < stage->step_count; i++) {
        const struct pass_step *step = &stage->sent[i];
        (void)fprintf(invocation->out, "  %.*s is %s: %.*s\n", STR_ARG(step->label),
                      step_class_name(step->class), STR_ARG(step->why));
    }
}

static void print_pass(struct invocation *invocation, const struct dry_stage *stage)
{
    FILE *out = invocation->out;
    uint64_t failed = runner_report_failed(stage->steps, stage->step_count);
    runner_report_steps(invocation, stage->steps, stage->step_count);
    if (!stage->begun && failed == 0) {
        runner_report_unmatched(invocation, stage->steps, stage->step_count);
    }
    (void)fprintf(out, "  converges: %s\n",
                  stage->proved ? "proved by the plan's text" : "checked item by item");
    print_sent(invocation, stage);
    if (stage->colliding > 0) {
        struct str count =
            report_counted(invocation->arena, stage->colliding, "item collides", "items collide");
        (void)fprintf(out, "  %.*s\n", STR_ARG(count));
    }
    if (stage->sample_count > 0) {
        (void)fprintf(out, "  for example:\n");
    }
    for (size_t i = 0; i < stage->sample_count; i++) {
        (void)fwrite(stage->samples[i].ptr, 1, stage->samples[i].len, out);
    }
    if (failed > 0) {
        struct str count = report_counted(invocation->arena, failed, "item error", "item errors");
        (void)fprintf(out, "  %.*s:\n", STR_ARG(count));
        runner_report_faults(invocation, &stage->faults, failed);
    }
}

static void print_create(struct invocation *invocation, const struct dry_stage *stage)
{
    struct arena *arena = invocation->arena;
    const struct index_counts *counts = &stage->index;
    struct str whole =
        report_counted(arena, counts->whole, "item has its key", "items have its key");
    struct str partial = report_count(arena, counts->partial);
    struct str without = report_count(arena, counts->without);
    struct str violating = report_counted(arena, counts->violating, "violates it", "violate it");
    (void)fprintf(invocation->out,
                  "  create index %.*s: %.*s, %.*s a part of it, %.*s none, %.*s\n",
                  STR_ARG(stage->stage->index.name), STR_ARG(whole), STR_ARG(partial),
                  STR_ARG(without), STR_ARG(violating));
    runner_report_faults(invocation, &stage->faults, counts->violating);
}

static void print_plan(struct invocation *invocation, const struct dry_plan *plan)
{
    struct arena *arena = invocation->arena;
    struct str name = runner_report_name(plan->plan->version, plan->plan->name, arena);
    (void)fprintf(invocation->out, "%.*s: %s\n", STR_ARG(name),
                  plan->failed ? "would fail" : "would be applied");
    for (size_t i = 0; i < plan->stage_count; i++) {
        const struct dry_stage *stage = &plan->stages[i];
        if (stage->stage->kind == STAGE_PASS) {
            print_pass(invocation, stage);
        } else if (stage->stage->kind == STAGE_CREATE_INDEX) {
            print_create(invocation, stage);
        } else {
            (void)fprintf(invocation->out, "  drop index %.*s\n",
                          STR_ARG(stage->stage->index.name));
        }
    }
    for (size_t i = 0; i < plan->index_count; i++) {
        struct str entries = report_counted(arena, plan->indexes[i].entries, "entry", "entries");
        (void)fprintf(invocation->out, "  index %.*s would hold %s%.*s\n",
                      STR_ARG(plan->indexes[i].name), plan->indexes[i].exact ? "" : "at most ",
                      STR_ARG(entries));
    }
}

static void print_end(struct invocation *invocation, bool failed, size_t count, size_t pending)
{
    if (failed) {
        (void)fprintf(invocation->out,
                      "dry run, nothing was written: apply would stop at plan %zu of %zu\n", count,
                      pending);
    } else {
        (void)fprintf(invocation->out, "dry run, nothing was written: %zu %s pending\n", pending,
                      pending == 1 ? "plan is" : "plans are");
    }
}

/* ---------------------------------------------------------------- for programs */

static void add_pass(cJSON *object, const struct dry_stage *stage)
{
    (void)cJSON_AddStringToObject(object, "kind", "pass");
    cJSON *steps = cJSON_AddArrayToObject(object, "steps");
    for (size_t i = 0; i < stage->step_count; i++) {
        cJSON *step = cJSON_CreateObject();
        ledger_json_add_text(step, "label", stage->steps[i].label);
        step_counts_to_json(&stage->steps[i].counts, step);
        if (stage->sent != NULL) {
            const char *class = step_class_name(stage->sent[i].class);
            (void)cJSON_AddStringToObject(step, "class", class);
            ledger_json_add_text(step, "why", stage->sent[i].why);
        }
        (void)cJSON_AddItemToArray(steps, step);
    }
    (void)cJSON_AddStringToObject(object, "converges", stage->proved ? "proved" : "checked");
    (void)cJSON_AddNumberToObject(object, "colliding", (double)stage->colliding);
    cJSON *samples = cJSON_AddArrayToObject(object, "samples");
    for (size_t i = 0; i < stage->sample_count; i++) {
        (void)cJSON_AddItemToArray(samples, cJSON_CreateRaw(stage->samples[i].ptr));
    }
}

static void add_create(cJSON *object, const struct dry_stage *stage)
{
    (void)cJSON_AddStringToObject(object, "kind", "create_index");
    ledger_json_add_text(object, "index", stage->stage->index.name);
    (void)cJSON_AddNumberToObject(object, "whole", (double)stage->index.whole);
    (void)cJSON_AddNumberToObject(object, "partial", (double)stage->index.partial);
    (void)cJSON_AddNumberToObject(object, "without", (double)stage->index.without);
    (void)cJSON_AddNumberToObject(object, "violating", (double)stage->index.violating);
}

static cJSON *stage_to_json(const struct dry_stage *stage)
{
    cJSON *object = cJSON_CreateObject();
    if (stage->stage->kind == STAGE_PASS) {
        add_pass(object, stage);
    } else if (stage->stage->kind == STAGE_CREATE_INDEX) {
        add_create(object, stage);
    } else {
        (void)cJSON_AddStringToObject(object, "kind", "drop_index");
        ledger_json_add_text(object, "index", stage->stage->index.name);
    }
    fault_list_to_json(&stage->faults, object, "faults");
    (void)cJSON_AddBoolToObject(object, "failed", stage->failed);
    return object;
}

static cJSON *plan_to_json(const struct dry_plan *plan)
{
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "version", plan->plan->version);
    ledger_json_add_text(object, "name", plan->plan->name);
    cJSON *stages = cJSON_AddArrayToObject(object, "stages");
    for (size_t i = 0; i < plan->stage_count; i++) {
        (void)cJSON_AddItemToArray(stages, stage_to_json(&plan->stages[i]));
    }
    cJSON *indexes = cJSON_AddArrayToObject(object, "indexes");
    for (size_t i = 0; i < plan->index_count; i++) {
        cJSON *index = cJSON_CreateObject();
        ledger_json_add_text(index, "name", plan->indexes[i].name);
        (void)cJSON_AddNumberToObject(index, "entries", (double)plan->indexes[i].entries);
        (void)cJSON_AddBoolToObject(index, "exact", plan->indexes[i].exact);
        (void)cJSON_AddItemToArray(indexes, index);
    }
    (void)cJSON_AddBoolToObject(object, "failed", plan->failed);
    return object;
}

static void print_json(struct invocation *invocation, const struct dry_plan *plans, size_t count,
                       size_t pending)
{
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddBoolToObject(object, "dry_run", true);
    (void)cJSON_AddNumberToObject(object, "pending", (double)pending);
    cJSON *list = cJSON_AddArrayToObject(object, "plans");
    for (size_t i = 0; i < count; i++) {
        (void)cJSON_AddItemToArray(list, plan_to_json(&plans[i]));
    }
    report_json(invocation, object);
}

void dry_run_report(struct invocation *invocation, const struct dry_plan *plans, size_t count,
                    size_t pending)
{
    if (invocation->json) {
        print_json(invocation, plans, count, pending);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        print_plan(invocation, &plans[i]);
    }
    if (pending > 0) {
        print_end(invocation, plans[count - 1].failed, count, pending);
    }
}
