/* sort_order — the law of the sorter, shared by the Check suite and fuzzing. */
#ifndef TESTS_RULES_SORT_ORDER_H
#define TESTS_RULES_SORT_ORDER_H

#include "tests/support/property.h"

#include <stdbool.h>

/* What is read is what was added, each pair once, by key, equal keys as they were added; whether
 * it went through runs or not. */
bool rule_sort_is_a_stable_order(struct draw *draw);

#endif
