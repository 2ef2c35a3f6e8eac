/* expr_text rules — of the functions that make and take apart text and dates. */
#ifndef TESTS_RULES_EXPR_TEXT_H
#define TESTS_RULES_EXPR_TEXT_H

#include "tests/support/property.h"

#include <stdbool.h>

/* pad(n, width, 'signed') orders texts as numbers, and pad(n, width) is the same from 0 up. */
bool rule_padded_numbers_sort_as_numbers(struct draw *draw);

/* before, separator and after are the whole; so are all parts of split with separators between. */
bool rule_parts_make_up_the_text(struct draw *draw);

/* An epoch written as a date, in any of the formats that keep milliseconds, is read back. */
bool rule_dates_come_back(struct draw *draw);

/* Dates written largest unit first order as their epochs. */
bool rule_dates_sort_as_their_epochs(struct draw *draw);

#endif
