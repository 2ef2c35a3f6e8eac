/* import_sort — reads a source with several threads, checks every item as the table would, and
 * sorts them in the order in which the table wants them, each with the row it comes from. */
#ifndef MIGRATE_IMPORT_IMPORT_SORT_H
#define MIGRATE_IMPORT_IMPORT_SORT_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/item/key.h"
#include "engine/sort/sorter.h"
#include "engine/store/store.h"
#include "importers/source.h"
#include "migrate/cli/command.h"
#include "migrate/import/import_counts.h"
#include "migrate/import/import_rejects.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct import_sort_options {
    struct invocation *invocation; /* for progress and the stop flag */
    struct source *source;
    const struct table_desc *table;
    const struct store *store; /* whose order it is; NULL: any order that tells keys apart */
    struct import_rejects *rejects;
    size_t jobs;
    size_t memory_bytes;
    const char *temp_dir;
};

struct import_sorted {
    struct sorter **sorters;
    size_t count;
    struct import_counts counts;
    struct arena *arena;
};

/* What every sorted value holds. */
struct import_entry {
    struct source_row row;
    struct value item;
};
struct import_entry import_entry_read(struct str value);

/* ERROR_SOURCE, ERROR_INPUT, ERROR_STOPPED, ERROR_FULL, … */
MUST_CHECK bool import_sort(const struct import_sort_options *options, struct import_sorted *out,
                            struct error *err);

/* {0} is fine. */
void import_sorted_free(struct import_sorted *sorted);

#endif
