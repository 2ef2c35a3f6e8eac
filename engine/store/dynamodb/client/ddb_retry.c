#include "engine/store/dynamodb/client/ddb_retry_internal.h"

#include <stddef.h>

/* Signatures are good for five minutes. AWS General Reference, "Signature Version 4". */
enum { SKEW_S = 4 * 60 };

enum { MS_US = 1000, DELAY_MAX_US = 20 * 1000 * MS_US, MINUTE_MS = 60 * 1000 };

/* DynamoDB Developer Guide, "Error handling with DynamoDB". ItemCollectionSizeLimitExceeded is not
 * among them: it does not pass by itself. */
static const struct {
    struct str type;
    enum ddb_class class;
} types[] = {
    {STR_INIT("ProvisionedThroughputExceededException"), DDB_CLASS_THROTTLED},
    {STR_INIT("ThrottlingException"), DDB_CLASS_THROTTLED},
    {STR_INIT("Throttling"), DDB_CLASS_THROTTLED},
    {STR_INIT("RequestLimitExceeded"), DDB_CLASS_THROTTLED},
    {STR_INIT("TooManyRequestsException"), DDB_CLASS_THROTTLED},
    {STR_INIT("LimitExceededException"), DDB_CLASS_BUSY},
    {STR_INIT("InternalServerError"), DDB_CLASS_SERVER},
    {STR_INIT("InternalFailure"), DDB_CLASS_SERVER},
    {STR_INIT("ServiceUnavailable"), DDB_CLASS_SERVER},
    {STR_INIT("ServiceUnavailableException"), DDB_CLASS_SERVER},
    {STR_INIT("TransactionConflictException"), DDB_CLASS_CONFLICT},
    {STR_INIT("TransactionInProgressException"), DDB_CLASS_CONFLICT},
    {STR_INIT("ReplicatedWriteConflictException"), DDB_CLASS_CONFLICT},
    {STR_INIT("ExpiredTokenException"), DDB_CLASS_EXPIRED},
    {STR_INIT("ExpiredToken"), DDB_CLASS_EXPIRED},
    {STR_INIT("UnrecognizedClientException"), DDB_CLASS_UNKNOWN},
    {STR_INIT("InvalidClientTokenId"), DDB_CLASS_UNKNOWN},
    {STR_INIT("RequestTimeTooSkewed"), DDB_CLASS_SKEWED},
    {STR_INIT("RequestExpired"), DDB_CLASS_SKEWED},
};

/* tries: attempts of the class that may be followed by another; first: the bound of the first
 * delay; patience: since the request's first attempt. The second patience is for a server that has
 * never replied: an address that is wrong is said at once. Expired credentials are waited for less
 * long than the lease is good for, so that it is they who are named. */
static const struct {
    unsigned tries;
    unsigned first_ms;
    unsigned patience_ms;
    unsigned patience_unknown_ms;
} rules[DDB_CLASS_COUNT] = {
    [DDB_CLASS_THROTTLED] = {UINT16_MAX, 50, 15 * MINUTE_MS, 15 * MINUTE_MS},
    [DDB_CLASS_SERVER] = {9, 50, 2 * MINUTE_MS, 2 * MINUTE_MS},
    [DDB_CLASS_LOST] = {9, 50, 3 * MINUTE_MS, 1000},
    [DDB_CLASS_UNSENT] = {UINT16_MAX, 100, MINUTE_MS, 1000},
    [DDB_CLASS_CONFLICT] = {14, 25, MINUTE_MS, MINUTE_MS},
    [DDB_CLASS_BUSY] = {12, 500, 5 * MINUTE_MS, 5 * MINUTE_MS},
    [DDB_CLASS_EXPIRED] = {5, 250, 5000, 0},
    [DDB_CLASS_UNKNOWN] = {1, 0, MINUTE_MS, MINUTE_MS},
    [DDB_CLASS_SKEWED] = {2, 0, MINUTE_MS, MINUTE_MS},
};

static enum ddb_class class_of_type(struct str type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (str_equal(type, types[i].type)) {
            return types[i].class;
        }
    }
    return DDB_CLASS_FINAL;
}

static enum ddb_class class_of_cancelled(const struct ddb_failure *failure)
{
    if (failure->final) {
        return DDB_CLASS_FINAL;
    }
    return failure->throttled ? DDB_CLASS_THROTTLED : DDB_CLASS_CONFLICT;
}

/* A signature refused for its age has the general type, so the clocks decide. */
static bool is_skewed(struct str type, int64_t differs_s)
{
    bool about_signature = str_equal(type, STR("InvalidSignatureException")) ||
                           str_equal(type, STR("SignatureDoesNotMatch"));
    return about_signature && (differs_s > SKEW_S || differs_s < -SKEW_S);
}

enum ddb_class ddb_classify(const struct ddb_attempt *attempt)
{
    if (attempt->transport != DDB_ARRIVED) {
        return attempt->transport == DDB_BROKE_OFF ? DDB_CLASS_LOST : DDB_CLASS_UNSENT;
    }
    if (attempt->status == 200) {
        return DDB_CLASS_FINE;
    }
    struct str type = attempt->failure->type;
    if (str_equal(type, STR("TransactionCanceledException"))) {
        return class_of_cancelled(attempt->failure);
    }
    if (is_skewed(type, attempt->clock_differs_s)) {
        return DDB_CLASS_SKEWED;
    }
    enum ddb_class class = class_of_type(type);
    if (class == DDB_CLASS_FINAL && attempt->status >= 500) {
        return DDB_CLASS_SERVER;
    }
    return class == DDB_CLASS_FINAL && attempt->status == 429 ? DDB_CLASS_THROTTLED : class;
}

bool ddb_class_is_unsure(enum ddb_class class)
{
    return class == DDB_CLASS_SERVER || class == DDB_CLASS_LOST;
}

uint64_t ddb_backoff_us(enum ddb_class class, unsigned attempt, uint64_t random)
{
    uint64_t bound = (uint64_t)rules[class].first_ms * MS_US;
    for (unsigned i = 1; i < attempt && bound < DELAY_MAX_US; i++) {
        bound *= 2;
    }
    return random % ((bound < DELAY_MAX_US ? bound : DELAY_MAX_US) + 1);
}

bool ddb_retry(struct ddb_tries *tries, enum ddb_class class, const struct ddb_moment *moment,
               uint64_t *delay_us)
{
    uint64_t patience_ms =
        moment->known ? rules[class].patience_ms : rules[class].patience_unknown_ms;
    unsigned count = tries->count[class];
    uint64_t delay = ddb_backoff_us(class, count + 1, moment->random);
    uint64_t spent_us = moment->now_us - tries->started_us + delay;
    if (count >= rules[class].tries || spent_us > patience_ms * MS_US) {
        return false;
    }
    tries->count[class]++;
    *delay_us = delay;
    return true;
}
