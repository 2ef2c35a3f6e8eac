/* pair_list — pairs in memory, appended one behind the other and sorted through references. */
#ifndef ENGINE_SORT_PAIR_LIST_INTERNAL_H
#define ENGINE_SORT_PAIR_LIST_INTERNAL_H

#include "engine/base/buffer.h"
#include "engine/base/str.h"

#include <stddef.h>
#include <stdint.h>

/* `prefix` decides most comparisons without touching the key. */
struct pair_ref {
    uint64_t prefix;
    uint64_t offset;
};

/* An empty list is {0}. */
struct pair_list {
    struct buffer bytes;
    struct pair_ref *refs;
    size_t count;
    size_t capacity;
};

/* Releases the memory and leaves it empty. */
void pair_list_free(struct pair_list *list);

/* Forgets the pairs and keeps the memory. */
void pair_list_clear(struct pair_list *list);

/* What the pairs take, the room to sort them included. */
size_t pair_list_used_bytes(const struct pair_list *list);

/* Copies the pair. */
void pair_list_add(struct pair_list *list, struct str key, struct str value);

/* By key; equal keys stay as they were added. */
void pair_list_sort(struct pair_list *list);

/* The pair at a place, in the list's own memory. */
void pair_list_at(const struct pair_list *list, size_t place, struct str *key, struct str *value);

#endif
