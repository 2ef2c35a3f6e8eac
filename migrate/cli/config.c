#include "migrate/cli/config.h"

#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "migrate/cli/files.h"
#include "migrate/cli/target.h"

#include <cjson/cJSON.h>
#include <string.h>

static const char *const members[] = {"targets", "table", "plans"};

/* cJSON 1.7.15 lets bad UTF-8 through and cuts strings at \u0000: both are refused before it. */
static bool check_text(struct str text, struct error *err)
{
    if (!utf8_is_valid(text)) {
        return error_set(err, ERROR_USAGE, "is not UTF-8");
    }
    if (str_has(text, '\0') || strstr(text.ptr, "\\u0000") != NULL) {
        return error_set(err, ERROR_USAGE, "holds a NUL character");
    }
    return true;
}

/* White space may follow the value, nothing else. */
static bool parse_text(struct str text, cJSON **out, struct error *err)
{
    const char *end = NULL;
    cJSON *json = cJSON_ParseWithLengthOpts(text.ptr, text.len, &end, false);
    size_t at = end == NULL ? 0 : (size_t)(end - text.ptr);
    if (json != NULL) {
        at += strspn(text.ptr + at, " \t\r\n");
    }
    if (json == NULL || at < text.len) {
        size_t line = 0;
        size_t column = 0;
        json_position(text, at, &line, &column);
        cJSON_Delete(json);
        return error_set(err, ERROR_USAGE, "line %zu, column %zu: this is not JSON", line, column);
    }
    *out = json;
    return true;
}

static bool is_member(const char *name)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (strcmp(members[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* True if an earlier child of the same object has the child's name. */
static bool is_doubled(const cJSON *object, const cJSON *child)
{
    return cJSON_GetObjectItemCaseSensitive(object, child->string) != child;
}

static bool check_members(const cJSON *json, struct error *err)
{
    if (!cJSON_IsObject(json)) {
        return error_set(err, ERROR_USAGE, "expected an object");
    }
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, json) {
        if (!is_member(member->string)) {
            return error_set(err, ERROR_USAGE, "unknown member '%s'\nhint: it may have %s",
                             member->string, "\"targets\", \"table\" and \"plans\"");
        }
        if (is_doubled(json, member)) {
            return error_set(err, ERROR_USAGE, "member '%s' stands twice", member->string);
        }
    }
    return true;
}

static bool copy_string(const cJSON *json, const char *what, struct arena *arena, const char **out,
                        struct error *err)
{
    if (!cJSON_IsString(json) || json->valuestring[0] == '\0') {
        return error_set(err, ERROR_USAGE, "'%s': expected a text", what);
    }
    *out = arena_copy(arena, (struct str){json->valuestring, strlen(json->valuestring)}).ptr;
    return true;
}

static bool read_targets(const cJSON *json, struct arena *arena, struct config *out,
                         struct error *err)
{
    if (!cJSON_IsObject(json)) {
        return error_set(err, ERROR_USAGE, "'targets': expected an object");
    }
    size_t count = 0;
    struct config_target *targets =
        arena_zero(arena, ((size_t)cJSON_GetArraySize(json) + 1) * sizeof *targets);
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, json) {
        struct config_target *target = &targets[count];
        if (is_doubled(json, member)) {
            return error_set(err, ERROR_USAGE, "target '%s' stands twice", member->string);
        }
        if (!copy_string(member, member->string, arena, &target->target, err)) {
            return false;
        }
        if (!target_is(target->target)) {
            return error_set(err, ERROR_USAGE, "target '%s': '%s' is no table: expected %s",
                             member->string, target->target, target_forms());
        }
        target->name = arena_copy(arena, (struct str){member->string, strlen(member->string)}).ptr;
        count++;
    }
    out->targets = targets;
    out->target_count = count;
    return true;
}

/* "table" is a name among the targets, or a target itself. */
static bool read_table(const cJSON *json, struct arena *arena, struct config *out,
                       struct error *err)
{
    const char *text = "";
    if (!copy_string(json, "table", arena, &text, err)) {
        return false;
    }
    const char *target = config_target(out, text);
    if (target == NULL && !target_is(text)) {
        return error_set(err, ERROR_USAGE, "'table': '%s' is neither a target's name nor %s", text,
                         target_forms());
    }
    out->table = target == NULL ? text : target;
    return true;
}

static bool read_members(const cJSON *json, struct arena *arena, struct config *out,
                         struct error *err)
{
    const cJSON *targets = cJSON_GetObjectItemCaseSensitive(json, "targets");
    const cJSON *table = cJSON_GetObjectItemCaseSensitive(json, "table");
    const cJSON *plans = cJSON_GetObjectItemCaseSensitive(json, "plans");
    return check_members(json, err) &&
           (targets == NULL || read_targets(targets, arena, out, err)) &&
           (table == NULL || read_table(table, arena, out, err)) &&
           (plans == NULL || copy_string(plans, "plans", arena, &out->plans, err));
}

bool config_read(const char *path, struct arena *arena, struct config *out, struct error *err)
{
    struct str text;
    if (!file_read(path, CONFIG_MAX_BYTES, arena, &text, err)) {
        return false;
    }
    struct config config = {0};
    cJSON *json = NULL;
    bool ok = check_text(text, err) && parse_text(text, &json, err) &&
              read_members(json, arena, &config, err);
    cJSON_Delete(json);
    if (!ok) {
        return error_wrap(err, "%s", path);
    }
    *out = config;
    return true;
}

const char *config_target(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->target_count; i++) {
        if (strcmp(config->targets[i].name, name) == 0) {
            return config->targets[i].target;
        }
    }
    return NULL;
}
