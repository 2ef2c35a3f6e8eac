/* expr_answer — expressions in tests: what one comes to, in one line of text. */
#ifndef TESTS_RULES_EXPR_ANSWER_H
#define TESTS_RULES_EXPR_ANSWER_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/item/value.h"

#include <stdbool.h>

/* The value of a constant expression, which must be right: items are written as {'a': 1}. */
struct value value_of_expr(struct arena *arena, const char *text);

/* What the expression comes to on an item: DynamoDB JSON, or "missing", or "item: " or "plan: "
 * with the message. */
const char *answer_of(struct arena *arena, struct str text, struct value item);

/* As answer_of() of an expression that is already parsed. */
const char *answer_in_scope(struct arena *arena, const struct expr *expr,
                            const struct expr_scope *scope);

/* The item that most tables ask about. */
#define ANSWER_ITEM                                                                         \
    "{'PK': 'CUSTOMER#1', 'SK': 'ORDER#7', 'S': 'text', 'N': 12.5, 'I': 7, 'B': b64'AAEC'," \
    " 'T': true, 'Z': null, 'SS': <<'a', 'b'>>, 'NS': <<1, 2>>, 'BS': <<b64'AQ=='>>,"       \
    " 'L': [1, 'a', [2]], 'M': {'k': 'v', 'in': [10, 20]}, 'E': '', 'my attr': 1,"          \
    " 'Accents': 'Grüße 😀'}"

/* One row of a table: an expression and what it comes to on ANSWER_ITEM. */
struct answer_row {
    const char *text;
    const char *answer;
};

/* Fails the running test unless the row is true. */
void answer_check(const struct answer_row *row);

/* The same on an item of its own, in DynamoDB JSON. Behind "item: " or "plan: " a part of the
 * message is enough. */
struct answer_item_row {
    const char *text;
    const char *item;
    const char *answer;
};
void answer_item_check(const struct answer_item_row *row);

/* True if the answer is as it is expected: the same, or an error of that kind whose message has
 * that part. */
bool answer_fits(const char *answer, const char *expected);

#endif
