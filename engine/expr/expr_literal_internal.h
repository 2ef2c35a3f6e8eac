/* expr_literal — values as the language writes them, whole and shortened. */
#ifndef ENGINE_EXPR_EXPR_LITERAL_INTERNAL_H
#define ENGINE_EXPR_EXPR_LITERAL_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/item/value.h"

/* Appends the literal that parses back to `v`: 'text', 12.5, true, null, b64'…', [a, b],
 * {'k': v}, <<a, b>>. */
void expr_literal_write(struct value v, struct buffer *out);

/* Appends 'text', with quotes doubled. */
void expr_literal_write_string(struct str s, struct buffer *out);

/* A value with its type on one short line for messages: S 'abc', N 12, L of 3 members; control
 * characters as '?'. */
enum { SHOWN_MAX_BYTES = 48 };
struct shown {
    char text[SHOWN_MAX_BYTES + 32];
};
struct shown expr_literal_shown(struct value v);

/* A set of types for messages: "S, N or B". */
struct types_text {
    char text[48];
};
struct types_text expr_literal_types(unsigned types);

#endif
