/* ddb_page_size — how many items a page of a scan looks at, where the user has no wish. A page is
 * to be written in about half a second: a pause, a limit or an end is heeded between pages, and
 * what comes once a page (a checkpoint, the wait for its last replies) should not be what takes the
 * time. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_PAGE_SIZE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_PAGE_SIZE_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ddb_page_size {
    atomic_size_t items;
    atomic_uint readers; /* that may have a page at hand */
};

/* Where nothing is written, pages are as large as they get. */
void ddb_page_size_init(struct ddb_page_size *size, bool writes);

/* Any thread: one more reader, or one less. */
void ddb_page_size_share(struct ddb_page_size *size, int more);

/* Any thread: of the next page. 1 MB of small items takes some MB until it is written, so that many
 * readers have smaller ones. */
size_t ddb_page_size_now(struct ddb_page_size *size);

/* The committer's thread: what came of a page was written in that time. */
void ddb_page_size_written(struct ddb_page_size *size, uint64_t took_us);

#endif
