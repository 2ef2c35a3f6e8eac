/* item_json — values as DynamoDB JSON ({"S": "a"}, {"N": "1"}, …) and as plain JSON. */
#ifndef ENGINE_ITEM_ITEM_JSON_H
#define ENGINE_ITEM_ITEM_JSON_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

#include <stdbool.h>

/* A whole item from {"name": {"TYPE": …}, …}. B and BS need padded canonical base64 (RFC 4648, 4).
 * ERROR_INPUT: no single member, unknown type, wrong content, bad base64, an empty set, a set
 * member twice, NULL that is not true, nested over 32 levels; ERROR_ITEM: a number that is none. */
MUST_CHECK bool item_json_item(const struct json *json, struct arena *arena, struct value *out,
                               struct error *err);

/* Writes {"TYPE": …}, members in canonical order, no white space; an item is written without the
 * outer {"M": …}. Numbers in plain digits. */
void item_json_write_value(struct value v, struct buffer *out);
void item_json_write_item(struct value item, struct buffer *out);

/* Plain JSON and back: S string, N number in plain digits, BOOL, NULL, L and sets array, M object,
 * B base64 string. Back: strings S, numbers N exactly.
 * ERROR_ITEM: a number that DynamoDB cannot hold. */
void item_json_write_plain(struct value v, struct buffer *out);
MUST_CHECK bool item_json_plain(const struct json *json, struct arena *arena, struct value *out,
                                struct error *err);

/* Base64 (RFC 4648, 4), padded. Decoding refuses anything but the canonical form: ERROR_INPUT. */
void base64_write(struct str bytes, struct buffer *out);
MUST_CHECK bool base64_read(struct str text, struct arena *arena, struct str *out,
                            struct error *err);

#endif
