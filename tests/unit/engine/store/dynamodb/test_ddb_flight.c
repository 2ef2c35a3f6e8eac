#include "engine/store/dynamodb/ddb_flight_internal.h"

#include "engine/item/item_json.h"
#include "engine/store/dynamodb/ddb_internal.h"
#include "tests/support/suite.h"

/* Items by letter: 'a' and 'b' stand under one key, 'm' under another; '-' is none. */
static const char *const item_texts[] = {
    ['a'] = "{\"PK\":{\"S\":\"P\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"1\"}}",
    ['b'] = "{\"PK\":{\"S\":\"P\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"2\"}}",
    ['c'] = "{\"PK\":{\"S\":\"P\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"3\"}}",
    ['d'] = "{\"PK\":{\"S\":\"P\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"1\"},\"Y\":{\"S\":\"y\"}}",
    ['e'] = "{\"PK\":{\"S\":\"P\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"2\"},\"Y\":{\"S\":\"y\"}}",
    ['m'] = "{\"PK\":{\"S\":\"Q\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"1\"}}",
    ['n'] = "{\"PK\":{\"S\":\"Q\"},\"SK\":{\"S\":\"1\"},\"X\":{\"N\":\"7\"}}",
};

/* A write is its kind and items: "U ab" updates a to b, "P -b" puts b, "D a-", "M am"; a '!' behind
 * it overwrites; behind an update stands the attribute that it was made from, or '.' for none,
 * or '?' for none but the condition Y = 'y'. A
 * script has one step a request: the operation that is expected, and the reply:
 * '=' OK, '?' OK after a reply that was lost, 'x' a failed condition, 'y' one after a lost reply,
 * 'X' a cancelled transaction, 'Y' one after a lost reply; of a GetItem, or behind an 'x' or the
 * '=' of a DeleteItem, the letter of the item that stands or stood. A script that begins with NONE
 * is of a server without transactions. */
#define NONE "none"

static const struct {
    const char *says;
    const char *writes[3];
    const char *script[10];
    enum outcome outcome;
} flights[] = {
    {"an update applies", {"U ab"}, {"UpdateItem="}, OUTCOME_APPLIED},
    {"an update of what changed is stale", {"U ab"}, {"UpdateItemxc"}, OUTCOME_STALE},
    {"what the server does not tell is read", {"U ab"}, {"UpdateItemx", "GetItemc"}, OUTCOME_STALE},
    {"an update of what is gone is stale", {"U ab"}, {"UpdateItemx", "GetItem-"}, OUTCOME_STALE},
    {"an update that stands is no work", {"U ab"}, {"UpdateItemxb"}, OUTCOME_UNCHANGED},
    {"a lost reply was ours", {"U ab"}, {"UpdateItemyb"}, OUTCOME_APPLIED},
    {"what an update was not made from may change", {"U ab."}, {"UpdateItemxe"}, OUTCOME_UNCHANGED},
    {"what it was made from may not", {"U abY"}, {"UpdateItemxe"}, OUTCOME_STALE},
    {"but after a lost reply it may have changed since",
     {"U abY"},
     {"UpdateItemye"},
     OUTCOME_APPLIED},
    {"what it changes was changed by another", {"U ab."}, {"UpdateItemyc"}, OUTCOME_STALE},
    {"a condition on parts that holds after all is tried again",
     {"U ab."},
     {"UpdateItemxd", "UpdateItem="},
     OUTCOME_APPLIED},
    {"the plan's condition does not hold any more", {"U ab?"}, {"UpdateItemxa"}, OUTCOME_STALE},
    {"or does after all", {"U ab?"}, {"UpdateItemxd", "UpdateItem="}, OUTCOME_APPLIED},
    {"a condition that holds after all is tried again",
     {"U ab"},
     {"UpdateItemxa", "UpdateItem="},
     OUTCOME_APPLIED},
    {"a put applies", {"P -m"}, {"PutItem="}, OUTCOME_APPLIED},
    {"a put meets itself", {"P -m"}, {"PutItemxm"}, OUTCOME_UNCHANGED},
    {"a put meets itself, unseen", {"P -m"}, {"PutItemym"}, OUTCOME_APPLIED},
    {"a put meets another", {"P -m"}, {"PutItemxn"}, OUTCOME_CONFLICT},
    {"an overwriting put meets another", {"P -m!"}, {"PutItemxn"}, OUTCOME_STALE},
    {"a delete applies", {"D a-"}, {"DeleteItem="}, OUTCOME_APPLIED},
    {"a delete of what is gone is no work",
     {"D a-"},
     {"DeleteItemx", "GetItem-"},
     OUTCOME_UNCHANGED},
    {"a delete of what changed is stale", {"D a-"}, {"DeleteItemxb"}, OUTCOME_STALE},
    {"a move applies", {"M am"}, {"TransactWriteItems="}, OUTCOME_APPLIED},
    {"a move whose source changed is stale",
     {"M am"},
     {"TransactWriteItemsX", "GetItem-", "GetItemb"},
     OUTCOME_STALE},
    {"a move whose source is gone is stale",
     {"M am"},
     {"TransactWriteItemsX", "GetItem-", "GetItem-"},
     OUTCOME_STALE},
    {"a move onto another conflicts",
     {"M am"},
     {"TransactWriteItemsX", "GetItemn", "GetItema"},
     OUTCOME_CONFLICT},
    {"a move that was ours, unseen",
     {"M am"},
     {"TransactWriteItemsY", "GetItemm", "GetItem-"},
     OUTCOME_APPLIED},
    {"a move that was ours, unseen, and was changed since",
     {"M am"},
     {"TransactWriteItemsY", "GetItemn", "GetItem-"},
     OUTCOME_APPLIED},
    {"a move that was done before",
     {"M am"},
     {"TransactWriteItemsX", "GetItemm", "GetItem-"},
     OUTCOME_UNCHANGED},
    {"a move whose item somebody has put meanwhile is met again: it is to be in the undo log",
     {"M am"},
     {"TransactWriteItemsX", "GetItemm", "GetItema"},
     OUTCOME_STALE},
    {"and so without transactions", {"M am"}, {NONE, "PutItemxm"}, OUTCOME_STALE},
    {"unless it was ours, unseen", {"M am"}, {NONE, "PutItemym", "DeleteItem="}, OUTCOME_APPLIED},
    {"without transactions a move is a put and a delete",
     {"M am"},
     {NONE, "PutItem=", "DeleteItem="},
     OUTCOME_APPLIED},
    {"without transactions a stale source takes the put back",
     {"M am"},
     {NONE, "PutItem=", "DeleteItemxb", "DeleteItem="},
     OUTCOME_STALE},
    {"what somebody made of the put is left",
     {"M am"},
     {NONE, "PutItem=", "DeleteItemxb", "DeleteItemxn"},
     OUTCOME_STALE},
    {"which a server that does not tell is asked for",
     {"M am"},
     {NONE, "PutItem=", "DeleteItemxb", "DeleteItemx", "GetItemn"},
     OUTCOME_STALE},
    {"what was put is taken back although a condition fails that holds",
     {"M am"},
     {NONE, "PutItem=", "DeleteItemxb", "DeleteItemxm", "DeleteItem="},
     OUTCOME_STALE},
    {"a name that nobody knew goes after the item that was moved",
     {"M am"},
     {NONE, "PutItem=", "DeleteItem=d", "UpdateItem="},
     OUTCOME_APPLIED},
    {"unless that is gone",
     {"M am"},
     {NONE, "PutItem=", "DeleteItem=d", "UpdateItemx"},
     OUTCOME_APPLIED},
    {"an item that stood as it was read leaves nothing to add",
     {"M am"},
     {NONE, "PutItem=", "DeleteItem=a"},
     OUTCOME_APPLIED},
    {"a source that is gone under us was deleted by us, unseen",
     {"M am"},
     {NONE, "PutItem=", "DeleteItemy", "GetItem-"},
     OUTCOME_APPLIED},
    {"a source that somebody deleted takes the put back",
     {"M am"},
     {NONE, "PutItem=", "DeleteItemx", "GetItem-", "DeleteItem="},
     OUTCOME_STALE},
    {"puts come before the source's own write",
     {"P -m", "U ab"},
     {"PutItem=", "UpdateItem="},
     OUTCOME_APPLIED},
    {"a stale source takes its puts back",
     {"P -m", "U ab"},
     {"PutItem=", "UpdateItemxc", "DeleteItem="},
     OUTCOME_STALE},
    {"a source that somebody deleted takes its puts back",
     {"P -m", "D a-"},
     {"PutItem=", "DeleteItemx", "GetItem-", "DeleteItem="},
     OUTCOME_STALE},
    {"one that was deleted by us, unseen, does not",
     {"P -m", "D a-"},
     {"PutItem=", "DeleteItemy", "GetItem-"},
     OUTCOME_APPLIED},
    {"what stood before is not taken back",
     {"P -m", "U ab"},
     {"PutItemxm", "UpdateItemxc"},
     OUTCOME_STALE},
    {"a key that moves onto itself is an update", {"M ab"}, {"UpdateItem="}, OUTCOME_APPLIED},
    {"two items for one key conflict", {"P -m", "P -n"}, {NULL}, OUTCOME_CONFLICT},
    {"one item put twice is put once", {"P -m", "P -m"}, {"PutItem="}, OUTCOME_APPLIED},
    {"an overwriting move is one write", /* what it overwrites goes by a DELETE before it */
     {"D n-", "M am!"},
     {"TransactWriteItems="},
     OUTCOME_APPLIED},
};

static struct value item_of(char letter, struct arena *arena)
{
    struct value item = {NULL, 0};
    struct json *json = NULL;
    struct error err = {0};
    struct json_options options = {.file = "item"};
    if (letter != '-') {
        const char *text = item_texts[(unsigned char)letter];
        ck_assert(json_parse((struct str){text, strlen(text)}, &options, arena, &json, &err) &&
                  item_json_item(json, arena, &item, &err));
    }
    return item;
}

static struct write write_of(const char *text, const struct key_schema *keys, struct arena *arena)
{
    struct write write = {.overwrite = text[4] == '!',
                          .before = item_of(text[2], arena),
                          .item = item_of(text[3], arena)};
    struct error err = {0};
    if (text[0] == 'U' && text[4] != '\0') {
        static const struct str y = STR_INIT("Y");
        size_t count = text[4] == 'Y' ? 1 : 0;
        write.basis = (struct basis){NULL, &y, count, count};
    }
    if (text[4] == '?') {
        struct expr_parsed parsed = {0};
        ck_assert(expr_parse(STR("Y = 'y'"), NULL, arena, &parsed, &err));
        write.basis.condition = parsed.expr;
    }
    write.kind = text[0] == 'U'   ? WRITE_UPDATE
                 : text[0] == 'P' ? WRITE_PUT
                 : text[0] == 'D' ? WRITE_DELETE
                                  : WRITE_MOVE;
    struct value keyed = value_is_missing(write.before) ? write.item : write.before;
    ck_assert(key_of_item(keys, keyed, &write.key, &err));
    return write;
}

static struct str content_of(const char *name, const char *item, struct arena *arena)
{
    const char *text = *item == '\0' || *item == '-' ? "" : item_texts[(unsigned char)*item];
    return *text == '\0' ? STR("{}") : arena_format(arena, "{\"%s\":%s}", name, text);
}

static void answer(struct ddb_request *request, const char *step, const char *says,
                   struct arena *arena)
{
    size_t len = strlen(request->operation);
    ck_assert_msg(strncmp(step, request->operation, len) == 0, "%s: %s instead of %s", says,
                  request->operation, step);
    char kind = step[len];
    request->reply = strchr("xy", kind) != NULL   ? DDB_CONDITION
                     : strchr("XY", kind) != NULL ? DDB_CANCELLED
                                                  : DDB_OK;
    request->unsure = strchr("?yY", kind) != NULL;
    bool is_read = strcmp(request->operation, "GetItem") == 0;
    const char *name = kind == '=' ? "Attributes" : "Item";
    request->content = content_of(name, step + len + (is_read ? 0 : 1), arena);
}

static struct ddb_store store_with_keys(void)
{
    return (struct ddb_store){
        .target = {.table = STR("T")},
        .table = {.desc = {.keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                    .partition_count = 1,
                                    .sort = {{STR_INIT("SK"), VALUE_S}},
                                    .sort_count = 1}}},
    };
}

START_TEST(a_flight_ends_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct ddb_store store = store_with_keys();
    struct write writes[3];
    struct effect effect = {.writes = writes};
    for (size_t i = 0; i < 3 && flights[_i].writes[i] != NULL; i++) {
        writes[effect.count++] = write_of(flights[_i].writes[i], &store.table.desc.keys, arena);
    }
    struct flight flight;
    struct error err = {0};
    size_t at = 0;
    store.transactions = TRANSACTIONS_THERE;
    if (flights[_i].script[0] != NULL && strcmp(flights[_i].script[0], NONE) == 0) {
        store.transactions = TRANSACTIONS_LACKING;
        at++;
    }
    flight_begin(&store, &effect, arena, arena, &flight);
    for (; flight.phase != PHASE_DONE; at++) {
        struct ddb_request request;
        ck_assert_msg(flights[_i].script[at] != NULL, "%s: goes on", flights[_i].says);
        flight_compose(&store, &flight, arena, &request);
        answer(&request, flights[_i].script[at], flights[_i].says, arena);
        ck_assert_msg(flight_answer(&store, &flight, &request, arena, &err), "%s: %s",
                      flights[_i].says, err.text);
    }
    ck_assert_msg(flights[_i].script[at] == NULL, "%s: ends early", flights[_i].says);
    ck_assert_msg(effect.outcome == flights[_i].outcome, "%s: outcome %d", flights[_i].says,
                  (int)effect.outcome);
    composer_free(&store.composer);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_flight");
    TCase *outcomes = tcase_create("outcomes");
    tcase_add_loop_test(outcomes, a_flight_ends_as_the_table_says, 0,
                        sizeof flights / sizeof *flights);
    suite_add_tcase(suite, outcomes);
    return suite_run(suite);
}
