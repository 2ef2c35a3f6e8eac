/* ddb_fetch — one small HTTP exchange, waited for: how credentials are had. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_FETCH_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_FETCH_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { DDB_FETCH_HEADERS_MAX = 8 };

struct ddb_fetch {
    const char *method;
    struct str url;                            /* NUL-ended */
    struct str headers[DDB_FETCH_HEADERS_MAX]; /* "Name: value", NUL-ended */
    size_t header_count;
    struct str body;
    long timeout_ms;
    bool direct; /* past any proxy: the address is of this host */
};

/* False: no reply; *what says why. Else the status and the body, in the arena. */
bool ddb_fetch(const struct ddb_fetch *fetch, struct arena *arena, int *status, struct str *body,
               const char **what);

#endif
