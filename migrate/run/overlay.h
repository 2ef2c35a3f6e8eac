/* overlay — a table as it would be: changes kept in a temporary table of their own, read over one
 * that is never written. Behind the store interface, as far as scans, probes and look-ups go. */
#ifndef MIGRATE_RUN_OVERLAY_H
#define MIGRATE_RUN_OVERLAY_H

#include "engine/base/error.h"
#include "engine/store/store.h"

/* Makes the overlay in `temp_dir`; its files are removed at once and vanish with it.
 *   under  borrowed
 *   table  borrowed: what store_describe() shall give; it may change between scans
 * store_close() frees the overlay. ERROR_STORE, ERROR_FULL: no table can be made there. */
MUST_CHECK bool overlay_open(struct store *under, const struct table_desc *table,
                             const char *temp_dir, struct store **out, struct error *err);

#endif
