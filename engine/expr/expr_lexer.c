#include "engine/expr/expr_lexer_internal.h"

#include "engine/base/utf8.h"
#include "engine/expr/expr_internal.h"

#include <string.h>
#include <strings.h>

struct word {
    struct str text;
    enum token_kind kind;
};

static const struct word keywords[] = {
    {STR_INIT("OR"), TOKEN_OR},       {STR_INIT("AND"), TOKEN_AND},
    {STR_INIT("NOT"), TOKEN_NOT},     {STR_INIT("BETWEEN"), TOKEN_BETWEEN},
    {STR_INIT("IN"), TOKEN_IN},       {STR_INIT("TRUE"), TOKEN_TRUE},
    {STR_INIT("FALSE"), TOKEN_FALSE}, {STR_INIT("NULL"), TOKEN_NULL},
};

/* Longer ones before their prefixes. */
static const struct word signs[] = {
    {STR_INIT("<<"), TOKEN_SET_OPEN},
    {STR_INIT(">>"), TOKEN_SET_CLOSE},
    {STR_INIT("<>"), TOKEN_UNEQUAL},
    {STR_INIT("<="), TOKEN_LESS_EQUAL},
    {STR_INIT(">="), TOKEN_GREATER_EQUAL},
    {STR_INIT("||"), TOKEN_CONCAT},
    {STR_INIT("<"), TOKEN_LESS},
    {STR_INIT(">"), TOKEN_GREATER},
    {STR_INIT("="), TOKEN_EQUAL},
    {STR_INIT("+"), TOKEN_PLUS},
    {STR_INIT("-"), TOKEN_MINUS},
    {STR_INIT("*"), TOKEN_TIMES},
    {STR_INIT("."), TOKEN_DOT},
    {STR_INIT(","), TOKEN_COMMA},
    {STR_INIT(":"), TOKEN_COLON},
    {STR_INIT("("), TOKEN_OPEN},
    {STR_INIT(")"), TOKEN_CLOSE},
    {STR_INIT("["), TOKEN_LIST_OPEN},
    {STR_INIT("]"), TOKEN_LIST_CLOSE},
    {STR_INIT("{"), TOKEN_MAP_OPEN},
    {STR_INIT("}"), TOKEN_MAP_CLOSE},
};

static const struct str binary_prefix = STR_INIT("b64'");

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static size_t name_length(struct str s)
{
    size_t len = 0;
    while (len < s.len && (is_letter(s.ptr[len]) || (len > 0 && is_digit(s.ptr[len])))) {
        len++;
    }
    return len;
}

static size_t digits_length(struct str s, size_t from)
{
    size_t to = from;
    while (to < s.len && is_digit(s.ptr[to])) {
        to++;
    }
    return to - from;
}

/* e, perhaps a sign, and digits; 0 if that does not stand at `from`. */
static size_t exponent_length(struct str s, size_t from)
{
    if (from >= s.len || (s.ptr[from] != 'e' && s.ptr[from] != 'E')) {
        return 0;
    }
    size_t at = from + 1;
    if (at < s.len && (s.ptr[at] == '+' || s.ptr[at] == '-')) {
        at++;
    }
    size_t digits = digits_length(s, at);
    return digits == 0 ? 0 : at + digits - from;
}

/* Digits, then .digits, then an exponent; what does not follow this form is left unread. */
static size_t number_length(struct str s)
{
    size_t len = digits_length(s, 0);
    if (len < s.len && s.ptr[len] == '.') {
        size_t decimals = digits_length(s, len + 1);
        len += decimals == 0 ? 0 : 1 + decimals;
    }
    return len + exponent_length(s, len);
}

/* From the quote that s begins with to its fellow, doubled ones passed over; 0 if there is none. */
static size_t quoted_length(struct str s)
{
    for (size_t i = 1; i < s.len; i++) {
        if (s.ptr[i] != s.ptr[0]) {
            continue;
        }
        if (i + 1 == s.len || s.ptr[i + 1] != s.ptr[0]) {
            return i + 1;
        }
        i++;
    }
    return 0;
}

static enum token_kind keyword_kind(struct str name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (keywords[i].text.len == name.len &&
            strncasecmp(keywords[i].text.ptr, name.ptr, name.len) == 0) {
            return keywords[i].kind;
        }
    }
    return TOKEN_NAME;
}

static struct str rest_from(const struct lexer *lexer, size_t skip)
{
    size_t at = lexer->at + skip;
    return (struct str){lexer->text.ptr + at, lexer->text.len - at};
}

/* Takes `len` bytes as the token. */
static bool take(struct lexer *lexer, enum token_kind kind, size_t len, struct token *out)
{
    *out = (struct token){kind, lexer->at, {lexer->text.ptr + lexer->at, len}};
    lexer->at += len;
    return true;
}

static bool next_quoted(struct lexer *lexer, size_t prefix, struct token *out, struct error *err)
{
    struct str rest = rest_from(lexer, prefix);
    size_t len = quoted_length(rest);
    if (len == 0) {
        return error_set(err, ERROR_PLAN, "no closing %c", rest.ptr[0]);
    }
    if (!utf8_is_valid((struct str){rest.ptr, len})) {
        return error_set(err, ERROR_PLAN, "not UTF-8");
    }
    enum token_kind kind = prefix > 0           ? TOKEN_BINARY
                           : rest.ptr[0] == '"' ? TOKEN_QUOTED
                                                : TOKEN_STRING;
    return take(lexer, kind, prefix + len, out);
}

static bool next_number(struct lexer *lexer, struct token *out, struct error *err)
{
    struct str rest = rest_from(lexer, 0);
    size_t len = number_length(rest);
    if (len < rest.len && (is_letter(rest.ptr[len]) || is_digit(rest.ptr[len]))) {
        return error_set(err, ERROR_PLAN, "malformed number");
    }
    return take(lexer, TOKEN_NUMBER, len, out);
}

static bool next_sign(struct lexer *lexer, struct token *out, struct error *err)
{
    struct str rest = rest_from(lexer, 0);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (str_begins(rest, signs[i].text)) {
            return take(lexer, signs[i].kind, signs[i].text.len, out);
        }
    }
    if (rest.ptr[0] == '!') {
        return error_set(err, ERROR_PLAN, "unexpected '!': not equal is written <>");
    }
    if (rest.ptr[0] <= ' ' || rest.ptr[0] > '~') {
        return error_set(err, ERROR_PLAN,
                         "unexpected character: names other than letters A to Z, "
                         "digits and _ stand in double quotes");
    }
    return error_set(err, ERROR_PLAN, "unexpected '%c'", rest.ptr[0]);
}

static bool next_token(struct lexer *lexer, struct token *out, struct error *err)
{
    struct str rest = rest_from(lexer, 0);
    if (rest.ptr[0] == '\'' || rest.ptr[0] == '"') {
        return next_quoted(lexer, 0, out, err);
    }
    if (str_begins(rest, binary_prefix)) {
        return next_quoted(lexer, binary_prefix.len - 1, out, err);
    }
    if (is_digit(rest.ptr[0])) {
        return next_number(lexer, out, err);
    }
    size_t name = name_length(rest);
    if (name > 0) {
        return take(lexer, keyword_kind((struct str){rest.ptr, name}), name, out);
    }
    return next_sign(lexer, out, err);
}

bool expr_lexer_next(struct lexer *lexer, struct token *out, struct error *err)
{
    while (lexer->at < lexer->text.len && is_space(lexer->text.ptr[lexer->at])) {
        lexer->at++;
    }
    if (lexer->at == lexer->text.len) {
        return take(lexer, TOKEN_END, 0, out);
    }
    size_t start = lexer->at;
    if (!next_token(lexer, out, err)) {
        return false;
    }
    if (lexer->at > EXPR_MAX_BYTES) {
        lexer->at = start;
        return error_set(err, ERROR_PLAN, "expression of over %d bytes", EXPR_MAX_BYTES);
    }
    return true;
}

struct str expr_lexer_content(struct token token, struct arena *arena)
{
    size_t skip = token.kind == TOKEN_BINARY ? binary_prefix.len : 1;
    struct str inside = {token.text.ptr + skip, token.text.len - skip - 1};
    char quote = token.text.ptr[token.text.len - 1];
    char *bytes = arena_bytes(arena, inside.len);
    size_t len = 0;
    for (size_t i = 0; i < inside.len; i++) {
        bytes[len++] = inside.ptr[i];
        i += inside.ptr[i] == quote ? 1 : 0;
    }
    return (struct str){bytes, len};
}
