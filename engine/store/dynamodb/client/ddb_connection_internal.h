/* ddb_connection — connections to one server, none of which blocks. libcurl resolves names,
 * connects, speaks TLS and gets through proxies; what goes over a connection is its owner's
 * business. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_CONNECTION_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_CONNECTION_INTERNAL_H

#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- making them */

struct ddb_connector;

/* For "http://host:port/" or "https://…", and one thread. The URL and the world are borrowed. */
MUST_CHECK bool ddb_connector_open(const struct ddb_world *world, const char *url,
                                   struct ddb_connector **out);
/* Its connections are closed, and are freed after it, as libcurl may still name them. NULL is fine.
 */
void ddb_connector_close(struct ddb_connector *connector);

/* There is something to do when this can be read, or when it is `due_us` (UINT64_MAX: never). */
int ddb_connector_descriptor(const struct ddb_connector *connector);
uint64_t ddb_connector_due_us(const struct ddb_connector *connector);
void ddb_connector_work(struct ddb_connector *connector);

/* The owner of the next connection of which it is known what came of it; NULL: none at present.
 *   what  why it is not open; static. NULL: it is */
void *ddb_connector_next(struct ddb_connector *connector, const char **what);

/* ---------------------------------------------------------------- one of them */

struct ddb_connection;

struct ddb_connection *ddb_connection_new(struct ddb_connector *connector, void *owner);
void ddb_connection_free(struct ddb_connection *connection);

/* Begins to connect one that is closed; ddb_connector_next() tells how it ends. False: it cannot
 * even be tried. */
MUST_CHECK bool ddb_connection_begin(struct ddb_connection *connection);

/* Nothing is said to the server. One that is closed may be closed, and begun again. */
void ddb_connection_close(struct ddb_connection *connection);

/* Open: neither closed nor being connected. */
bool ddb_connection_is_open(const struct ddb_connection *connection);

/* Of an open one: to wait for, edge-triggered, for both ways. */
int ddb_connection_descriptor(const struct ddb_connection *connection);

enum ddb_io {
    DDB_IO_DONE,  /* *len bytes, at least one */
    DDB_IO_LATER, /* none at present: wait for the descriptor */
    DDB_IO_ENDED, /* the server has ended its side (receiving only) */
    DDB_IO_FAILED
};

/* After DDB_IO_LATER it is called with the same bytes again, as TLS may hold some of them. */
enum ddb_io ddb_connection_send(struct ddb_connection *connection, struct str bytes, size_t *len);
enum ddb_io ddb_connection_receive(struct ddb_connection *connection, char *bytes, size_t room,
                                   size_t *len);

/* Why the last call failed; static. */
const char *ddb_connection_what(const struct ddb_connection *connection);

#endif
