/* runner_look_ahead — what the items of a page are going to look up, read together: one by one,
 * each costs the way to the server and back. */
#ifndef MIGRATE_RUN_RUNNER_LOOK_AHEAD_H
#define MIGRATE_RUN_RUNNER_LOOK_AHEAD_H

#include "engine/base/error.h"
#include "engine/store/store.h"
#include "migrate/run/runner_effect.h"

#include <stdbool.h>

/* Of a page at hand; does nothing where it saves no time. */
MUST_CHECK bool runner_look_ahead(const struct runner_meeter *meeter, const struct page *page,
                                  struct error *err);

#endif
