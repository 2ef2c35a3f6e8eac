/* lmdb_store — the embedded table: one LMDB file, its lock and its lease. docs/format.md has the
 * bytes. For local file systems only: LMDB's locks and its memory map do not work over a network.
 *
 * SHOP        the table        SHOP-lock   LMDB's reader table        SHOP-run   the run's lease */
#ifndef ENGINE_STORE_LMDB_LMDB_STORE_H
#define ENGINE_STORE_LMDB_LMDB_STORE_H

#include "engine/base/error.h"
#include "engine/store/store.h"

/* Opens the file at `path`, or that to which it is a symbolic link; a process may have it open
 * once. What readers see is what was flushed; a batch with a stale effect is flushed at once, so
 * that the reader can look again. Where it is open for reading only, each reader reads as of the
 * moment when it was opened; and where it cannot tell a run of itself (no right to write beside the
 * file), pages are ERROR_BUSY once a run has written. Whoever writes (commits, indexes, loads)
 * holds the lease; STORE_CREATE takes it. ERROR_STORE: not there, not ours, a newer format, already
 * there (STORE_CREATE), hard links to it (unless STORE_READ). ERROR_DAMAGED: cut short or not
 * intact. ERROR_BUSY: another process holds the lease (STORE_CREATE; STORE_READ where nothing may
 * be written beside the file, since a run would not know of the reader). */
MUST_CHECK bool lmdb_store_open(const char *path, const struct store_options *options,
                                struct store **out, struct error *err);

/* False where the file is absent, or holds nothing because its creation was broken off: then
 * STORE_CREATE makes the table. What cannot be read or is damaged exists; opening it says so. */
MUST_CHECK bool lmdb_store_exists(const char *path, bool *out, struct error *err);

/* Deletes the table's files, as far as they are there. Whoever deletes them holds the lease, and
 * closes the store afterwards: else another may have made the table anew meanwhile. */
void lmdb_store_remove(const char *path);

#endif
