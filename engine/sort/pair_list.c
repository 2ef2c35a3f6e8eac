#include "engine/sort/pair_list_internal.h"

#include "engine/base/arena.h"
#include "engine/sort/pair_internal.h"

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <string.h>

enum {
    FIRST_REFS = 1024,
    PREFIX_BYTES = 7, /* of the key; the eighth byte says how many there are */
    PREFIX_MORE = 8,  /* in that byte: the key goes on */
    DIGITS = 8,
    DIGIT_VALUES = 256,
    INSERTION_MAX = 12,   /* pairs; more are merged */
    RADIX_MIN = 96,       /* pairs; fewer are merged, which clears no counters */
    RADIX_DEPTH_MAX = 512 /* bytes of common prefix; bounds the recursion */
};

void pair_list_free(struct pair_list *list)
{
    buffer_free(&list->bytes);
    heap_free(list->refs);
    *list = (struct pair_list){0};
}

void pair_list_clear(struct pair_list *list)
{
    list->bytes.len = 0;
    list->count = 0;
}

size_t pair_list_used_bytes(const struct pair_list *list)
{
    return list->bytes.len + 2 * list->count * sizeof(struct pair_ref);
}

/* Seven bytes of the key from `depth` on and their number, such that the order of prefixes is the
 * order of keys, and equal prefixes without PREFIX_MORE are equal keys. */
static uint64_t prefix_at(struct str key, size_t depth)
{
    const char *from = key.ptr + depth;
    size_t left = key.len - depth;
    uint64_t prefix = 0;
    if (left > PREFIX_BYTES) {
        memcpy(&prefix, from, sizeof prefix);
        return (be64toh(prefix) & ~UINT64_C(0xff)) | PREFIX_MORE;
    }
    if (left > 0) {
        memcpy(&prefix, from, left);
    }
    return be64toh(prefix) | left;
}

void pair_list_add(struct pair_list *list, struct str key, struct str value)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? FIRST_REFS : 2 * list->capacity;
        list->refs = heap_resize(list->refs, list->capacity * sizeof *list->refs);
    }
    list->refs[list->count++] = (struct pair_ref){prefix_at(key, 0), list->bytes.len};
    pair_write(key, value, &list->bytes);
}

static void read_at(const struct pair_list *list, uint64_t offset, struct str *key,
                    struct str *value)
{
    struct str bytes = {list->bytes.bytes + offset, list->bytes.len - offset};
    size_t size = pair_read(bytes, key, value);
    assert(size > 0);
    (void)size;
}

static struct str key_of(const struct pair_list *list, const struct pair_ref *ref)
{
    struct str key, value;
    read_at(list, ref->offset, &key, &value);
    return key;
}

void pair_list_at(const struct pair_list *list, size_t place, struct str *key, struct str *value)
{
    enum { AHEAD = 8 }; /* the pairs lie as they were added: each is a cache miss */
    if (place + AHEAD < list->count) {
        __builtin_prefetch(list->bytes.bytes + list->refs[place + AHEAD].offset);
    }
    read_at(list, list->refs[place].offset, key, value);
}

static bool is_after(const struct pair_list *list, const struct pair_ref *a,
                     const struct pair_ref *b)
{
    if (a->prefix != b->prefix) {
        return a->prefix > b->prefix;
    }
    return (a->prefix & 0xff) == PREFIX_MORE && str_compare(key_of(list, a), key_of(list, b)) > 0;
}

static void insertion_sort(const struct pair_list *list, struct pair_ref *refs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct pair_ref moved = refs[i];
        size_t hole = i;
        while (hole > 0 && is_after(list, &refs[hole - 1], &moved)) {
            refs[hole] = refs[hole - 1];
            hole--;
        }
        refs[hole] = moved;
    }
}

static void merge_sort(const struct pair_list *list, struct pair_ref *refs, struct pair_ref *spare,
                       size_t count)
{
    if (count <= INSERTION_MAX) {
        insertion_sort(list, refs, count);
        return;
    }
    size_t half = count / 2;
    merge_sort(list, refs, spare, half);
    merge_sort(list, refs + half, spare, count - half);
    memcpy(spare, refs, half * sizeof *refs);
    size_t left = 0, right = half, out = 0;
    while (left < half && right < count) {
        bool later = is_after(list, &spare[left], &refs[right]);
        refs[out++] = later ? refs[right++] : spare[left++];
    }
    memcpy(refs + out, spare + left, (half - left) * sizeof *refs);
}

static unsigned digit(const struct pair_ref *ref, unsigned place)
{
    return (unsigned)(ref->prefix >> (8 * place)) & (DIGIT_VALUES - 1);
}

static void scatter(const struct pair_ref *from, struct pair_ref *to, size_t count, unsigned place,
                    const size_t *counts)
{
    size_t starts[DIGIT_VALUES];
    size_t start = 0;
    for (size_t value = 0; value < DIGIT_VALUES; value++) {
        starts[value] = start;
        start += counts[value];
    }
    for (size_t i = 0; i < count; i++) {
        to[starts[digit(&from[i], place)]++] = from[i];
    }
}

/* By prefix, stable. Digits that are the same in all prefixes cost nothing. */
static void radix_sort(struct pair_ref *refs, struct pair_ref *spare, size_t count)
{
    size_t counts[DIGITS][DIGIT_VALUES] = {{0}};
    for (size_t i = 0; i < count; i++) {
        for (unsigned place = 0; place < DIGITS; place++) {
            counts[place][digit(&refs[i], place)]++;
        }
    }
    struct pair_ref *from = refs, *to = spare;
    for (unsigned place = 0; place < DIGITS; place++) {
        if (counts[place][digit(from, place)] == count) {
            continue;
        }
        scatter(from, to, count, place, counts[place]);
        struct pair_ref *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != refs) {
        memcpy(refs, from, count * sizeof *refs);
    }
}

static size_t equal_prefixes(const struct pair_ref *refs, size_t count)
{
    size_t equal = 1;
    while (equal < count && refs[equal].prefix == refs[0].prefix) {
        equal++;
    }
    return equal;
}

/* Sorts pairs that agree in their first `depth` bytes, their prefixes being taken from there. */
static void sort_from(const struct pair_list *list, struct pair_ref *refs, struct pair_ref *spare,
                      size_t count, size_t depth)
{
    if (count < RADIX_MIN || depth > RADIX_DEPTH_MAX) {
        merge_sort(list, refs, spare, count);
        return;
    }
    radix_sort(refs, spare, count);
    for (size_t first = 0, equal; first < count; first += equal) {
        equal = equal_prefixes(refs + first, count - first);
        if (equal == 1 || (refs[first].prefix & 0xff) != PREFIX_MORE) {
            continue;
        }
        for (size_t i = first; i < first + equal; i++) {
            refs[i].prefix = prefix_at(key_of(list, &refs[i]), depth + PREFIX_BYTES);
        }
        sort_from(list, refs + first, spare, equal, depth + PREFIX_BYTES);
    }
}

void pair_list_sort(struct pair_list *list)
{
    struct pair_ref *spare = heap_resize(NULL, list->count * sizeof *spare);
    sort_from(list, list->refs, spare, list->count, 0);
    heap_free(spare);
}
