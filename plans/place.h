/* place — where something stands in a plan or map file, for messages:
 * "plans/0003_open_orders.json:7:22: steps[2].where: expected …, found …". */
#ifndef PLANS_PLACE_H
#define PLANS_PLACE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"

#include <stdbool.h>
#include <stddef.h>

struct place {
    struct str text;  /* of the whole file */
    const char *file; /* its name */
    struct str path;  /* "steps[2].set.GSI1PK"; empty for the whole file */
};

/* The place of a member, or of an element of an array, below `place`; the path lives in `arena`. */
struct place place_member(struct place place, struct str name, struct arena *arena);
struct place place_element(struct place place, size_t index, struct arena *arena);

/* Sets ERROR_PLAN "FILE:LINE:COLUMN: PATH: sentence" for the byte at `offset`; returns false. */
bool place_error(const struct place *place, size_t offset, struct error *err, const char *format,
                 ...) PRINTF_LIKE(4, 5);

/* Puts file, line, column and path before the message that is there; the code becomes ERROR_PLAN.
 */
bool place_wrap(const struct place *place, size_t offset, struct error *err);

/* "a string", "a number", … for "found …". */
const char *place_found(const struct json *json);

/* Each ERROR_PLAN unless the value is of the kind; place_text() also refuses an empty string. */
MUST_CHECK bool place_expect(const struct place *place, const struct json *json,
                             enum json_kind kind, struct error *err);
MUST_CHECK bool place_text(const struct place *place, const struct json *json, struct str *out,
                           struct error *err);

/* ERROR_PLAN for the first member of `object` that is not in `names` (NULL-ended); the message
 * lists what is allowed. */
MUST_CHECK bool place_members(const struct place *place, const struct json *object,
                              const char *const *names, struct error *err);

/* A value of the file and where it stands. */
struct placed_json {
    struct place place;
    const struct json *json;
};

/* What a path means in the expressions of a place; resolve NULL: every path is the item's. */
struct place_names {
    expr_resolve *resolve;
    void *context;
};

/* Parses the condition that is the whole of a JSON string; faults point into the string. The arena
 * owns *out. ERROR_PLAN: no string, no expression, or one that is no condition. */
MUST_CHECK bool place_condition(const struct placed_json *text, const struct place_names *names,
                                struct arena *arena, const struct expr **out, struct error *err);

#endif
