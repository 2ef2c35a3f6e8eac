#include "migrate/ledger/ledger_json.h"

#include "engine/base/buffer.h"
#include "engine/base/utf8.h"

#include <string.h>

static bool damaged(struct str name, const char *what, struct error *err)
{
    return error_set(err, ERROR_DAMAGED,
                     "the table's own record '%.*s' is damaged: %s\n"
                     "hint: 'refold verify' checks the table; restore it from a copy if it finds "
                     "more",
                     STR_ARG(name), what);
}

/* True if the text spells a NUL: an odd number of backslashes before u0000. */
static bool has_nul_escape(struct str text)
{
    size_t backslashes = 0;
    for (size_t i = 0; i < text.len; i++) {
        struct str rest = {text.ptr + i, text.len - i};
        if (backslashes % 2 == 1 && str_begins(rest, STR("u0000"))) {
            return true;
        }
        backslashes = text.ptr[i] == '\\' ? backslashes + 1 : 0;
    }
    return false;
}

bool ledger_json_parse(struct str text, struct str name, cJSON **out, struct error *err)
{
    if (!utf8_is_valid(text) || str_has(text, '\0') || has_nul_escape(text)) {
        return damaged(name, "it is not clean UTF-8", err);
    }
    const char *end = NULL;
    cJSON *object = cJSON_ParseWithLengthOpts(text.ptr, text.len, &end, false);
    if (!cJSON_IsObject(object) || end != text.ptr + text.len) {
        cJSON_Delete(object);
        return damaged(name, "it is not one JSON object", err);
    }
    *out = object;
    return true;
}

static bool missing(const char *name, const char *expected, struct error *err)
{
    return error_set(err, ERROR_DAMAGED, "member '%s' is missing or is not %s", name, expected);
}

bool ledger_json_text(const cJSON *object, const char *name, struct arena *arena, struct str *out,
                      struct error *err)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsString(member)) {
        return missing(name, "a text", err);
    }
    *out = arena_copy(arena, (struct str){member->valuestring, strlen(member->valuestring)});
    return true;
}

bool ledger_json_number(const cJSON *object, const char *name, uint64_t *out, struct error *err)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(member) || !(member->valuedouble >= 0) ||
        member->valuedouble > (double)LEDGER_NUMBER_MAX ||
        (double)(uint64_t)member->valuedouble != member->valuedouble) {
        return missing(name, "a whole number", err);
    }
    *out = (uint64_t)member->valuedouble;
    return true;
}

bool ledger_json_bool(const cJSON *object, const char *name, bool *out, struct error *err)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsBool(member)) {
        return missing(name, "true or false", err);
    }
    *out = cJSON_IsTrue(member);
    return true;
}

bool ledger_json_array(const cJSON *object, const char *name, const cJSON **out, struct error *err)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsArray(member)) {
        return missing(name, "a list", err);
    }
    *out = member;
    return true;
}

void ledger_json_add_text(cJSON *object, const char *name, struct str text)
{
    struct buffer clean = {0};
    while (text.len > 0) {
        size_t good = utf8_valid_prefix(text);
        const char *nul = good > 0 ? memchr(text.ptr, '\0', good) : NULL;
        good = nul != NULL ? (size_t)(nul - text.ptr) : good;
        buffer_add(&clean, (struct str){text.ptr, good});
        text = (struct str){text.ptr + good, text.len - good};
        if (text.len > 0) {
            buffer_add(&clean, STR("\xEF\xBF\xBD"));
            text = (struct str){text.ptr + 1, text.len - 1};
        }
    }
    buffer_add_char(&clean, '\0');
    (void)cJSON_AddStringToObject(object, name, clean.bytes);
    buffer_free(&clean);
}

void ledger_json_add_usage(cJSON *object, const struct store_usage *usage)
{
    (void)cJSON_AddNumberToObject(object, "read_units", usage->read_units);
    (void)cJSON_AddNumberToObject(object, "write_units", usage->write_units);
}

static double number_or_zero(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(member) ? member->valuedouble : 0;
}

void ledger_json_usage(const cJSON *object, struct store_usage *out)
{
    out->read_units = number_or_zero(object, "read_units");
    out->write_units = number_or_zero(object, "write_units");
}

struct str ledger_json_print(cJSON *object, struct arena *arena)
{
    char *printed = cJSON_PrintUnformatted(object);
    struct str text = arena_copy(arena, (struct str){printed, strlen(printed)});
    cJSON_free(printed);
    cJSON_Delete(object);
    return text;
}
