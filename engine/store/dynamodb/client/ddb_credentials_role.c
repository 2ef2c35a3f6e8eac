#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_credentials_internal.h"
#include "engine/store/dynamodb/client/ddb_endpoint_internal.h"
#include "engine/store/dynamodb/client/ddb_fetch_internal.h"
#include "engine/store/dynamodb/client/ddb_sign_internal.h"

#include <stddef.h>

enum { STS_TIMEOUT_MS = 10000 };

static void add_form_field(struct buffer *out, const char *name, struct str value)
{
    buffer_format(out, "&%s=", name);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || str_has(STR("-._~"), (char)c)) {
            buffer_add_char(out, (char)c);
        } else {
            buffer_format(out, "%%%02X", c);
        }
    }
}

/* The text of the first element of a name; STS's texts hold no markup of their own. */
static struct str element(struct str xml, const char *name, struct arena *arena)
{
    struct str open = arena_format(arena, "<%s>", name);
    struct str close = arena_format(arena, "</%s>", name);
    const char *start = memmem(xml.ptr, xml.len, open.ptr, open.len);
    if (start == NULL) {
        return STR("");
    }
    start += open.len;
    const char *end = memmem(start, xml.len - (size_t)(start - xml.ptr), close.ptr, close.len);
    return end == NULL ? STR("") : (struct str){start, (size_t)(end - start)};
}

static bool sts_endpoint(const struct ddb_credentials_ask *ask, struct ddb_endpoint *out,
                         struct error *err)
{
    struct str url = ddb_environment("AWS_ENDPOINT_URL_STS");
    if (url.len == 0) {
        url = ddb_environment("AWS_ENDPOINT_URL");
    }
    if (url.len == 0) {
        url = ddb_endpoint_of("sts", ask->region, ask->arena);
    }
    return ddb_endpoint_parse(url, ask->arena, out, err);
}

/* Adds what signs the request: a role is taken on with a key, a web identity without. */
static void sign(const struct ddb_credentials_ask *ask, const struct ddb_credentials *with,
                 const struct ddb_endpoint *endpoint, struct ddb_fetch *fetch)
{
    char date[DDB_DATE_SIZE];
    ddb_date_format(ask->wall_s, date);
    struct str when = {date, DDB_DATE_SIZE - 1};
    struct ddb_header headers[4] = {{STR("content-type"), STR("application/x-www-form-urlencoded")},
                                    {STR("host"), endpoint->host},
                                    {STR("x-amz-date"), when},
                                    {STR("x-amz-security-token"), with->token}};
    struct ddb_sign_scope scope = {with->key_id, ask->region, STR("sts"), date};
    struct ddb_signed message = {STR("POST"), endpoint->path, headers, with->token.len > 0 ? 4 : 3,
                                 fetch->body};
    struct ddb_signing_key key;
    struct ddb_signer *signer = ddb_signer_new();
    struct buffer line = {0};
    ddb_signing_key_make(with->secret, &scope, &key);
    buffer_add(&line, STR("Authorization: "));
    ddb_sign(signer, &key, &scope, &message, &line);
    fetch->headers[fetch->header_count++] = arena_copy(ask->arena, buffer_str(&line));
    fetch->headers[fetch->header_count++] = arena_format(ask->arena, "X-Amz-Date: %s", date);
    if (with->token.len > 0) {
        fetch->headers[fetch->header_count++] =
            arena_format(ask->arena, "X-Amz-Security-Token: %.*s", STR_ARG(with->token));
    }
    explicit_bzero(&key, sizeof key);
    ddb_signer_free(signer);
    buffer_free(&line);
}

struct sts_call {
    const struct ddb_role *role;
    struct str form;
    const struct ddb_credentials *with; /* NULL: not signed */
};

static bool ask_sts(const struct ddb_credentials_ask *ask, const struct sts_call *call,
                    struct ddb_credentials *out, struct error *err)
{
    const struct ddb_role *role = call->role;
    struct ddb_endpoint endpoint;
    if (!sts_endpoint(ask, &endpoint, err)) {
        return false;
    }
    struct ddb_fetch fetch = {
        .method = "POST",
        .url = endpoint.url,
        .headers = {STR("Content-Type: application/x-www-form-urlencoded"), STR("Expect:"),
                    arena_format(ask->arena, "Host: %.*s", STR_ARG(endpoint.host))},
        .header_count = 3,
        .body = call->form,
        .timeout_ms = STS_TIMEOUT_MS,
    };
    if (call->with != NULL) {
        sign(ask, call->with, &endpoint, &fetch);
    }
    int status = 0;
    struct str body = STR("");
    const char *what = NULL;
    if (!ddb_fetch(&fetch, ask->arena, &status, &body, &what)) {
        return error_set(err, ERROR_STORE, "role %.*s from %.*s: %s", STR_ARG(role->arn),
                         STR_ARG(endpoint.url), what);
    }
    struct ddb_credentials read = {
        .key_id = element(body, "AccessKeyId", ask->arena),
        .secret = element(body, "SecretAccessKey", ask->arena),
        .token = element(body, "SessionToken", ask->arena),
        .expires_s = ddb_time_read(element(body, "Expiration", ask->arena)),
        .source = arena_format(ask->arena, "role %.*s", STR_ARG(role->arn)).ptr,
    };
    if (status != 200 || !ddb_credentials_are_plain(&read)) {
        return error_set(err, ERROR_STORE, "role %.*s was refused by %.*s (status %d): %.*s",
                         STR_ARG(role->arn), STR_ARG(endpoint.url), status,
                         STR_ARG(element(body, "Message", ask->arena)));
    }
    *out = read;
    return true;
}

static void begin_form(struct buffer *form, const char *action, const struct ddb_role *role)
{
    buffer_format(form, "Action=%s&Version=2011-06-15", action);
    add_form_field(form, "RoleArn", role->arn);
    add_form_field(form, "RoleSessionName", role->session.len > 0 ? role->session : STR("refold"));
}

bool ddb_credentials_assume(const struct ddb_credentials_ask *ask, const struct ddb_role *role,
                            const struct ddb_credentials *with, struct ddb_credentials *out,
                            struct error *err)
{
    struct buffer form = {0};
    begin_form(&form, "AssumeRole", role);
    if (role->external_id.len > 0) {
        add_form_field(&form, "ExternalId", role->external_id);
    }
    struct sts_call call = {role, arena_copy(ask->arena, buffer_str(&form)), with};
    buffer_free(&form);
    return ask_sts(ask, &call, out, err);
}

bool ddb_credentials_web_identity(const struct ddb_credentials_ask *ask,
                                  const struct ddb_role *role, struct ddb_credentials *out,
                                  struct error *err)
{
    struct str token = STR("");
    struct str path = arena_copy(ask->arena, role->token_file);
    if (!ddb_file_read(path.ptr, ask->arena, &token)) {
        return error_set(err, ERROR_STORE, "the web identity token %s cannot be read", path.ptr);
    }
    struct buffer form = {0};
    begin_form(&form, "AssumeRoleWithWebIdentity", role);
    add_form_field(&form, "WebIdentityToken", ddb_trim(token));
    struct sts_call call = {role, arena_copy(ask->arena, buffer_str(&form)), NULL};
    buffer_free(&form);
    return ask_sts(ask, &call, out, err);
}
