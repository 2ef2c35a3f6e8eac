/* expr_lexer — the language's tokens, one at a time. */
#ifndef ENGINE_EXPR_EXPR_LEXER_INTERNAL_H
#define ENGINE_EXPR_EXPR_LEXER_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_QUOTED, /* "name" */
    TOKEN_STRING, /* 'text' */
    TOKEN_BINARY, /* b64'text' */
    TOKEN_NUMBER,
    TOKEN_OR,
    TOKEN_AND,
    TOKEN_NOT,
    TOKEN_BETWEEN,
    TOKEN_IN,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL,
    TOKEN_EQUAL,
    TOKEN_UNEQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_CONCAT,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_DOT,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_LIST_OPEN,
    TOKEN_LIST_CLOSE,
    TOKEN_MAP_OPEN,
    TOKEN_MAP_CLOSE,
    TOKEN_SET_OPEN,
    TOKEN_SET_CLOSE
};

struct token {
    enum token_kind kind;
    size_t at;       /* offset of its first byte */
    struct str text; /* as it is written, quotes included */
};

struct lexer {
    struct str text;
    size_t at; /* what is read so far */
};

/* Reads the next token; TOKEN_END at the end of the text, again and again.
 * ERROR_PLAN: no token begins here; lexer->at is where. */
MUST_CHECK bool expr_lexer_next(struct lexer *lexer, struct token *out, struct error *err);

/* What a TOKEN_QUOTED, TOKEN_STRING or TOKEN_BINARY says: no quotes around it, doubled ones single.
 */
struct str expr_lexer_content(struct token token, struct arena *arena);

#endif
