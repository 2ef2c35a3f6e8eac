/* item_edit rules — shared by the Check suite and the fuzz target. */
#ifndef TESTS_RULES_ITEM_EDIT_H
#define TESTS_RULES_ITEM_EDIT_H

#include "tests/support/property.h"

#include <stdbool.h>

/* All edits at once are the same as one after the other, the last places of a list first. */
bool rule_edits_at_once_are_edits_in_turn(struct draw *draw);

#endif
