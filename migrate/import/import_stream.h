/* import_stream — sorted items one by one, each key once: rows that want one key are found here. */
#ifndef MIGRATE_IMPORT_IMPORT_STREAM_H
#define MIGRATE_IMPORT_IMPORT_STREAM_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "importers/source.h"
#include "migrate/import/import_rejects.h"
#include "migrate/import/import_sort.h"

#include <stdbool.h>

struct import_stream;

struct import_stream_options {
    const struct import_sorted *sorted;
    const struct source *source;
    const struct key_schema *keys;
    struct import_rejects *rejects; /* NULL: pass over the rows of a shared key: they were told */
    struct import_counts *counts;   /* what is told is taken off these; NULL: nothing counts */
    const struct table_desc *table;
};

/* Begins at the first item; *options is borrowed. ERROR_DAMAGED, ERROR_STORE: a sorted run cannot
 * be read. import_stream_close(NULL) is fine. */
MUST_CHECK bool import_stream_open(const struct import_stream_options *options,
                                   struct import_stream **out, struct error *err);
void import_stream_close(struct import_stream *stream);

struct import_item {
    struct str order;
    struct key key;
    struct value item;
    struct source_row row;
};

/* The next item with its key and its place in the order; valid until the next call. It is missing
 * after the last. ERROR_CONFLICT: two rows fold to one key; both are named. */
MUST_CHECK bool import_stream_next(struct import_stream *stream, struct import_item *out,
                                   struct error *err);

#endif
