#include "migrate/table_walk.h"

#include "engine/base/buffer.h"
#include "migrate/cli/report.h"

#include <stdatomic.h>
#include <stdint.h>

static bool read_page(const struct table_walk *walk, struct str cursor, struct page *out,
                      struct error *err)
{
    struct page_place place = {{0, 1}, cursor, &walk->limits};
    if (atomic_load(walk->invocation->stop)) {
        return error_set(err, ERROR_STOPPED, "interrupted before the end of the table");
    }
    return store_read_page(walk->reader, &place, out, err) && walk->page(walk->context, out, err);
}

bool table_walk(const struct table_walk *walk, struct error *err)
{
    struct progress *progress = progress_open_table(walk->invocation, walk->phase, walk->table);
    struct buffer cursor = {0};
    struct page page = {.last = false};
    uint64_t items = 0;
    bool ok = true;
    while (ok && !page.last) {
        ok = read_page(walk, buffer_str(&cursor), &page, err);
        if (ok) {
            cursor.len = 0;
            buffer_add(&cursor, page.cursor);
            items += page.count;
            progress_set(progress, items);
        }
    }
    store_release(walk->reader);
    buffer_free(&cursor);
    progress_close(progress);
    return ok;
}
