#include "migrate/ledger_counts.h"

#include "migrate/ledger_json.h"

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

cJSON *item_faults_to_json(const struct item_fault *faults, size_t count)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *fault = cJSON_CreateObject();
        ledger_json_add_text(fault, "step", faults[i].step);
        ledger_json_add_text(fault, "key", faults[i].key);
        ledger_json_add_text(fault, "reason", faults[i].reason);
        (void)cJSON_AddItemToArray(list, fault);
    }
    return list;
}

bool item_faults_from_json(const cJSON *list, struct arena *arena, struct item_fault **out,
                           size_t *count, struct error *err)
{
    size_t n = (size_t)cJSON_GetArraySize(list);
    struct item_fault *faults = arena_alloc(arena, (n + 1) * sizeof *faults);
    size_t i = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        if (!ledger_json_text(member, "step", arena, &faults[i].step, err) ||
            !ledger_json_text(member, "key", arena, &faults[i].key, err) ||
            !ledger_json_text(member, "reason", arena, &faults[i].reason, err)) {
            return false;
        }
        i++;
    }
    *out = faults;
    *count = n;
    return true;
}
