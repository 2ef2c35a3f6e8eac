/* table_compare — two tables of the same keys: each is read, and its keys looked up in the other.
 */
#ifndef MIGRATE_IMPORT_TABLE_COMPARE_H
#define MIGRATE_IMPORT_TABLE_COMPARE_H

#include "engine/base/error.h"
#include "engine/store/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct table_comparison {
    struct store *wanted; /* whose count of items is exact; both open for reading at least */
    struct store *found;
    const struct key_schema *keys;
    const atomic_bool *stop;
    /* One sentence for each item that is missing in `found`, stands there besides, or differs. */
    void (*finding)(void *context, const char *text);
    void *context;
};

struct table_comparison_counts {
    uint64_t wanted; /* items of `wanted` */
    uint64_t equal;
};

/* ERROR_STOPPED; what reading returns. */
MUST_CHECK bool table_compare(const struct table_comparison *comparison,
                              struct table_comparison_counts *out, struct error *err);

#endif
