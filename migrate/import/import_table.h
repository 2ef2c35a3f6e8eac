/* import_table — the table that an import goes into: opened, or made; and what of an earlier import
 * it holds. */
#ifndef MIGRATE_IMPORT_IMPORT_TABLE_H
#define MIGRATE_IMPORT_IMPORT_TABLE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"
#include "migrate/cli/index_progress.h"
#include "migrate/ledger/import_state.h"
#include "plans/map.h"

#include <stdbool.h>

/* What the table must be, from the map or the command line. */
struct import_wish {
    const struct map *map; /* NULL: none; its table may be absent */
    const char *partition; /* --partition; NULL: not given */
    const char *sort;      /* --sort */
    bool create;           /* --create: a table on a server is made; files always are */
};

struct import_table {
    struct table_desc desc;
    bool exists;
    bool is_empty;       /* it holds no item */
    struct store *store; /* NULL until it is opened or made */
    struct store_reader *reader;
    struct index_progress *making; /* of its indexes; NULL until the store is there */
    struct import_record last;     /* of the last import into it, where has_last; else all zero */
    bool has_last;
    bool resumes; /* the last import was broken off, and had found the table with items */
};

/* Looks at the target: describes the table that is there, or the one that is to be made.
 *   writes  takes the lease of a table that is there
 * ERROR_USAGE, ERROR_PLAN: keys or indexes are not those wished for; ERROR_BUSY. */
MUST_CHECK bool import_table_open(struct invocation *invocation, const struct import_wish *wish,
                                  bool writes, struct import_table *out, struct error *err);

/* For sorting what indexes are made of. */
struct import_make_options {
    const char *temp_dir;
    size_t memory_bytes;
};

/* Makes the table if it does not exist and takes its lease; or takes away what an import into it,
 * while it was empty, wrote before it was broken off. ERROR_STORE. */
MUST_CHECK bool import_table_make(struct invocation *invocation, struct import_table *table,
                                  const struct import_make_options *options, struct error *err);

/* Closes; where `undo`, a table that this import has made is removed. */
void import_table_close(struct invocation *invocation, struct import_table *table, bool undo);

#endif
