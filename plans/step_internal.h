/* step_internal — the steps of a plan file, as they are parsed, checked and printed. */
#ifndef PLANS_STEP_INTERNAL_H
#define PLANS_STEP_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/item/path.h"
#include "plans/place.h"
#include "plans/plan.h"
#include "plans/template.h"

#include <stdbool.h>
#include <stddef.h>

/* A member of set, put, rekey, or of the key of a lookup. */
struct assignment {
    struct path path;
    struct str spelled; /* the path as the file spells it */
    const struct template *template;
    size_t offset;
};

struct assignments {
    const struct assignment *list;
    size_t count;
};

struct removal {
    struct path path;
    size_t offset;
};

struct renaming {
    struct path from, to;
    size_t offset;
};

struct lookup {
    struct str alias; /* expressions read it as slot 0, 1, … in the order of the file */
    struct assignments key;
    size_t offset;
};

struct step {
    struct place place; /* "steps[2]" */
    size_t offset;
    struct str name;          /* empty: none */
    const struct expr *where; /* NULL: every item */
    const struct lookup *lookups;
    size_t lookup_count;
    struct assignments set, rekey, put;
    const struct removal *removals;
    size_t removal_count;
    const struct renaming *renamings;
    size_t renaming_count;
    bool deletes;
    enum collision collision;
    struct str newer; /* COLLISION_KEEP_NEWER: the attribute */
};

/* Parses an item step; the place in `out` is set by the caller. ERROR_PLAN. */
MUST_CHECK bool step_parse(const struct json *json, struct arena *arena, struct step *out,
                           struct error *err);

/* Parses what {"create_index": …} holds. ERROR_PLAN. */
MUST_CHECK bool index_parse(const struct place *place, const struct json *json, struct arena *arena,
                            struct stage *out, struct error *err);

/* "on_violation" beside create_index, as on_collision stands beside rekey; it may also stand
 * inside.
 */
MUST_CHECK bool index_violation_parse(const struct place *step, const struct json *json,
                                      struct arena *arena, struct stage *out, struct error *err);

/* Writes the canonical form of a step or index, as the plan's hash takes it. */
void step_print(const struct step *step, struct arena *arena, struct buffer *out);
void index_print(const struct stage *stage, struct arena *arena, struct buffer *out);

#endif
