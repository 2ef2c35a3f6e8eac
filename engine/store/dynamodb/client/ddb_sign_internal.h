/* ddb_sign — AWS Signature Version 4. Pure: the same inputs give the same signature.
 * AWS General Reference, "Create a signed AWS API request". */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_SIGN_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_SIGN_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/str.h"

#include <stddef.h>
#include <stdint.h>

/* "20260131T235959Z" and its NUL; the first eight are the day. */
enum { DDB_DATE_SIZE = 17, DDB_DAY_LEN = 8, DDB_SIGNING_KEY_BYTES = 32 };

/* What a key signs in: made once a day and kept, since it takes four HMACs. */
struct ddb_signing_key {
    char day[DDB_DAY_LEN];
    unsigned char bytes[DDB_SIGNING_KEY_BYTES];
};

struct ddb_sign_scope {
    struct str key_id;
    struct str region;
    struct str service; /* "dynamodb" */
    const char *date;   /* as ddb_date_format() writes it */
};

struct ddb_header {
    struct str name; /* lower case */
    struct str value;
};

/* What is signed, as it is sent. */
struct ddb_signed {
    struct str method;
    struct str path;                  /* encoded, as in the URL */
    const struct ddb_header *headers; /* sorted by name; values without runs of spaces */
    size_t header_count;
    struct str body;
};

void ddb_date_format(int64_t wall_s, char out[DDB_DATE_SIZE]);

/* The key of a scope's day, from the secret. */
void ddb_signing_key_make(struct str secret, const struct ddb_sign_scope *scope,
                          struct ddb_signing_key *out);

/* What is set up once, since to find an algorithm takes longer than to run it. One thread's. */
struct ddb_signer;
struct ddb_signer *ddb_signer_new(void);
void ddb_signer_free(struct ddb_signer *signer);

/* Appends the value of the Authorization header to `out`. */
void ddb_sign(struct ddb_signer *signer, const struct ddb_signing_key *key,
              const struct ddb_sign_scope *scope, const struct ddb_signed *message,
              struct buffer *out);

#endif
