/* ddb_credentials — where a key comes from: the chain that AWS's own tools use.
 * AWS SDKs and Tools Reference Guide, "Credential provider chain". No message of this module ever
 * holds a secret, a token or a body that may hold one. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_CREDENTIALS_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_CREDENTIALS_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_profile_internal.h"

#include <stdbool.h>
#include <stdint.h>

struct ddb_credentials {
    struct str key_id;
    struct str secret;
    struct str token;   /* empty: a permanent key */
    int64_t expires_s;  /* since 1970; 0: not said */
    const char *source; /* "the environment" */
};

/* What the sources are asked with; the files are read anew each time. */
struct ddb_credentials_ask {
    struct str profile; /* as the user says; empty: by AWS_PROFILE, "default" */
    struct str region;  /* for STS */
    int64_t wall_s;     /* now, as the servers see it */
    struct ddb_shared_files files;
    struct arena *arena; /* owns what is found */
};

/* Asks one source after another. ERROR_STORE: none has a key, or one that is set up fails. */
MUST_CHECK bool ddb_credentials_find(struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                                     struct error *err);

/* ---------------------------------------------------------------- the sources, for the chain */

/* Each returns true with *out untouched where it is not set up (out->key_id stays empty). */
MUST_CHECK bool ddb_credentials_process(const struct ddb_credentials_ask *ask, struct str command,
                                        struct ddb_credentials *out, struct error *err);
MUST_CHECK bool ddb_credentials_container(const struct ddb_credentials_ask *ask,
                                          struct ddb_credentials *out, struct error *err);
MUST_CHECK bool ddb_credentials_instance(const struct ddb_credentials_ask *ask,
                                         struct ddb_credentials *out, struct error *err);

/* A role to take on with STS. */
struct ddb_role {
    struct str arn;
    struct str session;     /* empty: "refold" */
    struct str external_id; /* empty: none */
    struct str token_file;  /* of the web identity */
};
MUST_CHECK bool ddb_credentials_web_identity(const struct ddb_credentials_ask *ask,
                                             const struct ddb_role *role,
                                             struct ddb_credentials *out, struct error *err);
MUST_CHECK bool ddb_credentials_assume(const struct ddb_credentials_ask *ask,
                                       const struct ddb_role *role,
                                       const struct ddb_credentials *with,
                                       struct ddb_credentials *out, struct error *err);

/* The JSON that processes, containers and instances answer with, which differs in the names of the
 * token. False: a member is missing, or what goes into a header holds other than plain ASCII. */
bool ddb_credentials_read_json(struct str text, struct arena *arena, struct ddb_credentials *out);

/* "2026-01-31T23:59:59Z" in seconds since 1970; 0: unreadable. */
int64_t ddb_time_read(struct str text);

/* Whether the texts can stand in a header as they are. */
bool ddb_credentials_are_plain(const struct ddb_credentials *credentials);

#endif
