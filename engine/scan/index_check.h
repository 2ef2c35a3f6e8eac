/* index_check — reads a whole table and says how its items stand to an index: before the index is
 * made, so that nothing is left out of it without a word. */
#ifndef ENGINE_SCAN_INDEX_CHECK_H
#define ENGINE_SCAN_INDEX_CHECK_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/scan/scan.h"

#include <stddef.h>
#include <stdint.h>

/* Each item counts once. */
struct index_counts {
    uint64_t whole;     /* all key parts are there and valid: in the index */
    uint64_t partial;   /* some are missing: left out, perhaps not on purpose */
    uint64_t without;   /* all are missing: left out */
    uint64_t violating; /* a part has the wrong type, is empty or too long: DynamoDB refuses it */
};

struct index_check {
    const struct key_schema *keys; /* of the index */
    size_t report_max;             /* violations that are reported; all are counted */
    void (*report)(void *context, struct str finding); /* in the calling thread */
    void *context;

    /* Where a check goes on that was broken off; NULL: it does not. */
    const struct index_resume *resume;
};

struct index_resume {
    struct index_counts before; /* what was counted then */
    size_t reported;            /* and reported */
    void *context;
    bool (*next)(void *context, struct scan_turn *out, struct error *err); /* of scan_task */
    /* In the calling thread, after each page: the counts up to here. False ends the check. */
    bool (*page)(void *context, const struct scan_page *page, const struct index_counts *so_far,
                 struct error *err);
};

/* Of `scan`, the store, workers, segments, limits, pages_a_worker and stop are used. A finding is
 * one sentence: "PK='C#1' SK='O#1': key attribute GSI1SK: expected S, found N". */
MUST_CHECK bool index_check_run(const struct scan_options *scan, const struct index_check *check,
                                struct index_counts *out, struct error *err);

#endif
