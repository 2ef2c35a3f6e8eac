/* ddb_account — what all clients share, as the client's own modules see it. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_ACCOUNT_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_ACCOUNT_INTERNAL_H

#include "engine/store/dynamodb/client/ddb_client.h"
#include "engine/store/dynamodb/client/ddb_credentials_internal.h"
#include "engine/store/dynamodb/client/ddb_endpoint_internal.h"
#include "engine/store/dynamodb/client/ddb_limit_internal.h"
#include "engine/store/dynamodb/client/ddb_sign_internal.h"

/* A client's own copy of the key, and what it signs with. */
struct ddb_key {
    uint64_t generation; /* 0: none yet */
    int64_t day;         /* since 1970, that it signs in */
    struct arena *arena; /* owns the texts */
    struct str key_id;
    struct str token;
    struct ddb_signing_key signing;
};

struct ddb_key *ddb_key_new(void);
void ddb_key_free(struct ddb_key *key);

const struct ddb_world *ddb_account_world(const struct ddb_account *account);
const struct ddb_endpoint *ddb_account_endpoint(const struct ddb_account *account);
struct str ddb_account_region(const struct ddb_account *account);
unsigned ddb_account_timeout_ms(const struct ddb_account *account);

/* Brings a copy up to date, renews the key before it expires, and tells the time of the server, for
 * which the next request is to be signed. What is urgent leaves the renewal of a key that is good
 * yet to others, as its source may take its time.
 * ERROR_STORE: the key has expired and cannot be renewed. */
MUST_CHECK bool ddb_account_key(struct ddb_account *account, bool urgent, struct ddb_key *key,
                                int64_t *now_s, struct error *err);

/* The server refused the key of a generation: it is read anew, unless another client was first. */
void ddb_account_renew(struct ddb_account *account, uint64_t generation);

/* The server's clock, as a reply that refused a request for its age says. */
void ddb_account_clock(struct ddb_account *account, int64_t server_s);

enum ddb_grant ddb_account_take(struct ddb_account *account, const struct ddb_demand *demand,
                                uint64_t *wait_us);

/* One attempt is over. `reason` is the throttle's, or empty; a final one counts as a request. */
struct ddb_attempt_end {
    struct ddb_end end;
    struct str reason;
    bool replied; /* the server, whatever it said */
    bool final;
};
void ddb_account_end(struct ddb_account *account, const struct ddb_demand *demand,
                     const struct ddb_attempt_end *end);
void ddb_account_throttled(struct ddb_account *account, enum ddb_side side, double units);
unsigned ddb_account_lump(struct ddb_account *account, enum ddb_side side, unsigned most);

/* Whether the server has ever replied. */
bool ddb_account_is_known(struct ddb_account *account);

#endif
