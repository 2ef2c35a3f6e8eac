/* runner_compile — a plan against the table that it will meet: its passes compiled, its table steps
 * checked, before anything is touched. */
#ifndef MIGRATE_RUN_RUNNER_COMPILE_H
#define MIGRATE_RUN_RUNNER_COMPILE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/ledger/ledger_record.h"
#include "plans/pass.h"
#include "plans/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct compiled_stage {
    const struct stage *stage;
    const struct pass *pass; /* STAGE_PASS, else NULL */
    const struct pass_facts *facts;
    size_t first_step; /* of its steps, among all item steps */
};

struct compiled_stages {
    const struct compiled_stage *list;
    size_t count;
    size_t step_count;
};

/* What a plan will meet. */
struct compile_target {
    const struct ledger_record *record; /* of an earlier attempt, or NULL: nothing is expected of
                                           indexes that it made or dropped */
    struct table_desc table;
};

/* Compiles the stages and makes of target->table what they will make of it, in the arena.
 * ERROR_PLAN: what pass_compile() refuses; an index that is made twice or dropped without being
 * there; too many indexes. */
MUST_CHECK bool runner_compile(const struct stage_list *stages, struct compile_target *target,
                               struct arena *arena, struct compiled_stages *out, struct error *err);

/* Makes of *table what the table step will make of it, in the arena; nothing else is checked. */
void runner_compile_step(const struct stage *stage, struct table_desc *table, struct arena *arena);

/* The index of that name in a description, or NULL. */
const struct index_desc *table_index(const struct table_desc *table, struct str name);

#endif
