#include "engine/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first block is small, so that an arena for one error message costs little. */
enum { FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 1 << 20, FIRST_ELEMENTS = 8 };

struct block {
    struct block *next;
    size_t size;
    alignas(max_align_t) char bytes[];
};

struct arena {
    struct block *blocks; /* the newest first; only it has room */
    size_t used;          /* of the newest */
    size_t held_bytes;
};

static void *must(void *memory)
{
    if (memory == NULL) {
        (void)fputs("refold: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void *heap_alloc(size_t size)
{
    return must(calloc(1, size == 0 ? 1 : size));
}

void *heap_resize(void *memory, size_t size)
{
    return must(realloc(memory, size == 0 ? 1 : size));
}

void heap_free(void *memory)
{
    free(memory);
}

struct arena *arena_new(void)
{
    return heap_alloc(sizeof(struct arena));
}

static void add_block(struct arena *arena, size_t size)
{
    size_t wanted = arena->blocks == NULL ? FIRST_BLOCK_BYTES : arena->blocks->size * 2;
    if (wanted > LARGEST_BLOCK_BYTES) {
        wanted = LARGEST_BLOCK_BYTES;
    }
    if (wanted < size) {
        wanted = size;
    }
    if (wanted > SIZE_MAX - sizeof(struct block)) {
        must(NULL);
    }
    struct block *block = must(malloc(sizeof *block + wanted));
    block->next = arena->blocks;
    block->size = wanted;
    arena->blocks = block;
    arena->used = 0;
    arena->held_bytes += wanted;
}

static void *take(struct arena *arena, size_t size, size_t align)
{
    size_t start = (arena->used + align - 1) & ~(align - 1);
    if (arena->blocks == NULL || start > arena->blocks->size ||
        size > arena->blocks->size - start) {
        add_block(arena, size);
        start = 0;
    }
    arena->used = start + size;
    return arena->blocks->bytes + start;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return take(arena, size, alignof(max_align_t));
}

void *arena_zero(struct arena *arena, size_t size)
{
    return memset(arena_alloc(arena, size), 0, size);
}

char *arena_bytes(struct arena *arena, size_t size)
{
    return take(arena, size, 1);
}

void *arena_grow(struct arena *arena, const void *list, size_t size, size_t *capacity)
{
    size_t wanted = *capacity == 0 ? FIRST_ELEMENTS : 2 * *capacity;
    void *grown = arena_alloc(arena, wanted * size);
    if (*capacity > 0) {
        memcpy(grown, list, *capacity * size);
    }
    *capacity = wanted;
    return grown;
}

struct str arena_copy(struct arena *arena, struct str s)
{
    char *bytes = arena_bytes(arena, s.len + 1);
    if (s.len > 0) {
        memcpy(bytes, s.ptr, s.len);
    }
    bytes[s.len] = '\0';
    return (struct str){bytes, s.len};
}

struct str arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t size = len < 0 ? 0 : (size_t)len;
    char *bytes = arena_bytes(arena, size + 1);
    bytes[0] = '\0';
    (void)vsnprintf(bytes, size + 1, format, again);
    va_end(again);
    return (struct str){bytes, size};
}

/* The newest block is the largest, or as large as any: it is the one to keep. */
void arena_reset(struct arena *arena)
{
    struct block *kept = arena->blocks;
    if (kept == NULL) {
        return;
    }
    for (struct block *block = kept->next; block != NULL;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    kept->next = NULL;
    arena->used = 0;
    arena->held_bytes = kept->size;
}

void arena_free(struct arena *arena)
{
    if (arena == NULL) {
        return;
    }
    arena_reset(arena);
    free(arena->blocks);
    free(arena);
}

size_t arena_held_bytes(const struct arena *arena)
{
    return arena->held_bytes;
}
