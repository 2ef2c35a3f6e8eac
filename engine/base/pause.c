#include "engine/base/pause.h"

#include <stddef.h>
#include <time.h>

enum { NAP_MS = 50, NS_A_MS = 1000000 };

static bool is_on(const atomic_bool *flag)
{
    return flag != NULL && atomic_load_explicit(flag, memory_order_relaxed);
}

bool pause_is_wanted(const struct pause *pause)
{
    return is_on(pause->wanted) && !is_on(pause->stop);
}

bool pause_rest(const struct pause *pause)
{
    if (!pause_is_wanted(pause)) {
        return false;
    }
    pause_sleep(NAP_MS, NULL);
    return true;
}

void pause_sleep(unsigned ms, const atomic_bool *stop)
{
    while (ms > 0 && !is_on(stop)) {
        unsigned nap_ms = ms < NAP_MS ? ms : NAP_MS;
        struct timespec nap = {.tv_nsec = (long)nap_ms * NS_A_MS};
        (void)nanosleep(&nap, NULL);
        ms -= nap_ms;
    }
}
