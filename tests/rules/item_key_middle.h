/* item_key_middle rules — shared by the Check suite and the fuzz target. */
#ifndef TESTS_RULES_ITEM_KEY_MIDDLE_H
#define TESTS_RULES_ITEM_KEY_MIDDLE_H

#include "tests/support/property.h"

#include <stdbool.h>

/* Of two texts, or two strings of bytes, one lies between and can be a key, or none does. */
bool rule_key_middle_lies_between_or_none_does(struct draw *draw);

#endif
