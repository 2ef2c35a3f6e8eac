/* ddb_target — what a user writes behind "dynamodb:", taken apart. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_TARGET_H
#define ENGINE_STORE_DYNAMODB_DDB_TARGET_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_client.h"
#include "engine/store/store_limit.h"

struct ddb_target {
    struct str table;           /* its name, or its ARN */
    struct str control_table;   /* for control records that have no place in the table itself */
    struct ddb_options options; /* without limits */
    struct store_limits limits; /* 0: none is given */
};

/* Parses TABLE[?NAME=VALUE[&NAME=VALUE…]] with the names region, endpoint, profile, control-table,
 * max-rcu and max-wcu; what is left out is empty, the control table is then TABLE-refold.
 *   arena  owns the texts of *out
 * ERROR_USAGE: no table name, an unknown or doubled name, an empty value, a limit that is no
 * number. */
MUST_CHECK bool ddb_target_parse(const char *place, struct arena *arena, struct ddb_target *out,
                                 struct error *err);

#endif
