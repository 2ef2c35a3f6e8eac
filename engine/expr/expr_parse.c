#include "engine/expr/expr.h"

#include "engine/base/utf8.h"
#include "engine/expr/expr_operators_internal.h"
#include "engine/expr/expr_parser_internal.h"

static const struct expr *parse_or(struct parser *parser);

/* --- tokens --- */

bool expr_parser_advance(struct parser *parser)
{
    if (expr_lexer_next(&parser->lexer, &parser->token, parser->builder.err)) {
        return true;
    }
    parser->builder.fault = parser->lexer.at;
    return false;
}

const struct expr *expr_parser_expected(struct parser *parser, const char *what)
{
    enum { SHOWN_MAX = 24 };
    const struct token *found = &parser->token;
    if (found->kind == TOKEN_END) {
        return expr_build_fault(&parser->builder, found->at, "expected %s, found the end", what);
    }
    struct str shown = utf8_cut(found->text, SHOWN_MAX);
    return expr_build_fault(&parser->builder, found->at, "expected %s, found %.*s%s", what,
                            STR_ARG(shown), shown.len < found->text.len ? "..." : "");
}

bool expr_parser_pass(struct parser *parser, enum token_kind kind, const char *what)
{
    if (parser->token.kind != kind) {
        (void)expr_parser_expected(parser, what);
        return false;
    }
    return expr_parser_advance(parser);
}

/* One level deeper; the caller takes it off parser->depth again. */
static bool enter(struct parser *parser)
{
    if (parser->depth == EXPR_MAX_DEPTH) {
        (void)expr_build_fault(&parser->builder, parser->token.at, "nested over %d levels",
                               EXPR_MAX_DEPTH);
        return false;
    }
    parser->depth++;
    return true;
}

const struct expr *expr_parser_nested(struct parser *parser)
{
    if (!enter(parser)) {
        return NULL;
    }
    const struct expr *expr = parse_or(parser);
    parser->depth--;
    return expr;
}

bool expr_parser_list(struct parser *parser, enum token_kind close, const char *what,
                      struct expr_list *out)
{
    bool more = parser->token.kind != close;
    while (more) {
        const struct expr *expr = expr_parser_nested(parser);
        if (expr == NULL) {
            return false;
        }
        expr_list_add(out, parser->builder.arena, expr);
        more = parser->token.kind == TOKEN_COMMA;
        if (more && !expr_parser_advance(parser)) {
            return false;
        }
    }
    return expr_parser_pass(parser, close, what);
}

/* --- operators, tightest first --- */

/* An operator before its operand, which `parse` reads. */
static const struct expr *parse_prefix(struct parser *parser, const struct expr_operator *op,
                                       const struct expr *(*parse)(struct parser *parser))
{
    size_t at = parser->token.at;
    if (!enter(parser)) {
        return NULL;
    }
    const struct expr *operand = expr_parser_advance(parser) ? parse(parser) : NULL;
    parser->depth--;
    if (operand == NULL) {
        return NULL;
    }
    struct expr_list arguments = {0};
    expr_list_add(&arguments, parser->builder.arena, operand);
    return expr_build_operator(&parser->builder, at, op, &arguments, NULL);
}

static const struct expr *parse_sign(struct parser *parser)
{
    const struct expr_operator *op = expr_operator_find(parser->token.kind, BINDS_SIGN);
    return op == NULL ? expr_parser_primary(parser) : parse_prefix(parser, op, parse_sign);
}

/* Operators of two operands, from the left. */
static const struct expr *parse_pairs(struct parser *parser, enum precedence precedence,
                                      const struct expr *(*parse)(struct parser *parser))
{
    size_t at = parser->token.at;
    const struct expr *left = parse(parser);
    while (left != NULL) {
        const struct expr_operator *op = expr_operator_find(parser->token.kind, precedence);
        if (op == NULL) {
            return left;
        }
        const struct expr *right = expr_parser_advance(parser) ? parse(parser) : NULL;
        if (right == NULL) {
            return NULL;
        }
        struct expr_list arguments = {0};
        expr_list_add(&arguments, parser->builder.arena, left);
        expr_list_add(&arguments, parser->builder.arena, right);
        left = expr_build_operator(&parser->builder, at, op, &arguments, NULL);
    }
    return NULL;
}

/* An operand that is a chain of the same operator in parentheses joins in. */
static void add_link(struct parser *parser, const struct expr_operator *op, struct expr_list *links,
                     const struct expr *operand)
{
    if (operand->kind != op->kind) {
        expr_list_add(links, parser->builder.arena, operand);
        return;
    }
    for (size_t i = 0; i < operand->argument_count; i++) {
        expr_list_add(links, parser->builder.arena, operand->arguments[i]);
    }
}

/* One associative operator with all its operands. */
static const struct expr *parse_chain(struct parser *parser, enum precedence precedence,
                                      const struct expr *(*parse)(struct parser *parser))
{
    size_t at = parser->token.at;
    const struct expr *first = parse(parser);
    const struct expr_operator *op = expr_operator_find(parser->token.kind, precedence);
    if (first == NULL || op == NULL) {
        return first;
    }
    struct expr_list links = {0};
    add_link(parser, op, &links, first);
    while (parser->token.kind == op->token) {
        const struct expr *next = expr_parser_advance(parser) ? parse(parser) : NULL;
        if (next == NULL) {
            return NULL;
        }
        add_link(parser, op, &links, next);
    }
    return expr_build_operator(&parser->builder, at, op, &links, NULL);
}

static const struct expr *parse_product(struct parser *parser)
{
    return parse_pairs(parser, BINDS_PRODUCT, parse_sign);
}

static const struct expr *parse_sum(struct parser *parser)
{
    return parse_pairs(parser, BINDS_SUM, parse_product);
}

static const struct expr *parse_concat(struct parser *parser)
{
    return parse_chain(parser, BINDS_CONCAT, parse_sum);
}

/* What follows the operator of a comparison. */
static bool parse_compared(struct parser *parser, enum expr_kind kind, struct expr_list *arguments)
{
    if (kind == EXPR_IN) {
        return expr_parser_pass(parser, TOKEN_OPEN, "(") &&
               expr_parser_list(parser, TOKEN_CLOSE, ", or )", arguments);
    }
    const struct expr *operand = parse_concat(parser);
    if (operand == NULL) {
        return false;
    }
    expr_list_add(arguments, parser->builder.arena, operand);
    if (kind != EXPR_BETWEEN) {
        return true;
    }
    operand = expr_parser_pass(parser, TOKEN_AND, "AND") ? parse_concat(parser) : NULL;
    if (operand == NULL) {
        return false;
    }
    expr_list_add(arguments, parser->builder.arena, operand);
    return true;
}

static const struct expr *parse_comparison(struct parser *parser)
{
    size_t at = parser->token.at;
    const struct expr *left = parse_concat(parser);
    const struct expr_operator *op = expr_operator_find(parser->token.kind, BINDS_COMPARISON);
    if (left == NULL || op == NULL) {
        return left;
    }
    struct expr_list arguments = {0};
    expr_list_add(&arguments, parser->builder.arena, left);
    if (!expr_parser_advance(parser) || !parse_compared(parser, op->kind, &arguments)) {
        return NULL;
    }
    if (arguments.count == 1) {
        return expr_build_fault(&parser->builder, at, "IN has no values");
    }
    return expr_build_operator(&parser->builder, at, op, &arguments, NULL);
}

static const struct expr *parse_not(struct parser *parser)
{
    const struct expr_operator *op = expr_operator_find(parser->token.kind, BINDS_NOT);
    return op == NULL ? parse_comparison(parser) : parse_prefix(parser, op, parse_not);
}

static const struct expr *parse_and(struct parser *parser)
{
    return parse_chain(parser, BINDS_AND, parse_not);
}

static const struct expr *parse_or(struct parser *parser)
{
    return parse_chain(parser, BINDS_OR, parse_and);
}

static const struct expr *parse_all(struct parser *parser, bool stop_at_brace)
{
    const struct expr *expr = expr_parser_advance(parser) ? expr_parser_nested(parser) : NULL;
    if (expr == NULL || parser->token.kind == (stop_at_brace ? TOKEN_MAP_CLOSE : TOKEN_END)) {
        return expr;
    }
    return expr_parser_expected(parser,
                                stop_at_brace ? "an operator or }" : "an operator or the end");
}

bool expr_parse(struct str text, const struct expr_options *options, struct arena *arena,
                struct expr_parsed *out, struct error *err)
{
    bool stop_at_brace = options != NULL && options->stop_at_brace;
    struct parser parser = {.builder = {.arena = arena, .options = options, .err = err},
                            .lexer = {.text = text}};
    const struct expr *expr = parse_all(&parser, stop_at_brace);
    if (expr == NULL) {
        out->fault = parser.builder.fault;
        return false;
    }
    out->expr = expr;
    out->end = parser.token.at;
    return true;
}
