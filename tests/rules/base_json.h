/* base_json rules — shared by the Check suite and the fuzz target. */
#ifndef TESTS_RULES_BASE_JSON_H
#define TESTS_RULES_BASE_JSON_H

#include "tests/support/property.h"

#include <stdbool.h>

/* A text written as a JSON string is read back the same, and each of its bytes is found in the
 * source. */
bool rule_json_strings_come_back(struct draw *draw);

/* Any bytes are refused with a place, or are a tree whose parts start where their kind says. */
bool rule_json_takes_or_refuses_any_bytes(struct draw *draw);

#endif
