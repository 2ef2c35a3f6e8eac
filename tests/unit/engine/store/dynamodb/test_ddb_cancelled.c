#include "engine/store/dynamodb/ddb_cancelled_internal.h"

#include "tests/support/suite.h"

#include <check.h>

#define CONDITION "{\"Code\":\"ConditionalCheckFailed\",\"Item\":{\"A\":{\"S\":\"a\"}}}"
#define NONE      "{\"Code\":\"None\"}"

static const struct {
    const char *says;
    struct str reasons;
    bool by_condition;
    struct str type; /* of the error, where it was none */
    struct str message;
} transactions[] = {
    {"no reasons", STR_INIT("[]"), true, STR_INIT(""), STR_INIT("")},
    {"a condition", STR_INIT("[" NONE "," CONDITION "]"), true, STR_INIT(""), STR_INIT("")},
    {"a condition beside what passes", STR_INIT("[{\"Code\":\"ThrottlingError\"}," CONDITION "]"),
     true, STR_INIT(""), STR_INIT("")},
    {"an item that is refused",
     STR_INIT("[{\"Code\":\"ValidationError\",\"Message\":\"too large\"}," NONE "]"), false,
     STR_INIT("ValidationException"), STR_INIT("too large")},
    {"a full collection, without words",
     STR_INIT("[" NONE ",{\"Code\":\"ItemCollectionSizeLimitExceeded\",\"Message\":null}]"), false,
     STR_INIT("ItemCollectionSizeLimitExceededException"), STR_INIT("as it was")},
    {"what stays before what passes",
     STR_INIT("[{\"Code\":\"TransactionConflict\",\"Message\":\"m\"},"
              "{\"Code\":\"ValidationError\",\"Message\":\"n\"}]"),
     false, STR_INIT("ValidationException"), STR_INIT("n")},
    {"another transaction", STR_INIT("[{\"Code\":\"TransactionConflict\"}," NONE "]"), false,
     STR_INIT("TransactionConflictException"), STR_INIT("as it was")},
    {"a code that nobody knows", STR_INIT("[{\"Code\":\"DuplicateItem\"},1]"), false,
     STR_INIT("as it was"), STR_INIT("as it was")},
};

static const struct json *parse(struct str text, struct arena *arena)
{
    struct json_options options = {.file = "reasons"};
    struct json *json = NULL;
    struct error err = {0};
    ck_assert_msg(json_parse(text, &options, arena, &json, &err), "%s", err.text);
    return json;
}

START_TEST(a_transaction_tells_why_it_was_cancelled)
{
    struct arena *arena = arena_new();
    const struct json *reasons = parse(transactions[_i].reasons, arena);
    struct ddb_request request = {
        .reply = DDB_CANCELLED, .type = STR("as it was"), .message = STR("as it was")};
    bool by_condition = cancelled_by_condition(reasons);
    ck_assert_msg(by_condition == transactions[_i].by_condition, "%s", transactions[_i].says);
    if (!by_condition) {
        cancelled_as_error(reasons, &request);
        ck_assert_msg(request.reply == DDB_ERROR, "%s", transactions[_i].says);
        ck_assert_msg(str_equal(request.type, transactions[_i].type), "%s: %.*s",
                      transactions[_i].says, STR_ARG(request.type));
        ck_assert_msg(str_equal(request.message, transactions[_i].message), "%s: %.*s",
                      transactions[_i].says, STR_ARG(request.message));
    }
    arena_free(arena);
}
END_TEST

START_TEST(a_condition_tells_the_item_that_it_met)
{
    struct arena *arena = arena_new();
    const struct json *reasons = parse(STR("[" NONE "," CONDITION "]"), arena);
    struct error err = {0};
    struct value item;
    for (size_t part = 0; part < 3; part++) {
        ck_assert_msg(cancelled_item(reasons, part, arena, &item, &err), "%s", err.text);
        ck_assert(value_is_missing(item) == (part != 1));
    }
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_cancelled");
    TCase *cases = tcase_create("reasons");
    tcase_add_loop_test(cases, a_transaction_tells_why_it_was_cancelled, 0,
                        sizeof transactions / sizeof *transactions);
    tcase_add_test(cases, a_condition_tells_the_item_that_it_met);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
