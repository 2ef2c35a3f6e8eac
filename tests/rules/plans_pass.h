/* Laws of passes and plan files. */
#ifndef TESTS_RULES_PLANS_PASS_H
#define TESTS_RULES_PLANS_PASS_H

#include "tests/support/property.h"

/* What a pass has made of an item, without an item error, comes out of it again unchanged, and so
 * do the items that it puts; a step's `matched` is written, unchanged, skipped or failed. */
property_rule rule_pass_leaves_its_results_alone;

/* A plan that parses has the same hash however it is spaced; whatever the text, the answer is a
 * plan or ERROR_PLAN. */
property_rule rule_plan_hash_ignores_spacing;

#endif
