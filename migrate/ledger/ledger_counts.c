#include "migrate/ledger/ledger_counts.h"

#include "migrate/ledger/ledger_json.h"

#include <stddef.h>

static const struct {
    const char *name;
    size_t offset;
} members[] = {
    {"written", offsetof(struct step_counts, written)},
    {"unchanged", offsetof(struct step_counts, unchanged)},
    {"skipped", offsetof(struct step_counts, skipped)},
    {"failed", offsetof(struct step_counts, failed)},
    {"overwritten", offsetof(struct step_counts, overwritten)},
    {"gone", offsetof(struct step_counts, gone)},
};

enum { MEMBER_COUNT = sizeof members / sizeof *members };

uint64_t step_counts_matched(const struct step_counts *counts)
{
    return counts->written + counts->unchanged + counts->skipped + counts->failed;
}

void step_counts_add(struct step_counts *sum, const struct step_counts *more)
{
    sum->written += more->written;
    sum->unchanged += more->unchanged;
    sum->skipped += more->skipped;
    sum->failed += more->failed;
    sum->overwritten += more->overwritten;
    sum->gone += more->gone;
}

void step_counts_to_json(const struct step_counts *counts, cJSON *object)
{
    (void)cJSON_AddNumberToObject(object, "matched", (double)step_counts_matched(counts));
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        uint64_t n = *(const uint64_t *)((const char *)counts + members[i].offset);
        (void)cJSON_AddNumberToObject(object, members[i].name, (double)n);
    }
}

bool step_counts_from_json(const cJSON *object, struct step_counts *out, struct error *err)
{
    struct step_counts counts;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        uint64_t *n = (uint64_t *)((char *)&counts + members[i].offset);
        if (!ledger_json_number(object, members[i].name, n, err)) {
            return false;
        }
    }
    *out = counts;
    return true;
}

void fault_list_add(struct fault_list *list, struct item_fault fault, struct arena *arena)
{
    if (list->list == NULL) {
        list->list = arena_alloc(arena, LEDGER_FAULTS_MAX * sizeof *list->list);
    }
    if (list->count < LEDGER_FAULTS_MAX) {
        list->list[list->count++] = (struct item_fault){.step = arena_copy(arena, fault.step),
                                                        .key = arena_copy(arena, fault.key),
                                                        .reason = arena_copy(arena, fault.reason)};
    }
}

void fault_list_to_json(const struct fault_list *list, cJSON *object, const char *name)
{
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (size_t i = 0; i < list->count; i++) {
        cJSON *fault = cJSON_CreateObject();
        ledger_json_add_text(fault, "step", list->list[i].step);
        ledger_json_add_text(fault, "key", list->list[i].key);
        ledger_json_add_text(fault, "reason", list->list[i].reason);
        (void)cJSON_AddItemToArray(array, fault);
    }
}

bool fault_list_from_json(const cJSON *object, const char *name, struct arena *arena,
                          struct fault_list *out, struct error *err)
{
    const cJSON *array = NULL;
    struct fault_list list = {NULL, 0};
    if (!ledger_json_array(object, name, &array, err)) {
        return false;
    }
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, array) {
        struct item_fault fault;
        if (!ledger_json_text(member, "step", arena, &fault.step, err) ||
            !ledger_json_text(member, "key", arena, &fault.key, err) ||
            !ledger_json_text(member, "reason", arena, &fault.reason, err)) {
            return false;
        }
        fault_list_add(&list, fault, arena);
    }
    *out = list;
    return true;
}
