#include "engine/item/item_json.h"
#include "engine/store/dynamodb/ddb_internal.h"

#include <stdlib.h>

static bool tell_lost(const struct ddb_asking *asking, bool ok, struct error *err)
{
    struct error lost;
    if (!ok && err->code == ERROR_STOPPED && !lease_check(asking->store, &lost)) {
        *err = lost;
    }
    return ok;
}

bool answer_calls(const struct ddb_asking *asking, struct ddb_request *requests, size_t count,
                  struct error *err)
{
    bool ok = ddb_calls(asking->client, requests, count, asking->arena, err);
    return tell_lost(asking, ok, err);
}

bool answer_flow(const struct ddb_asking *asking, const struct ddb_flow *flow, struct error *err)
{
    bool ok = ddb_flow_run(asking->client, flow, asking->arena, err);
    return tell_lost(asking, ok, err);
}

bool answer_pause(const struct ddb_asking *asking, const struct ddb_unprocessed *what,
                  struct error *err)
{
    bool ok = ddb_pause(asking->client, what, err);
    return tell_lost(asking, ok, err);
}

bool answer_parse(const struct ddb_request *request, struct arena *arena, const struct json **out,
                  struct error *err)
{
    struct json_options options = {.file = request->operation};
    struct json *tree = NULL;
    if (!json_parse(request->content, &options, arena, &tree, err)) {
        err->code = ERROR_STORE;
        return error_wrap(err, "the server's reply");
    }
    *out = tree;
    return true;
}

bool answer_expect(const struct ddb_store *store, const struct ddb_request *request,
                   struct arena *arena, const struct json **out, struct error *err)
{
    if (request->reply != DDB_OK) {
        (void)ddb_request_error(store->account, request, err);
        err->code = ERROR_STORE; /* the request is ours, whatever the server says of an item */
        return false;
    }
    return answer_parse(request, arena, out, err);
}

bool answer_element(const struct json *json, struct arena *arena, struct value *out,
                    struct error *err)
{
    if (!item_json_item(json, arena, out, err)) {
        err->code = ERROR_STORE;
        return error_wrap(err, "the server's reply");
    }
    return true;
}

bool answer_item(const struct json *object, const char *name, struct arena *arena,
                 struct value *out, struct error *err)
{
    const struct json *member = json_member(object, name);
    *out = (struct value){NULL, 0};
    return member == NULL || member->kind != JSON_OBJECT || answer_element(member, arena, out, err);
}

const struct json *answer_list(const struct json *object, const char *name)
{
    static const struct json none = {.kind = JSON_ARRAY};
    const struct json *member =
        object == NULL || object->kind != JSON_OBJECT ? NULL : json_member(object, name);
    return member != NULL && member->kind == JSON_ARRAY ? member : &none;
}

uint64_t answer_count(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);
    return member == NULL || member->kind != JSON_NUMBER ? 0 : strtoull(member->text.ptr, NULL, 10);
}

struct str statement_error(const struct json *response)
{
    const struct json *error =
        response->kind == JSON_OBJECT ? json_member(response, "Error") : NULL;
    if (error == NULL || error->kind != JSON_OBJECT) {
        return STR("");
    }
    const struct json *code = json_member(error, "Code");
    return code != NULL && code->kind == JSON_STRING ? code->text : STR("?");
}
