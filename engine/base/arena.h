/* arena — memory for one unit of work, freed all at once; and the only door to the heap. */
#ifndef ENGINE_BASE_ARENA_H
#define ENGINE_BASE_ARENA_H

#include "engine/base/str.h"

#include <stddef.h>

struct arena;

/* A new, empty arena; arena_free() releases it. One thread at a time may use it. */
struct arena *arena_new(void);

/* Forgets everything that was allocated; keeps the largest block for reuse. */
void arena_reset(struct arena *arena);

/* Releases the arena and all it owns; NULL is fine. */
void arena_free(struct arena *arena);

/* Not cleared, aligned for any type. Never NULL: out of memory ends the process. */
void *arena_alloc(struct arena *arena, size_t size);

/* As arena_alloc(), all bytes zero. */
void *arena_zero(struct arena *arena, size_t size);

/* Twice the room for a full list of *capacity elements (NULL, 0: none yet) of `size` bytes, which
 * are copied; the rest is not cleared. *capacity becomes the new one. */
void *arena_grow(struct arena *arena, const void *list, size_t size, size_t *capacity);

/* Unaligned room for `size` bytes of text or encoded data; packs tighter than arena_alloc(). */
char *arena_bytes(struct arena *arena, size_t size);

/* A copy of s in the arena, with a NUL behind it that is not counted. */
struct str arena_copy(struct arena *arena, struct str s);

/* Text made as by printf, owned by the arena; a NUL follows that is not counted. */
struct str arena_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes that the arena holds from the heap, for tests and for limits. */
size_t arena_held_bytes(const struct arena *arena);

/* Heap memory with a lifetime of its own. heap_alloc() clears; heap_resize() keeps what was there
 * and leaves the rest unset; heap_free(NULL) is fine. Out of memory ends the process. */
void *heap_alloc(size_t size);
void *heap_resize(void *memory, size_t size);
void heap_free(void *memory);

#endif
