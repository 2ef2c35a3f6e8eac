/* template_internal — how a template is kept. */
#ifndef PLANS_TEMPLATE_INTERNAL_H
#define PLANS_TEMPLATE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

enum template_kind {
    TEMPLATE_LITERAL, /* JSON without an expression: only the constant */
    TEMPLATE_EXPR,    /* "${expr}" alone */
    TEMPLATE_TEXT,    /* parts make one S */
    TEMPLATE_TYPED,   /* {"N": …}: the only member, converted */
    TEMPLATE_SET,     /* members of one type, sorted as they print */
    TEMPLATE_LIST,
    TEMPLATE_MAP /* members sorted by name */
};

/* Of a text: an expression, or words; a constant expression has both, its words being its value. */
struct part {
    const struct expr *expr;
    struct str words; /* ptr NULL: they come of the expression */
};

struct template_member {
    struct str name; /* of a MAP's member; of a SET's its canonical text */
    const struct template *template;
};

struct template
{
    enum template_kind kind;
    enum value_type type;     /* of what it gives; MISSING: only evaluation tells */
    enum value_type key_type; /* to convert to, for a key attribute; else MISSING */
    bool drop_missing;
    struct value constant;    /* where nothing is read */
    struct str prefix;        /* template_literal_prefix() */
    const struct expr *expr;  /* EXPR */
    const struct part *parts; /* TEXT */
    const struct template_member *members;
    size_t count; /* of parts or members */
};

/* `v` as another type where that loses nothing: what {"TYPE": …} does. A set comes of an L, maybe
 * without members. ERROR_ITEM. */
MUST_CHECK bool template_convert(struct value v, enum value_type type, struct arena *arena,
                                 struct value *out, struct error *err);

/* `v` for a key attribute of the type: N and S convert into each other where `alone`; not empty.
 * ERROR_ITEM. */
MUST_CHECK bool template_convert_key(const struct template *template, struct value v,
                                     struct arena *arena, struct value *out, struct error *err);

/* A value's text inside of a text: S, N, BOOL; false for any other type. May point into `arena`. */
bool template_words(struct value v, struct arena *arena, struct str *out);

/* SS, NS or BS without members. */
struct value template_empty_set(enum value_type type);

#endif
