/* import_own — what an import has written that was broken off, where records carry no number of the
 * pass that wrote them: control records "import/…" hold digests of the items of each commit, from
 * before it until the import is finished. A standing item whose digest is there is the import's
 * own; one that somebody has changed since is not. */
#ifndef MIGRATE_IMPORT_IMPORT_OWN_H
#define MIGRATE_IMPORT_IMPORT_OWN_H

#include "engine/base/error.h"
#include "engine/item/value.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>

struct import_own;

/* Reads what earlier attempts have noted. ERROR_STORE, ERROR_DAMAGED. */
MUST_CHECK bool import_own_open(struct store_reader *reader, struct import_own **out,
                                struct error *err);
void import_own_close(struct import_own *own); /* NULL is fine */

/* Notes durably what the next commit writes. */
MUST_CHECK bool import_own_note(struct import_own *own, struct store *store,
                                const struct effect *effects, size_t count, struct error *err);

/* Whether an earlier attempt wrote the item as it stands. */
bool import_own_wrote(const struct import_own *own, struct value item);

/* The source derives this item now. */
void import_own_derived(struct import_own *own, struct value item);

/* Whether an earlier attempt wrote the item as it stands, and the source derives it no more. */
bool import_own_is_left(const struct import_own *own, struct value item);

/* Deletes the notes durably: the import is finished, or never began. */
MUST_CHECK bool import_own_forget(struct store *store, struct store_reader *reader,
                                  struct error *err);

#endif
