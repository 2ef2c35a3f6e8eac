/* json — a JSON text as a tree that knows where everything stood: for plans, maps and items.
 * Read with yajl: numbers stay text, strings keep their length (NUL is legal), comments (slash-star
 * and slash-slash) are allowed where asked for, invalid UTF-8 is refused. */
#ifndef ENGINE_BASE_JSON_H
#define ENGINE_BASE_JSON_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Deep enough for DynamoDB's 32 levels, each wrapped in a type member, and a file around them. */
enum { JSON_MAX_DEPTH = 160 };

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_kind kind;
    bool boolean;       /* JSON_BOOL */
    struct str text;    /* JSON_STRING: decoded; JSON_NUMBER: as it is spelled */
    struct str name;    /* as a member of an object: its name, decoded */
    size_t name_offset; /* where the name starts, with its quote */
    size_t offset;      /* bytes from the start of the text to the value's first byte */
    size_t count;       /* JSON_ARRAY, JSON_OBJECT: elements or members */
    struct json *items; /* `count` of them, in order */
};

struct json_options {
    bool comments;    /* allow them; also skip a byte-order mark */
    const char *file; /* for messages: "plans/0003_x.json" */
};

/* Parses exactly one value; nothing but white space may follow.
 *   arena  owns the tree and its texts; `text` may go away
 * ERROR_INPUT: not JSON, too deep, a member named twice; the message begins
 * "FILE:LINE:COLUMN: " with line and column from 1, the column in characters. */
MUST_CHECK bool json_parse(struct str text, const struct json_options *options, struct arena *arena,
                           struct json **out, struct error *err);

/* The member of an object, or NULL. */
const struct json *json_member(const struct json *object, const char *name);

/* Line and column, from 1, of a byte offset in a text; the column counts UTF-8 characters. */
void json_position(struct str text, size_t offset, size_t *line, size_t *column);

/* Where byte `at` of the decoded string `string` stands in the source text: the offset of its first
 * source byte, escapes counted. For errors inside an expression inside a JSON string. */
size_t json_string_offset(struct str text, const struct json *string, size_t at);

struct buffer;
/* Appends s as a JSON string with its quotes: control characters, quotes and backslashes escaped,
 * NUL as \u0000, everything else as it is. */
void json_write_string(struct buffer *out, struct str s);

#endif
