/* table_session — a table opened for reading, as most commands need it. */
#ifndef MIGRATE_TABLE_SESSION_H
#define MIGRATE_TABLE_SESSION_H

#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdbool.h>

/* The part of a command that has the table. */
typedef bool table_session_body(struct invocation *invocation, struct store *store,
                                struct store_reader *reader, struct error *err);

/* Opens invocation->table for reading, calls the body and closes it again.
 * ERROR_STORE: an import of it was not finished, so that items are missing. Besides, what opening
 * and the body return. */
MUST_CHECK bool table_session_read(struct invocation *invocation, table_session_body *body,
                                   struct error *err);

/* As table_session_read(), for those who look at the table and not at its items: also while an
 * import is unfinished. */
MUST_CHECK bool table_session_inspect(struct invocation *invocation, table_session_body *body,
                                      struct error *err);

#endif
