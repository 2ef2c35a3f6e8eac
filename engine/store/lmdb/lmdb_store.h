/* lmdb_store — the embedded table: one LMDB file, no server. docs/format.md describes the bytes. */
#ifndef ENGINE_STORE_LMDB_LMDB_STORE_H
#define ENGINE_STORE_LMDB_LMDB_STORE_H

#include "engine/base/error.h"
#include "engine/store/store.h"

/* Opens or creates the table in the file `path`. A process opens one path once.
 * ERROR_STORE: not there, not a refold table, a newer format, cut short; ERROR_DAMAGED. */
MUST_CHECK bool lmdb_store_open(const char *path, const struct store_options *options,
                                struct store **out, struct error *err);

#endif
