/* import_options — what the command line of an import asks for, read and checked. */
#ifndef MIGRATE_IMPORT_IMPORT_OPTIONS_H
#define MIGRATE_IMPORT_IMPORT_OPTIONS_H

#include "engine/base/error.h"
#include "importers/source.h"
#include "migrate/cli/command.h"
#include "migrate/import/import_load.h"
#include "plans/map.h"

#include <stdbool.h>
#include <stddef.h>

struct import_options {
    const char *from;
    const struct map *map; /* NULL: JSON lines */
    const char *partition;
    const char *sort;
    const char *rejects;
    const char *temp_dir;
    size_t memory_bytes;
    size_t jobs;
    struct store_limits limits;
    enum import_conflict conflict;
    bool dry_run;
};

/* ERROR_USAGE, and ERROR_PLAN for the map. */
MUST_CHECK bool import_options_read(const struct invocation *invocation, struct import_options *out,
                                    struct error *err);

/* Reads the map of `path`. ERROR_USAGE: no such file; ERROR_PLAN. */
MUST_CHECK bool import_map_read(const char *path, struct arena *arena, const struct map **out,
                                struct error *err);

/* Where sorted runs go: --temp, $TMPDIR, or beside the table. */
const char *import_temp_dir(const struct invocation *invocation, const char *wanted);

/* Opens what --from names. ERROR_STOPPED: *stop became true while it waited. */
MUST_CHECK bool import_source_open(const struct import_options *options,
                                   const struct table_desc *table, const atomic_bool *stop,
                                   struct source **out, struct error *err);

#endif
