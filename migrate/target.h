/* target — from what a user writes for TABLE to an open store: one row a scheme. */
#ifndef MIGRATE_TARGET_H
#define MIGRATE_TARGET_H

#include "engine/base/error.h"
#include "engine/store/store.h"

#include <stdbool.h>

/* "shop.refold", "file:shop.refold"; later "dynamodb:…", "export:DIR". */
MUST_CHECK bool target_open(const char *target, const struct store_options *options,
                            struct store **out, struct error *err);

/* True if the text looks like a target: it has a known scheme or ends in ".refold". */
bool target_is(const char *text);

/* False where an embedded table's file does not exist (an import may create it). */
bool target_exists(const char *target);

#endif
