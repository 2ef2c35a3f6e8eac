/* config — refold.json: names for targets, the default table, the folder of plans.
 *
 *   { "targets": { "shop": "shop.refold" }, "table": "shop", "plans": "plans" }
 *
 * Paths are as seen from the working directory. */
#ifndef MIGRATE_CLI_CONFIG_H
#define MIGRATE_CLI_CONFIG_H

#include "engine/base/arena.h"
#include "engine/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { CONFIG_MAX_BYTES = 1 << 20 };

struct config_target {
    const char *name;
    const char *target;
};

/* An empty configuration is {0}. */
struct config {
    const struct config_target *targets;
    size_t target_count;
    const char *table; /* a target, looked up already; NULL: none */
    const char *plans; /* NULL: not said */
};

/* Reads the file. Texts are owned by the arena.
 * ERROR_USAGE: cannot be read; not JSON (with line and column); an unknown or doubled member; a
 * value of the wrong type; a target that is none. */
MUST_CHECK bool config_read(const char *path, struct arena *arena, struct config *out,
                            struct error *err);

/* The target that the name stands for, or NULL. */
const char *config_target(const struct config *config, const char *name);

#endif
