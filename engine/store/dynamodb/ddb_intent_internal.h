/* ddb_intent — what effects of several writes are about to put, told of in control records before
 * the first of these writes: so that who owns the lease takes back what a crash has left of those
 * that were not done.
 *
 * A record "intent/PROCESS/NUMBER" is INTENT_PUTS or INTENT_OWN, then intents. An intent is the
 * kind of the item's own write, the key under which the item stands, the names of what that write
 * changes (none: it takes the whole item away), digests of these before and after, and the targets:
 * each its kind (enum intent_target), key, and the digest of what is put. Texts and keys are a
 * varint length and bytes, counts are varints, digests 8 bytes, low first. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_INTENT_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_INTENT_INTERNAL_H

#include "engine/base/error.h"
#include "engine/store/dynamodb/ddb_flight_internal.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTENT_PREFIX "intent/"

struct ddb_asking;
struct ddb_store;

enum intent_phase {
    INTENT_PUTS = 'p', /* nothing has been deleted yet by an item's own write that follows puts */
    INTENT_OWN = 'o'
};

enum intent_target {
    INTENT_PUT = '+',  /* where nothing stood */
    INTENT_OVER = '*', /* in place of another item */
    INTENT_MOVE = '>'  /* by the item's own write, which is a transaction */
};

/* Makes the intents of the flights durable, in place of those that stand; none where no flight
 * needs one. At every moment each flight that was told of before and is not done has an intent:
 * meanwhile it may have two, of the old phase and the new. */
MUST_CHECK bool intent_write(struct ddb_store *store, const struct flight *flights, size_t count,
                             enum intent_phase phase, struct error *err);

/* Removes those that stand: all flights are done. */
MUST_CHECK bool intent_forget(struct ddb_store *store, struct error *err);

/* Digests of an item that stands, and of some of its attributes, the missing too. */
uint64_t intent_digest(struct value item);
uint64_t intent_digest_of(const struct str *names, size_t count, struct value item);

/* Takes back what processes have put for effects that were not done: all but this one and those who
 * live. This one owns the lease, so that nobody else does it too. Any thread. */
MUST_CHECK bool intent_settle(const struct ddb_asking *asking, const struct run_members *living,
                              struct error *err);

#endif
