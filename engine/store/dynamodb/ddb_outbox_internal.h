/* ddb_outbox — requests from when they are composed until they are done. A page may write hundreds
 * of megabytes: it is composed as it can be sent, and each body goes with its request. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_OUTBOX_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_OUTBOX_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/store/dynamodb/client/ddb_client.h"

#include <stdbool.h>
#include <stddef.h>

/* A request of many parts ends when it is so long: with its last part it stays far below what
 * BatchWriteItem may send "over the network", 16 MB (Amazon DynamoDB API Reference), and nothing
 * tells how much BatchExecuteStatement may. An item of 400 KB takes up to 9 times as much in JSON,
 * as a list of empty texts. */
enum { REQUEST_BYTES = 1 << 20 };

/* Nothing is composed while as much is under way. */
enum { OUTBOX_BYTES = 16 << 20 };

struct parcel {
    struct ddb_request request; /* first: it is how the parcel is found again */
    struct arena *arena;        /* of all that is in it, and of itself */
    void *load;                 /* the caller's */
    size_t bytes;               /* that are counted */
    struct parcel *before, *after;
};

/* Starts as {0}. */
struct outbox {
    struct parcel *open;
    size_t bytes;
};

bool outbox_is_full(const struct outbox *outbox);

/* An empty parcel, whose request is yet to be composed in its arena; once it is, it is counted. */
struct parcel *outbox_new(struct outbox *outbox);
void outbox_count(struct outbox *outbox, struct parcel *parcel);
void outbox_drop(struct outbox *outbox, struct parcel *parcel);

/* With what is in it. */
void outbox_close(struct outbox *outbox);

static inline struct parcel *outbox_parcel_of(struct ddb_request *request)
{
    return (struct parcel *)(void *)request;
}

#endif
