/* target — from what a user writes for TABLE to an open store: one row a scheme. */
#ifndef MIGRATE_CLI_TARGET_H
#define MIGRATE_CLI_TARGET_H

#include "engine/base/error.h"
#include "engine/store/store.h"

#include <stdbool.h>

/* "shop.refold", "file:shop.refold", "dynamodb:Shop?region=…&endpoint=…". */
MUST_CHECK bool target_open(const char *target, const struct store_options *options,
                            struct store **out, struct error *err);

/* What a target may be, for messages: "NAME.refold, file:PATH or ...". */
const char *target_forms(void);

/* True if the text looks like a target: it has a known scheme or ends in ".refold". */
bool target_is(const char *text);

/* Whether there is such a table (an import may make one); a server is asked. */
MUST_CHECK bool target_exists(const char *target, bool *out, struct error *err);

/* True where the table is a file of this host. */
bool target_is_file(const char *target);

/* A file that a command is to write may be no table: neither by its name, nor this one.
 * ERROR_USAGE. */
MUST_CHECK bool target_spare(const char *target, const char *path, struct error *err);

/* Deletes a table's files, while the caller holds its lease; a table on a server stays. */
void target_remove_file(const char *target);

#endif
