/* ddb_endpoint — a URL of a server, cut so that what is signed is what is sent. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_ENDPOINT_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_ENDPOINT_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>

/* All NUL-ended, owned by the arena. */
struct ddb_endpoint {
    struct str url;  /* "http://127.0.0.1:8000/" */
    struct str host; /* of the Host header: with the port, unless it is the scheme's own */
    struct str path; /* "/" */
    bool local;      /* not AWS's own */
};

/* ERROR_USAGE: not http:// or https://, no host, or more than a path behind it (user, query,
 * fragment), or bytes that no URL holds. */
MUST_CHECK bool ddb_endpoint_parse(struct str text, struct arena *arena, struct ddb_endpoint *out,
                                   struct error *err);

/* AWS's own endpoint of a service ("dynamodb", "sts") in a region. */
struct str ddb_endpoint_of(const char *service, struct str region, struct arena *arena);

#endif
