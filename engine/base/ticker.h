/* ticker — a thread that does one thing again and again, with a rest between. */
#ifndef ENGINE_BASE_TICKER_H
#define ENGINE_BASE_TICKER_H

#include "engine/base/error.h"

#include <stdbool.h>

struct ticker;

/* Calls tick(context) every interval, the first time after one, until ticker_stop().
 * ERROR_STORE: no thread can be made. */
MUST_CHECK bool ticker_start(unsigned interval_ms, void (*tick)(void *context), void *context,
                             struct ticker **out, struct error *err);

/* Waits for a tick that is under way. NULL is fine. */
void ticker_stop(struct ticker *ticker);

#endif
