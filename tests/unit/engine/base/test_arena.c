#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

START_TEST(arena_alloc_is_aligned_and_apart)
{
    struct arena *arena = arena_new();
    char *before = arena_bytes(arena, 1);
    *before = 'x';
    for (size_t size = 0; size < 3000; size += 7) {
        unsigned char *memory = arena_alloc(arena, size);
        ck_assert_uint_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
        memset(memory, 0xaa, size);
    }
    ck_assert_int_eq(*before, 'x');
    arena_free(arena);
}
END_TEST

START_TEST(arena_zero_clears_used_memory)
{
    struct arena *arena = arena_new();
    memset(arena_alloc(arena, 1000), 0xff, 1000);
    arena_reset(arena);
    const unsigned char *memory = arena_zero(arena, 1000);
    for (size_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(memory[i], 0);
    }
    arena_free(arena);
}
END_TEST

START_TEST(arena_takes_more_than_a_block)
{
    struct arena *arena = arena_new();
    size_t size = 5000000;
    char *large = arena_bytes(arena, size);
    memset(large, 'x', size);
    ck_assert_uint_ge(arena_held_bytes(arena), size);
    ck_assert_int_eq(large[size - 1], 'x');
    arena_free(arena);
}
END_TEST

START_TEST(arena_reset_keeps_one_block)
{
    struct arena *arena = arena_new();
    ck_assert_uint_eq(arena_held_bytes(arena), 0);
    arena_reset(arena);
    for (int i = 0; i < 1000; i++) {
        (void)arena_alloc(arena, 10000);
    }
    arena_reset(arena);
    size_t held = arena_held_bytes(arena);
    ck_assert_uint_le(held, 1 << 20);
    (void)arena_alloc(arena, held);
    ck_assert_uint_eq(arena_held_bytes(arena), held);
    arena_free(arena);
}
END_TEST

START_TEST(arena_copy_ends_with_nul)
{
    struct arena *arena = arena_new();
    struct str copy = arena_copy(arena, STR("a\0b"));
    ck_assert(str_equal(copy, STR("a\0b")));
    ck_assert_int_eq(copy.ptr[copy.len], '\0');
    ck_assert_uint_eq(arena_copy(arena, (struct str){NULL, 0}).len, 0);
    arena_free(arena);
}
END_TEST

START_TEST(arena_format_measures_first)
{
    struct arena *arena = arena_new();
    struct str text = arena_format(arena, "%05d %s", 42, "items");
    ck_assert(str_equal(text, STR("00042 items")));
    ck_assert_int_eq(text.ptr[text.len], '\0');
    arena_free(arena);
}
END_TEST

START_TEST(arena_grow_keeps_what_was_there)
{
    struct arena *arena = arena_new();
    size_t *list = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        if (i == capacity) {
            list = arena_grow(arena, list, sizeof *list, &capacity);
        }
        ck_assert_uint_gt(capacity, i);
        list[i] = i;
    }
    for (size_t i = 0; i < 1000; i++) {
        ck_assert_uint_eq(list[i], i);
    }
    arena_free(arena);
}
END_TEST

START_TEST(heap_resize_keeps_what_was_there)
{
    char *memory = heap_alloc(4);
    ck_assert_int_eq(memory[3], 0);
    memcpy(memory, "abc", 4);
    memory = heap_resize(memory, 100000);
    ck_assert_str_eq(memory, "abc");
    heap_free(memory);
    heap_free(NULL);
    arena_free(NULL);
}
END_TEST

int main(void)
{
    TCase *arena = tcase_create("arena");
    tcase_add_test(arena, arena_alloc_is_aligned_and_apart);
    tcase_add_test(arena, arena_zero_clears_used_memory);
    tcase_add_test(arena, arena_takes_more_than_a_block);
    tcase_add_test(arena, arena_reset_keeps_one_block);
    tcase_add_test(arena, arena_copy_ends_with_nul);
    tcase_add_test(arena, arena_format_measures_first);
    tcase_add_test(arena, arena_grow_keeps_what_was_there);
    tcase_add_test(arena, heap_resize_keeps_what_was_there);
    Suite *suite = suite_create("engine/base/arena");
    suite_add_tcase(suite, arena);
    return suite_run(suite);
}
