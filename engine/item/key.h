/* key — key schemas, an item's keys, and the limits that DynamoDB puts on them. */
#ifndef ENGINE_ITEM_KEY_H
#define ENGINE_ITEM_KEY_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

enum { KEY_PARTS_MAX = 4 }; /* of an index, per partition and per sort (GSI multi-attribute keys) */

struct key_attribute {
    struct str name;
    enum value_type type; /* VALUE_S, VALUE_N or VALUE_B */
};

/* A table has one partition attribute and at most one sort attribute; an index up to four each. */
struct key_schema {
    struct key_attribute partition[KEY_PARTS_MAX];
    size_t partition_count; /* 1..4 */
    struct key_attribute sort[KEY_PARTS_MAX];
    size_t sort_count; /* 0..4; 0: no sort key */
};

/* Values in schema order: partition parts, then sort parts. */
struct key {
    struct value parts[2 * KEY_PARTS_MAX];
    size_t count;
};

/* Parses "PK:S" (NAME:TYPE; the last colon divides).
 * ERROR_PLAN: no type, or a type that is not S, N or B; an empty name or one over 255 bytes. */
MUST_CHECK bool key_attribute_parse(struct str text, struct key_attribute *out, struct error *err);

/* The schema's attribute of that name, or NULL. */
const struct key_attribute *key_schema_find(const struct key_schema *schema, struct str name);

/* Whether both have the same attributes, of the same types, in the same order. */
bool key_schema_equal(const struct key_schema *a, const struct key_schema *b);

/* The item's key under the schema.
 * ERROR_ITEM / ERROR_LIMIT: an attribute is missing, of another type, empty, or too long; the
 * message names it: "key attribute SK: expected S, found N". */
MUST_CHECK bool key_of_item(const struct key_schema *schema, struct value item, struct key *out,
                            struct error *err);

/* As key_of_item() for an index: *present is false and there is no error where a part is missing
 * (a sparse index leaves the item out), even if other parts are bad values: those are errors, as
 * DynamoDB refuses the write. */
MUST_CHECK bool key_of_index(const struct key_schema *schema, struct value item, struct key *out,
                             bool *present, struct error *err);

/* True if two items are alike, in value or lack, in all attributes of the schema. */
bool key_attributes_equal(const struct key_schema *schema, struct value a, struct value b);

/* Whether all parts are alike; and a copy whose values lie in the arena. */
bool key_equal(const struct key *a, const struct key *b);
struct key key_copy(const struct key *key, struct arena *arena);

/* For messages: PK='CUSTOMER#1' SK='ORDER#2'; long or binary values are shortened. */
struct str key_print(const struct key_schema *schema, const struct key *key, struct arena *arena);

/* {PK: …, SK: …} as an item. */
struct value key_item(const struct key_schema *schema, const struct key *key, struct arena *arena);

/* How records carry keys: each part as its encoded value, one after the other. key_decode() reads
 * `count` values and checks them; they stay in `bytes`. ERROR_DAMAGED. */
void key_encode(const struct key *key, struct buffer *out);
MUST_CHECK bool key_decode(struct str bytes, size_t count, struct key *out, struct error *err);

#endif
