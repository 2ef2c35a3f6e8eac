#include "engine/expr/expr_operators_internal.h"
#include "engine/expr/expr_parser_internal.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"

#include <string.h>

/* --- names and paths --- */

static bool take_name(struct parser *parser, struct str *out)
{
    struct token token = parser->token;
    if (token.kind != TOKEN_NAME && token.kind != TOKEN_QUOTED) {
        (void)expr_parser_expected(parser, "a name (keywords need double quotes)");
        return false;
    }
    *out = token.kind == TOKEN_NAME ? arena_copy(parser->builder.arena, token.text)
                                    : expr_lexer_content(token, parser->builder.arena);
    if (out->len == 0 || out->len > ATTRIBUTE_NAME_MAX_BYTES) {
        (void)expr_build_fault(&parser->builder, token.at, "a name has 1 to %d bytes",
                               ATTRIBUTE_NAME_MAX_BYTES);
        return false;
    }
    return expr_parser_advance(parser);
}

/* Digits only, and no more than an item can have elements. */
static bool take_place(struct parser *parser, size_t *out)
{
    struct str digits = parser->token.text;
    size_t place = 0;
    bool ok = parser->token.kind == TOKEN_NUMBER;
    for (size_t i = 0; ok && i < digits.len; i++) {
        ok = digits.ptr[i] >= '0' && digits.ptr[i] <= '9' && place < ITEM_MAX_BYTES;
        place = place * 10 + (size_t)(digits.ptr[i] - '0');
    }
    if (!ok || place >= ITEM_MAX_BYTES) {
        (void)expr_parser_expected(parser, "a place in a list, from 0");
        return false;
    }
    *out = place;
    return expr_parser_advance(parser);
}

static bool parse_step(struct parser *parser, struct path_step *out)
{
    *out = (struct path_step){.is_place = parser->token.kind == TOKEN_LIST_OPEN};
    if (!expr_parser_advance(parser)) {
        return false;
    }
    if (!out->is_place) {
        return take_name(parser, &out->name);
    }
    return take_place(parser, &out->place) && expr_parser_pass(parser, TOKEN_LIST_CLOSE, "]");
}

static const struct expr *parse_path(struct parser *parser, size_t at, struct str name)
{
    /* A value lies at most so deep; a longer path leads nowhere in any item. */
    struct path_step steps[VALUE_MAX_DEPTH + 1] = {{.name = name}};
    size_t count = 1;
    while (parser->token.kind == TOKEN_DOT || parser->token.kind == TOKEN_LIST_OPEN) {
        if (count == sizeof steps / sizeof *steps) {
            return expr_build_fault(&parser->builder, at, "a path of over %d steps",
                                    VALUE_MAX_DEPTH + 1);
        }
        if (!parse_step(parser, &steps[count])) {
            return NULL;
        }
        count++;
    }
    struct path_step *kept = arena_alloc(parser->builder.arena, count * sizeof *kept);
    memcpy(kept, steps, count * sizeof *kept);
    return expr_build_path(&parser->builder, at, (struct path){kept, count});
}

static const struct expr *parse_call(struct parser *parser, struct token name)
{
    struct expr_list arguments = {0};
    if (!expr_parser_advance(parser) ||
        !expr_parser_list(parser, TOKEN_CLOSE, ", or )", &arguments)) {
        return NULL;
    }
    return expr_build_call(&parser->builder, name.at, name.text, &arguments);
}

/* --- primaries; each begins at the token that the table below names --- */

static const struct expr *parse_name(struct parser *parser)
{
    struct token token = parser->token;
    struct str name;
    if (!take_name(parser, &name)) {
        return NULL;
    }
    if (parser->token.kind == TOKEN_OPEN && token.kind == TOKEN_NAME) {
        return parse_call(parser, token);
    }
    return parse_path(parser, token.at, name);
}

static const struct expr *parse_constant(struct parser *parser, struct value value)
{
    size_t at = parser->token.at;
    return expr_parser_advance(parser) ? expr_build_constant(&parser->builder, at, value) : NULL;
}

static const struct expr *parse_string(struct parser *parser)
{
    struct arena *arena = parser->builder.arena;
    return parse_constant(parser, value_string(arena, expr_lexer_content(parser->token, arena)));
}

static const struct expr *parse_binary(struct parser *parser)
{
    struct builder *builder = &parser->builder;
    struct str text = expr_lexer_content(parser->token, builder->arena);
    struct str bytes;
    if (!base64_read(text, builder->arena, &bytes, builder->err)) {
        return expr_build_fault(builder, parser->token.at, "not base64 with its padding");
    }
    return parse_constant(parser, value_binary(builder->arena, bytes));
}

static const struct expr *parse_number(struct parser *parser)
{
    struct builder *builder = &parser->builder;
    struct number n;
    if (!number_parse(parser->token.text, &n, builder->err)) {
        builder->err->code = ERROR_PLAN;
        builder->fault = parser->token.at;
        return NULL;
    }
    return parse_constant(parser, value_from_number(builder->arena, &n));
}

static const struct expr *parse_true(struct parser *parser)
{
    return parse_constant(parser, value_from_bool(true));
}

static const struct expr *parse_false(struct parser *parser)
{
    return parse_constant(parser, value_from_bool(false));
}

static const struct expr *parse_null(struct parser *parser)
{
    return parse_constant(parser, value_null());
}

static const struct expr *parse_parentheses(struct parser *parser)
{
    const struct expr *expr = expr_parser_advance(parser) ? expr_parser_nested(parser) : NULL;
    return expr != NULL && expr_parser_pass(parser, TOKEN_CLOSE, ")") ? expr : NULL;
}

static const struct expr *parse_list_literal(struct parser *parser)
{
    const struct expr_operator *op = expr_operator_find(TOKEN_LIST_OPEN, BINDS_PRIMARY);
    size_t at = parser->token.at;
    struct expr_list members = {0};
    if (!expr_parser_advance(parser) ||
        !expr_parser_list(parser, TOKEN_LIST_CLOSE, ", or ]", &members)) {
        return NULL;
    }
    return expr_build_operator(&parser->builder, at, op, &members, NULL);
}

static const struct expr *parse_set_literal(struct parser *parser)
{
    size_t at = parser->token.at;
    struct expr_list members = {0};
    if (!expr_parser_advance(parser) ||
        !expr_parser_list(parser, TOKEN_SET_CLOSE, ", or >>", &members)) {
        return NULL;
    }
    return expr_build_set(&parser->builder, at, &members);
}

static bool parse_member(struct parser *parser, struct expr_list *keys, struct expr_list *values)
{
    if (parser->token.kind != TOKEN_STRING) {
        (void)expr_parser_expected(parser, "a member's name in single quotes");
        return false;
    }
    const struct expr *key = parse_string(parser);
    if (key == NULL || !expr_parser_pass(parser, TOKEN_COLON, ":")) {
        return false;
    }
    const struct expr *value = expr_parser_nested(parser);
    if (value == NULL) {
        return false;
    }
    expr_list_add(keys, parser->builder.arena, key);
    expr_list_add(values, parser->builder.arena, value);
    return true;
}

static const struct expr *parse_map_literal(struct parser *parser)
{
    size_t at = parser->token.at;
    struct expr_list keys = {0};
    struct expr_list values = {0};
    if (!expr_parser_advance(parser)) {
        return NULL;
    }
    bool more = parser->token.kind != TOKEN_MAP_CLOSE;
    while (more) {
        if (!parse_member(parser, &keys, &values)) {
            return NULL;
        }
        more = parser->token.kind == TOKEN_COMMA;
        if (more && !expr_parser_advance(parser)) {
            return NULL;
        }
    }
    return expr_parser_pass(parser, TOKEN_MAP_CLOSE, ", or }")
               ? expr_build_map(&parser->builder, at, &keys, &values)
               : NULL;
}

static const struct {
    enum token_kind first;
    const struct expr *(*parse)(struct parser *parser);
} primaries[] = {
    {TOKEN_NAME, parse_name},
    {TOKEN_QUOTED, parse_name},
    {TOKEN_STRING, parse_string},
    {TOKEN_BINARY, parse_binary},
    {TOKEN_NUMBER, parse_number},
    {TOKEN_TRUE, parse_true},
    {TOKEN_FALSE, parse_false},
    {TOKEN_NULL, parse_null},
    {TOKEN_OPEN, parse_parentheses},
    {TOKEN_LIST_OPEN, parse_list_literal},
    {TOKEN_SET_OPEN, parse_set_literal},
    {TOKEN_MAP_OPEN, parse_map_literal},
};

const struct expr *expr_parser_primary(struct parser *parser)
{
    for (size_t i = 0; i < sizeof primaries / sizeof *primaries; i++) {
        if (primaries[i].first == parser->token.kind) {
            return primaries[i].parse(parser);
        }
    }
    return expr_parser_expected(parser, "a value");
}
