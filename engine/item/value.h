/* value — attribute values in a compact canonical encoding, read in place.
 *
 * An item is a value of type M. Equal values have equal bytes: map members stand sorted by name
 * (unsigned bytes, shorter first), set members sorted and unique, numbers canonical, lengths in
 * their shortest form. So equality is memcmp, and a set read in another order is the same set.
 *
 *   S B        tag, varint length, bytes
 *   N          tag, length byte, number_encode() bytes (so N compares by memcmp)
 *   BOOL       tag, 0 or 1
 *   NULL       tag
 *   SS NS BS   tag, varint body bytes, body: varint count, members: varint length, bytes
 *   L          tag, varint body bytes, body: varint count, values
 *   M          tag, varint body bytes, body: varint count, members: varint name length, name, value
 */
#ifndef ENGINE_ITEM_VALUE_H
#define ENGINE_ITEM_VALUE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/number.h"

#include <stdbool.h>
#include <stddef.h>

/* Amazon DynamoDB Developer Guide, "Quotas". */
enum {
    ITEM_MAX_BYTES = 409600,
    VALUE_MAX_DEPTH = 32, /* containers around a scalar, the item itself not counted */
    PARTITION_KEY_MAX_BYTES = 2048,
    SORT_KEY_MAX_BYTES = 1024,
    ATTRIBUTE_NAME_MAX_BYTES = 65535
};

/* The tags are part of docs/format.md. */
enum value_type {
    VALUE_MISSING = 0, /* no value at all; never encoded */
    VALUE_S = 1,
    VALUE_N = 2,
    VALUE_B = 3,
    VALUE_BOOL = 4,
    VALUE_NULL = 5,
    VALUE_SS = 6,
    VALUE_NS = 7,
    VALUE_BS = 8,
    VALUE_L = 9,
    VALUE_M = 10
};

/* A borrowed, encoded value; {NULL, 0} is a missing one. */
struct value {
    const unsigned char *bytes;
    size_t len;
};

struct attribute {
    struct str name;
    struct value value;
};

/* Whether there is no value; and the type, VALUE_MISSING where there is none. */
static inline bool value_is_missing(struct value v)
{
    return v.bytes == NULL;
}

static inline enum value_type value_type(struct value v)
{
    return v.bytes == NULL ? VALUE_MISSING : (enum value_type)v.bytes[0];
}

/* Deep equality; missing equals only missing. */
static inline bool value_equal(struct value a, struct value b)
{
    if (value_is_missing(a) || value_is_missing(b)) {
        return value_is_missing(a) && value_is_missing(b);
    }
    return str_equal((struct str){(const char *)a.bytes, a.len},
                     (struct str){(const char *)b.bytes, b.len});
}

/* "S", "NS", …; "missing". And back: VALUE_MISSING if `name` is no type. */
const char *value_type_name(enum value_type type);
enum value_type value_type_named(struct str name);

/* --- reading; the value must be of the type that is named, and well formed --- */

struct str value_bytes(struct value v);     /* S, B: the content; N: its encoding */
bool value_bool(struct value v);            /* BOOL */
struct number value_number(struct value v); /* N */
size_t value_count(struct value v);         /* sets, L, M: members */

/* Walks members in order: start with value_members(v), call until it returns false. */
struct value_iter {
    const unsigned char *next;
    const unsigned char *end;
    bool named;             /* M */
    enum value_type member; /* of a set: VALUE_S, N or B; else MISSING */
};
struct value_iter value_members(struct value v); /* SS NS BS L M; of any other type: no members */

/* M: name and value; L: the value, name empty. Not for sets. */
bool value_next(struct value_iter *iter, struct attribute *out);

/* Sets: the member's bytes (NS: its number encoding). */
bool value_next_member(struct value_iter *iter, struct str *out);

/* A member of M by name, of L by place from 0; missing if it is not there or v is no M or L. */
struct value value_member(struct value v, struct str name);
struct value value_element(struct value v, size_t index);

/* S, N or B in their order, <0 0 >0. Both must be of one of these types, the same for both. */
int value_compare(struct value a, struct value b);

/* Checks bytes that come from outside (a file): canonical, complete, at most VALUE_MAX_DEPTH deep,
 * nothing behind it. ERROR_DAMAGED. */
MUST_CHECK bool value_check(struct value v, struct error *err);

/* --- building; results live in the arena --- */

struct value value_string(struct arena *arena, struct str s);
struct value value_binary(struct arena *arena, struct str bytes);
struct value value_from_number(struct arena *arena, const struct number *n);
struct value value_from_bool(bool b); /* static */
struct value value_null(void);        /* static */

/* L of `count` values, none missing. */
struct value value_list(struct arena *arena, const struct value *values, size_t count);

/* M; sorts `members` in place; missing values are left out.
 * ERROR_ITEM: a name twice. */
MUST_CHECK bool value_map(struct arena *arena, struct attribute *members, size_t count,
                          struct value *out, struct error *err);

/* The set (SS, NS, BS) of members that are all S, all N or all B, each once.
 * ERROR_ITEM: mixed or other types, a member twice, no members. */
MUST_CHECK bool value_set(struct arena *arena, const struct value *members, size_t count,
                          struct value *out, struct error *err);

/* As value_set(), but members that stand more than once are one. */
MUST_CHECK bool value_set_merged(struct arena *arena, const struct value *members, size_t count,
                                 struct value *out, struct error *err);

/* Set member bytes as a value of its own (S, N or B). */
struct value value_from_member(struct arena *arena, enum value_type type, struct str member);

/* A copy in the arena. */
struct value value_copy(struct arena *arena, struct value v);

#endif
