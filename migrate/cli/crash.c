#include "migrate/cli/crash.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* Only what is safe in a handler (signal-safety(7)). */
static void end(int number)
{
    static const char text[] =
        "refold: stopped by a fault in memory: the table's file is damaged, or the fault is "
        "refold's own\n"
        "hint: refold verify TABLE checks the file; whatever was committed stands\n";
    (void)number;
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) {
        _exit(error_exit_status(ERROR_STORE));
    }
    _exit(error_exit_status(ERROR_DAMAGED));
}

bool crash_watch(struct error *err)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    struct sigaction action = {.sa_handler = end};
    for (size_t i = 0; SANITIZED == 0 && i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], &action, NULL) != 0) {
            return error_set(err, ERROR_STORE, "cannot watch for signals");
        }
    }
    return true;
}
