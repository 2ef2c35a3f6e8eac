/* expr_pushed rules — of conditions that are handed to a server. */
#ifndef TESTS_RULES_EXPR_PUSHED_H
#define TESTS_RULES_EXPR_PUSHED_H

#include "engine/base/arena.h"
#include "engine/expr/expr.h"
#include "tests/support/property.h"

#include <stdbool.h>

/* The condition as it is written for a server, with names and literals in place of placeholders. */
struct str push_in_place(const struct expr *expr, struct arena *arena);

/* What is pushable is never an error, and what is written, read with literals in place of the
 * placeholders, comes to the same on every item. */
bool rule_pushed_conditions_mean_the_same(struct draw *draw);

#endif
