/* expr_internal — what a parsed expression is, and what an operation of the language is; shared by
 * the files of this room. */
#ifndef ENGINE_EXPR_EXPR_INTERNAL_H
#define ENGINE_EXPR_EXPR_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/item/path.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    EXPR_MAX_DEPTH = 100, /* ours: no honest expression nests deeper, and any stack bears it */
    EXPR_MAX_BYTES = ITEM_MAX_BYTES, /* ours: a literal of more could not be stored */
    EXPR_IN_MAX = 100, /* Developer Guide, "Condition and filter expressions", IN: up to 100 */
    EXPR_PARAMETERS_MAX = 3
};

/* Sets of value types, a bit for each. */
enum {
    TYPE_S = 1 << VALUE_S,
    TYPE_N = 1 << VALUE_N,
    TYPE_B = 1 << VALUE_B,
    TYPE_BOOL = 1 << VALUE_BOOL,
    TYPE_NULL = 1 << VALUE_NULL,
    TYPE_SET = 1 << VALUE_SS | 1 << VALUE_NS | 1 << VALUE_BS,
    TYPE_L = 1 << VALUE_L,
    TYPE_M = 1 << VALUE_M,
    TYPE_ORDERED = TYPE_S | TYPE_N | TYPE_B,
    TYPE_ANY = TYPE_ORDERED | TYPE_BOOL | TYPE_NULL | TYPE_SET | TYPE_L | TYPE_M
};

/* What one evaluation works with. */
struct evaluation {
    const struct expr_scope *scope;
    struct arena *scratch;
    struct error *err;
};

/* Evaluates a node; may leave arguments alone (AND, if). */
typedef bool expr_evaluate(const struct expr *expr, struct evaluation *in, struct value *out);

/* Computes from arguments that are all there and of the declared types. */
typedef bool expr_call(struct evaluation *in, const struct value *arguments, struct value *out);

enum parameter_form {
    PARAMETER_VALUE,
    PARAMETER_PATH,      /* nothing but a path */
    PARAMETER_CONDITION, /* always a BOOL */
    PARAMETER_LITERAL    /* known when parsing */
};

struct parameter {
    enum parameter_form form;
    unsigned types;
    bool (*valid)(struct value argument, struct error *err); /* beyond the type; may be NULL */
};

/* A function or an operator of the language: one row each. Two rows may share a name and differ in
 * how many arguments they take. */
struct operation {
    const char *name;
    size_t min;
    size_t max;
    const struct parameter *parameters[EXPR_PARAMETERS_MAX]; /* the last one given repeats */
    unsigned result;                                         /* the types that it may have */
    unsigned (*result_of)(const struct expr *expr); /* where the arguments decide, else NULL */
    expr_evaluate *evaluate;                        /* sees to its arguments itself; or NULL and: */
    expr_call *call; /* missing where an argument is; at most EXPR_PARAMETERS_MAX */
};

enum precedence {
    BINDS_OR = 1,
    BINDS_AND,
    BINDS_NOT,
    BINDS_COMPARISON,
    BINDS_CONCAT,
    BINDS_SUM,
    BINDS_PRODUCT,
    BINDS_SIGN,
    BINDS_PRIMARY
};

struct expr {
    enum expr_kind kind;
    enum precedence precedence;
    unsigned types;        /* that its value may have; TYPE_BOOL alone is a condition */
    bool reads;            /* a path stands in it */
    size_t depth;          /* of the tree below, itself counted */
    size_t at;             /* where it stood in the text */
    struct value constant; /* its value where it reads nothing; else missing */
    expr_evaluate *evaluate;
    const struct operation *operation; /* NULL for paths and constants */
    const struct expr *const *arguments;
    size_t argument_count;
    const struct str *keys; /* of a map under construction: a name for each argument */
    struct path path;       /* EXPR_PATH: as written */
    struct path rest;       /* EXPR_PATH: what is left of it within the slot */
    int slot;
};

/* The node's value; a constant is computed already. */
static inline bool expr_evaluate_node(const struct expr *expr, struct evaluation *in,
                                      struct value *out)
{
    if (!value_is_missing(expr->constant)) {
        *out = expr->constant;
        return true;
    }
    return expr->evaluate(expr, in, out);
}

/* The missing value. */
static inline struct value expr_missing(void)
{
    return (struct value){NULL, 0};
}

/* Evaluates all arguments. *missing is true, and the rest of *values not set, where one is. */
MUST_CHECK bool expr_evaluate_all(const struct expr *expr, struct evaluation *in,
                                  struct value **values, bool *missing);

/* ERROR_ITEM if a result of so many bytes could not be part of any item. */
MUST_CHECK bool expr_check_room(size_t bytes, struct error *err);

/* A set without members: no item holds one, but a set may come to it (to_set of an empty list). */
struct value expr_empty_set(void);
bool expr_is_empty_set(struct value v);

/* ERROR_ITEM if the type or value is none that the parameter takes. */
MUST_CHECK bool expr_parameter_accepts(const struct parameter *parameter, struct value argument,
                                       struct error *err);

/* The parameter that an argument is for. */
const struct parameter *expr_parameter(const struct operation *operation, size_t index);

/* For rows with `call`. */
expr_evaluate expr_evaluate_call;
expr_evaluate expr_evaluate_path;

#endif
