/* memory_store's own: what reading and committing share. */
#ifndef TESTS_SUPPORT_MEMORY_STORE_INTERNAL_H
#define TESTS_SUPPORT_MEMORY_STORE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/store.h"
#include "tests/support/memory_store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONTROLS_MAX = 1024, FRAMES_MAX = 65536, ITEMS_MAX = 1 << 20 };

struct record {
    struct str order; /* of its key */
    struct stored_item stored;
};

struct frame {
    uint64_t log; /* 0: dropped */
    struct str bytes;
};

struct memory_store {
    struct store base;
    struct key_schema keys;
    struct memory_store_hooks hooks;
    pthread_mutex_t lock; /* of all that follows */
    struct arena *arena;
    struct record *records; /* sorted */
    size_t count;
    uint64_t last_stamp;
    struct control *controls; /* sorted by name */
    size_t control_count;
    struct frame *frames; /* place + 1 is the sequence */
    size_t frame_count;
    bool leased;
};

struct memory_store *memory_of(struct store *store);

/* The key of an item that has a valid one. */
struct key memory_key(const struct memory_store *store, struct value item);

/* All these under the lock. The record of a key, or NULL; what is set lives in the store's arena.
 */
struct record *memory_find(struct memory_store *store, const struct key *key);
void memory_set(struct memory_store *store, struct value item, uint64_t pass);
void memory_remove(struct memory_store *store, struct record *record);

/* Where a control record stands or would; and the record, or NULL. */
size_t memory_control_place(const struct memory_store *store, struct str name);
struct control *memory_control(const struct memory_store *store, struct str name);

bool memory_commit(struct store *base, struct batch *batch, struct error *err);

#endif
