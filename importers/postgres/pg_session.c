#include "importers/postgres/pg_session.h"

#include "engine/base/buffer.h"

#include <libpq-fe.h>
#include <poll.h>
#include <string.h>

/* How often a reader that waits for the server looks at its stop flag. */
enum { WAIT_MS = 200 };

struct pg_session {
    PGconn *connection;
    const atomic_bool *stop; /* outside a COPY */
    char *line;              /* of the COPY, libpq's */
};

/* What the text form of values depends on; and nothing may end a long read or hide rows of it. */
static const char preamble[] =
    "SET client_encoding = 'UTF8'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601';"
    "SET TimeZone = 'UTC'; SET extra_float_digits = 3; SET bytea_output = 'hex';"
    "SET lc_monetary = 'C'; SET xmloption = 'content'; SET row_security = off;"
    "SET standard_conforming_strings = on; SET quote_all_identifiers = off;"
    "SET statement_timeout = 0; SET lock_timeout = 0; SET application_name = 'refold';"
    "SET idle_in_transaction_session_timeout = 0;"
    "SELECT set_config(name, '0', false) FROM pg_catalog.pg_settings"
    " WHERE name = 'transaction_timeout'"; /* since PostgreSQL 17 */

/* libpq's messages end with a line feed, and may go on in DETAIL and HINT lines. */
static bool session_error(struct error *err, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' ')) {
        len--;
    }
    static const char prefix[] = "ERROR:  ";
    size_t skip = len > sizeof prefix && strncmp(text, prefix, sizeof prefix - 1) == 0
                      ? sizeof prefix - 1
                      : 0;
    return error_set(err, ERROR_SOURCE, "PostgreSQL: %.*s", (int)(len - skip), text + skip);
}

static bool connection_error(const struct pg_session *session, struct error *err)
{
    return session_error(err, PQerrorMessage(session->connection));
}

static bool has_state(const PGresult *result, const char *wanted)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && strncmp(state, wanted, strlen(wanted)) == 0;
}

/* SQL that names what is not there, or is none, is a fault of the map (SQLSTATE class 42); a
 * privilege that is lacking is not. */
static bool result_error(const struct pg_session *session, const PGresult *result,
                         struct error *err)
{
    if (result == NULL) {
        return connection_error(session, err);
    }
    (void)session_error(err, PQresultErrorMessage(result));
    if (has_state(result, "42") && !has_state(result, "42501")) {
        err->code = ERROR_PLAN;
    }
    if (has_state(result, "55P03")) {
        struct error said = *err;
        return error_set(err, ERROR_SOURCE,
                         "%s\nhint: another session locks the table, or waits to: start the import "
                         "again when it is done",
                         said.text);
    }
    return false;
}

/* Warnings and notices of the user's own SQL are not ours to print. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* libpq quotes pieces of a connection string that it cannot read: any of them may be a password. */
static bool conninfo_error(struct error *err, const char *text)
{
    bool quoted = false;
    (void)session_error(err, text);
    for (char *at = err->text; *at != '\0'; at++) {
        if (*at == '"') {
            quoted = !quoted;
        } else if (quoted) {
            *at = '*';
        }
    }
    return false;
}

static bool check_conninfo(const char *conninfo, struct error *err)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(conninfo, &message);
    bool ok = options != NULL;
    if (!ok) {
        (void)conninfo_error(err, message == NULL ? "out of memory" : message);
    }
    PQconninfoFree(options);
    PQfreemem(message);
    return ok;
}

static bool prepare_session(struct pg_session *session, struct error *err)
{
    (void)PQsetNoticeReceiver(session->connection, ignore_notice, NULL);
    return pg_session_run(session, preamble, err) &&
           (!pg_session_is_unchecked(session) ||
            pg_session_run(session, "SET client_encoding = 'SQL_ASCII'", err));
}

bool pg_session_open(const char *conninfo, const atomic_bool *stop, struct pg_session **out,
                     struct error *err)
{
    if (!check_conninfo(conninfo, err)) {
        return false;
    }
    PGconn *connection = PQconnectdb(conninfo);
    struct pg_session *session = heap_alloc(sizeof *session);
    session->connection = connection;
    session->stop = stop;
    bool ok = connection != NULL && PQstatus(connection) == CONNECTION_OK;
    if (!ok) {
        const char *text = connection == NULL ? "out of memory" : PQerrorMessage(connection);
        (void)(strstr(text, "connection option") == NULL ? session_error(err, text)
                                                         : conninfo_error(err, text));
    }
    if (!ok || !prepare_session(session, err)) {
        pg_session_close(session);
        return false;
    }
    *out = session;
    return true;
}

void pg_session_close(struct pg_session *session)
{
    if (session != NULL) {
        PQfreemem(session->line);
        PQfinish(session->connection);
        heap_free(session);
    }
}

bool pg_session_is_conninfo(const char *text)
{
    return strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0 ||
           strchr(text, '=') != NULL;
}

struct str pg_session_name(const struct pg_session *session, struct arena *arena)
{
    const char *host = PQhost(session->connection);
    return arena_format(arena, "postgresql://%s@%s:%s/%s", PQuser(session->connection),
                        host == NULL ? "" : host, PQport(session->connection),
                        PQdb(session->connection));
}

bool pg_session_is_unchecked(const struct pg_session *session)
{
    const char *encoding = PQparameterStatus(session->connection, "server_encoding");
    return encoding != NULL && strcmp(encoding, "SQL_ASCII") == 0;
}

static void cancel(struct pg_session *session)
{
    char ignored[256];
    PGcancel *handle = PQgetCancel(session->connection);
    if (handle != NULL) {
        (void)PQcancel(handle, ignored, sizeof ignored);
        PQfreeCancel(handle);
    }
}

/* Waits for more from the server; a stop is noticed within WAIT_MS. */
static bool wait_for_data(struct pg_session *session, const atomic_bool *stop, struct error *err)
{
    if (atomic_load_explicit(stop, memory_order_relaxed)) {
        cancel(session);
        return error_set(err, ERROR_STOPPED, "interrupted\nhint: the same command starts again");
    }
    struct pollfd socket = {.fd = PQsocket(session->connection), .events = POLLIN};
    if (poll(&socket, 1, WAIT_MS) > 0 && PQconsumeInput(session->connection) == 0) {
        return connection_error(session, err);
    }
    return true;
}

/* The last result of what was sent, once all have come; `sent` is what PQsend…() said. */
static PGresult *take_result(struct pg_session *session, int sent, struct error *err)
{
    PGresult *last = NULL;
    PGresult *next = NULL;
    bool ok = sent != 0 || connection_error(session, err);
    while (ok) {
        while (ok && PQisBusy(session->connection) != 0) {
            ok = wait_for_data(session, session->stop, err);
        }
        next = ok ? PQgetResult(session->connection) : NULL;
        if (next == NULL) {
            break;
        }
        PQclear(last);
        last = next;
    }
    if (ok && last == NULL) {
        (void)connection_error(session, err);
    }
    if (!ok) {
        PQclear(last);
        last = NULL;
    }
    return last;
}

static bool check_result(const struct pg_session *session, const PGresult *result,
                         struct error *err)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
           result_error(session, result, err);
}

static void copy_cells(const PGresult *result, struct arena *arena, struct pg_rows *out)
{
    size_t rows = (size_t)PQntuples(result);
    size_t columns = (size_t)PQnfields(result);
    struct str *cells = arena_zero(arena, (rows * columns + 1) * sizeof *cells);
    for (size_t i = 0; i < rows * columns; i++) {
        int row = (int)(i / columns);
        int column = (int)(i % columns);
        if (PQgetisnull(result, row, column) == 0) {
            struct str cell = {PQgetvalue(result, row, column),
                               (size_t)PQgetlength(result, row, column)};
            cells[i] = arena_copy(arena, cell);
        }
    }
    *out = (struct pg_rows){rows, columns, cells};
}

bool pg_session_query(struct pg_session *session, const struct pg_statement *statement,
                      struct arena *arena, struct pg_rows *out, struct error *err)
{
    int sent = PQsendQueryParams(session->connection, statement->sql, statement->count, NULL,
                                 statement->parameters, NULL, NULL, 0);
    PGresult *result = take_result(session, sent, err);
    bool ok = result != NULL && check_result(session, result, err);
    if (ok) {
        copy_cells(result, arena, out);
    }
    PQclear(result);
    return ok;
}

bool pg_session_run(struct pg_session *session, const char *sql, struct error *err)
{
    PGresult *result = take_result(session, PQsendQuery(session->connection, sql), err);
    bool ok = result != NULL && check_result(session, result, err);
    PQclear(result);
    return ok;
}

static void copy_columns(const PGresult *described, struct arena *arena,
                         struct pg_result_columns *out)
{
    size_t count = (size_t)PQnfields(described);
    struct pg_result_column *list = arena_zero(arena, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const char *name = PQfname(described, (int)i);
        list[i].name = arena_copy(arena, (struct str){name, strlen(name)});
        list[i].type = PQftype(described, (int)i);
    }
    *out = (struct pg_result_columns){list, count};
}

bool pg_session_describe(struct pg_session *session, const char *sql, struct arena *arena,
                         struct pg_result_columns *out, struct error *err)
{
    PGconn *connection = session->connection;
    PGresult *described = NULL;
    PGresult *prepared = take_result(session, PQsendPrepare(connection, "", sql, 0, NULL), err);
    bool ok = prepared != NULL && check_result(session, prepared, err);
    if (ok) {
        described = take_result(session, PQsendDescribePrepared(connection, ""), err);
        ok = described != NULL && check_result(session, described, err);
    }
    if (ok) {
        copy_columns(described, arena, out);
    }
    PQclear(described);
    PQclear(prepared);
    return ok;
}

/* The server may work for long before it sends the first byte. */
bool pg_session_copy(struct pg_session *session, const char *sql, const atomic_bool *stop,
                     struct error *err)
{
    if (PQsendQuery(session->connection, sql) == 0) {
        return connection_error(session, err);
    }
    while (PQisBusy(session->connection) != 0) {
        if (!wait_for_data(session, stop, err)) {
            return false;
        }
    }
    PGresult *result = PQgetResult(session->connection);
    bool ok = PQresultStatus(result) == PGRES_COPY_OUT;
    if (!ok) {
        (void)result_error(session, result, err);
    }
    PQclear(result);
    return ok;
}

/* All results behind the rows: an error can come after many of them. */
static bool finish_copy(struct pg_session *session, struct error *err)
{
    bool ok = true;
    for (PGresult *result = PQgetResult(session->connection); result != NULL;
         result = PQgetResult(session->connection)) {
        if (ok && PQresultStatus(result) != PGRES_COMMAND_OK) {
            ok = result_error(session, result, err);
        }
        PQclear(result);
    }
    return ok;
}

bool pg_session_copy_line(struct pg_session *session, const atomic_bool *stop, char **line,
                          size_t *len, struct error *err)
{
    PQfreemem(session->line);
    session->line = NULL;
    int got = PQgetCopyData(session->connection, &session->line, 1);
    while (got == 0) {
        if (!wait_for_data(session, stop, err)) {
            return false;
        }
        got = PQgetCopyData(session->connection, &session->line, 1);
    }
    if (got == -2) {
        return connection_error(session, err);
    }
    *line = session->line;
    if (got == -1) {
        return finish_copy(session, err);
    }
    *len = (size_t)got - (session->line[got - 1] == '\n' ? 1 : 0);
    return true;
}

struct str pg_quote_name(struct str name, struct arena *arena)
{
    char *out = arena_alloc(arena, 2 * name.len + 3);
    size_t len = 0;
    out[len++] = '"';
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"') {
            out[len++] = '"';
        }
        out[len++] = name.ptr[i];
    }
    out[len++] = '"';
    out[len] = '\0';
    return (struct str){out, len};
}
