#include "engine/store/dynamodb/ddb_target.h"

#include <stdbool.h>
#include <string.h>

/* Amazon DynamoDB Developer Guide, "Naming rules": 3 to 255 of these; an ARN is longer and also
 * holds ':' and '/'. */
enum { TABLE_MIN = 3, TABLE_MAX = 255, ARN_MAX = 1024 };
static const char table_chars[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* Where the value of a parameter goes: one of the two. */
struct parameter {
    const char *name;
    struct str *text;
    struct store_limit *limit;
};

static bool is_table(struct str name)
{
    if (str_begins(name, STR("arn:"))) {
        return name.len <= ARN_MAX;
    }
    return name.len >= TABLE_MIN && name.len <= TABLE_MAX &&
           strspn(name.ptr, table_chars) == name.len;
}

/* Cuts *rest at the first `divider`; what stood before it is returned. */
static struct str cut(struct str *rest, char divider)
{
    const char *at = rest->len == 0 ? NULL : memchr(rest->ptr, divider, rest->len);
    if (at == NULL) {
        struct str all = *rest;
        *rest = (struct str){rest->ptr + rest->len, 0};
        return all;
    }
    struct str head = {rest->ptr, (size_t)(at - rest->ptr)};
    *rest = (struct str){at + 1, rest->len - head.len - 1};
    return head;
}

static bool read_parameter(struct str text, struct parameter *parameters, struct arena *arena,
                           struct error *err)
{
    struct str value = text;
    struct str name = cut(&value, '=');
    struct parameter *parameter = parameters;
    while (parameter->name != NULL &&
           !str_equal(name, (struct str){parameter->name, strlen(parameter->name)})) {
        parameter++;
    }
    if (parameter->name == NULL) {
        return error_set(err, ERROR_USAGE,
                         "unknown parameter '%.*s': expected region, endpoint, profile, "
                         "control-table, max-rcu or max-wcu",
                         STR_ARG(name));
    }
    bool given = parameter->text != NULL ? parameter->text->len > 0 : parameter->limit->units > 0;
    if (given) {
        return error_set(err, ERROR_USAGE, "'%s' is given twice", parameter->name);
    }
    if (value.len == 0) {
        return error_set(err, ERROR_USAGE, "'%s' needs a value", parameter->name);
    }
    if (parameter->text != NULL) {
        *parameter->text = arena_copy(arena, value);
        return true;
    }
    return store_limit_parse(parameter->name, value, parameter->limit, err);
}

bool ddb_target_parse(const char *place, struct arena *arena, struct ddb_target *out,
                      struct error *err)
{
    struct ddb_target target = {.control_table = {"", 0}};
    struct parameter parameters[] = {
        {"region", &target.options.region, NULL},
        {"endpoint", &target.options.endpoint, NULL},
        {"profile", &target.options.profile, NULL},
        {"control-table", &target.control_table, NULL},
        {"max-rcu", NULL, &target.limits.read},
        {"max-wcu", NULL, &target.limits.write},
        {NULL, NULL, NULL},
    };
    struct str rest = {place, strlen(place)};
    target.table = arena_copy(arena, cut(&rest, '?'));
    if (!is_table(target.table)) {
        return error_set(err, ERROR_USAGE,
                         "dynamodb:TABLE: '%.*s' is no table name: 3 to 255 of a-z A-Z 0-9 _ - ., "
                         "or an ARN\n"
                         "hint: dynamodb:TABLE?region=eu-west-1&endpoint=http://127.0.0.1:8000",
                         STR_ARG(target.table));
    }
    while (rest.len > 0) {
        if (!read_parameter(cut(&rest, '&'), parameters, arena, err)) {
            return error_wrap(err, "dynamodb:%.*s", STR_ARG(target.table));
        }
    }
    if (target.control_table.len == 0) {
        target.control_table = arena_format(arena, "%.*s-refold", STR_ARG(target.table));
    }
    *out = target;
    return true;
}
