#include "engine/store/dynamodb/ddb_cancelled_internal.h"

#include "engine/store/dynamodb/ddb_internal.h"

static const struct str condition = STR_INIT("ConditionalCheckFailed");

/* What stays comes before what passes. Amazon DynamoDB API Reference, TransactWriteItems. */
static const struct {
    struct str code;
    struct str type;
} errors[] = {
    {STR_INIT("ValidationError"), STR_INIT("ValidationException")},
    {STR_INIT("ItemCollectionSizeLimitExceeded"),
     STR_INIT("ItemCollectionSizeLimitExceededException")},
    {STR_INIT("ProvisionedThroughputExceeded"), STR_INIT("ProvisionedThroughputExceededException")},
    {STR_INIT("ThrottlingError"), STR_INIT("ThrottlingException")},
    {STR_INIT("InternalServerError"), STR_INIT("InternalServerError")},
    {STR_INIT("TransactionConflict"), STR_INIT("TransactionConflictException")},
};

static struct str text_of(const struct json *reason, const char *name)
{
    const struct json *member = reason->kind == JSON_OBJECT ? json_member(reason, name) : NULL;
    return member != NULL && member->kind == JSON_STRING ? member->text : STR("");
}

static const struct json *find(const struct json *reasons, struct str code)
{
    for (size_t i = 0; i < reasons->count; i++) {
        if (str_equal(text_of(&reasons->items[i], "Code"), code)) {
            return &reasons->items[i];
        }
    }
    return NULL;
}

bool cancelled_by_condition(const struct json *reasons)
{
    return reasons->count == 0 || find(reasons, condition) != NULL;
}

void cancelled_as_error(const struct json *reasons, struct ddb_request *request)
{
    request->reply = DDB_ERROR;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        const struct json *reason = find(reasons, errors[i].code);
        if (reason != NULL) {
            struct str message = text_of(reason, "Message");
            request->type = errors[i].type;
            request->message = message.len > 0 ? message : request->message;
            return;
        }
    }
}

bool cancelled_item(const struct json *reasons, size_t part, struct arena *arena, struct value *out,
                    struct error *err)
{
    *out = (struct value){NULL, 0};
    return part >= reasons->count ||
           !str_equal(text_of(&reasons->items[part], "Code"), condition) ||
           answer_item(&reasons->items[part], "Item", arena, out, err);
}
