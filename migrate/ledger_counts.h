/* ledger_counts — what a pass did, step by step, and examples of what it could not do. */
#ifndef MIGRATE_LEDGER_COUNTS_H
#define MIGRATE_LEDGER_COUNTS_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

/* Of one item step: matched = written + unchanged + skipped + failed. */
struct step_counts {
    uint64_t written;
    uint64_t unchanged;
    uint64_t skipped;
    uint64_t failed;
    uint64_t overwritten; /* items that lost their place by on_collision */
};

/* An item error, as an example of its kind. */
struct item_fault {
    struct str step;
    struct str key;
    struct str reason;
};

/* The items that the step matched; and adds up counts. */
uint64_t step_counts_matched(const struct step_counts *counts);
void step_counts_add(struct step_counts *sum, const struct step_counts *more);

/* Members matched, written, unchanged, skipped, failed, overwritten of an object. Reading:
 * ERROR_DAMAGED where one is missing. */
void step_counts_to_json(const struct step_counts *counts, cJSON *object);
MUST_CHECK bool step_counts_from_json(const cJSON *object, struct step_counts *out,
                                      struct error *err);

/* A list of {"step", "key", "reason"}. Reading: ERROR_DAMAGED. */
cJSON *item_faults_to_json(const struct item_fault *faults, size_t count);
MUST_CHECK bool item_faults_from_json(const cJSON *list, struct arena *arena,
                                      struct item_fault **out, size_t *count, struct error *err);

#endif
