/* stop — SIGINT and SIGTERM ask the program to stop where it can go on later. */
#ifndef MIGRATE_CLI_STOP_H
#define MIGRATE_CLI_STOP_H

#include "engine/base/error.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Call it before any other thread is made. From now on the first SIGINT or SIGTERM sets *stop, and
 * a second one ends the process at once with the exit status of ERROR_STOPPED. SIGPIPE and SIGXFSZ
 * are ignored: who writes is told.
 *   stop  must last as long as the process
 * ERROR_STORE: no thread can be made. */
MUST_CHECK bool stop_watch(atomic_bool *stop, struct error *err);

#endif
