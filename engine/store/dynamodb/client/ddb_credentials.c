#include "engine/store/dynamodb/client/ddb_credentials_internal.h"

#include "engine/base/json.h"

#include <stddef.h>
#include <stdio.h>
#include <time.h>

/* A profile may name another as its source, and that one a third. */
enum { PROFILES_MAX = 8 };

/* ---------------------------------------------------------------- what the sources share */

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return true;
}

bool ddb_credentials_are_plain(const struct ddb_credentials *credentials)
{
    return credentials->key_id.len > 0 && credentials->secret.len > 0 &&
           is_plain(credentials->key_id) && is_plain(credentials->token);
}

int64_t ddb_time_read(struct str text)
{
    struct tm parts = {0};
    char copy[32];
    if (text.len >= sizeof copy) {
        return 0;
    }
    (void)snprintf(copy, sizeof copy, "%.*s", STR_ARG(text));
    return strptime(copy, "%Y-%m-%dT%H:%M:%S", &parts) == NULL ? 0 : (int64_t)timegm(&parts);
}

static struct str text_of(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);
    return member != NULL && member->kind == JSON_STRING ? member->text : STR("");
}

bool ddb_credentials_read_json(struct str text, struct arena *arena, struct ddb_credentials *out)
{
    static const struct json_options options = {.file = "credentials"};
    struct json *root = NULL;
    struct error ignored = {0};
    if (!json_parse(text, &options, arena, &root, &ignored) || root->kind != JSON_OBJECT) {
        return false;
    }
    struct ddb_credentials read = {
        .key_id = text_of(root, "AccessKeyId"),
        .secret = text_of(root, "SecretAccessKey"),
        .token = text_of(root, "SessionToken"),
        .expires_s = ddb_time_read(text_of(root, "Expiration")),
    };
    if (read.token.len == 0) {
        read.token = text_of(root, "Token");
    }
    if (!ddb_credentials_are_plain(&read)) {
        return false;
    }
    *out = read;
    return true;
}

/* ---------------------------------------------------------------- environment */

static bool from_environment(const struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                             struct error *err)
{
    struct ddb_credentials read = {
        .key_id = ddb_environment("AWS_ACCESS_KEY_ID"),
        .secret = ddb_environment("AWS_SECRET_ACCESS_KEY"),
        .token = ddb_environment("AWS_SESSION_TOKEN"),
        .source = "the environment",
    };
    if (ask->profile.len > 0 || (read.key_id.len == 0 && read.secret.len == 0)) {
        return true;
    }
    if (!ddb_credentials_are_plain(&read)) {
        return error_set(
            err, ERROR_STORE,
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must both be set, to plain text");
    }
    *out = read;
    return true;
}

static bool from_web_identity(const struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                              struct error *err)
{
    struct ddb_role role = {
        .arn = ddb_environment("AWS_ROLE_ARN"),
        .session = ddb_environment("AWS_ROLE_SESSION_NAME"),
        .token_file = ddb_environment("AWS_WEB_IDENTITY_TOKEN_FILE"),
    };
    if (ask->profile.len > 0 || role.arn.len == 0 || role.token_file.len == 0) {
        return true;
    }
    return ddb_credentials_web_identity(ask, &role, out, err);
}

/* ---------------------------------------------------------------- profiles */

static struct str setting(const struct ddb_credentials_ask *ask, struct str profile,
                          const char *name)
{
    struct str value = ddb_profile_get(&ask->files, profile, name);
    return value.len == 0 ? value : arena_copy(ask->arena, value);
}

static bool from_credential_source(const struct ddb_credentials_ask *ask, struct str name,
                                   struct ddb_credentials *out, struct error *err)
{
    struct ddb_credentials_ask plain = *ask;
    plain.profile = STR("");
    if (str_equal(name, STR("Environment"))) {
        return from_environment(&plain, out, err);
    }
    if (str_equal(name, STR("EcsContainer"))) {
        return ddb_credentials_container(&plain, out, err);
    }
    return ddb_credentials_instance(&plain, out, err);
}

static bool from_profile_itself(const struct ddb_credentials_ask *ask, struct str profile,
                                struct ddb_credentials *out, struct error *err)
{
    struct ddb_credentials read = {
        .key_id = setting(ask, profile, "aws_access_key_id"),
        .secret = setting(ask, profile, "aws_secret_access_key"),
        .token = setting(ask, profile, "aws_session_token"),
    };
    if (read.key_id.len > 0) {
        read.source = arena_format(ask->arena, "profile %.*s", STR_ARG(profile)).ptr;
        *out = read;
        return ddb_credentials_are_plain(out) ||
               error_set(err, ERROR_STORE,
                         "profile %.*s has no aws_secret_access_key in plain text",
                         STR_ARG(profile));
    }
    struct str command = setting(ask, profile, "credential_process");
    if (command.len > 0) {
        return ddb_credentials_process(ask, command, out, err);
    }
    if (setting(ask, profile, "sso_session").len > 0 ||
        setting(ask, profile, "sso_start_url").len > 0) {
        return error_set(
            err, ERROR_STORE,
            "profile %.*s signs in with SSO, which only the AWS CLI can do\n"
            "hint: eval \"$(aws configure export-credentials --profile %.*s --format env)\"",
            STR_ARG(profile), STR_ARG(profile));
    }
    return true;
}

static bool from_profile(const struct ddb_credentials_ask *ask, struct str profile, int depth,
                         struct ddb_credentials *out, struct error *err);

/* The key with which the role of a profile is taken on. A profile may be its own source. */
static bool from_source(const struct ddb_credentials_ask *ask, struct str profile, int depth,
                        struct ddb_credentials *out, struct error *err)
{
    struct str source = setting(ask, profile, "source_profile");
    if (source.len == 0) {
        return from_credential_source(ask, setting(ask, profile, "credential_source"), out, err);
    }
    if (str_equal(source, profile)) {
        return from_profile_itself(ask, profile, out, err);
    }
    if (depth == PROFILES_MAX) {
        return error_set(err, ERROR_STORE, "more than %d profiles name each other as source",
                         PROFILES_MAX);
    }
    return from_profile(ask, source, depth + 1, out, err);
}

static bool from_profile(const struct ddb_credentials_ask *ask, struct str profile, int depth,
                         struct ddb_credentials *out, struct error *err)
{
    struct ddb_role role = {
        .arn = setting(ask, profile, "role_arn"),
        .session = setting(ask, profile, "role_session_name"),
        .external_id = setting(ask, profile, "external_id"),
        .token_file = setting(ask, profile, "web_identity_token_file"),
    };
    if (role.arn.len == 0) {
        return from_profile_itself(ask, profile, out, err);
    }
    if (role.token_file.len > 0) {
        return ddb_credentials_web_identity(ask, &role, out, err);
    }
    struct ddb_credentials with = {0};
    if (!from_source(ask, profile, depth, &with, err)) {
        return error_wrap(err, "profile %.*s", STR_ARG(profile));
    }
    if (with.key_id.len == 0) {
        return error_set(err, ERROR_STORE,
                         "profile %.*s has role_arn, but its source has no key to take it on with",
                         STR_ARG(profile));
    }
    return ddb_credentials_assume(ask, &role, &with, out, err);
}

static bool from_shared_files(const struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                              struct error *err)
{
    struct str profile = ask->profile.len > 0 ? ask->profile : ddb_environment("AWS_PROFILE");
    if (profile.len > 0 && !ddb_profile_stands(&ask->files, profile)) {
        return error_set(err, ERROR_STORE,
                         "profile %.*s stands neither in ~/.aws/config nor in ~/.aws/credentials",
                         STR_ARG(profile));
    }
    return from_profile(ask, profile.len > 0 ? profile : STR("default"), 1, out, err);
}

/* ---------------------------------------------------------------- the chain */

bool ddb_credentials_find(struct ddb_credentials_ask *ask, struct ddb_credentials *out,
                          struct error *err)
{
    static bool (*const sources[])(const struct ddb_credentials_ask *, struct ddb_credentials *,
                                   struct error *) = {
        from_environment,          from_web_identity,        from_shared_files,
        ddb_credentials_container, ddb_credentials_instance,
    };
    ddb_shared_files_read(ask->arena, &ask->files);
    struct ddb_credentials found = {0};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (!sources[i](ask, &found, err)) {
            return false;
        }
        if (found.key_id.len > 0) {
            *out = found;
            return true;
        }
    }
    return error_set(
        err, ERROR_STORE,
        "no credentials: looked at the environment, ~/.aws/config and credentials, the "
        "container's and the instance's endpoint\n"
        "hint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (for a local server: to "
        "anything), or AWS_PROFILE");
}
