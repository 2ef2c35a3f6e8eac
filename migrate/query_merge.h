/* query_merge — the items of several queries as one stream in sort-key order. */
#ifndef MIGRATE_QUERY_MERGE_H
#define MIGRATE_QUERY_MERGE_H

#include "engine/base/error.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct query_merge;

/* Queries of one table or index, in one direction; items that tie keep the queries' order.
 *   reader   borrowed; nothing else may read with it until the close
 *   keys     of the table or index
 *   queries  borrowed; their cursors are moved */
struct query_merge *query_merge_open(struct store_reader *reader, const struct key_schema *keys,
                                     struct query *queries, size_t count);

/* The next item, valid until the next call; missing after the last. What store_query() returns. */
MUST_CHECK bool query_merge_next(struct query_merge *merge, struct value *out, struct error *err);

/* Frees it; the reader is free for others. */
void query_merge_close(struct query_merge *merge);

#endif
