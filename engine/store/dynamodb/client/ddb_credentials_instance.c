#include "engine/store/dynamodb/client/ddb_credentials_internal.h"
#include "engine/store/dynamodb/client/ddb_fetch_internal.h"

#include <stddef.h>

/* The endpoints are of the host itself: either they reply at once, or there are none. */
enum { CONTAINER_TIMEOUT_MS = 5000, INSTANCE_TIMEOUT_MS = 1000 };

static struct str header(const struct ddb_credentials_ask *ask, const char *name, struct str value)
{
    return arena_format(ask->arena, "%s: %.*s", name, STR_ARG(value));
}

/* ---------------------------------------------------------------- container */

/* AWS SDKs and Tools Reference Guide, "Container credential provider". Empty: not in a container.
 */
static struct str container_url(const struct ddb_credentials_ask *ask)
{
    struct str relative = ddb_environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    if (relative.len > 0) {
        return arena_format(ask->arena, "http://169.254.170.2%.*s", STR_ARG(relative));
    }
    return ddb_environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
}

/* Read anew each time: the file is replaced while we run. */
static struct str container_token(const struct ddb_credentials_ask *ask)
{
    struct str path = ddb_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
    struct str token = ddb_environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
    if (path.len > 0) {
        (void)ddb_file_read(path.ptr, ask->arena, &token);
    }
    return ddb_trim(token);
}

bool ddb_credentials_container(const struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                               struct error *err)
{
    struct ddb_fetch fetch = {.method = "GET",
                              .url = container_url(ask),
                              .timeout_ms = CONTAINER_TIMEOUT_MS,
                              .direct = true};
    if (ask->profile.len > 0 || fetch.url.len == 0) {
        return true;
    }
    struct str token = container_token(ask);
    if (token.len > 0) {
        fetch.headers[fetch.header_count++] = header(ask, "Authorization", token);
    }
    int status = 0;
    struct str body = STR("");
    const char *what = NULL;
    if (!ddb_fetch(&fetch, ask->arena, &status, &body, &what)) {
        return error_set(err, ERROR_STORE, "container credentials from %.*s: %s",
                         STR_ARG(fetch.url), what);
    }
    struct ddb_credentials read = {0};
    if (status != 200 || !ddb_credentials_read_json(body, ask->arena, &read)) {
        return error_set(err, ERROR_STORE,
                         "container credentials from %.*s: status %d, and no credentials",
                         STR_ARG(fetch.url), status);
    }
    read.source = "the container's endpoint";
    *out = read;
    return true;
}

/* ---------------------------------------------------------------- instance */

static bool get(const struct ddb_credentials_ask *ask, struct str path, struct str token,
                struct str *body)
{
    struct str base = ddb_environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    if (base.len == 0) {
        base = STR("http://169.254.169.254");
    }
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    bool login = token.len == 0;
    struct ddb_fetch fetch = {
        .method = login ? "PUT" : "GET",
        .url = arena_format(ask->arena, "%.*s/latest/%.*s", STR_ARG(base), STR_ARG(path)),
        .headers = {login ? STR("X-aws-ec2-metadata-token-ttl-seconds: 21600")
                          : header(ask, "X-aws-ec2-metadata-token", token)},
        .header_count = 1,
        .timeout_ms = INSTANCE_TIMEOUT_MS,
        .direct = true,
    };
    int status = 0;
    const char *what = NULL;
    return ddb_fetch(&fetch, ask->arena, &status, body, &what) && status == 200 && body->len > 0;
}

/* Version 2 of the service only: a token first. A host without the service is not an error. */
bool ddb_credentials_instance(const struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                              struct error *err)
{
    (void)err;
    static const struct str folder = STR_INIT("meta-data/iam/security-credentials/");
    struct str disabled = ddb_environment("AWS_EC2_METADATA_DISABLED");
    struct str token = STR("");
    struct str role = STR("");
    struct str body = STR("");
    if (ask->profile.len > 0 || str_equal(disabled, STR("true")) ||
        !get(ask, STR("api/token"), STR(""), &token)) {
        return true;
    }
    token = ddb_trim(token);
    if (!get(ask, folder, token, &role)) {
        return true;
    }
    role = ddb_trim(role);
    struct str path = arena_format(ask->arena, "%.*s%.*s", STR_ARG(folder), STR_ARG(role));
    struct ddb_credentials read = {0};
    if (get(ask, path, token, &body) && ddb_credentials_read_json(body, ask->arena, &read)) {
        read.source = "the instance's role";
        *out = read;
    }
    return true;
}
