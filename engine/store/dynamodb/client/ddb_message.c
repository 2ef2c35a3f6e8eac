#include "engine/store/dynamodb/client/ddb_account_internal.h"

#include <inttypes.h>

/* What the errors mean that stop a run, and what to do. */
static const struct {
    struct str type;
    const char *means;
    const char *hint; /* "": none */
} meanings[] = {
    {STR_INIT("ResourceNotFoundException"), "there is no such table or index",
     "is the name right, and the region?"},
    {STR_INIT("AccessDeniedException"), "the key may not do this",
     "allow the operation on the table, in the policy of the key's user or role"},
    {STR_INIT("UnrecognizedClientException"), "the server does not know the key",
     "is it a key for this region, and not deleted?"},
    {STR_INIT("InvalidSignatureException"), "the server refuses the signature",
     "is the secret the one of this key id?"},
    {STR_INIT("ExpiredTokenException"), "the credentials have expired",
     "sign in again; the same command goes on where it was"},
    {STR_INIT("ItemCollectionSizeLimitExceededException"),
     "the item collection is at 10 GB, as large as a local index allows", ""},
    {STR_INIT("TransactionConflictException"), "others' transactions hold the item", ""},
    {STR_INIT("ConditionalCheckFailedException"), "the item is not as expected", ""},
    {STR_INIT("ProvisionedThroughputExceededException"), "throttled after many attempts",
     "raise the table's capacity, or lower --max-rcu and --max-wcu"},
    {STR_INIT("ThrottlingException"), "throttled after many attempts", ""},
    {STR_INIT("ResourceInUseException"), "the table or index is being changed", ""},
};

enum { MEANINGS = sizeof meanings / sizeof meanings[0] };

/* Of what has no type: a page of a web server or a gateway. */
static const char foreign_hint[] =
    "this is no answer of DynamoDB's: is the endpoint right, and no proxy in the way?";

/* MEANINGS: not known, the server's own words must do. */
static size_t find(struct str type)
{
    size_t i = 0;
    while (i < MEANINGS && !str_equal(meanings[i].type, type)) {
        i++;
    }
    return i;
}

static const char *hint_of(const struct ddb_account *account, size_t meaning)
{
    if (meaning == MEANINGS) {
        return "";
    }
    bool missing = str_equal(meanings[meaning].type, STR("ResourceNotFoundException"));
    return missing && ddb_account_endpoint(account)->local
               ? "is the name right? DynamoDB Local keeps other tables for each region and key id, "
                 "unless started with -sharedDb"
               : meanings[meaning].hint;
}

static enum error_code code_of(const struct ddb_request *request)
{
    if (str_equal(request->type, STR("ItemCollectionSizeLimitExceededException"))) {
        return ERROR_LIMIT;
    }
    bool invalid = str_equal(request->type, STR("ValidationException")) ||
                   str_equal(request->type, STR("TransactionConflictException"));
    if (!invalid || ddb_side_of(request->operation) != DDB_WRITE) {
        return ERROR_STORE;
    }
    struct str size = STR("exceeded the maximum");
    bool large = memmem(request->message.ptr, request->message.len, size.ptr, size.len) != NULL;
    return large ? ERROR_LIMIT : ERROR_ITEM;
}

/* "UpdateItem: the key may not do this: AccessDeniedException: User … (endpoint …)" */
bool ddb_request_error(struct ddb_account *account, const struct ddb_request *request,
                       struct error *err)
{
    struct arena *arena = arena_new();
    size_t meaning = find(request->type);
    const char *hint = request->type.len == 0 ? foreign_hint : hint_of(account, meaning);
    struct ddb_stats stats;
    ddb_account_stats(account, &stats);
    struct str place = ddb_account_describe(account, arena);
    struct str type = request->type.len > 0
                          ? request->type
                          : arena_format(arena, "status %d of HTTP", request->status);
    struct str skew =
        stats.skew_s == 0
            ? STR("")
            : arena_format(arena, "; the server's clock differs by %" PRId64 " s", stats.skew_s);
    (void)error_set(err, code_of(request), "%s: %s%s%.*s%s%.*s (%.*s%.*s)%s%s", request->operation,
                    meaning == MEANINGS ? "" : meanings[meaning].means,
                    meaning == MEANINGS ? "" : ": ", STR_ARG(type),
                    request->message.len == 0 ? "" : ": ", STR_ARG(request->message),
                    STR_ARG(place), STR_ARG(skew), hint[0] == '\0' ? "" : "\nhint: ", hint);
    arena_free(arena);
    return false;
}
