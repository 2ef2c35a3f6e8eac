/* memory_store — a table in memory behind the store interface, for tests of what stands above it.
 * It keeps stamps, passes, control records and undo frames as the embedded store does; it has no
 * indexes and answers no queries. Everything in it lives until it is closed. */
#ifndef TESTS_SUPPORT_MEMORY_STORE_H
#define TESTS_SUPPORT_MEMORY_STORE_H

#include "engine/base/error.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Faults and live writers: called before each page is read (in the reader's thread) and before each
 * batch is committed; false, with an error, fails the call. NULL: nothing happens. */
struct memory_store_hooks {
    void *context;
    bool (*before_page)(void *context, struct segment segment, struct error *err);
    bool (*before_commit)(void *context, struct store *store, const struct batch *batch,
                          struct error *err);
};

/* An empty table; store_close() frees it. `keys` are copied, their names borrowed. */
struct store *memory_store_new(const struct key_schema *keys,
                               const struct memory_store_hooks *hooks);

/* Puts or removes an item as somebody else would: the stamp is new, the pass 0. The item must have
 * a valid key. */
void memory_store_put(struct store *store, struct value item);
void memory_store_remove(struct store *store, const struct key *key);

/* Items in the table's order. Not while other threads use the store. */
size_t memory_store_count(struct store *store);
struct stored_item memory_store_at(struct store *store, size_t place);

#endif
