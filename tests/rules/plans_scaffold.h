/* plans_scaffold rules — shared by the Check suite and the fuzz target. */
#ifndef TESTS_RULES_PLANS_SCAFFOLD_H
#define TESTS_RULES_PLANS_SCAFFOLD_H

#include "tests/support/property.h"

#include <stdbool.h>

/* Whatever tables there are, the map parses and binds, rows of all of them fold to as many keys,
 * and a row stands with what it belongs to. */
bool rule_scaffold_folds_any_schema(struct draw *draw);

#endif
