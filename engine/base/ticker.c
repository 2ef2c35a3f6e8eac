#include "engine/base/ticker.h"

#include "engine/base/arena.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { SECOND_MS = 1000, MS_NS = 1000000, SECOND_NS = 1000000000 };

struct ticker {
    unsigned interval_ms;
    void (*tick)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool ending; /* under the lock */
};

/* True when it is time to end. */
static bool rest(struct ticker *ticker)
{
    struct timespec until = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(ticker->interval_ms % SECOND_MS) * MS_NS;
    until.tv_sec += ticker->interval_ms / SECOND_MS + until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    (void)pthread_mutex_lock(&ticker->lock);
    int rc = 0;
    while (!ticker->ending && rc == 0) {
        rc = pthread_cond_timedwait(&ticker->wake, &ticker->lock, &until);
    }
    bool ending = ticker->ending;
    (void)pthread_mutex_unlock(&ticker->lock);
    return ending;
}

static void *live(void *argument)
{
    struct ticker *ticker = argument;
    while (!rest(ticker)) {
        ticker->tick(ticker->context);
    }
    return NULL;
}

static void free_ticker(struct ticker *ticker)
{
    (void)pthread_cond_destroy(&ticker->wake);
    (void)pthread_mutex_destroy(&ticker->lock);
    heap_free(ticker);
}

bool ticker_start(unsigned interval_ms, void (*tick)(void *context), void *context,
                  struct ticker **out, struct error *err)
{
    struct ticker *ticker = heap_alloc(sizeof *ticker);
    *ticker = (struct ticker){.interval_ms = interval_ms, .tick = tick, .context = context};
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&ticker->lock, NULL);
    (void)pthread_cond_init(&ticker->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    int failure = pthread_create(&ticker->thread, NULL, live, ticker);
    if (failure != 0) {
        free_ticker(ticker);
        return error_set(err, ERROR_STORE, "no thread can be made: %s", strerror(failure));
    }
    *out = ticker;
    return true;
}

void ticker_stop(struct ticker *ticker)
{
    if (ticker == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&ticker->lock);
    ticker->ending = true;
    (void)pthread_cond_signal(&ticker->wake);
    (void)pthread_mutex_unlock(&ticker->lock);
    (void)pthread_join(ticker->thread, NULL);
    free_ticker(ticker);
}
