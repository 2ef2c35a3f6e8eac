#include "engine/store/dynamodb/client/ddb_reply_internal.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <stddef.h>
#include <stdlib.h>

static struct str text_of(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);
    return member != NULL && member->kind == JSON_STRING ? member->text : STR("");
}

static bool holds(struct str text, struct str part)
{
    return text.len > 0 && memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

/* ---------------------------------------------------------------- errors */

static enum ddb_scope scope_of(struct str reason)
{
    if (holds(reason, STR("KeyRange"))) {
        return DDB_SCOPE_LANE;
    }
    return holds(reason, STR("AccountLimit")) ? DDB_SCOPE_ALL : DDB_SCOPE_SIDE;
}

/* Several may be given: that which slows the most counts. */
static void read_reasons(const struct json *reasons, struct arena *arena, struct ddb_failure *out)
{
    static const int width[] = {[DDB_SCOPE_LANE] = 0, [DDB_SCOPE_SIDE] = 1, [DDB_SCOPE_ALL] = 2};
    for (size_t i = 0; reasons != NULL && i < reasons->count; i++) {
        struct str reason = text_of(&reasons->items[i], "reason");
        struct str resource = text_of(&reasons->items[i], "resource");
        enum ddb_scope scope = scope_of(reason);
        bool first = out->reason.len == 0;
        if (reason.len > 0 && (first || width[scope] > width[out->scope])) {
            out->scope = scope;
            out->reason = arena_format(arena, "%.*s %.*s", STR_ARG(reason), STR_ARG(resource));
        }
    }
}

static bool is_one_of(struct str text, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(text, names[i])) {
            return true;
        }
    }
    return false;
}

/* A transaction is worth another try unless one of its reasons would come again. */
static void read_cancellation(const struct json *reasons, struct ddb_failure *out)
{
    static const struct str passing[] = {
        STR_INIT("ProvisionedThroughputExceeded"), STR_INIT("ThrottlingError"),
        STR_INIT("InternalServerError"), STR_INIT("TransactionConflict"), STR_INIT("None")};
    enum { THROTTLES = 2, PASSING = sizeof passing / sizeof passing[0] };
    out->final = reasons == NULL || reasons->count == 0;
    for (size_t i = 0; reasons != NULL && i < reasons->count; i++) {
        struct str code = text_of(&reasons->items[i], "Code");
        out->throttled |= is_one_of(code, passing, THROTTLES);
        out->final |= !is_one_of(code, passing, PASSING);
    }
}

/* Of "com.amazonaws.dynamodb.v20120810#ThrottlingException", the end. */
static struct str short_name(struct str type)
{
    const char *hash = type.len == 0 ? NULL : memrchr(type.ptr, '#', type.len);
    if (hash == NULL) {
        return type;
    }
    return (struct str){hash + 1, type.len - (size_t)(hash + 1 - type.ptr)};
}

void ddb_failure_read(struct str body, struct arena *arena, struct ddb_failure *out)
{
    static const struct json_options options = {.file = "reply"};
    struct json *root = NULL;
    struct error ignored = {0};
    *out = (struct ddb_failure){.scope = DDB_SCOPE_SIDE, .final = true};
    if (!json_parse(body, &options, arena, &root, &ignored) || root->kind != JSON_OBJECT) {
        return;
    }
    out->type = short_name(text_of(root, "__type"));
    out->message = text_of(root, "message");
    if (out->message.len == 0) {
        out->message = text_of(root, "Message");
    }
    read_reasons(json_member(root, "ThrottlingReasons"), arena, out);
    read_reasons(json_member(root, "throttlingReasons"), arena, out);
    read_cancellation(json_member(root, "CancellationReasons"), out);
}

/* ---------------------------------------------------------------- capacity */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) {
        at++;
    }
    return at;
}

/* Behind a member's name: its value; NULL where it was not a name. */
static const char *member_value(const char *at, const char *end)
{
    at = skip_blanks(at, end);
    if (at == end || *at != ':') {
        return NULL;
    }
    at = skip_blanks(at + 1, end);
    return at == end ? NULL : at;
}

/* "0.5", "12.0". False: no number. */
static bool read_units(const char *at, const char *end, double *units)
{
    char digits[32] = "";
    size_t len = 0;
    while (at + len < end && len < sizeof digits - 1 && str_has(STR("0123456789.eE+-"), at[len])) {
        digits[len] = at[len];
        len++;
    }
    *units = len == 0 ? 0 : strtod(digits, NULL);
    return len > 0;
}

static const char *find(const char *at, const char *end, struct str what)
{
    return memmem(at, (size_t)(end - at), what.ptr, what.len);
}

/* The units of a ConsumedCapacity value, which is an object or an array of them. Those deeper
 * within it, of the table and each index, are parts of the same sum. No text in it holds a brace.
 */
static double sum_units(const char *at, const char *end, bool *found)
{
    static const struct str name = STR_INIT("\"CapacityUnits\"");
    int top = *at == '[' ? 2 : 1;
    int depth = 0;
    double sum = 0;
    for (; at < end; at++) {
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        if (depth == 0) {
            return sum;
        }
        if (depth == top && *at == '"' && str_begins((struct str){at, (size_t)(end - at)}, name)) {
            const char *value = member_value(at + name.len, end);
            double units = 0;
            *found |= value != NULL && read_units(value, end, &units);
            sum += units;
        }
    }
    return sum;
}

/* An attribute of that name has an object for its value, never a number, and inside a JSON string a
 * quote is escaped: so the search cannot be misled by items, nor need it read them. */
double ddb_consumed_read(struct str body)
{
    static const struct str name = STR_INIT("\"ConsumedCapacity\"");
    const char *end = body.ptr + body.len;
    const char *at = body.len == 0 ? NULL : find(body.ptr, end, name);
    while (at != NULL) {
        at += name.len;
        const char *value = member_value(at, end);
        bool found = false;
        double sum = value == NULL ? 0 : sum_units(value, end, &found);
        if (found) {
            return sum;
        }
        at = find(at, end, name);
    }
    return -1;
}
