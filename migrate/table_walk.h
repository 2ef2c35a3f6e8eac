/* table_walk — reads all of a table, page by page, in the order of its keys, with progress. */
#ifndef MIGRATE_TABLE_WALK_H
#define MIGRATE_TABLE_WALK_H

#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdbool.h>

struct table_walk {
    struct invocation *invocation;
    struct store_reader *reader;
    const struct table_desc *table;
    const char *phase;         /* for the progress */
    struct page_limits limits; /* of a page */
    bool (*page)(void *context, const struct page *page, struct error *err);
    void *context;
};

/* ERROR_STOPPED: asked to. What reading and page() return. */
MUST_CHECK bool table_walk(const struct table_walk *walk, struct error *err);

#endif
