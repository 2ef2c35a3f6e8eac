/* item_text rules — of both forms of JSON and of base64; shared by the Check suite and the fuzz
 * target. */
#ifndef TESTS_RULES_ITEM_TEXT_H
#define TESTS_RULES_ITEM_TEXT_H

#include "tests/support/property.h"

#include <stdbool.h>

/* A value written as DynamoDB JSON is read back the same; so is an item. */
bool rule_item_json_comes_back(struct draw *draw);

/* A value written as plain JSON and read back is written the same again. */
bool rule_item_json_plain_comes_back(struct draw *draw);

/* Any JSON text is refused, or an item that is written and read back the same. */
bool rule_item_json_takes_or_refuses_any_text(struct draw *draw);

/* Bytes come back from base64; a text that is base64 is the one for its bytes. */
bool rule_base64_comes_back(struct draw *draw);

#endif
