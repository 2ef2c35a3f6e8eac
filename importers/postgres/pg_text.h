/* pg_text — the text forms of arrays and composites, taken apart (PostgreSQL, "Arrays" and
 * "Composite Types", Input and Output Syntax). */
#ifndef IMPORTERS_POSTGRES_PG_TEXT_H
#define IMPORTERS_POSTGRES_PG_TEXT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stddef.h>

/* PostgreSQL's MAXDIM. */
enum { PG_ARRAY_MAX_DEPTH = 6 };

struct pg_array_reader {
    const char *at;
    const char *end;
    char delimiter; /* of the element type: ',' or, for boxes, ';' */
    int depth;      /* of open braces */
};

enum pg_array_token {
    PG_ARRAY_BAD, /* not the text of an array */
    PG_ARRAY_OPEN,
    PG_ARRAY_CLOSE,
    PG_ARRAY_NULL,
    PG_ARRAY_TEXT,
    PG_ARRAY_END
};

/* The next token of {a,"b c",NULL,{…}}.
 *   arena  owns *text where the element was escaped; else it points into the array's text */
enum pg_array_token pg_array_next(struct pg_array_reader *reader, struct arena *arena,
                                  struct str *text);

/* Splits (a,"b ""c""",) into its fields.
 *   fields  room for `count`; ptr NULL is SQL NULL
 * ERROR_SOURCE: not a composite of `count` fields. */
MUST_CHECK bool pg_composite_split(struct str text, struct arena *arena, struct str *fields,
                                   size_t count, struct error *err);

#endif
