#include "engine/store/dynamodb/ddb_page_size_internal.h"

enum { ITEMS_MIN = 250, ITEMS_FIRST = 1000, ITEMS_MAX = 4000, ITEMS_TOGETHER = 16000 };

/* A page's last replies and its checkpoint take some ms on a network. */
static const double wanted_us = 500000;

void ddb_page_size_init(struct ddb_page_size *size, bool writes)
{
    atomic_init(&size->items, writes ? ITEMS_FIRST : ITEMS_MAX);
    atomic_init(&size->readers, 0);
}

void ddb_page_size_share(struct ddb_page_size *size, int more)
{
    (void)atomic_fetch_add(&size->readers, (unsigned)more);
}

static size_t within(size_t items, size_t least, size_t most)
{
    items = items < most ? items : most;
    return items > least ? items : least;
}

size_t ddb_page_size_now(struct ddb_page_size *size)
{
    size_t readers = atomic_load(&size->readers);
    size_t share = ITEMS_TOGETHER / (readers > 0 ? readers : 1);
    return within(atomic_load(&size->items), ITEMS_MIN, share);
}

/* A short page tells little, so that no step is large. */
void ddb_page_size_written(struct ddb_page_size *size, uint64_t took_us)
{
    double part = wanted_us / (double)(took_us + 1);
    part = part > 2 ? 2 : part;
    part = part < 0.25 ? 0.25 : part;
    double items = part * (double)atomic_load(&size->items) + 0.5;
    atomic_store(&size->items, within((size_t)items, ITEMS_MIN, ITEMS_MAX));
}
