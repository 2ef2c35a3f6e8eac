/* import_leftovers — items that a broken-off attempt at an import has written: those that the
 * source, as it is now, gives no more, or all. */
#ifndef MIGRATE_IMPORT_IMPORT_LEFTOVERS_H
#define MIGRATE_IMPORT_IMPORT_LEFTOVERS_H

#include "engine/base/error.h"
#include "migrate/import/import_load.h"

#include <stdbool.h>
#include <stdint.h>

/* Removes items of the import's own pass that the stream does not hold; adds to out->removed. */
MUST_CHECK bool import_remove_leftovers(const struct import_load_options *options,
                                        struct import_written *out, struct error *err);

/* For a store without pass numbers: removes, under condition, all items that stand as an import
 * noted them that came to nothing; then its notes. ERROR_STORE, … */
MUST_CHECK bool import_take_back(struct store *store, struct store_reader *reader,
                                 const struct key_schema *keys, struct error *err);

#endif
