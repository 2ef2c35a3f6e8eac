/* lmdb_damage — a table's file, spoilt. */
#ifndef TESTS_RULES_LMDB_DAMAGE_H
#define TESTS_RULES_LMDB_DAMAGE_H

#include "tests/support/property.h"

#include <stdbool.h>

/* Whatever bytes of the file are spoilt, the table is refused, or reads end in an error, or all
 * that is read is as it was written. Nothing crashes. */
bool rule_damage_is_an_error(struct draw *draw);

#endif
