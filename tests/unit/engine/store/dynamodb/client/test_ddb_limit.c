#include "engine/store/dynamodb/client/ddb_limit_internal.h"
#include "tests/support/suite.h"

#include <check.h>

enum { SECOND = 1000000, TICK_US = 1000, LATENCY_US = 2000 };

/* Requests begun within a tick at most, and more than a window lets be under way. */
enum { TICK_ATTEMPTS = 40, UNDER_WAY = 1024 };

/* A reply on its way: how many parts of what was asked for were refused. */
struct reply {
    struct ddb_demand demand;
    unsigned refused;
    uint64_t due_us;
};

/* A server with a bucket of units, which refuses what it has no units for, and clients that always
 * want more, of as many lanes as there are; time is simulated. */
struct simulation {
    struct ddb_limit limit;
    uint64_t now_us;
    uint64_t latency_us;
    double rate, burst_s, units;
    uint64_t limited; /* the lane that the bucket is for; 0: for all */
    uint64_t lanes;   /* 0: requests have none */
    unsigned parts;   /* of a request, at most; 0: one item, refused as a whole */
    unsigned alone;   /* parts that were refused, and go each by itself */
    struct reply under_way[UNDER_WAY];
    size_t first, count;
    unsigned granted, refused; /* items */
};

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static unsigned items_of(const struct ddb_demand *demand)
{
    return demand->parts == 0 ? 1 : demand->parts;
}

static void count_from_here(struct simulation *simulation)
{
    simulation->granted = simulation->refused = 0;
}

static double used(const struct simulation *simulation, double seconds)
{
    return simulation->granted / (simulation->rate * seconds);
}

static double throttled(const struct simulation *simulation)
{
    return (double)simulation->refused / (simulation->granted + simulation->refused);
}

/* What the server says to it is on its way from now on. */
static void send(struct simulation *simulation, const struct ddb_demand *demand)
{
    bool is_limited = simulation->limited == 0 || simulation->limited == demand->lane;
    unsigned items = items_of(demand);
    unsigned granted = is_limited ? (unsigned)smaller(simulation->units, items) : items;
    simulation->units -= is_limited ? granted : 0;
    simulation->granted += granted;
    simulation->refused += items - granted;
    size_t last = (simulation->first + simulation->count++) % UNDER_WAY;
    simulation->under_way[last] =
        (struct reply){*demand, items - granted, simulation->now_us + simulation->latency_us};
}

/* A request of one item is refused as a whole; one of parts is answered, and says of each. */
static void receive(struct simulation *simulation, const struct reply *reply)
{
    const struct ddb_demand *demand = &reply->demand;
    bool is_refused = demand->parts == 0 && reply->refused > 0;
    struct ddb_end end = {is_refused ? DDB_RESULT_THROTTLED : DDB_RESULT_FINE,
                          simulation->limited == 0 ? DDB_SCOPE_SIDE : DDB_SCOPE_LANE,
                          items_of(demand) - reply->refused, simulation->latency_us};
    ddb_limit_end(&simulation->limit, demand, &end, simulation->now_us);
    if (demand->parts > 0 && reply->refused > 0) {
        ddb_limit_throttled(&simulation->limit, demand->side, reply->refused, simulation->now_us);
        simulation->alone += reply->refused;
    }
}

static void receive_what_is_due(struct simulation *simulation)
{
    while (simulation->count > 0 &&
           simulation->under_way[simulation->first].due_us <= simulation->now_us) {
        receive(simulation, &simulation->under_way[simulation->first]);
        simulation->first = (simulation->first + 1) % UNDER_WAY;
        simulation->count--;
    }
}

static void send_what_may_be(struct simulation *simulation)
{
    enum ddb_grant grant = DDB_GRANTED;
    uint64_t wait_us = 0;
    for (unsigned i = 0; i < TICK_ATTEMPTS && grant <= DDB_LANE_FULL; i++) {
        bool in_parts = simulation->parts > 0 && simulation->alone == 0;
        unsigned parts = in_parts ? ddb_limit_lump(&simulation->limit, DDB_WRITE, simulation->parts,
                                                   simulation->now_us)
                                  : 0;
        uint64_t lane = simulation->lanes == 0 ? 0 : 1 + i % simulation->lanes;
        struct ddb_demand demand = {.side = DDB_WRITE, .lane = lane, .parts = parts};
        demand.units = items_of(&demand);
        grant = ddb_limit_take(&simulation->limit, &demand, simulation->now_us, &wait_us);
        if (grant == DDB_GRANTED) {
            simulation->alone -= simulation->alone > 0 ? 1 : 0;
            send(simulation, &demand);
        }
    }
}

static void simulate(struct simulation *simulation, double seconds)
{
    uint64_t end_us = simulation->now_us + (uint64_t)(seconds * SECOND);
    for (; simulation->now_us < end_us; simulation->now_us += TICK_US) {
        double bucket = simulation->rate * simulation->burst_s;
        double units = simulation->units + simulation->rate * TICK_US / SECOND;
        simulation->units = smaller(units, bucket < 1 ? 1 : bucket);
        receive_what_is_due(simulation);
        send_what_may_be(simulation);
    }
}

/* Hardly any burst, that of a second, and DynamoDB's. Amazon DynamoDB Developer Guide, "Burst and
 * adaptive capacity": five minutes of what was not used. */
static const double bursts_s[] = {0.1, 1, 300};
static const double rates[] = {25, 100, 400, 1000, 5000};
static const uint64_t latencies_us[] = {1000, 10000, 50000};
static const unsigned parts[] = {0, 25};
enum { SERVERS = ROWS(bursts_s) * ROWS(latencies_us) * ROWS(parts) };

/* At first a burst is left of a second at most. */
static struct simulation simulation_of(double rate, int server, char says[static 80])
{
    struct simulation simulation = {.now_us = SECOND, .rate = rate};
    simulation.burst_s = bursts_s[server % ROWS(bursts_s)];
    server /= ROWS(bursts_s);
    simulation.latency_us = latencies_us[server % ROWS(latencies_us)];
    server /= ROWS(latencies_us);
    simulation.parts = parts[server];
    simulation.units = rate * smaller(simulation.burst_s, 1);
    ddb_limit_init(&simulation.limit, 0, 0);
    (void)snprintf(says, 80, "%g a second, burst of %g s, %u ms, %u parts", simulation.rate,
                   simulation.burst_s, (unsigned)(simulation.latency_us / 1000), simulation.parts);
    return simulation;
}

START_TEST(the_rate_that_a_server_grants_is_found_and_kept)
{
    char says[80];
    for (int server = 0; server < SERVERS; server++) {
        struct simulation simulation = simulation_of(rates[_i], server, says);
        simulate(&simulation, 8);
        count_from_here(&simulation);
        simulate(&simulation, 2);
        ck_assert_msg(used(&simulation, 2) >= 0.95, "%s: %.3f used in the 10th second", says,
                      used(&simulation, 2));
        count_from_here(&simulation);
        simulate(&simulation, 60);
        ck_assert_msg(used(&simulation, 60) >= 0.95, "%s: %.3f used", says, used(&simulation, 60));
        ck_assert_msg(throttled(&simulation) <= 0.005, "%s: %.2f %% throttled", says,
                      100 * throttled(&simulation));
    }
}
END_TEST

/* Followed within a time; what is throttled later has the moment in it when the rate, grown for
 * long, meets an empty bucket far above what flows in. */
static const struct {
    const char *says;
    double factor;
    double found_s;
    double throttled;
} changes[] = {
    {"a quarter more", 1.25, 20, 0.01},
    {"doubled", 2, 20, 0.03},
    {"ten times as much", 10, 25, 0.05},
    {"halved", 0.5, 5, 0.015},
};

START_TEST(a_rate_that_changes_is_followed)
{
    enum { MOST = 10000 }; /* that the window has room for where replies take long */
    char says[80];
    double rate = rates[_i / ROWS(changes)];
    const char *change = changes[_i % ROWS(changes)].says;
    for (int server = 0; server < SERVERS; server++) {
        struct simulation simulation = simulation_of(rate, server, says);
        simulate(&simulation, 15);
        simulation.rate = smaller(rate * changes[_i % ROWS(changes)].factor, MOST);
        simulate(&simulation, changes[_i % ROWS(changes)].found_s);
        count_from_here(&simulation);
        simulate(&simulation, 40);
        ck_assert_msg(used(&simulation, 40) >= 0.95, "%s, %s: %.3f used", says, change,
                      used(&simulation, 40));
        ck_assert_msg(throttled(&simulation) <= changes[_i % ROWS(changes)].throttled,
                      "%s, %s: %.2f %% throttled", says, change, 100 * throttled(&simulation));
    }
}
END_TEST

START_TEST(a_key_range_slows_its_lane_only)
{
    struct simulation simulation = {.now_us = SECOND,
                                    .latency_us = LATENCY_US,
                                    .rate = 50,
                                    .burst_s = 1,
                                    .limited = 1,
                                    .lanes = 2};
    ddb_limit_init(&simulation.limit, 0, 0);
    simulate(&simulation, 10);
    count_from_here(&simulation);
    simulate(&simulation, 10);
    ck_assert_uint_lt(simulation.refused, 10);
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
    for (int i = 0; i < 2; i++, now_us += SECOND) { /* a rate is what passes between two */
        ck_assert_int_eq(ddb_limit_take(&limit, &demand, now_us, &wait_us), DDB_GRANTED);
        ddb_limit_end(&limit, &demand, &end, now_us);
    }
    now_us -= SECOND;
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
    tcase_add_loop_test(limit, the_rate_that_a_server_grants_is_found_and_kept, 0, ROWS(rates));
    tcase_add_loop_test(limit, a_rate_that_changes_is_followed, 0, ROWS(rates) * ROWS(changes));
    tcase_add_test(limit, a_key_range_slows_its_lane_only);
    tcase_add_loop_test(limit, a_throttle_slows_what_its_reason_says, 0,
                        (int)(sizeof scopes / sizeof scopes[0]));
    tcase_add_test(limit, a_users_limit_leaves_a_debt_for_what_costs_more);
    tcase_add_test(limit, the_window_opens_at_once_until_it_was_too_large);
    tcase_add_test(limit, slow_operations_do_not_close_the_window);
    tcase_add_test(limit, trouble_shrinks_the_window_but_one_always_goes);
    tcase_add_test(limit, every_operation_of_items_has_a_side);
    tcase_set_timeout(limit, 60);
    Suite *suite = suite_create("engine/store/dynamodb/client/ddb_limit");
    suite_add_tcase(suite, limit);
    return suite_run(suite);
}
