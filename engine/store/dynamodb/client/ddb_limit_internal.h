/* ddb_limit — how many requests, and how many capacity units a second, all clients together may
 * send. Pure but for its own state: time comes in, and the caller holds the lock. */
#ifndef ENGINE_STORE_DYNAMODB_CLIENT_DDB_LIMIT_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_CLIENT_DDB_LIMIT_INTERNAL_H

#include "engine/store/dynamodb/client/ddb_reply_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ddb_side { DDB_READ, DDB_WRITE, DDB_SIDES, DDB_CONTROL = DDB_SIDES };

/* What an operation of the API does; DDB_CONTROL costs no capacity. */
enum ddb_side ddb_side_of(const char *operation);

/* Its number, for what is known of each; the same for all of DDB_CONTROL. */
enum { DDB_OPERATIONS = 14 };
unsigned ddb_operation_of(const char *operation);

/* Units that flow in at a rate. What costs more than is there leaves a debt. */
struct ddb_bucket {
    double tokens;
    uint64_t filled_us;
};

/* A rate found out: what was granted between two throttles is what flows into the server's bucket.
 * From a little below that, the rate grows, slowly at first, until the server throttles again. */
struct ddb_pace {
    double base;          /* units a second, when it was last throttled; 0: not limited */
    double least;         /* the server grants no less, as far as is known */
    uint64_t interval_us; /* that the base was measured in; 0: it is a guess */
    uint64_t since_us;    /* the last throttle that counted; 0: none */
    double passed;        /* since then, units and parts */
    unsigned passed_count;
    struct ddb_bucket bucket;
};

/* The number in flight: grows while replies come as fast as ever, shrinks when they do not. Until
 * it was too large for the first time, it doubles while a reply is on its way. */
struct ddb_window {
    double size;
    bool is_found;
    unsigned in_flight;
    double usual_us[DDB_OPERATIONS]; /* what a reply takes when nothing waits */
    uint64_t shrunk_us;
};

/* A key range that was throttled, by the lane of its requests. */
struct ddb_lane {
    uint64_t lane;
    struct ddb_pace pace;
};

enum { DDB_LANES_MAX = 64 };

struct ddb_limit {
    struct {
        double max; /* units a second, as the user says; 0: no limit */
        struct ddb_bucket bucket;
        struct ddb_pace pace;
        struct ddb_window window;
    } sides[DDB_SIDES];
    struct ddb_lane lanes[DDB_LANES_MAX];
    size_t lane_count;
};

/* What a request asks for. */
struct ddb_demand {
    enum ddb_side side;
    uint64_t lane;
    double units;
    unsigned parts; /* that are granted each by itself: statements, items of a batch; 0: 1 */
    bool alone;     /* its client has nothing in flight: one is always let through the window */
    unsigned operation;
};

enum ddb_grant {
    DDB_GRANTED,
    DDB_LANE_FULL,  /* others may go, this one waits */
    DDB_SIDE_FULL,  /* all of its side wait */
    DDB_WINDOW_FULL /* until a reply comes */
};

void ddb_limit_init(struct ddb_limit *limit, double max_rcu, double max_wcu);

/* Changes what the user allows. */
void ddb_limit_set(struct ddb_limit *limit, double max_rcu, double max_wcu);

/* Takes what is asked for, or says how long to wait. */
enum ddb_grant ddb_limit_take(struct ddb_limit *limit, const struct ddb_demand *demand,
                              uint64_t now_us, uint64_t *wait_us);

/* How a request that was granted ended. */
enum ddb_result { DDB_RESULT_FINE, DDB_RESULT_THROTTLED, DDB_RESULT_TROUBLE };

struct ddb_end {
    enum ddb_result result;
    enum ddb_scope scope; /* with THROTTLED */
    double consumed;      /* units; < 0: unknown */
    uint64_t took_us;
};

void ddb_limit_end(struct ddb_limit *limit, const struct ddb_demand *demand,
                   const struct ddb_end *end, uint64_t now_us);

/* How many units one request in parts should ask for, at most `most`: no more than flow in within a
 * moment, else what comes in lumps is throttled although the rate is right. */
unsigned ddb_limit_lump(const struct ddb_limit *limit, enum ddb_side side, unsigned most,
                        uint64_t now_us);

/* Something of a side was throttled, so many units, in a request that was answered: parts of it,
 * UnprocessedItems. It comes after ddb_limit_end(). */
void ddb_limit_throttled(struct ddb_limit *limit, enum ddb_side side, double units,
                         uint64_t now_us);

#endif
