/* expr_operators — the operators of the language and the brackets that build lists, sets, maps. */
#ifndef ENGINE_EXPR_EXPR_OPERATORS_INTERNAL_H
#define ENGINE_EXPR_EXPR_OPERATORS_INTERNAL_H

#include "engine/expr/expr_internal.h"
#include "engine/expr/expr_lexer_internal.h"

struct expr_operator {
    enum token_kind token;
    enum expr_kind kind;
    enum precedence precedence;
    struct operation operation;
};

/* The operator written with this token that binds with this precedence; NULL if there is none. */
const struct expr_operator *expr_operator_find(enum token_kind token, enum precedence precedence);

/* What stands in brackets, for the functions of the same names too. */
expr_evaluate expr_evaluate_list;
expr_evaluate expr_evaluate_set;

#endif
