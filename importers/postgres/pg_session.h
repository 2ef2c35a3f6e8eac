/* pg_session — one connection to PostgreSQL with every setting pinned that decides how values are
 * written as text. The only file that knows libpq. */
#ifndef IMPORTERS_POSTGRES_PG_SESSION_H
#define IMPORTERS_POSTGRES_PG_SESSION_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pg_session;

/* Connects.
 *   conninfo  a URI or keywords, as for psql
 *   stop      while it is false, the session waits for the server, with which a lock may be long
 * ERROR_SOURCE: no connection; ERROR_STOPPED, which all that follows may give too. */
MUST_CHECK bool pg_session_open(const char *conninfo, const atomic_bool *stop,
                                struct pg_session **out, struct error *err);
void pg_session_close(struct pg_session *session);

/* True if the text is what pg_session_open() takes. */
bool pg_session_is_conninfo(const char *text);

/* Where it is connected, without the password: "postgresql://user@host:5432/database". */
struct str pg_session_name(const struct pg_session *session, struct arena *arena);

/* True if the server does not know how its texts are encoded (SQL_ASCII): they come as they are. */
bool pg_session_is_unchecked(const struct pg_session *session);

/* A result's cells are text; ptr NULL is SQL NULL. */
struct pg_rows {
    size_t count, columns;
    const struct str *cells; /* row after row */
};

static inline struct str pg_cell(const struct pg_rows *rows, size_t row, size_t column)
{
    return rows->cells[row * rows->columns + column];
}

/* Runs one statement with text parameters ($1, …). ERROR_SOURCE: what the server said.
 *   parameters  may be NULL where count is 0
 *   arena       owns the cells */
struct pg_statement {
    const char *sql;
    const char *const *parameters;
    int count;
};
MUST_CHECK bool pg_session_query(struct pg_session *session, const struct pg_statement *statement,
                                 struct arena *arena, struct pg_rows *out, struct error *err);

/* Runs a statement without results. */
MUST_CHECK bool pg_session_run(struct pg_session *session, const char *sql, struct error *err);

/* A column of a statement's result, without running it. A domain is given as its base type. */
struct pg_result_column {
    struct str name;
    uint32_t type; /* OID */
};
struct pg_result_columns {
    struct pg_result_column *list;
    size_t count;
};
MUST_CHECK bool pg_session_describe(struct pg_session *session, const char *sql,
                                    struct arena *arena, struct pg_result_columns *out,
                                    struct error *err);

/* Starts "COPY (…) TO STDOUT". ERROR_STOPPED: *stop became true. */
MUST_CHECK bool pg_session_copy(struct pg_session *session, const char *sql,
                                const atomic_bool *stop, struct error *err);

/* The next line of the COPY without its line feed, writable, valid until the next call; *line is
 * NULL after the last, and then the session is free for the next statement.
 * ERROR_SOURCE: the server broke off, in the middle too; ERROR_STOPPED: *stop became true. */
MUST_CHECK bool pg_session_copy_line(struct pg_session *session, const atomic_bool *stop,
                                     char **line, size_t *len, struct error *err);

/* An identifier in SQL quotes. */
struct str pg_quote_name(struct str name, struct arena *arena);

#endif
