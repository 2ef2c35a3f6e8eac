#include "engine/store/dynamodb/ddb_internal.h"
#include "tests/support/suite.h"

static uint64_t now_us(void *context)
{
    (void)context;
    return 1;
}

/* There is no server: whatever is sent ends the test. */
START_TEST(what_is_refused_as_a_whole_leaves_the_undo_log_alone)
{
    struct arena *arena = arena_new();
    struct ddb_store store = {.mode = STORE_WRITE,
                              .world = {.now_us = now_us},
                              .table = {.desc = {.keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                                          .partition_count = 1}}}};
    struct error err = {0};
    struct attribute unkeyed = {STR("X"), value_string(arena, STR("x"))};
    struct write write = {.kind = WRITE_PUT, .undo = STR("a record")};
    struct effect effect = {.writes = &write, .count = 1};
    struct batch batch = {.effects = &effect, .count = 1, .undo_log = 1, .arena = arena};
    ck_assert(value_map(arena, &unkeyed, 1, &write.item, &err));
    ck_assert_msg(ddb_commit(&store.base, &batch, &err), "%s", err.text);
    ck_assert_int_eq(effect.outcome, OUTCOME_REJECTED);
    ck_assert_ptr_null(store.undo);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_commit");
    TCase *undo = tcase_create("undo");
    tcase_add_test(undo, what_is_refused_as_a_whole_leaves_the_undo_log_alone);
    suite_add_tcase(suite, undo);
    return suite_run(suite);
}
