#include "migrate/run/runner_cut.h"

#include "engine/base/buffer.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct key_schema keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                       .partition_count = 1,
                                       .sort = {{STR_INIT("SK"), VALUE_S}},
                                       .sort_count = 1};

static bool add(struct runner_heat *heat, struct str partition, struct str sort)
{
    struct arena *arena = arena_new();
    struct buffer cursor = {0};
    struct key key = {{value_string(arena, partition), value_string(arena, sort)}, 2};
    key_encode(&key, &cursor);
    bool hot = runner_heat_add(heat, &keys, buffer_str(&cursor));
    buffer_free(&cursor);
    arena_free(arena);
    return hot;
}

START_TEST(pages_of_one_collection_in_a_row_are_hot)
{
    struct runner_heat heat = {0};
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 1; i < RUNNER_CUT_PAGES; i++) {
            ck_assert(!add(&heat, STR("A"), STR("x")));
        }
        ck_assert(add(&heat, STR("A"), STR("y")));
    }
}
END_TEST

START_TEST(another_collection_begins_anew)
{
    struct runner_heat heat = {0};
    for (unsigned i = 0; i < 4 * RUNNER_CUT_PAGES; i++) {
        ck_assert(!add(&heat, i % (RUNNER_CUT_PAGES - 1) == 0 ? STR("B") : STR("A"), STR("x")));
    }
}
END_TEST

START_TEST(a_range_is_cut_within)
{
    struct arena *arena = arena_new();
    struct buffer ends[2] = {{0}, {0}};
    for (unsigned i = 0; i < 2; i++) {
        struct key key = {
            {value_string(arena, STR("A")), value_string(arena, i == 0 ? STR("100") : STR("900"))},
            2};
        key_encode(&key, &ends[i]);
    }
    const struct str range[2] = {buffer_str(&ends[0]), buffer_str(&ends[1])};
    struct runner_cut cut = {.arena = arena};
    struct error err = {0};
    struct key middle;
    ck_assert(runner_cut_find(NULL, &keys, range, &cut, &err));
    ck_assert(str_equal(cut.end, range[1]));
    ck_assert(key_decode(cut.middle, 2, &middle, &err));
    ck_assert(str_compare(STR("100"), value_bytes(middle.parts[1])) < 0);
    ck_assert(str_compare(value_bytes(middle.parts[1]), STR("900")) < 0);
    buffer_free(&ends[0]);
    buffer_free(&ends[1]);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("runner_cut");
    tcase_add_test(cases, pages_of_one_collection_in_a_row_are_hot);
    tcase_add_test(cases, another_collection_begins_anew);
    tcase_add_test(cases, a_range_is_cut_within);
    Suite *suite = suite_create("migrate/run/runner_cut");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
