#include "engine/base/pause.h"

#include <stddef.h>
#include <time.h>

enum { NAP_NS = 50000000 };

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
    struct timespec nap = {.tv_nsec = NAP_NS};
    (void)nanosleep(&nap, NULL);
    return true;
}
