/* expr_build — makes the nodes of an expression and checks what can be known before any item is
 * there: types, counts, literals that can never work. */
#ifndef ENGINE_EXPR_EXPR_BUILD_INTERNAL_H
#define ENGINE_EXPR_EXPR_BUILD_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/expr/expr_operators_internal.h"
#include "engine/item/path.h"
#include "engine/item/value.h"

#include <stddef.h>

struct builder {
    struct arena *arena;
    const struct expr_options *options;
    struct error *err;
    size_t fault; /* where, once err is set */
};

/* Arguments as they come. */
struct expr_list {
    const struct expr **items;
    size_t count;
    size_t capacity;
};
void expr_list_add(struct expr_list *list, struct arena *arena, const struct expr *expr);

/* What follows returns NULL on failure: ERROR_PLAN, and where. `at` is an offset in the text. */

/* The fault is this sentence, made as by printf. */
const struct expr *expr_build_fault(struct builder *builder, size_t at, const char *format, ...)
    PRINTF_LIKE(3, 4);

const struct expr *expr_build_constant(struct builder *builder, size_t at, struct value value);
const struct expr *expr_build_path(struct builder *builder, size_t at, struct path path);
const struct expr *expr_build_call(struct builder *builder, size_t at, struct str name,
                                   const struct expr_list *arguments);
/* `keys` of a map, a name for each argument; else NULL. */
const struct expr *expr_build_operator(struct builder *builder, size_t at,
                                       const struct expr_operator *op,
                                       const struct expr_list *arguments, const struct str *keys);

/* A set of values. */
const struct expr *expr_build_set(struct builder *builder, size_t at,
                                  const struct expr_list *values);

/* A map of names (constants of type S) and values, as many of each. */
const struct expr *expr_build_map(struct builder *builder, size_t at, const struct expr_list *keys,
                                  const struct expr_list *values);

#endif
