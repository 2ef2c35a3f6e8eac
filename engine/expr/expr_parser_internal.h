/* expr_parser — the state of a parse, and what its two files need of each other: expr_parse.c has
 * the operators, expr_parse_primary.c what they stand between. Functions that return an expression
 * return NULL on failure, all others false, with the fault in the builder. */
#ifndef ENGINE_EXPR_EXPR_PARSER_INTERNAL_H
#define ENGINE_EXPR_EXPR_PARSER_INTERNAL_H

#include "engine/expr/expr_build_internal.h"
#include "engine/expr/expr_internal.h"
#include "engine/expr/expr_lexer_internal.h"

#include <stdbool.h>
#include <stddef.h>

struct parser {
    struct builder builder;
    struct lexer lexer;
    struct token token; /* the next one, not yet used */
    size_t depth;       /* of parse functions that call themselves */
};

/* Reads the next token. */
MUST_CHECK bool expr_parser_advance(struct parser *parser);

/* The fault that the next token is not what is expected. */
const struct expr *expr_parser_expected(struct parser *parser, const char *what);

/* Passes over a token that must be there; `what` is its name in the message. */
MUST_CHECK bool expr_parser_pass(struct parser *parser, enum token_kind kind, const char *what);

/* An expression that starts anew: the whole one, or one within brackets. */
const struct expr *expr_parser_nested(struct parser *parser);

/* Expressions divided by commas up to the closing token, which is passed over. */
MUST_CHECK bool expr_parser_list(struct parser *parser, enum token_kind close, const char *what,
                                 struct expr_list *out);

/* A literal, a path, a call, or something in brackets. */
const struct expr *expr_parser_primary(struct parser *parser);

#endif
