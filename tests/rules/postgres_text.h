/* postgres_text rules — shared by the Check suites and the fuzz target. */
#ifndef TESTS_RULES_POSTGRES_TEXT_H
#define TESTS_RULES_POSTGRES_TEXT_H

#include "tests/support/property.h"

#include <stdbool.h>

/* A row that is written as COPY writes it is split into the same fields. */
bool rule_copy_row_comes_back(struct draw *draw);

/* A composite written as record_out() writes it is split into the same fields. */
bool rule_composite_comes_back(struct draw *draw);

/* An array of texts written as array_out() writes it becomes the same list; of composites too,
 * where each is quoted once more. */
bool rule_array_comes_back(struct draw *draw);

/* Any bytes as the text of any type are a whole value or are refused. */
bool rule_any_text_converts_or_is_refused(struct draw *draw);

#endif
