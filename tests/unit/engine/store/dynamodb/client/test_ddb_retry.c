#include "engine/store/dynamodb/client/ddb_retry_internal.h"
#include "tests/support/suite.h"

#include <check.h>

enum { SECOND = 1000000 };

static const struct {
    const char *says;
    enum ddb_transport transport;
    int status;
    struct str body;
    int64_t clock_differs_s;
    enum ddb_class class;
} attempts[] = {
    {"a reply", DDB_ARRIVED, 200, STR_INIT("{}"), 0, DDB_CLASS_FINE},
    {"no connection", DDB_NOT_CONNECTED, 0, STR_INIT(""), 0, DDB_CLASS_UNSENT},
    {"half a reply", DDB_BROKE_OFF, 200, STR_INIT(""), 0, DDB_CLASS_LOST},
    {"a throttle", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"x#ProvisionedThroughputExceededException\"}"), 0, DDB_CLASS_THROTTLED},
    {"a name without a namespace", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"ThrottlingException\"}"), 0, DDB_CLASS_THROTTLED},
    {"a gateway's throttle", DDB_ARRIVED, 429, STR_INIT("slow down"), 0, DDB_CLASS_THROTTLED},
    {"a gateway's failure", DDB_ARRIVED, 502, STR_INIT("<html>"), 0, DDB_CLASS_SERVER},
    {"a failure", DDB_ARRIVED, 500, STR_INIT("{\"__type\":\"a#InternalServerError\"}"), 0,
     DDB_CLASS_SERVER},
    {"a condition", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#ConditionalCheckFailedException\"}"), 0, DDB_CLASS_FINAL},
    {"an item collection at its limit", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#ItemCollectionSizeLimitExceededException\"}"), 0, DDB_CLASS_FINAL},
    {"an expired token", DDB_ARRIVED, 400, STR_INIT("{\"__type\":\"a#ExpiredTokenException\"}"), 0,
     DDB_CLASS_EXPIRED},
    {"a wrong signature", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#InvalidSignatureException\"}"), 200, DDB_CLASS_FINAL},
    {"a signature too old", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#InvalidSignatureException\"}"), 301, DDB_CLASS_SKEWED},
    {"a signature of the future", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#InvalidSignatureException\"}"), -301, DDB_CLASS_SKEWED},
    {"a transaction that met another", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#TransactionCanceledException\",\"CancellationReasons\":["
              "{\"Code\":\"None\"},{\"Code\":\"TransactionConflict\"}]}"),
     0, DDB_CLASS_CONFLICT},
    {"a throttled transaction", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#TransactionCanceledException\",\"CancellationReasons\":["
              "{\"Code\":\"TransactionConflict\"},{\"Code\":\"ThrottlingError\"}]}"),
     0, DDB_CLASS_THROTTLED},
    {"a transaction that the server failed", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#TransactionCanceledException\",\"CancellationReasons\":["
              "{\"Code\":\"InternalServerError\"},{\"Code\":\"None\"}]}"),
     0, DDB_CLASS_CONFLICT},
    {"a transaction whose condition failed", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#TransactionCanceledException\",\"CancellationReasons\":["
              "{\"Code\":\"ThrottlingError\"},{\"Code\":\"ConditionalCheckFailed\"}]}"),
     0, DDB_CLASS_FINAL},
    {"a transaction without reasons", DDB_ARRIVED, 400,
     STR_INIT("{\"__type\":\"a#TransactionCanceledException\"}"), 0, DDB_CLASS_FINAL},
};

START_TEST(an_attempt_is_classed_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct ddb_failure failure;
    ddb_failure_read(attempts[_i].body, arena, &failure);
    struct ddb_attempt attempt = {attempts[_i].transport, attempts[_i].status, &failure,
                                  attempts[_i].clock_differs_s};
    ck_assert_msg(ddb_classify(&attempt) == attempts[_i].class, "%s: %d", attempts[_i].says,
                  (int)ddb_classify(&attempt));
    arena_free(arena);
}
END_TEST

START_TEST(only_what_may_have_happened_is_unsure)
{
    for (enum ddb_class class = DDB_CLASS_FINE; class < DDB_CLASS_COUNT; class ++) {
        bool unsure = class == DDB_CLASS_SERVER || class == DDB_CLASS_LOST;
        ck_assert_int_eq(ddb_class_is_unsure(class), unsure);
    }
}
END_TEST

START_TEST(delays_are_drawn_below_a_bound_that_doubles)
{
    uint64_t bound = 50000;
    for (unsigned attempt = 1; attempt < 40; attempt++) {
        uint64_t capped = bound < 20 * SECOND ? bound : 20 * SECOND;
        ck_assert_uint_eq(ddb_backoff_us(DDB_CLASS_THROTTLED, attempt, capped), capped);
        ck_assert_uint_eq(ddb_backoff_us(DDB_CLASS_THROTTLED, attempt, capped + 1), 0);
        ck_assert_uint_eq(ddb_backoff_us(DDB_CLASS_THROTTLED, attempt, 17), 17);
        bound = capped * 2;
    }
}
END_TEST

/* How long a class is tried when each delay is the longest. */
static uint64_t tried_for(enum ddb_class class, bool known, unsigned *count)
{
    struct ddb_tries tries = {.started_us = SECOND};
    struct ddb_moment moment = {.known = known, .now_us = SECOND};
    uint64_t delay_us = 0;
    *count = 0;
    moment.random = ddb_backoff_us(class, 1, UINT64_MAX / 2);
    while (*count < 10000 && ddb_retry(&tries, class, &moment, &delay_us)) {
        moment.now_us += delay_us;
        (*count)++;
        moment.random = ddb_backoff_us(class, *count + 1, UINT64_MAX / 2);
    }
    return moment.now_us - SECOND;
}

START_TEST(every_class_comes_to_an_end)
{
    for (enum ddb_class class = DDB_CLASS_THROTTLED; class < DDB_CLASS_COUNT; class ++) {
        unsigned count = 0;
        ck_assert_uint_le(tried_for(class, true, &count), 900ULL * SECOND);
        ck_assert_uint_gt(count, 0);
        ck_assert_uint_lt(count, 10000);
    }
}
END_TEST

START_TEST(a_server_that_never_replied_is_given_up_within_a_second)
{
    unsigned count = 0;
    ck_assert_uint_le(tried_for(DDB_CLASS_UNSENT, false, &count), SECOND);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_le(tried_for(DDB_CLASS_LOST, false, &count), SECOND);
}
END_TEST

START_TEST(credentials_that_stay_expired_are_given_up_before_the_lease_is_lost)
{
    unsigned count = 0;
    ck_assert_uint_le(tried_for(DDB_CLASS_EXPIRED, true, &count), 5ULL * SECOND);
    ck_assert_uint_gt(count, 1);
    ck_assert_uint_eq(tried_for(DDB_CLASS_EXPIRED, false, &count), 0);
}
END_TEST

START_TEST(an_unknown_key_is_read_anew_once)
{
    unsigned count = 0;
    ck_assert_uint_eq(tried_for(DDB_CLASS_UNKNOWN, true, &count), 0);
    ck_assert_uint_eq(count, 1);
}
END_TEST

int main(void)
{
    TCase *retry = tcase_create("retry");
    tcase_add_loop_test(retry, an_attempt_is_classed_as_the_table_says, 0,
                        (int)(sizeof attempts / sizeof attempts[0]));
    tcase_add_test(retry, only_what_may_have_happened_is_unsure);
    tcase_add_test(retry, delays_are_drawn_below_a_bound_that_doubles);
    tcase_add_test(retry, every_class_comes_to_an_end);
    tcase_add_test(retry, a_server_that_never_replied_is_given_up_within_a_second);
    tcase_add_test(retry, credentials_that_stay_expired_are_given_up_before_the_lease_is_lost);
    tcase_add_test(retry, an_unknown_key_is_read_anew_once);
    Suite *suite = suite_create("engine/store/dynamodb/client/ddb_retry");
    suite_add_tcase(suite, retry);
    return suite_run(suite);
}
