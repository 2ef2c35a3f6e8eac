#include "migrate/table_session.h"

#include "migrate/cli/report.h"
#include "migrate/cli/target.h"
#include "migrate/ledger/import_state.h"

#include <stddef.h>

static bool expect_finished(const struct invocation *invocation, struct store_reader *reader,
                            struct error *err)
{
    bool unfinished = false;
    struct str detail;
    if (!import_is_unfinished(reader, invocation->arena, &unfinished, &detail, err)) {
        return false;
    }
    return !unfinished ||
           error_set(err, ERROR_STORE, "%s: %.*s", invocation->table, STR_ARG(detail));
}

static bool run(struct invocation *invocation, bool wants_items, table_session_body *body,
                struct error *err)
{
    struct store *store = NULL;
    struct store_reader *reader = NULL;
    struct store_options options = {.mode = STORE_READ, .voice = report_voice(invocation)};
    bool ok = target_open(invocation->table, &options, &store, err) &&
              store_reader_open(store, &reader, err) &&
              (!wants_items || expect_finished(invocation, reader, err)) &&
              body(invocation, store, reader, err);
    if (reader != NULL) {
        store_reader_close(reader);
    }
    store_close(store);
    return ok;
}

bool table_session_read(struct invocation *invocation, table_session_body *body, struct error *err)
{
    return run(invocation, true, body, err);
}

bool table_session_inspect(struct invocation *invocation, table_session_body *body,
                           struct error *err)
{
    return run(invocation, false, body, err);
}
