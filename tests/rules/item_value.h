/* item_value rules — shared by the Check suites and the fuzz targets; and values to test with. */
#ifndef TESTS_RULES_ITEM_VALUE_H
#define TESTS_RULES_ITEM_VALUE_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/value.h"
#include "tests/support/property.h"

#include <stdbool.h>
#include <stdint.h>

/* A value from DynamoDB JSON, {"S": "a"}; an item from {"a": {"S": "b"}}. The text must be right.
 */
struct value value_of_json(struct arena *arena, const char *text);
struct value item_of_json(struct arena *arena, const char *text);

/* The DynamoDB JSON of a value or "missing"; of an item. */
struct str json_of_value(struct arena *arena, struct value v);
struct str json_of_item(struct arena *arena, struct value item);

/* Any value, containers at most `depth` deep; an M of a few attributes with short, near names. */
struct value draw_value(struct draw *draw, struct arena *arena, uint32_t depth);
struct value draw_item(struct draw *draw, struct arena *arena);

/* A drawn value is well formed, and the same when it is built again from what is read from it. */
bool rule_value_is_what_it_is_built_of(struct draw *draw);

/* Each member of an M is found by its name, each element of an L by its place, and nothing else. */
bool rule_value_members_are_found(struct draw *draw);

/* Any bytes are refused, or are the encoding of what is read from them. */
bool rule_value_check_takes_only_canonical_bytes(struct draw *draw);

/* The same for a well-formed value with a few bytes changed or cut off. */
bool rule_value_check_sees_damage(struct draw *draw);

/* The same members in another order are the same set, and the same map. */
bool rule_value_order_of_members_does_not_matter(struct draw *draw);

#endif
