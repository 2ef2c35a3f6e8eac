#include "engine/store/dynamodb/client/ddb_client.h"

#include "engine/store/dynamodb/client/ddb_account_internal.h"
#include "engine/store/dynamodb/client/ddb_http_internal.h"
#include "engine/store/dynamodb/client/ddb_retry_internal.h"

/* Attempts under way at a time; how soon an interruption is seen, and what they get after it. */
enum { SLOTS = 64, GLANCE_US = 100000, GRACE_US = 2000000 };

/* What is urgent waits no longer for its next attempt. */
enum { URGENT_DELAY_US = 1000000 };

/* Requests at hand: enough that those whose key range is throttled do not keep back others. */
enum { OPEN_MAX = 4096 };

struct ddb_client {
    struct ddb_account *account;
    struct ddb_http *http;
    struct ddb_key *key;
    struct arena *scratch;
};

/* A request until it is done. */
struct job {
    struct ddb_request *request;
    struct ddb_demand demand;
    struct ddb_tries tries;
    struct job *next;  /* of those that wait, or are free */
    struct job *other; /* of all */
    uint64_t due_us;   /* while waiting for its next attempt */
    uint64_t sent_us;
    int64_t signed_s;
    uint64_t generation; /* of the key it was signed with */
    bool wants_units;
    bool sent; /* and not ended */
};

struct round {
    struct ddb_client *client;
    const struct ddb_flow *flow;
    struct job *all;
    struct job *waiting; /* those to be sent (again) */
    struct job *free;
    size_t open;    /* begun and not done */
    bool exhausted; /* there was no next request, and no reply since */
    struct arena *arena;
    struct error *err; /* of the first that has no reply */
    bool failed;
    bool over; /* nothing is sent any more */
};

/* ---------------------------------------------------------------- opening */

bool ddb_client_open(struct ddb_account *account, struct ddb_client **out, struct error *err)
{
    struct ddb_http *http = NULL;
    if (!ddb_http_open(account, SLOTS, &http, err)) {
        return false;
    }
    struct ddb_client *client = heap_alloc(sizeof *client);
    *client = (struct ddb_client){
        .account = account, .http = http, .key = ddb_key_new(), .scratch = arena_new()};
    *out = client;
    return true;
}

void ddb_client_close(struct ddb_client *client)
{
    if (client != NULL) {
        ddb_http_close(client->http);
        ddb_key_free(client->key);
        arena_free(client->scratch);
        heap_free(client);
    }
}

static void reset(struct ddb_request *request)
{
    request->reply = DDB_NONE;
    request->status = 0;
    request->content = request->type = request->message = STR("");
    request->consumed = -1;
    request->unsure = false;
    request->attempts = 0;
}

static uint64_t now_of(const struct ddb_client *client)
{
    const struct ddb_world *world = ddb_account_world(client->account);
    return world->now_us(world->context);
}

static uint64_t random_of(const struct ddb_client *client)
{
    const struct ddb_world *world = ddb_account_world(client->account);
    return world->random(world->context);
}

static bool is_stopped(const struct ddb_client *client)
{
    const struct ddb_world *world = ddb_account_world(client->account);
    return world->stopped != NULL && world->stopped(world->context);
}

/* ---------------------------------------------------------------- ends */

static void wait_for_turn(struct round *round, struct job *job, uint64_t due_us)
{
    job->due_us = due_us;
    job->next = round->waiting;
    round->waiting = job;
}

/* The first that has no reply is the one that is told of. */
static void fail(struct round *round, const struct error *why)
{
    if (!round->failed) {
        round->failed = true;
        *round->err = *why;
    }
}

static void stop(struct round *round, const struct error *why)
{
    fail(round, why);
    round->over = true;
}

static void end(struct round *round, struct job *job)
{
    struct error why = {0};
    round->open--;
    round->exhausted = false;
    job->next = round->free;
    round->free = job;
    if (!round->over && round->flow->done != NULL &&
        !round->flow->done(round->flow->context, job->request, &why)) {
        stop(round, &why);
    }
}

static void end_without_reply(struct round *round, struct job *job, const char *what)
{
    struct error why = {0};
    struct str place = ddb_account_describe(round->client->account, round->client->scratch);
    bool known = ddb_account_is_known(round->client->account);
    (void)error_set(
        &why, ERROR_STORE, "%s: no reply after %u attempts: %s (%.*s)%s", job->request->operation,
        job->request->attempts, what, STR_ARG(place),
        known
            ? ""
            : "\nhint: is the endpoint right (http or https, host, port), and the server running?");
    job->request->reply = DDB_NONE;
    fail(round, &why);
    end(round, job);
}

static enum ddb_reply reply_of(int status, struct str type)
{
    if (status == 200) {
        return DDB_OK;
    }
    if (str_equal(type, STR("ConditionalCheckFailedException"))) {
        return DDB_CONDITION;
    }
    return str_equal(type, STR("TransactionCanceledException")) ? DDB_CANCELLED : DDB_ERROR;
}

static void end_with_reply(struct round *round, struct job *job, const struct ddb_arrival *arrival,
                           const struct ddb_failure *failure)
{
    struct ddb_request *request = job->request;
    request->status = arrival->status;
    request->content = arrival->content;
    if (arrival->status != 200) {
        request->type = arena_copy(round->arena, failure->type);
        request->message = arena_copy(round->arena, failure->message);
    }
    request->reply = reply_of(arrival->status, request->type);
    end(round, job);
}

/* ---------------------------------------------------------------- attempts that ended */

/* What the account learns from an attempt. */
static void report(struct round *round, const struct job *job, enum ddb_class class,
                   const struct ddb_failure *failure, bool final)
{
    struct ddb_client *client = round->client;
    enum ddb_result result = ddb_class_is_unsure(class) || class == DDB_CLASS_UNSENT
                                 ? DDB_RESULT_TROUBLE
                                 : DDB_RESULT_FINE;
    result = class == DDB_CLASS_THROTTLED ? DDB_RESULT_THROTTLED : result;
    struct ddb_attempt_end end = {
        .end = {.result = result,
                .scope = failure->scope,
                .consumed = job->request->consumed,
                .took_us = now_of(client) - job->sent_us},
        .reason = class != DDB_CLASS_THROTTLED ? STR("")
                  : failure->reason.len > 0    ? failure->reason
                                               : failure->type,
        .replied = class != DDB_CLASS_UNSENT && class != DDB_CLASS_LOST,
        .final = final,
    };
    ddb_account_end(client->account, &job->demand, &end);
}

/* What may be done about it before the next attempt. */
static void mend(struct round *round, const struct job *job, enum ddb_class class,
                 const struct ddb_arrival *arrival)
{
    if (class == DDB_CLASS_EXPIRED || class == DDB_CLASS_UNKNOWN) {
        ddb_account_renew(round->client->account, job->generation);
    } else if (class == DDB_CLASS_SKEWED && arrival->date_s != 0) {
        ddb_account_clock(round->client->account, arrival->date_s);
    }
}

static bool is_to_be_repeated(const struct ddb_client *client, struct job *job,
                              enum ddb_class class, uint64_t *delay_us)
{
    bool is_over = class == DDB_CLASS_FINE || class == DDB_CLASS_FINAL ||
                   (class == DDB_CLASS_SERVER && job->request->is_probe);
    if (is_over) {
        return false;
    }
    struct ddb_moment moment = {.known = ddb_account_is_known(client->account),
                                .now_us = now_of(client),
                                .random = random_of(client)};
    bool again = ddb_retry(&job->tries, class, &moment, delay_us);
    if (job->request->urgent && *delay_us > URGENT_DELAY_US) {
        *delay_us = URGENT_DELAY_US;
    }
    return again;
}

static void attempt_ended(struct round *round, const struct ddb_arrival *arrival)
{
    struct ddb_client *client = round->client;
    struct job *job = arrival->tag;
    job->sent = false;
    struct ddb_failure failure = {.scope = DDB_SCOPE_SIDE};
    arena_reset(client->scratch);
    if (arrival->status != 200 && arrival->content.len > 0) {
        ddb_failure_read(arrival->content, client->scratch, &failure);
    }
    struct ddb_attempt attempt = {
        .transport = arrival->transport,
        .status = arrival->status,
        .failure = &failure,
        .clock_differs_s = arrival->date_s == 0 ? 0 : arrival->date_s - job->signed_s,
    };
    enum ddb_class class = ddb_classify(&attempt);
    job->request->unsure |= ddb_class_is_unsure(class);
    if (class == DDB_CLASS_FINE && job->wants_units) {
        job->request->consumed = ddb_consumed_read(arrival->content);
    }
    uint64_t delay_us = 0;
    bool again = is_to_be_repeated(client, job, class, &delay_us);
    report(round, job, class, &failure, !again);
    if (again) {
        mend(round, job, class, arrival);
        wait_for_turn(round, job, now_of(client) + delay_us);
    } else if (arrival->transport == DDB_ARRIVED) {
        end_with_reply(round, job, arrival, &failure);
    } else {
        end_without_reply(round, job, arrival->what);
    }
}

/* ---------------------------------------------------------------- attempts that start */

/* Signs and sends; once there is no key any more, nothing else is sent. */
static void start(struct round *round, struct job *job)
{
    struct ddb_client *client = round->client;
    struct error why = {0};
    if (!ddb_account_key(client->account, job->request->urgent, client->key, &job->signed_s,
                         &why)) {
        struct ddb_attempt_end end = {.end = {.result = DDB_RESULT_TROUBLE}};
        ddb_account_end(client->account, &job->demand, &end);
        stop(round, &why);
        return;
    }
    job->generation = client->key->generation;
    job->sent_us = now_of(client);
    job->sent = true;
    if (job->request->attempts++ == 0) {
        job->tries.started_us = job->sent_us;
    }
    ddb_http_start(client->http, job->request, client->key, job->signed_s, job);
}

static void prepare(struct job *job, struct ddb_request *request)
{
    static const struct str wish = STR_INIT("\"ReturnConsumedCapacity\"");
    struct str body = request->body;
    reset(request);
    job->request = request;
    job->demand =
        (struct ddb_demand){.side = request->urgent ? DDB_CONTROL : ddb_side_of(request->operation),
                            .lane = request->lane,
                            .units = request->units > 0 ? request->units : 1,
                            .parts = request->parts,
                            .operation = ddb_operation_of(request->operation)};
    job->tries = (struct ddb_tries){0};
    job->sent = false;
    job->wants_units = body.len > 0 && memmem(body.ptr, body.len, wish.ptr, wish.len) != NULL;
}

/* One that was not begun yet; NULL: there is none at present. */
static struct job *fresh_job(struct round *round)
{
    struct ddb_request *request = NULL;
    struct error why = {0};
    if (round->exhausted || round->open == OPEN_MAX) {
        return NULL;
    }
    if (!round->flow->next(round->flow->context, &request, &why)) {
        stop(round, &why);
        return NULL;
    }
    round->exhausted = request == NULL;
    if (request == NULL) {
        return NULL;
    }
    struct job *job = round->free;
    if (job == NULL) {
        job = arena_zero(round->arena, sizeof *job);
        job->other = round->all;
        round->all = job;
    } else {
        round->free = job->next;
    }
    round->open++;
    prepare(job, request);
    return job;
}

/* The link to the one of those waiting that is due first. */
static struct job **first_due(struct round *round)
{
    struct job **first = &round->waiting;
    for (struct job **at = first; *at != NULL; at = &(*at)->next) {
        first = (*at)->due_us < (*first)->due_us ? at : first;
    }
    return first;
}

/* The next that may be sent: one that is due again, or else a fresh one; it no longer stands among
 * either. NULL: none; *wait_us is lowered to when one is due. */
static struct job *next_job(struct round *round, uint64_t now_us, uint64_t *wait_us)
{
    struct job **first = first_due(round);
    struct job *job = *first;
    if (job != NULL && job->due_us <= now_us) {
        *first = job->next;
        return job;
    }
    if (job != NULL) {
        *wait_us = job->due_us - now_us < *wait_us ? job->due_us - now_us : *wait_us;
    }
    return fresh_job(round);
}

/* Sends what may be sent now. Returns when to look again, if no reply comes before. */
static uint64_t start_all(struct round *round)
{
    struct ddb_client *client = round->client;
    uint64_t wait_us = GLANCE_US;
    while (!round->over && ddb_http_in_flight(client->http) < SLOTS) {
        uint64_t now_us = now_of(client);
        struct job *job = next_job(round, now_us, &wait_us);
        if (job == NULL) {
            break;
        }
        uint64_t full_us = 0;
        job->demand.alone = ddb_http_in_flight(client->http) == 0;
        enum ddb_grant grant = ddb_account_take(client->account, &job->demand, &full_us);
        if (grant == DDB_GRANTED) {
            start(round, job);
            continue;
        }
        full_us = full_us < GLANCE_US ? full_us : GLANCE_US; /* the limit may change meanwhile */
        wait_for_turn(round, job, now_us + full_us);
        if (grant != DDB_LANE_FULL) {
            return grant == DDB_SIDE_FULL && full_us < wait_us ? full_us : wait_us;
        }
    }
    return wait_us;
}

/* ---------------------------------------------------------------- calls */

/* What is under way may still end; what has not been sent is not sent any more. */
static void wind_up(struct round *round)
{
    struct ddb_client *client = round->client;
    uint64_t until_us = now_of(client) + GRACE_US;
    struct ddb_arrival arrival;
    while (ddb_http_in_flight(client->http) > 0 && now_of(client) < until_us) {
        if (ddb_http_wait(client->http, GLANCE_US, round->arena, &arrival)) {
            attempt_ended(round, &arrival);
        }
    }
    for (struct job *job = round->all; job != NULL; job = job->other) {
        if (job->sent) {
            struct ddb_attempt_end end = {.end = {.result = DDB_RESULT_TROUBLE}};
            ddb_account_end(client->account, &job->demand, &end);
            job->request->unsure = true;
        }
    }
    ddb_http_drop(client->http);
}

bool ddb_flow_run(struct ddb_client *client, const struct ddb_flow *flow, struct arena *arena,
                  struct error *err)
{
    struct round round = {.client = client, .flow = flow, .arena = arena, .err = err};
    struct ddb_arrival arrival;
    while (!round.over && (round.open > 0 || !round.exhausted)) {
        uint64_t wait_us = start_all(&round);
        bool has_ended =
            !round.over && round.open > 0 && ddb_http_wait(client->http, wait_us, arena, &arrival);
        while (has_ended) {
            attempt_ended(&round, &arrival);
            has_ended = !round.over && ddb_http_next(client->http, arena, &arrival);
        }
        if (is_stopped(client)) {
            struct error why = {0};
            (void)error_set(&why, ERROR_STOPPED, "interrupted");
            stop(&round, &why);
        }
    }
    if (round.over) {
        wind_up(&round);
    }
    return !round.failed;
}

struct list {
    struct ddb_request *requests;
    size_t left;
};

static bool next_of_list(void *context, struct ddb_request **out, struct error *err)
{
    (void)err;
    struct list *list = context;
    *out = list->left == 0 ? NULL : list->requests++;
    list->left -= list->left == 0 ? 0 : 1;
    return true;
}

bool ddb_calls(struct ddb_client *client, struct ddb_request *requests, size_t count,
               struct arena *arena, struct error *err)
{
    struct list list = {requests, count};
    struct ddb_flow flow = {.context = &list, .next = next_of_list};
    for (size_t i = 0; i < count; i++) {
        reset(&requests[i]);
    }
    return ddb_flow_run(client, &flow, arena, err);
}

bool ddb_call(struct ddb_client *client, struct ddb_request *request, struct arena *arena,
              struct error *err)
{
    return ddb_calls(client, request, 1, arena, err);
}

unsigned ddb_parts(struct ddb_client *client, const char *operation, unsigned most)
{
    return ddb_account_lump(client->account, ddb_side_of(operation), most);
}

void ddb_parts_throttled(struct ddb_client *client, const char *operation, size_t count)
{
    ddb_account_throttled(client->account, ddb_side_of(operation), (double)count);
}

bool ddb_pause(struct ddb_client *client, const struct ddb_unprocessed *what, struct error *err)
{
    ddb_parts_throttled(client, what->operation, what->count);
    uint64_t until_us =
        now_of(client) + ddb_backoff_us(DDB_CLASS_THROTTLED, what->attempt, random_of(client));
    for (uint64_t now_us = now_of(client); now_us < until_us; now_us = now_of(client)) {
        if (is_stopped(client)) {
            return error_set(err, ERROR_STOPPED, "interrupted");
        }
        uint64_t left_us = until_us - now_us < GLANCE_US ? until_us - now_us : GLANCE_US;
        struct timespec nap = {.tv_nsec = (long)left_us * 1000};
        (void)nanosleep(&nap, NULL);
    }
    return true;
}
