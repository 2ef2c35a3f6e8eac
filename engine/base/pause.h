/* pause — resting while somebody wants it. */
#ifndef ENGINE_BASE_PAUSE_H
#define ENGINE_BASE_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>

/* Two switches that others turn. NULL: never. */
struct pause {
    const atomic_bool *wanted;
    const atomic_bool *stop; /* ends each rest */
};

/* Whether to rest now. */
bool pause_is_wanted(const struct pause *pause);

/* Sleeps a moment and returns true where a rest is wanted, else returns false at once; to be called
 * until it does. */
bool pause_rest(const struct pause *pause);

/* Sleeps so long, or until `stop` is set. NULL: it never is. */
void pause_sleep(unsigned ms, const atomic_bool *stop);

#endif
