#include "engine/store/dynamodb/client/ddb_limit_internal.h"

#include <string.h>

enum { SECOND_US = 1000000 };

/* Two throttles tell a rate if they are so far apart and so many parts passed between them, or if
 * they are further apart. */
enum { MEASURE_US = 250000, MEASURE_MAX_US = 1000000, MEASURE_COUNT = 20 };

/* A bucket holds what flows in within this time: enough that an event loop which sleeps for
 * milliseconds loses nothing. That of a pace holds more, since a loop that is kept waiting would
 * look like one with nothing to send, and the server has a bucket, too. */
static const double bucket_s = 0.05;
static const double pace_bucket_s = 0.2;

/* The rate starts from this part of what was granted, and doubles within so many times the interval
 * in which that was measured, at most within the time. */
static const double pace_part = 0.99;
static const double pace_intervals = 8;
static const double pace_doubles_s = 16;

/* A rate that had grown by more was throttled because the server grants more, or because there was
 * nothing to send for a while; for which reason it does not fall by more at a time, either. */
static const double pace_grown = 1.25;
static const double pace_falls = 0.5;

enum { WINDOW_FIRST = 16, WINDOW_MAX = 512, SHRINK_AGAIN_US = 100000 };

static const struct {
    const char *name;
    enum ddb_side side;
} operations[] = {
    {"UpdateItem", DDB_WRITE},
    {"PutItem", DDB_WRITE},
    {"DeleteItem", DDB_WRITE},
    {"BatchWriteItem", DDB_WRITE},
    {"TransactWriteItems", DDB_WRITE},
    {"BatchExecuteStatement", DDB_WRITE},
    {"ExecuteStatement", DDB_WRITE},
    {"ExecuteTransaction", DDB_WRITE},
    {"Scan", DDB_READ},
    {"Query", DDB_READ},
    {"GetItem", DDB_READ},
    {"BatchGetItem", DDB_READ},
    {"TransactGetItems", DDB_READ},
};
enum { KNOWN = sizeof operations / sizeof operations[0] };
_Static_assert(DDB_OPERATIONS == KNOWN + 1, "those of items, and one for all others");

unsigned ddb_operation_of(const char *operation)
{
    unsigned i = 0;
    while (i < KNOWN && strcmp(operation, operations[i].name) != 0) {
        i++;
    }
    return i;
}

enum ddb_side ddb_side_of(const char *operation)
{
    unsigned number = ddb_operation_of(operation);
    return number == KNOWN ? DDB_CONTROL : operations[number].side;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

void ddb_limit_init(struct ddb_limit *limit, double max_rcu, double max_wcu)
{
    *limit = (struct ddb_limit){0};
    ddb_limit_set(limit, max_rcu, max_wcu);
    for (size_t i = 0; i < DDB_SIDES; i++) {
        limit->sides[i].window.size = WINDOW_FIRST;
    }
}

/* A debt ends with the rate that it was made under. */
void ddb_limit_set(struct ddb_limit *limit, double max_rcu, double max_wcu)
{
    limit->sides[DDB_READ].max = max_rcu;
    limit->sides[DDB_WRITE].max = max_wcu;
    for (size_t i = 0; i < DDB_SIDES; i++) {
        limit->sides[i].bucket.tokens = 0;
    }
}

/* ---------------------------------------------------------------- rates */

/* Microseconds until a bucket for so many units has something in it; 0: it has. */
static uint64_t bucket_wait(struct ddb_bucket *bucket, double rate, double most, uint64_t now_us)
{
    double elapsed_s = (double)(now_us - bucket->filled_us) / SECOND_US;
    bucket->tokens = smaller(bucket->tokens + elapsed_s * rate, larger(most, 1));
    bucket->filled_us = now_us;
    if (bucket->tokens > 0) {
        return 0;
    }
    return (uint64_t)(-bucket->tokens / rate * SECOND_US) + 1;
}

/* How the rate stands to its base. It stays where it is for long and then grows steeply, so that it
 * is seldom throttled and soon finds more. */
static double pace_growth(const struct ddb_pace *pace, uint64_t now_us)
{
    double interval_s = larger((double)pace->interval_us, MEASURE_US) / SECOND_US;
    double doubles_s = smaller(pace_intervals * interval_s, pace_doubles_s);
    double part = (double)(now_us - pace->since_us) / SECOND_US / doubles_s;
    double squared = part * part;
    double fourth = squared * squared;
    return pace_part + fourth * fourth;
}

static uint64_t pace_wait(struct ddb_pace *pace, uint64_t now_us)
{
    double rate = pace->base * pace_growth(pace, now_us);
    return rate > 0 ? bucket_wait(&pace->bucket, rate, rate * pace_bucket_s, now_us) : 0;
}

/* Whether a throttle now would tell a rate. */
static bool pace_tells(const struct ddb_pace *pace, uint64_t now_us)
{
    uint64_t age_us = now_us - pace->since_us;
    bool is_much = age_us >= MEASURE_US && pace->passed_count >= MEASURE_COUNT;
    return pace->since_us != 0 && (is_much || age_us >= MEASURE_MAX_US);
}

/* The server's bucket is empty whenever it throttles, so what it granted between two throttles is
 * what flowed in, or less if the bucket was full for a while. After much growth the truth may be
 * anywhere between that and the rate: it is tried in the middle, and the next interval tells. */
static void pace_learn(struct ddb_pace *pace, uint64_t now_us)
{
    uint64_t interval_us = now_us - pace->since_us;
    double granted = pace->passed * SECOND_US / (double)interval_us;
    double growth = pace_growth(pace, now_us);
    if (pace->base <= 0) { /* what was taken without a limit is no debt */
        pace->bucket = (struct ddb_bucket){0, now_us};
    }
    if (growth <= pace_grown) {
        pace->base = larger(larger(granted, pace->least), 1);
        pace->least = pace->base * pace_falls;
        pace->interval_us = interval_us;
    } else if (pace->base > 0) {
        pace->base = (granted + pace->base * growth) / 2;
        pace->least = granted;
        pace->interval_us = 0;
    }
}

static void pace_throttled(struct ddb_pace *pace, uint64_t now_us)
{
    bool tells = pace_tells(pace, now_us);
    if (tells) {
        pace_learn(pace, now_us);
    }
    if (tells || pace->since_us == 0) {
        pace->since_us = now_us;
        pace->passed = 0;
        pace->passed_count = 0;
    }
}

static void pace_passed(struct ddb_pace *pace, double units, unsigned parts)
{
    pace->passed += units;
    pace->passed_count += units > 0 ? (unsigned)larger(1, smaller(units, parts)) : 0;
}

/* ---------------------------------------------------------------- key ranges */

static struct ddb_lane *lane_of(struct ddb_limit *limit, uint64_t lane)
{
    for (size_t i = 0; lane != 0 && i < limit->lane_count; i++) {
        if (limit->lanes[i].lane == lane) {
            return &limit->lanes[i];
        }
    }
    return NULL;
}

/* The one for a lane: a free one, or that whose pace is the oldest. */
static struct ddb_lane *lane_add(struct ddb_limit *limit, uint64_t lane)
{
    struct ddb_lane *place = &limit->lanes[0];
    if (limit->lane_count < DDB_LANES_MAX) {
        place = &limit->lanes[limit->lane_count++];
    } else {
        for (size_t i = 1; i < DDB_LANES_MAX; i++) {
            bool older = limit->lanes[i].pace.since_us < place->pace.since_us;
            place = older ? &limit->lanes[i] : place;
        }
    }
    *place = (struct ddb_lane){.lane = lane};
    return place;
}

static void lane_throttled(struct ddb_limit *limit, uint64_t lane, uint64_t now_us)
{
    if (lane == 0) {
        return;
    }
    struct ddb_lane *known = lane_of(limit, lane);
    pace_throttled(known != NULL ? &known->pace : &lane_add(limit, lane)->pace, now_us);
}

/* ---------------------------------------------------------------- the window */

/* Replies of one operation differ tenfold by what is asked for, hence the wide bound; those of two
 * differ by more, so they are not compared. */
static void window_replied(struct ddb_window *window, unsigned operation, uint64_t took_us)
{
    double took = (double)took_us;
    double *usual = &window->usual_us[operation];
    bool quickest = *usual <= 0 || took < *usual;
    *usual = quickest ? took : *usual + took / 1024;
    if (took < 10 * *usual + 20000) {
        double more = window->is_found ? 1 / window->size : 1;
        window->size = smaller(window->size + more, WINDOW_MAX);
    } else {
        window->size = larger(window->size - 1 / window->size, 1);
        window->is_found = true;
    }
}

static void window_troubled(struct ddb_window *window, uint64_t now_us)
{
    if (now_us - window->shrunk_us > SHRINK_AGAIN_US) {
        window->size = larger(window->size / 2, 1);
        window->shrunk_us = now_us;
        window->is_found = true;
    }
}

/* ---------------------------------------------------------------- all of it */

enum ddb_grant ddb_limit_take(struct ddb_limit *limit, const struct ddb_demand *demand,
                              uint64_t now_us, uint64_t *wait_us)
{
    *wait_us = 0;
    if (demand->side == DDB_CONTROL) {
        return DDB_GRANTED;
    }
    struct ddb_lane *lane = lane_of(limit, demand->lane);
    struct ddb_window *window = &limit->sides[demand->side].window;
    struct ddb_pace *pace = &limit->sides[demand->side].pace;
    struct ddb_bucket *budget = &limit->sides[demand->side].bucket;
    double max = limit->sides[demand->side].max;
    if (!demand->alone && window->in_flight >= (unsigned)window->size) {
        return DDB_WINDOW_FULL;
    }
    uint64_t budget_wait = max > 0 ? bucket_wait(budget, max, max * bucket_s, now_us) : 0;
    uint64_t side_wait = pace_wait(pace, now_us);
    side_wait = side_wait > budget_wait ? side_wait : budget_wait;
    if (side_wait > 0) {
        *wait_us = side_wait;
        return DDB_SIDE_FULL;
    }
    *wait_us = lane == NULL ? 0 : pace_wait(&lane->pace, now_us);
    if (*wait_us > 0) {
        return DDB_LANE_FULL;
    }
    window->in_flight++;
    pace->bucket.tokens -= demand->units;
    budget->tokens -= demand->units;
    if (lane != NULL) {
        lane->pace.bucket.tokens -= demand->units;
    }
    return DDB_GRANTED;
}

static unsigned parts_of(const struct ddb_demand *demand)
{
    return demand->parts == 0 ? 1 : demand->parts;
}

/* What was taken for more or less than it cost is put right. */
static void settle(struct ddb_limit *limit, const struct ddb_demand *demand, double consumed)
{
    double units = consumed < 0 ? demand->units : consumed;
    double more = units - demand->units;
    struct ddb_lane *lane = lane_of(limit, demand->lane);
    struct ddb_pace *pace = &limit->sides[demand->side].pace;
    limit->sides[demand->side].bucket.tokens -= more;
    pace->bucket.tokens -= more;
    pace_passed(pace, units, parts_of(demand));
    if (lane != NULL) {
        lane->pace.bucket.tokens -= more;
        pace_passed(&lane->pace, units, parts_of(demand));
    }
}

unsigned ddb_limit_lump(const struct ddb_limit *limit, enum ddb_side side, unsigned most,
                        uint64_t now_us)
{
    const struct ddb_pace *pace = &limit->sides[side].pace;
    double rate = limit->sides[side].max;
    double found = pace->base * pace_growth(pace, now_us);
    rate = found > 0 && (rate <= 0 || found < rate) ? found : rate;
    double lump = rate > 0 ? rate * bucket_s : most;
    return lump < most ? (unsigned)larger(lump, 1) : most;
}

void ddb_limit_throttled(struct ddb_limit *limit, enum ddb_side side, double units, uint64_t now_us)
{
    if (side != DDB_CONTROL) {
        struct ddb_pace *pace = &limit->sides[side].pace;
        pace_throttled(pace, now_us);
        pace->bucket.tokens -= units;
    }
}

/* It cost nothing of the user's limit; the paces count attempts, or they would not slow them. */
static void throttled(struct ddb_limit *limit, const struct ddb_demand *demand,
                      enum ddb_scope scope, uint64_t now_us)
{
    limit->sides[demand->side].bucket.tokens += demand->units;
    switch (scope) {
    case DDB_SCOPE_LANE:
        lane_throttled(limit, demand->lane, now_us);
        break;
    case DDB_SCOPE_SIDE:
        ddb_limit_throttled(limit, demand->side, 0, now_us);
        break;
    case DDB_SCOPE_ALL:
        ddb_limit_throttled(limit, DDB_READ, 0, now_us);
        ddb_limit_throttled(limit, DDB_WRITE, 0, now_us);
        break;
    }
}

void ddb_limit_end(struct ddb_limit *limit, const struct ddb_demand *demand,
                   const struct ddb_end *end, uint64_t now_us)
{
    if (demand->side == DDB_CONTROL) {
        return;
    }
    struct ddb_window *window = &limit->sides[demand->side].window;
    window->in_flight--;
    switch (end->result) {
    case DDB_RESULT_FINE:
        window_replied(window, demand->operation, end->took_us);
        settle(limit, demand, end->consumed);
        break;
    case DDB_RESULT_THROTTLED:
        throttled(limit, demand, end->scope, now_us);
        break;
    case DDB_RESULT_TROUBLE:
        window_troubled(window, now_us);
        break;
    }
}
