/* ddb_http — many POSTs in flight on kept-alive connections, in HTTP/1.1. One attempt each; never
 * repeats one. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_HTTP_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_HTTP_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/store/dynamodb/client/ddb_account_internal.h"
#include "engine/store/dynamodb/client/ddb_retry_internal.h"

#include <stdbool.h>
#include <stdint.h>

struct ddb_http;

/* How an attempt ended. */
struct ddb_arrival {
    void *tag; /* of the attempt */
    enum ddb_transport transport;
    const char *what; /* why it did not arrive; static */
    int status;
    struct str content; /* inflated, its checksum proved */
    int64_t date_s;     /* the server's Date, of a reply that is not 200; 0: none */
};

/* At most `slots` attempts at a time. */
MUST_CHECK bool ddb_http_open(struct ddb_account *account, unsigned slots, struct ddb_http **out,
                              struct error *err);
void ddb_http_close(struct ddb_http *http);

/* Attempts under way. */
unsigned ddb_http_in_flight(const struct ddb_http *http);

/* Signs a request for `now_s` and sends it; a slot must be free. `body` is kept by the caller. */
void ddb_http_start(struct ddb_http *http, const struct ddb_request *request,
                    const struct ddb_key *key, int64_t now_s, void *tag);

/* Waits at most `wait_us` for the end of an attempt. False: none has ended.
 *   arena  owns the content */
bool ddb_http_wait(struct ddb_http *http, uint64_t wait_us, struct arena *arena,
                   struct ddb_arrival *out);

/* As ddb_http_wait(), of those that have ended already. */
bool ddb_http_next(struct ddb_http *http, struct arena *arena, struct ddb_arrival *out);

/* Forgets what is under way; its connections are closed. */
void ddb_http_drop(struct ddb_http *http);

#endif
