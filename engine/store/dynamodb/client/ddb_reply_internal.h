/* ddb_reply — what a reply's body says besides items: the error, why it was throttled, what it
 * cost. Pure functions of text. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_REPLY_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_REPLY_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/str.h"

#include <stdbool.h>

/* What slows down. DynamoDB Developer Guide, "Diagnosing throttling issues". */
enum ddb_scope {
    DDB_SCOPE_SIDE, /* reads or writes of the table, or writes by an index: that side */
    DDB_SCOPE_ALL,  /* the account: both sides */
    DDB_SCOPE_LANE  /* a key range: only what goes to it */
};

struct ddb_failure {
    struct str type; /* "ThrottlingException", without the namespace */
    struct str message;
    enum ddb_scope scope;
    struct str reason; /* "IndexWriteKeyRangeThroughputExceeded arn:…"; empty: none was given */
    bool final;        /* a cancelled transaction, of which at least one reason stays */
    bool throttled;    /* a cancelled transaction, cancelled for throttling */
};

/* From the body of a reply that is not 200; what is not there stays empty.
 *   arena  owns the texts */
void ddb_failure_read(struct str body, struct arena *arena, struct ddb_failure *out);

/* The CapacityUnits of ConsumedCapacity, of all tables; < 0 where the body has none. */
double ddb_consumed_read(struct str body);

#endif
