/* lmdb_model — the embedded table against a plain array of items. */
#ifndef TESTS_RULES_LMDB_MODEL_H
#define TESTS_RULES_LMDB_MODEL_H

#include "tests/support/property.h"

#include <stdbool.h>

/* After any writes, with keys of any length, a scan in any number of segments, every query of the
 * table and its index, and verify() agree with the array. */
bool rule_table_agrees_with_model(struct draw *draw);

#endif
