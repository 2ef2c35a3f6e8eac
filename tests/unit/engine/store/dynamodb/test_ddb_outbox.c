#include "engine/store/dynamodb/ddb_outbox_internal.h"

#include "tests/support/suite.h"

enum { BODY_BYTES = OUTBOX_BYTES / 4 };

static struct parcel *add(struct outbox *outbox)
{
    struct parcel *parcel = outbox_new(outbox);
    char *body = arena_bytes(parcel->arena, BODY_BYTES);
    memset(body, ' ', BODY_BYTES);
    parcel->request.body = (struct str){body, BODY_BYTES};
    outbox_count(outbox, parcel);
    return parcel;
}

/* Whichever of them is done. */
START_TEST(one_that_is_done_makes_room_for_the_next)
{
    struct outbox outbox = {.bytes = 0};
    struct parcel *parcels[4];
    for (size_t i = 0; i < 4; i++) {
        ck_assert(!outbox_is_full(&outbox));
        parcels[i] = add(&outbox);
        ck_assert_ptr_eq(outbox_parcel_of(&parcels[i]->request), parcels[i]);
    }
    ck_assert(outbox_is_full(&outbox));
    outbox_drop(&outbox, parcels[_i]);
    ck_assert(!outbox_is_full(&outbox));
    (void)add(&outbox);
    ck_assert(outbox_is_full(&outbox));
    outbox_close(&outbox);
    ck_assert_uint_eq(outbox.bytes, 0);
    ck_assert_ptr_null(outbox.open);
}
END_TEST

START_TEST(what_was_not_composed_does_not_count)
{
    struct outbox outbox = {.bytes = 0};
    struct parcel *parcel = outbox_new(&outbox);
    parcel->request.body = STR("{}");
    outbox_drop(&outbox, parcel);
    ck_assert_uint_eq(outbox.bytes, 0);
    ck_assert_ptr_null(outbox.open);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_outbox");
    TCase *tests = tcase_create("room");
    tcase_add_loop_test(tests, one_that_is_done_makes_room_for_the_next, 0, 4);
    tcase_add_test(tests, what_was_not_composed_does_not_count);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
