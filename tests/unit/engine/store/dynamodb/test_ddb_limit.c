#include "engine/store/dynamodb/ddb_limit_internal.h"
#include "tests/support/suite.h"

#include <check.h>

enum { SECOND = 1000000, TICK_US = 1000, LATENCY_US = 2000 };

/* A server that grants units at a rate, with a burst, and clients that always want more; time is
 * simulated. `hot` is what a lane is granted, 0: no limit. */
struct simulation {
    struct ddb_limit limit;
    uint64_t now_us;
    double rate, burst, units;
    enum ddb_scope scope;
    uint64_t lane;
    unsigned sent, throttled, granted;
    unsigned again; /* parts of requests that were refused, and go each by itself */
};

static void count_from_here(struct simulation *simulation)
{
    simulation->sent = simulation->throttled = simulation->granted = 0;
}

static void send_one(struct simulation *simulation, const struct ddb_demand *demand)
{
    bool limited = simulation->lane == 0 || simulation->lane == demand->lane;
    bool fine = !limited || simulation->units >= demand->units;
    simulation->units -= limited && fine ? demand->units : 0;
    simulation->sent++;
    simulation->throttled += fine ? 0 : 1;
    simulation->granted += fine ? 1 : 0;
    struct ddb_end end = {fine ? DDB_RESULT_FINE : DDB_RESULT_THROTTLED, simulation->scope, -1,
                          LATENCY_US};
    ddb_limit_end(&simulation->limit, demand, &end, simulation->now_us);
}

/* A request of many parts, as many as the limit says and the server's bucket holds. */
static void send_parts(struct simulation *simulation, const struct ddb_demand *demand)
{
    unsigned fine = simulation->units < 0 ? 0 : (unsigned)simulation->units;
    fine = fine < demand->parts ? fine : demand->parts;
    unsigned refused = demand->parts - fine;
    struct ddb_end end = {DDB_RESULT_FINE, DDB_SCOPE_SIDE, fine, LATENCY_US};
    simulation->units -= fine;
    simulation->sent += demand->parts;
    simulation->granted += fine;
    simulation->throttled += refused;
    simulation->again += refused;
    ddb_limit_end(&simulation->limit, demand, &end, simulation->now_us);
    if (refused > 0) {
        ddb_limit_throttled(&simulation->limit, demand->side, refused, simulation->now_us);
    }
}

static void simulate_parts(struct simulation *simulation, double seconds)
{
    uint64_t end_us = simulation->now_us + (uint64_t)(seconds * SECOND);
    uint64_t wait_us = 0;
    for (; simulation->now_us < end_us; simulation->now_us += TICK_US) {
        simulation->units += simulation->rate * TICK_US / SECOND;
        simulation->units =
            simulation->units < simulation->burst ? simulation->units : simulation->burst;
        unsigned parts = simulation->again > 0 ? 1
                                               : ddb_limit_lump(&simulation->limit, DDB_WRITE, 25,
                                                                simulation->now_us);
        const struct ddb_demand demand = {DDB_WRITE, 0, parts, parts, false, 0};
        if (ddb_limit_take(&simulation->limit, &demand, simulation->now_us, &wait_us) ==
            DDB_GRANTED) {
            simulation->again -= simulation->again > 0;
            send_parts(simulation, &demand);
        }
    }
}

/* All demands are tried again and again, at most 20 requests a millisecond each. */
static void simulate(struct simulation *simulation, const struct ddb_demand *demands, size_t count,
                     double seconds)
{
    uint64_t end_us = simulation->now_us + (uint64_t)(seconds * SECOND);
    for (; simulation->now_us < end_us; simulation->now_us += TICK_US) {
        simulation->units += simulation->rate * TICK_US / SECOND;
        simulation->units =
            simulation->units < simulation->burst ? simulation->units : simulation->burst;
        for (size_t i = 0; i < 20 * count; i++) {
            uint64_t wait_us = 0;
            const struct ddb_demand *demand = &demands[i % count];
            if (ddb_limit_take(&simulation->limit, demand, simulation->now_us, &wait_us) ==
                DDB_GRANTED) {
                send_one(simulation, demand);
            }
        }
    }
}

static const double rates[] = {25, 100, 1000, 4000};

START_TEST(the_rate_that_a_server_grants_is_found_and_kept)
{
    double rate = rates[_i];
    struct simulation simulation = {.rate = rate, .burst = rate, .scope = DDB_SCOPE_SIDE};
    const struct ddb_demand demand = {DDB_WRITE, 0, 1, 0, false, 0};
    simulation.now_us = SECOND;
    ddb_limit_init(&simulation.limit, 0, 0);
    simulate(&simulation, &demand, 1, 10);
    count_from_here(&simulation);
    simulate(&simulation, &demand, 1, 60);
    ck_assert_msg(simulation.granted >= 0.9 * rate * 60, "%g: %u granted", rate,
                  simulation.granted);
    ck_assert_msg(simulation.throttled < 0.01 * simulation.sent + 1, "%g: %u of %u throttled", rate,
                  simulation.throttled, simulation.sent);
}
END_TEST

START_TEST(what_is_granted_in_parts_is_throttled_as_little)
{
    double rate = rates[_i];
    struct simulation simulation = {.rate = rate, .burst = rate, .now_us = SECOND};
    ddb_limit_init(&simulation.limit, 0, 0);
    simulate_parts(&simulation, 10);
    count_from_here(&simulation);
    simulate_parts(&simulation, 60);
    ck_assert_msg(simulation.granted >= 0.9 * rate * 60, "%g: %u granted", rate,
                  simulation.granted);
    ck_assert_msg(simulation.throttled < 0.01 * simulation.sent + 1, "%g: %u of %u throttled", rate,
                  simulation.throttled, simulation.sent);
}
END_TEST

START_TEST(more_capacity_is_found)
{
    struct simulation simulation = {.rate = 100, .burst = 100, .scope = DDB_SCOPE_SIDE};
    const struct ddb_demand demand = {DDB_WRITE, 0, 1, 0, false, 0};
    simulation.now_us = SECOND;
    ddb_limit_init(&simulation.limit, 0, 0);
    simulate(&simulation, &demand, 1, 10);
    simulation.rate = simulation.burst = 1000;
    simulate(&simulation, &demand, 1, 40);
    count_from_here(&simulation);
    simulate(&simulation, &demand, 1, 10);
    ck_assert_uint_ge(simulation.granted, 9000);
}
END_TEST

START_TEST(a_key_range_slows_its_lane_only)
{
    struct simulation simulation = {.rate = 50, .burst = 50, .scope = DDB_SCOPE_LANE, .lane = 7};
    const struct ddb_demand demands[] = {{DDB_WRITE, 7, 1, 0, false, 0},
                                         {DDB_WRITE, 8, 1, 0, false, 0}};
    simulation.now_us = SECOND;
    ddb_limit_init(&simulation.limit, 0, 0);
    simulate(&simulation, demands, 2, 10);
    count_from_here(&simulation);
    simulate(&simulation, demands, 2, 10);
    ck_assert_uint_lt(simulation.throttled, 50);
    ck_assert_uint_gt(simulation.granted, 100000);
}
END_TEST

static const struct {
    const char *says;
    enum ddb_scope scope;
    enum ddb_side throttled;
    enum ddb_side asked;
    enum ddb_grant grant;
} scopes[] = {
    {"a table's writes slow writes", DDB_SCOPE_SIDE, DDB_WRITE, DDB_WRITE, DDB_SIDE_FULL},
    {"but not reads", DDB_SCOPE_SIDE, DDB_WRITE, DDB_READ, DDB_GRANTED},
    {"reads slow reads", DDB_SCOPE_SIDE, DDB_READ, DDB_READ, DDB_SIDE_FULL},
    {"an account slows both", DDB_SCOPE_ALL, DDB_WRITE, DDB_READ, DDB_SIDE_FULL},
    {"a key range without a lane slows none", DDB_SCOPE_LANE, DDB_WRITE, DDB_WRITE, DDB_GRANTED},
    {"nothing slows the control plane", DDB_SCOPE_ALL, DDB_WRITE, DDB_CONTROL, DDB_GRANTED},
};

START_TEST(a_throttle_slows_what_its_reason_says)
{
    struct ddb_limit limit;
    uint64_t wait_us = 0;
    uint64_t now_us = SECOND;
    ddb_limit_init(&limit, 0, 0);
    const struct ddb_demand demand = {scopes[_i].throttled, 0, 1, 0, true, 0};
    const struct ddb_demand asked = {scopes[_i].asked, 0, 1, 0, true, 0};
    struct ddb_end end = {DDB_RESULT_THROTTLED, scopes[_i].scope, -1, LATENCY_US};
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, now_us, &wait_us), DDB_GRANTED);
    ddb_limit_end(&limit, &demand, &end, now_us);
    now_us += SECOND + 1;
    end.result = DDB_RESULT_FINE;
    for (enum ddb_side side = DDB_READ; side < DDB_SIDES; side++) {
        const struct ddb_demand next = {side, 0, 1, 0, true, 0};
        ck_assert_int_eq(ddb_limit_take(&limit, &next, now_us, &wait_us), DDB_GRANTED);
        ddb_limit_end(&limit, &next, &end, now_us);
    }
    enum ddb_grant grant = ddb_limit_take(&limit, &asked, now_us, &wait_us);
    ck_assert_msg(grant == scopes[_i].grant, "%s: %d", scopes[_i].says, (int)grant);
    ck_assert_int_eq(wait_us > 0, grant == DDB_SIDE_FULL);
}
END_TEST

START_TEST(a_users_limit_leaves_a_debt_for_what_costs_more)
{
    struct ddb_limit limit;
    uint64_t wait_us = 0;
    const struct ddb_demand demand = {DDB_READ, 0, 1, 0, true, 0};
    ddb_limit_init(&limit, 100, 0);
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, SECOND, &wait_us), DDB_GRANTED);
    struct ddb_end end = {DDB_RESULT_FINE, DDB_SCOPE_SIDE, 105, LATENCY_US};
    ddb_limit_end(&limit, &demand, &end, SECOND);
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, SECOND, &wait_us), DDB_SIDE_FULL);
    ck_assert_uint_ge(wait_us, 900000);
    ck_assert_uint_le(wait_us, 1100000);
    ddb_limit_set(&limit, 0, 0);
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, SECOND, &wait_us), DDB_GRANTED);
}
END_TEST

START_TEST(trouble_shrinks_the_window_but_one_always_goes)
{
    struct ddb_limit limit;
    uint64_t wait_us = 0;
    ddb_limit_init(&limit, 0, 0);
    struct ddb_demand demand = {DDB_WRITE, 0, 1, 0, false, 0};
    struct ddb_end end = {DDB_RESULT_TROUBLE, DDB_SCOPE_SIDE, -1, LATENCY_US};
    for (uint64_t i = 1; i < 20; i++) {
        ck_assert_int_eq(ddb_limit_take(&limit, &demand, i * SECOND, &wait_us), DDB_GRANTED);
        ddb_limit_end(&limit, &demand, &end, i * SECOND);
    }
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, 20 * SECOND, &wait_us), DDB_GRANTED);
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, 20 * SECOND, &wait_us), DDB_WINDOW_FULL);
    demand.alone = true;
    ck_assert_int_eq(ddb_limit_take(&limit, &demand, 20 * SECOND, &wait_us), DDB_GRANTED);
}
END_TEST

START_TEST(the_window_opens_at_once_until_it_was_too_large)
{
    struct ddb_limit limit;
    uint64_t wait_us = 0;
    ddb_limit_init(&limit, 0, 0);
    const struct ddb_demand demand = {DDB_WRITE, 0, 1, 0, false, 0};
    struct ddb_end end = {DDB_RESULT_FINE, DDB_SCOPE_SIDE, -1, LATENCY_US};
    double sizes[2];
    for (int i = 0; i < 200; i++) {
        end.took_us = i == 100 ? SECOND : LATENCY_US;
        ck_assert_int_eq(ddb_limit_take(&limit, &demand, SECOND, &wait_us), DDB_GRANTED);
        ddb_limit_end(&limit, &demand, &end, SECOND);
        sizes[i / 100] = limit.sides[DDB_WRITE].window.size;
    }
    ck_assert_double_gt(sizes[0], 100);
    ck_assert_double_lt(sizes[1], sizes[0] + 2);
}
END_TEST

/* A server's quickest operation may take 1 ms, and another half a second. */
START_TEST(slow_operations_do_not_close_the_window)
{
    struct ddb_limit limit;
    const struct ddb_demand quick = {DDB_WRITE, 0, 1, 0, false, ddb_operation_of("PutItem")};
    const struct ddb_demand slow = {DDB_WRITE, 0,     25,
                                    25,        false, ddb_operation_of("BatchWriteItem")};
    uint64_t now_us = SECOND;
    uint64_t wait_us = 0;
    ddb_limit_init(&limit, 0, 0);
    for (int i = 0; i < 2000; i++, now_us += TICK_US) {
        struct ddb_end end = {DDB_RESULT_FINE, DDB_SCOPE_SIDE, -1, 1000};
        ck_assert(ddb_limit_take(&limit, &quick, now_us, &wait_us) == DDB_GRANTED);
        ddb_limit_end(&limit, &quick, &end, now_us);
        end.took_us = SECOND / 2;
        ck_assert(ddb_limit_take(&limit, &slow, now_us, &wait_us) == DDB_GRANTED);
        ddb_limit_end(&limit, &slow, &end, now_us);
    }
    ck_assert_double_gt(limit.sides[DDB_WRITE].window.size, 30);
}
END_TEST

START_TEST(every_operation_of_items_has_a_side)
{
    ck_assert_int_eq(ddb_side_of("UpdateItem"), DDB_WRITE);
    ck_assert_int_eq(ddb_side_of("TransactWriteItems"), DDB_WRITE);
    ck_assert_int_eq(ddb_side_of("Scan"), DDB_READ);
    ck_assert_int_eq(ddb_side_of("DescribeTable"), DDB_CONTROL);
}
END_TEST

int main(void)
{
    TCase *limit = tcase_create("limit");
    tcase_add_loop_test(limit, the_rate_that_a_server_grants_is_found_and_kept, 0,
                        (int)(sizeof rates / sizeof rates[0]));
    tcase_add_loop_test(limit, what_is_granted_in_parts_is_throttled_as_little, 0, ROWS(rates));
    tcase_add_test(limit, more_capacity_is_found);
    tcase_add_test(limit, a_key_range_slows_its_lane_only);
    tcase_add_loop_test(limit, a_throttle_slows_what_its_reason_says, 0,
                        (int)(sizeof scopes / sizeof scopes[0]));
    tcase_add_test(limit, a_users_limit_leaves_a_debt_for_what_costs_more);
    tcase_add_test(limit, the_window_opens_at_once_until_it_was_too_large);
    tcase_add_test(limit, slow_operations_do_not_close_the_window);
    tcase_add_test(limit, trouble_shrinks_the_window_but_one_always_goes);
    tcase_add_test(limit, every_operation_of_items_has_a_side);
    tcase_set_timeout(limit, 60);
    Suite *suite = suite_create("engine/store/dynamodb/ddb_limit");
    suite_add_tcase(suite, limit);
    return suite_run(suite);
}
