/* store_limit — how much capacity a run may use, as users say it: "500", "50%". */
#ifndef ENGINE_STORE_STORE_LIMIT_H
#define ENGINE_STORE_STORE_LIMIT_H

#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>

struct store_limit {
    double units;    /* capacity units a second; 0: none is set */
    bool is_percent; /* units are percent of what is provisioned */
};

struct store_limits {
    struct store_limit read;
    struct store_limit write;
};

/* Parses "500", "2.5" or "50%": above 0, below 1e9.
 *   name  of the setting, for the message
 * ERROR_USAGE. */
MUST_CHECK bool store_limit_parse(const char *name, struct str text, struct store_limit *out,
                                  struct error *err);

#endif
