/* plans_fixture — items, plans and passes from short texts, for the tests of this room. */
#ifndef TESTS_RULES_PLANS_FIXTURE_H
#define TESTS_RULES_PLANS_FIXTURE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/value.h"
#include "plans/pass.h"
#include "plans/plan.h"

#include <stdbool.h>
#include <stddef.h>

/* The value that a template without expressions gives: {"PK": "a", "N": 1, "T": {"SS": ["x"]}}. */
struct value plans_value(const char *text, struct arena *arena);

/* DynamoDB JSON, for messages; "missing". */
const char *plans_show(struct value v, struct arena *arena);

/* The plan that a file "plans/0007_test.json" of this text holds. */
MUST_CHECK bool plans_plan(const char *text, struct arena *arena, const struct plan **out,
                           struct error *err);

/* The pass of the stage, of a plan of these steps, against a table with PK:S, SK:S and an index of
 * GSI1PK:S, GSI1SK:N that stands. */
MUST_CHECK bool plans_pass(const char *steps, size_t stage, struct arena *arena,
                           const struct pass **out, struct error *err);

#endif
