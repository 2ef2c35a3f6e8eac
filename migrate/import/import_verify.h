/* import_verify — a table against its source: the items are derived again into a table of their
 * own, which goes through the plans that were applied since the import, and both are compared. */
#ifndef MIGRATE_IMPORT_IMPORT_VERIFY_H
#define MIGRATE_IMPORT_IMPORT_VERIFY_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdbool.h>
#include <stdint.h>

struct import_verify_options {
    const char *from; /* a database */
    const char *map;  /* its file */
    void (*finding)(void *context, const char *text);
    void *context;
};

struct import_verified {
    uint64_t derived;         /* items, after the plans */
    uint64_t equal;           /* of them stand so in the table */
    struct str import_time;   /* of the snapshot that was imported; empty: unknown */
    struct str snapshot_time; /* of the snapshot that it is compared with */
};

/* Compares both ways: missing, different and additional items are findings that name the item, and
 * so are rows that give none.
 *   store, reader  the table, open for reading
 * ERROR_PLAN: a plan that was applied is not in the folder, or was changed; ERROR_SOURCE, …: the
 * items cannot be derived. */
MUST_CHECK bool import_verify(struct invocation *invocation, struct store *store,
                              const struct import_verify_options *options,
                              struct import_verified *out, struct error *err);

#endif
