/* ddb_client — requests to a server that speaks DynamoDB's JSON protocol: signed, sent, tried again
 * where that helps, and the reply checked. Knows nothing of items, plans or stores.
 *
 * Threads: one account is shared by all; each thread has a client of its own. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_CLIENT_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_CLIENT_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------- the account */

struct ddb_account;

/* What the outside world gives; tests pass another. */
struct ddb_world {
    void *context;
    uint64_t (*now_us)(void *context); /* monotonic */
    int64_t (*wall_s)(void *context);  /* seconds since 1970, as the host believes */
    uint64_t (*random)(void *context); /* any thread */
    bool (*stopped)(void *context);    /* the run was interrupted; any thread. NULL: never */
    /* Tells the user a sentence; any thread. NULL: nobody listens. */
    void (*say)(void *context, const char *sentence);
};

/* Empty texts: by the usual chain (environment, then the profile of the shared files). */
struct ddb_options {
    struct str endpoint; /* "http://127.0.0.1:8000"; by default AWS's for the region, over TLS */
    struct str region;   /* with an endpoint and nothing set anywhere: us-east-1 */
    struct str profile;  /* of ~/.aws/config and credentials */
    double max_rcu;      /* capacity units a second, of all clients together; 0: no limit */
    double max_wcu;
    unsigned timeout_ms;           /* for one attempt, until its reply is there; 0: 30 s */
    const struct ddb_world *world; /* borrowed; NULL: the system's */
};

/* Finds endpoint, region and credentials; sends nothing to the table's server.
 * ERROR_USAGE: no region, an endpoint that is no URL. ERROR_STORE: no credentials; says where they
 * were looked for. */
MUST_CHECK bool ddb_account_open(const struct ddb_options *options, struct ddb_account **out,
                                 struct error *err);

/* All its clients are closed. NULL is fine. */
void ddb_account_close(struct ddb_account *account);

struct ddb_identity {
    struct str endpoint;
    struct str region;
    struct str key_end;    /* the last four characters of the key id; empty: it is too short */
    struct str key_source; /* "the environment" */
};

/* Where requests go to, and in whose name; texts in the arena. Any thread. */
void ddb_account_identify(struct ddb_account *account, struct arena *arena,
                          struct ddb_identity *out);

/* "endpoint http://…, region eu-west-1, key id ...WXYZ from the environment"; any thread. */
struct str ddb_account_describe(struct ddb_account *account, struct arena *arena);

/* Changes the limits of a running account; 0: none. Any thread. */
void ddb_account_set_limits(struct ddb_account *account, double max_rcu, double max_wcu);

struct ddb_stats {
    uint64_t requests;  /* answered for good */
    uint64_t attempts;  /* sent */
    uint64_t throttled; /* attempts that were */
    double read_units;  /* as the replies said, or else as the requests expected */
    double write_units;
    int64_t skew_s; /* the server's clock less the host's; 0 until a request was refused for it */
    char throttled_by[96]; /* the last reason and resource: "IndexWrite… arn:…/index/gsi1"; "" */
};

/* Any thread. */
void ddb_account_stats(struct ddb_account *account, struct ddb_stats *out);

/* ---------------------------------------------------------------- requests */

struct ddb_client;

/* A client with connections of its own; ddb_client_close() ends them, NULL is fine. */
MUST_CHECK bool ddb_client_open(struct ddb_account *account, struct ddb_client **out,
                                struct error *err);
void ddb_client_close(struct ddb_client *client);

enum ddb_reply {
    DDB_NONE,      /* no reply could be had; the call returned false */
    DDB_OK,        /* 200 */
    DDB_CONDITION, /* ConditionalCheckFailedException; content holds Item where ALL_OLD was asked */
    DDB_CANCELLED, /* TransactionCanceledException for good; content holds CancellationReasons */
    DDB_ERROR      /* any other error, tried again where that could help; see type and message */
};

struct ddb_request {
    const char *operation; /* "UpdateItem" */
    struct str body;       /* JSON, at every attempt the same bytes; kept until the call returns */
    uint64_t lane;  /* a hash of the partition key, or of the segment: what is slowed when its key
                       range is throttled; 0: nothing but this request */
    double units;   /* capacity it is expected to take (0: 1) */
    unsigned parts; /* that are granted or throttled each by itself (0: 1) */
    bool urgent;    /* waits for no limit, and counts in none: what keeps a run alive */
    bool is_probe;  /* an error of the server's own is an answer: it may not know the operation */
    enum ddb_reply reply; /* out, as all that follows */
    int status;           /* of HTTP; 0 with DDB_NONE */
    struct str content;   /* JSON, in the arena */
    struct str type;      /* "ResourceNotFoundException"; in the arena, empty with DDB_OK */
    struct str message;   /* as the server puts it */
    double consumed;      /* units of ConsumedCapacity, all tables; < 0 where the reply has none */
    bool unsure; /* an attempt before the last had no reply, or 5xx: it may have taken effect, so a
                    failed condition may be our own doing */
    unsigned attempts;
};

/* Sends all, many at a time, each until it has its reply or its tries are used up; returns when all
 * are done. Which errors are tried again is decided here only (ddb_retry.c): throttling, 5xx,
 * broken connections, replies that fail their checksum, conflicts of transactions, expired
 * credentials and skewed clocks. arena  owns the replies Returns false where a request has no
 * reply: ERROR_STORE (no connection, no credentials any more), ERROR_STOPPED. The others still tell
 * what became of them; `unsure` counts with DDB_NONE too. */
MUST_CHECK bool ddb_calls(struct ddb_client *client, struct ddb_request *requests, size_t count,
                          struct arena *arena, struct error *err);

/* As ddb_calls() for one. */
MUST_CHECK bool ddb_call(struct ddb_client *client, struct ddb_request *request,
                         struct arena *arena, struct error *err);

/* Requests that are made while others are under way, so that the server never waits for them. */
struct ddb_flow {
    void *context;
    /* The next request, which stays where it is until done() has had it. NULL: none at present; it
     * is asked again after a reply. */
    bool (*next)(void *context, struct ddb_request **out, struct error *err);
    /* What became of a request, DDB_NONE too. Where either returns false, nothing else is sent. */
    bool (*done)(void *context, struct ddb_request *request, struct error *err);
};

/* As ddb_calls(), until there is neither a next request nor one under way. */
MUST_CHECK bool ddb_flow_run(struct ddb_client *client, const struct ddb_flow *flow,
                             struct arena *arena, struct error *err);

/* Something of UnprocessedItems or UnprocessedKeys, which come with DDB_OK. */
struct ddb_unprocessed {
    const char *operation;
    size_t count;
    unsigned attempt; /* from 1 */
};

/* Waits as before a throttled request's next attempt, and slows what the operation belongs to.
 * ERROR_STOPPED. */
MUST_CHECK bool ddb_pause(struct ddb_client *client, const struct ddb_unprocessed *what,
                          struct error *err);

/* Parts of a request that were throttled each by itself slow what the operation belongs to. */
void ddb_parts_throttled(struct ddb_client *client, const char *operation, size_t count);

/* How many parts one request of an operation should have, at most `most`: fewer where few units
 * flow in. */
unsigned ddb_parts(struct ddb_client *client, const char *operation, unsigned most);

/* Says what a request's DDB_ERROR, DDB_CONDITION or DDB_CANCELLED means, with endpoint, region and
 * the last four characters of the key id, and a hint where there is one. Returns false.
 * ERROR_STORE; ERROR_LIMIT and ERROR_ITEM where the item is to blame (ValidationException and
 * TransactionConflictException of an item operation, ItemCollectionSizeLimitExceededException). */
bool ddb_request_error(struct ddb_account *account, const struct ddb_request *request,
                       struct error *err);

#endif
