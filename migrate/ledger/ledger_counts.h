/* ledger_counts — what a pass did, step by step, and examples of what it could not do. */
#ifndef MIGRATE_LEDGER_LEDGER_COUNTS_H
#define MIGRATE_LEDGER_LEDGER_COUNTS_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one item step: matched = written + unchanged + skipped + failed. */
struct step_counts {
    uint64_t written;
    uint64_t unchanged;
    uint64_t skipped;
    uint64_t failed;
    uint64_t overwritten; /* items that lost their place by on_collision */
    uint64_t gone; /* items that somebody deleted between being read and being written: no match */
};

/* An item that a step did not write, as an example of its kind. */
struct item_fault {
    struct str step;
    struct str key;
    struct str reason;
};

/* Examples kept of a kind. */
enum { LEDGER_FAULTS_MAX = 20 };

struct fault_list {
    struct item_fault *list; /* NULL, or room for LEDGER_FAULTS_MAX */
    size_t count;
};

/* Adds a copy, unless there are enough. */
void fault_list_add(struct fault_list *list, struct item_fault fault, struct arena *arena);

/* The items that the step matched; and adds up counts. */
uint64_t step_counts_matched(const struct step_counts *counts);
void step_counts_add(struct step_counts *sum, const struct step_counts *more);

/* Members matched, written, unchanged, skipped, failed, overwritten, gone of an object. Reading:
 * ERROR_DAMAGED where one is missing. */
void step_counts_to_json(const struct step_counts *counts, cJSON *object);
MUST_CHECK bool step_counts_from_json(const cJSON *object, struct step_counts *out,
                                      struct error *err);

/* A member that is a list of {"step", "key", "reason"}. Reading: ERROR_DAMAGED. */
void fault_list_to_json(const struct fault_list *list, cJSON *object, const char *name);
MUST_CHECK bool fault_list_from_json(const cJSON *object, const char *name, struct arena *arena,
                                     struct fault_list *out, struct error *err);

#endif
