/* ddb_retry — the one place that decides which attempt is followed by another, and when. Pure. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_RETRY_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_RETRY_INTERNAL_H

#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_reply_internal.h"

#include <stdbool.h>
#include <stdint.h>

/* What an attempt came to. */
enum ddb_class {
    DDB_CLASS_FINE,
    DDB_CLASS_FINAL,     /* the server's last word */
    DDB_CLASS_THROTTLED, /* too much at a time */
    DDB_CLASS_SERVER,    /* the server failed: it may have done it */
    DDB_CLASS_LOST,      /* sent, but no (whole) reply: it may have done it */
    DDB_CLASS_UNSENT,    /* no connection */
    DDB_CLASS_CONFLICT,  /* met a transaction in flight */
    DDB_CLASS_BUSY,      /* the control plane is at its limit */
    DDB_CLASS_EXPIRED,   /* temporary credentials are over */
    DDB_CLASS_UNKNOWN,   /* the key is not known (any more) */
    DDB_CLASS_SKEWED,    /* the clocks differ */
    DDB_CLASS_COUNT
};

/* How the transport ended, where it did not bring a reply. */
enum ddb_transport { DDB_ARRIVED, DDB_BROKE_OFF, DDB_NOT_CONNECTED };

struct ddb_attempt {
    enum ddb_transport transport;
    int status; /* with DDB_ARRIVED, as all that follows */
    const struct ddb_failure *failure;
    int64_t clock_differs_s; /* the reply's Date less the time it was signed for */
};

enum ddb_class ddb_classify(const struct ddb_attempt *attempt);

/* Whether an attempt of this class may have taken effect although it does not say so. */
bool ddb_class_is_unsure(enum ddb_class class);

/* The tries of one request. */
struct ddb_tries {
    uint64_t started_us;
    uint16_t count[DDB_CLASS_COUNT];
};

/* What the decision is made from, beside the tries. */
struct ddb_moment {
    bool known; /* the server has replied before: it is waited for longer when it goes away */
    uint64_t now_us;
    uint64_t random; /* any 64 bits */
};

/* Counts an attempt of a class; whether another may follow, and after how long: at random up to a
 * bound that doubles with each of its class, 20 s at most ("full jitter"). */
bool ddb_retry(struct ddb_tries *tries, enum ddb_class class, const struct ddb_moment *moment,
               uint64_t *delay_us);

/* The delay before attempt number `attempt` (from 1) of a class. */
uint64_t ddb_backoff_us(enum ddb_class class, unsigned attempt, uint64_t random);

#endif
