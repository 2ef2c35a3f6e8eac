/* ddb_lease_record — the item that says who holds the lease, and what is known of its holder. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_LEASE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_LEASE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct ddb_asking;

struct lease_record {
    struct str owner;  /* for messages */
    struct str holder; /* host, boot and process; empty: nobody holds it */
    uint64_t token;    /* greater with each owner */
    uint64_t beat;
};

/* This process, as a holder. */
struct str lease_holder_self(struct arena *arena);

/* True where the holder was a process of this host that runs no more. Of another host nothing can
 * be known. */
bool lease_holder_is_dead(struct str holder);

/* All zero where there is no record. */
MUST_CHECK bool lease_record_read(const struct ddb_asking *asking, struct lease_record *out,
                                  struct error *err);

/* Writes `wanted` if the record still stands as `standing`. */
MUST_CHECK bool lease_record_take(const struct ddb_asking *asking,
                                  const struct lease_record *standing,
                                  const struct lease_record *wanted, bool *taken,
                                  struct error *err);

/* One more beat; *held is false where the record is another's by now. */
MUST_CHECK bool lease_record_beat(const struct ddb_asking *asking, const struct lease_record *own,
                                  bool *held, struct error *err);

/* Gives it back, the token stays. */
MUST_CHECK bool lease_record_free(const struct ddb_asking *asking, const struct lease_record *own,
                                  struct error *err);

#endif
