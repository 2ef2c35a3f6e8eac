#include "migrate/table_session.h"

#include "migrate/target.h"

#include <stddef.h>

bool table_session_read(struct invocation *invocation, table_session_body *body, struct error *err)
{
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    struct store_options options = {.mode = STORE_READ};
    bool ok = target_open(invocation->table, &options, &store, err) &&
              store_reader_open(store, &reader, err) && body(invocation, store, reader, err);
    if (reader != NULL) {
        store_reader_close(reader);
    }
    store_close(store);
    return ok;
}
