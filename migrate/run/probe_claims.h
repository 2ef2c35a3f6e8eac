/* probe_claims — who wants which key, as pairs of bytes in the order of targets. Pure. */
#ifndef MIGRATE_RUN_PROBE_CLAIMS_H
#define MIGRATE_RUN_PROBE_CLAIMS_H

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/item/key.h"
#include "engine/store/store.h"
#include "migrate/run/probe_groups.h"
#include "plans/pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An item that is to stand under a new key. */
struct wish {
    size_t step;
    bool puts;
    bool unsteady;
    const struct key *source;
    const struct key *target;
    struct value item;
};

/* What is sorted. */
struct claim_pair {
    struct buffer key;
    struct buffer value;
};

/* `apart`: no two wishes have one key, but those that are the same. */
void claim_write(const struct store *store, const struct pass_step *rule, const struct wish *wish,
                 bool apart, struct claim_pair *out);
void claim_pair_free(struct claim_pair *pair);

/* A claim as it was sorted. */
struct claim_at {
    struct str order; /* of the target, by which it was */
    struct key target;
    struct probe_claim claim;
};

/* Points into key and value. ERROR_DAMAGED. */
MUST_CHECK bool claim_read(const struct key_schema *keys, struct str key, struct str value,
                           struct claim_at *out, struct error *err);

/* A digest of the item. */
uint64_t claim_digest(struct value item);

#endif
