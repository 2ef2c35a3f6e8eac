/* crash — LMDB trusts its pages: a damaged one can lead it anywhere. Then the program ends with a
 * sentence instead of a signal. Nothing is lost by it: what was not committed never happened. */
#ifndef MIGRATE_CLI_CRASH_H
#define MIGRATE_CLI_CRASH_H

#include "engine/base/error.h"

/* From now on SIGSEGV, SIGBUS, SIGFPE and SIGABRT print what to do on stderr and end the process
 * with the exit status of ERROR_DAMAGED. Sanitizers keep the signals that are theirs. ERROR_STORE:
 * the signals cannot be caught. */
MUST_CHECK bool crash_watch(struct error *err);

#endif
