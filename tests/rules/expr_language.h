/* expr_language rules — of parsing, printing and evaluating; shared by the Check suites and the
 * fuzz target. */
#ifndef TESTS_RULES_EXPR_LANGUAGE_H
#define TESTS_RULES_EXPR_LANGUAGE_H

#include "tests/support/property.h"

#include <stdbool.h>

/* Any text is refused at a place within it, or is an expression that prints as text which parses
 * to the same: it prints alike and evaluates alike on an item. */
bool rule_any_text_is_taken_or_refused(struct draw *draw);

/* The same of texts that are expressions, nested and of every operator and bracket. */
bool rule_expressions_print_as_themselves(struct draw *draw);

/* For conditions a and b: NOT (a AND b) is NOT a OR NOT b; <> is NOT =; BETWEEN is >= and <=;
 * IN is = or =. */
bool rule_conditions_obey_logic(struct draw *draw);

#endif
