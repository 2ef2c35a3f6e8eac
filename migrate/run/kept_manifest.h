/* kept_manifest — the bytes that tell how far a reading of the whole table has come:
 * docs/format.md. Pure. */
#ifndef MIGRATE_RUN_KEPT_MANIFEST_H
#define MIGRATE_RUN_KEPT_MANIFEST_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

struct kept_place {
    struct str cursor; /* where the segment goes on; empty: its start */
    bool done;
};

struct kept_manifest {
    struct str id; /* drawn when the reading began; the table has it too */
    struct str host;
    struct str table; /* its identity */
    struct str hash;  /* of the plan */
    uint32_t version;
    uint32_t stage;
    uint64_t pass;
    uint64_t items; /* that were read */
    uint32_t segments;
    struct kept_place *places; /* by segment */
    cJSON *part;               /* what the reader keeps besides, an object */
};

/* Text, in the arena. `part` stays the caller's. */
struct str kept_manifest_print(const struct kept_manifest *manifest, struct arena *arena);

/* Reads it into the arena; out->part is the caller's to cJSON_Delete().
 * ERROR_DAMAGED: it is not what was written. ERROR_STORE: its format is another. */
MUST_CHECK bool kept_manifest_parse(struct str text, struct arena *arena, struct kept_manifest *out,
                                    struct error *err);

#endif
