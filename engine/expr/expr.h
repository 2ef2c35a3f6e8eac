/* expr — the one expression language of conditions, templates and maps: DynamoDB's condition
 * expressions with literals in place, and pure functions. docs/language.md is its manual.
 * Parsed once, evaluated in place on encoded items, without allocating but for new values. */
#ifndef ENGINE_EXPR_EXPR_H
#define ENGINE_EXPR_EXPR_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/path.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

struct expr; /* immutable once parsed: threads may share it */

/* Where a path's first name leads: the item's attribute (EXPR_ITEM), or a slot of the scope, which
 * holds what a lookup found or what a column holds. */
enum { EXPR_ITEM = -1, EXPR_UNKNOWN = -2 };

/* Decides what a path means while parsing. `path` as it is written; returns a slot from 0,
 * EXPR_ITEM, or EXPR_UNKNOWN with a message set by error_set() (the parser adds the place). Sets
 * *used to how many leading steps the slot stands for: 1 for a lookup's alias ("c" of c.Name), 1
 * for a column, 2 for a join's column ("country.name"); 0 with EXPR_ITEM. */
typedef int expr_resolve(void *context, struct path path, size_t *used, struct error *err);

struct expr_options {
    expr_resolve *resolve; /* NULL: every path is the item's */
    void *context;
    bool stop_at_brace; /* for templates: parse ends before an unmatched '}' and says where */
};

/* What a parse found. */
struct expr_parsed {
    const struct expr *expr;
    size_t end;   /* bytes read: all, or those before the brace */
    size_t fault; /* set on failure, and only then: the byte offset in the text where it is */
};

/* Parses an expression from text.
 *   text     copied where needed; may go away
 *   options  NULL: every path is the item's, and the whole text is the expression
 *   arena    owns the expression
 * ERROR_PLAN: a sentence that says what was expected and what was found. */
MUST_CHECK bool expr_parse(struct str text, const struct expr_options *options, struct arena *arena,
                           struct expr_parsed *out, struct error *err);

/* True if the expression is a condition (comparison, AND, OR, NOT, a BOOL function, true, false):
 * what `where` and `when` take. A bare path is not. */
bool expr_is_condition(const struct expr *expr);

/* What an expression reads. */
struct expr_scope {
    struct value item;
    const struct value *slots; /* missing where a lookup found nothing or a column is NULL */
    size_t slot_count;
};

/* Evaluates. *out is missing where the language says so. It may point into the scope's values, into
 * the expression, or into `scratch`.
 * ERROR_ITEM: the value cannot be computed ("number(): 'abc' is not a number"). */
MUST_CHECK bool expr_eval(const struct expr *expr, const struct expr_scope *scope,
                          struct arena *scratch, struct value *out, struct error *err);

/* Evaluates a condition: missing counts as false. */
MUST_CHECK bool expr_test(const struct expr *expr, const struct expr_scope *scope,
                          struct arena *scratch, bool *out, struct error *err);

/* Calls visit for every path that the expression may read: its slot or EXPR_ITEM, and the path as
 * written (whole, the slot's own steps included). */
typedef void expr_visit(void *context, int slot, struct path path);
void expr_paths(const struct expr *expr, expr_visit *visit, void *context);

/* Canonical text: keywords upper case, single spaces, least parentheses, numbers canonical; parses
 * back to an equal expression. Used in plan hashes and messages. */
struct str expr_print(const struct expr *expr, struct arena *arena);

/* The constant value of an expression without paths (evaluated), or missing. */
struct value expr_constant(const struct expr *expr, struct arena *arena);

/* The only path of an expression that is nothing but a path; false otherwise. */
bool expr_is_path(const struct expr *expr, struct path *path);

/* --- taking conditions apart: for key conditions and for proofs of convergence --- */

enum expr_kind {
    EXPR_OTHER,
    EXPR_PATH,
    EXPR_CONSTANT,
    EXPR_CALL,    /* name says which function */
    EXPR_COMPARE, /* name is one of = <> < <= > >= */
    EXPR_BETWEEN, /* arguments: value, low, high */
    EXPR_IN,      /* value, then members */
    EXPR_AND,
    EXPR_OR,
    EXPR_NOT,
    EXPR_CONCAT /* || */
};
enum expr_kind expr_kind(const struct expr *expr);
struct str expr_name(const struct expr *expr);
size_t expr_argument_count(const struct expr *expr);
const struct expr *expr_argument(const struct expr *expr, size_t index);

/* The conjuncts of a condition joined by AND, flattened, the first `max` of them in `out`; returns
 * how many there are. */
size_t expr_conjuncts(const struct expr *expr, const struct expr **out, size_t max);

/* --- handing conditions to a server of the DynamoDB API --- */

/* True if a server comes to the same as expr_test() with the condition, on every item, and neither
 * ever to an error: it compares attributes of the item with texts, numbers and other scalars, by
 * operators and functions that mean the same in both, and is short enough to stand in an expression
 * with others. What is not certain is not pushable (size(), sets, documents, empty texts). */
bool expr_is_pushable(const struct expr *expr);

/* Where attribute names and values go: each writes the placeholder that stands for it. */
struct expr_sink {
    void (*name)(void *context, struct str name, struct buffer *out);
    void (*value)(void *context, struct value value, struct buffer *out);
    void *context;
};

/* Writes a pushable condition as it may stand beside AND and OR in a ConditionExpression or
 * FilterExpression; returns how many operators and functions it has (API: 300 an expression). */
size_t expr_push(const struct expr *expr, const struct expr_sink *sink, struct buffer *out);

#endif
