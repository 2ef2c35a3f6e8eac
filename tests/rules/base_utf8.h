/* base_utf8 rules — shared by the Check suite and the fuzz targets. */
#ifndef TESTS_RULES_BASE_UTF8_H
#define TESTS_RULES_BASE_UTF8_H

#include "tests/support/property.h"

#include <stdbool.h>

/* What utf8_put() writes is valid, and utf8_next() reads it back. */
bool rule_utf8_put_and_next_are_inverse(struct draw *draw);

/* The valid prefix of any bytes is valid, and with the next byte it is longer or invalid. */
bool rule_utf8_prefix_is_valid_and_the_rest_is_not(struct draw *draw);

#endif
