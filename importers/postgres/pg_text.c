#include "importers/postgres/pg_text.h"

#include <string.h>

/* "…" with backslashes before quotes and backslashes; reader->at is behind the first quote. */
static bool read_quoted(struct pg_array_reader *reader, struct arena *arena, struct str *text)
{
    const char *start = reader->at;
    size_t escapes = 0;
    const char *at = start;
    while (at < reader->end && *at != '"') {
        if (*at == '\\') {
            escapes++;
            at++;
        }
        at++;
    }
    if (at >= reader->end) {
        return false;
    }
    reader->at = at + 1;
    *text = (struct str){start, (size_t)(at - start)};
    if (escapes == 0) {
        return true;
    }
    char *out = arena_bytes(arena, text->len - escapes + 1);
    size_t len = 0;
    for (const char *from = start; from < at; from++) {
        from += *from == '\\' ? 1 : 0;
        out[len++] = *from;
    }
    *text = (struct str){out, len};
    return true;
}

static void skip_delimiter(struct pg_array_reader *reader)
{
    if (reader->at < reader->end && *reader->at == reader->delimiter) {
        reader->at++;
    }
}

static enum pg_array_token read_plain(struct pg_array_reader *reader, struct str *text)
{
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at != reader->delimiter && *reader->at != '}' &&
           *reader->at != '{' && *reader->at != '"') {
        reader->at++;
    }
    *text = (struct str){start, (size_t)(reader->at - start)};
    if (text->len == 0) {
        return PG_ARRAY_BAD;
    }
    return str_equal(*text, STR("NULL")) ? PG_ARRAY_NULL : PG_ARRAY_TEXT;
}

enum pg_array_token pg_array_next(struct pg_array_reader *reader, struct arena *arena,
                                  struct str *text)
{
    if (reader->at == reader->end) {
        return PG_ARRAY_END;
    }
    enum pg_array_token token = PG_ARRAY_BAD;
    switch (*reader->at) {
    case '{':
        reader->at++;
        return ++reader->depth > PG_ARRAY_MAX_DEPTH ? PG_ARRAY_BAD : PG_ARRAY_OPEN;
    case '}':
        reader->at++;
        reader->depth--;
        token = PG_ARRAY_CLOSE;
        break;
    case '"':
        reader->at++;
        token = read_quoted(reader, arena, text) ? PG_ARRAY_TEXT : PG_ARRAY_BAD;
        break;
    default:
        token = read_plain(reader, text);
        break;
    }
    skip_delimiter(reader);
    return token;
}

/* Bytes of the field that starts at `at`, with its quotes; *quotes is how many it has. */
static size_t field_length(struct str text, size_t at, size_t *quotes)
{
    size_t start = at;
    bool quoted = false;
    *quotes = 0;
    while (at < text.len && (quoted || (text.ptr[at] != ',' && text.ptr[at] != ')'))) {
        if (text.ptr[at] == '"') {
            quoted = !quoted;
            (*quotes)++;
        } else if (text.ptr[at] == '\\') {
            (*quotes)++;
            at++;
        }
        at++;
    }
    return (at < text.len ? at : text.len) - start;
}

/* Without the quotes around it; "" inside is one quote, \\ one backslash. */
static struct str unquote(struct str field, struct arena *arena)
{
    char *out = arena_bytes(arena, field.len);
    size_t len = 0;
    bool quoted = false;
    for (size_t i = 0; i < field.len; i++) {
        char c = field.ptr[i];
        if (c == '\\' && i + 1 < field.len) {
            out[len++] = field.ptr[++i];
        } else if (c == '"' && quoted && i + 1 < field.len && field.ptr[i + 1] == '"') {
            out[len++] = '"';
            i++;
        } else if (c == '"') {
            quoted = !quoted;
        } else {
            out[len++] = c;
        }
    }
    return (struct str){out, len};
}

/* Most quoted fields have nothing to unescape inside: they are a part of the text. */
static struct str field_content(struct str field, size_t quotes, struct arena *arena)
{
    if (quotes == 0) {
        return field.len == 0 ? (struct str){NULL, 0} : field;
    }
    if (quotes == 2 && field.ptr[0] == '"' && field.ptr[field.len - 1] == '"') {
        return (struct str){field.ptr + 1, field.len - 2};
    }
    return unquote(field, arena);
}

static bool is_composite(struct str text)
{
    return text.len >= 2 && text.ptr[0] == '(' && text.ptr[text.len - 1] == ')';
}

static bool wrong_count(size_t count, struct error *err)
{
    return error_set(err, ERROR_SOURCE, "a composite value has not %zu fields", count);
}

bool pg_composite_split(struct str text, struct arena *arena, struct str *fields, size_t count,
                        struct error *err)
{
    if (!is_composite(text)) {
        return error_set(err, ERROR_SOURCE, "not the text of a composite value");
    }
    if (count == 0) {
        return text.len == 2 || wrong_count(count, err);
    }
    size_t at = 1;
    for (size_t i = 0; i < count; i++) {
        size_t quotes;
        size_t len = field_length(text, at, &quotes);
        char wanted = i + 1 == count ? ')' : ',';
        if (at + len >= text.len || text.ptr[at + len] != wanted) {
            return wrong_count(count, err);
        }
        fields[i] = field_content((struct str){text.ptr + at, len}, quotes, arena);
        at += len + 1;
    }
    return at == text.len || wrong_count(count, err);
}
