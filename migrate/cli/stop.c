#include "migrate/cli/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static void watched_signals(sigset_t *signals)
{
    (void)sigemptyset(signals);
    (void)sigaddset(signals, SIGINT);
    (void)sigaddset(signals, SIGTERM);
}

/* A thread that waits for signals needs no handler, and so no variable of the whole program. */
static void *watch(void *context)
{
    atomic_bool *stop = context;
    sigset_t signals;
    watched_signals(&signals);
    int number = 0;
    while (sigwait(&signals, &number) == 0) {
        if (atomic_exchange(stop, true)) {
            _exit(error_exit_status(ERROR_STOPPED));
        }
    }
    return NULL;
}

bool stop_watch(atomic_bool *stop, struct error *err)
{
    sigset_t signals;
    watched_signals(&signals);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    pthread_t thread;
    if (sigaction(SIGPIPE, &ignore, NULL) != 0 || sigaction(SIGXFSZ, &ignore, NULL) != 0 ||
        pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0 ||
        pthread_create(&thread, NULL, watch, stop) != 0 || pthread_detach(thread) != 0) {
        return error_set(err, ERROR_STORE, "cannot watch for signals");
    }
    return true;
}
