/* runner_member — a process that takes part in a run which another one leads: it reads and writes
 * segments of each pass, and leaves to the leader what is done once. */
#ifndef MIGRATE_RUN_RUNNER_MEMBER_H
#define MIGRATE_RUN_RUNNER_MEMBER_H

#include "engine/base/error.h"
#include "migrate/run/plan_folder.h"
#include "migrate/run/runner_session.h"

#include <stdbool.h>

/* Takes part until the plans are applied, one of them has failed, or the lease is to be had: then
 * session->leads. The session's table and ledger are read again at the end.
 *   plans  all that were to be run when the session was opened
 * ERROR_PLAN: the leader runs a plan that is not among them, or another text of it.
 * ERROR_STOPPED: asked to. ERROR_BUSY: this process was taken for dead. */
MUST_CHECK bool runner_member_run(struct runner_session *session, const struct plan_list *plans,
                                  struct error *err);

#endif
