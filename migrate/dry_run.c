#include "migrate/dry_run.h"

bool dry_run(struct runner_session *session, const struct plan_list *plans,
             const struct compiled_stages *stages, struct error *err)
{
    (void)session;
    (void)plans;
    (void)stages;
    return error_set(err, ERROR_USAGE, "not yet");
}
