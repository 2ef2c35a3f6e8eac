/* probe_verdicts — what was decided about items whose keys collide, before anything is written.
 * Durable as control records "probe/<version>/<stage>/…"; the writes and every resume obey them. */
#ifndef MIGRATE_RUN_PROBE_VERDICTS_H
#define MIGRATE_RUN_PROBE_VERDICTS_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"
#include "plans/pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum probe_ruling {
    PROBE_FAIL,      /* an item error: the item stays exactly as it was */
    PROBE_LOSE,      /* its new key goes to another item: it is deleted */
    PROBE_STAND,     /* it is left for the winner to overwrite */
    PROBE_SKIP,      /* the step leaves out its rekey or put */
    PROBE_OVERWRITE, /* the step's rekey or put replaces what stands there */
    PROBE_RULING_COUNT
};

/* A 128-bit digest of the encoded key: equal digests of different keys do not happen. */
enum { PROBE_DIGEST_BYTES = 16 };

struct probe_verdict {
    unsigned char source[PROBE_DIGEST_BYTES]; /* of the item's key before the pass */
    enum probe_ruling ruling;
    uint32_t step;     /* FAIL, SKIP, OVERWRITE: the item's; LOSE, STAND: the winner's */
    struct str reason; /* FAIL: a sentence that names the keys */
    /* LOSE, OVERWRITE: probe_basis() of what decided. Who obeys sees that it is so still. */
    unsigned char wanted[PROBE_DIGEST_BYTES]; /* of what the item was to become */
    unsigned char
        standing[PROBE_DIGEST_BYTES]; /* OVERWRITE: of what stood there; LOSE: of what it
                                         lost to, or zeros: the pass itself changes that */
    struct str winner; /* LOSE to another item that wants the key: its key, encoded; else empty */
};

/* Sorted by source. At most one FAIL, LOSE or STAND an item, and then nothing else for it. */
struct probe_verdicts {
    struct probe_verdict *list;
    size_t count;
    uint64_t *merged; /* by step: puts that find their item standing, or put before them */
    size_t step_count;
};

/* hash_128() of the encoded key. */
void probe_digest(const struct key *key, unsigned char out[PROBE_DIGEST_BYTES]);

/* What keep_newer compares of an item; missing under another rule. */
struct value probe_newer(const struct pass_step *rule, struct value item);

/* A digest of all that on_collision goes by in an item that stands under the key, or is to. */
void probe_basis(const struct key *key, struct value newer, unsigned char out[PROBE_DIGEST_BYTES]);

/* Sorts the list, which is what makes it one. */
void probe_verdicts_sort(struct probe_verdicts *verdicts);

/* The verdicts on the item with that key: the first of *count, or NULL. */
const struct probe_verdict *probe_verdicts_of(const struct probe_verdicts *verdicts,
                                              const struct key *key, size_t *count);

/* Items that lose their place to items of the step. */
uint64_t probe_verdicts_overwritten(const struct probe_verdicts *verdicts, uint32_t step);

/* "probe/<version>/<stage>/", what all records of one probe begin with. */
struct str probe_prefix(uint32_t version, uint32_t stage, struct arena *arena);

/* Writes all records; the one that says that they are complete comes last. */
MUST_CHECK bool probe_verdicts_save(struct store *store, struct str prefix,
                                    const struct probe_verdicts *verdicts, struct error *err);

/* Reads them, in the arena; out->list is NULL where no complete set is there. ERROR_DAMAGED. */
MUST_CHECK bool probe_verdicts_load(struct store_reader *reader, struct str prefix,
                                    struct arena *arena, struct probe_verdicts *out,
                                    struct error *err);

#endif
