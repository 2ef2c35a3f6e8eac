/* plan — a plan file: one versioned change, parsed and checked as far as its text alone allows.
 * Immutable: threads may share it. */
#ifndef PLANS_PLAN_H
#define PLANS_PLAN_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "plans/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct step; /* an item step; see pass.h */

/* "on_collision". */
enum collision { COLLISION_FAIL, COLLISION_SKIP, COLLISION_OVERWRITE, COLLISION_KEEP_NEWER };

enum stage_kind { STAGE_PASS, STAGE_CREATE_INDEX, STAGE_DROP_INDEX };

/* What is done before the next thing begins: one pass of the table, or one table step. */
struct stage {
    enum stage_kind kind;
    size_t number;            /* PASS: of its first step; else of the step, in the file from 0 */
    const struct step *steps; /* PASS: neighbouring item steps, in order */
    size_t step_count;        /* PASS: 1 or more */
    struct str why; /* PASS: the text of the {"pass": …} that divides it from the one before */
    struct index_desc index; /* CREATE_INDEX: all of it; DROP_INDEX: the name */
    bool leave_out;          /* CREATE_INDEX: "on_violation": "leave_out" */
    struct place place;      /* CREATE_INDEX, DROP_INDEX: for messages, with the offset */
    size_t offset;
};

struct stage_list {
    const struct stage *stages;
    size_t count;
};

struct plan {
    uint32_t version;
    struct str name;        /* from the file name: "open_orders" */
    struct str description; /* empty if there is none */
    struct str hash;        /* "1:" and the SHA-256 of its meaning in hex */
    struct stage_list steps;
    bool has_rollback; /* explicit reverse steps are given (maybe none) */
    struct stage_list rollback;
    const char *file; /* as given to plan_parse(), in the arena */
};

/* Version and name from a path: "plans/0003_open_orders.json" is 3, "open_orders".
 * ERROR_PLAN: not DIGITS_NAME.json with a version from 1 and a name of letters, digits, '_', '-'.
 */
MUST_CHECK bool plan_file_name(const char *file, uint32_t *version, struct str *name,
                               struct error *err);

/* Parses a plan file's text.
 *   file   its path: gives version and name, stands in messages
 *   arena  owns the plan; `text` may go away
 * ERROR_PLAN: "FILE:LINE:COLUMN: steps[2].where: …"; unknown and doubled members are errors. */
MUST_CHECK bool plan_parse(struct str text, const char *file, struct arena *arena,
                           const struct plan **out, struct error *err);

#endif
