#include "engine/store/dynamodb/client/ddb_profile_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILE_MAX = 256 * 1024 };

struct str ddb_environment(const char *name)
{
    const char *value = getenv(name);
    return value == NULL ? STR("") : (struct str){value, strlen(value)};
}

bool ddb_file_read(const char *path, struct arena *arena, struct str *out)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    char *bytes = arena_bytes(arena, FILE_MAX);
    size_t len = fread(bytes, 1, FILE_MAX, file);
    bool ok = ferror(file) == 0 && len < FILE_MAX;
    (void)fclose(file);
    if (ok) {
        *out = (struct str){bytes, len};
    }
    return ok;
}

static void read_shared(const char *variable, const char *name, struct arena *arena,
                        struct str *out)
{
    struct str path = ddb_environment(variable);
    if (path.len == 0) {
        struct str home = ddb_environment("HOME");
        path = arena_format(arena, "%.*s/.aws/%s", STR_ARG(home), name);
    }
    *out = STR("");
    (void)ddb_file_read(path.ptr, arena, out);
}

void ddb_shared_files_read(struct arena *arena, struct ddb_shared_files *out)
{
    read_shared("AWS_CONFIG_FILE", "config", arena, &out->config);
    read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials", arena, &out->credentials);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str ddb_trim(struct str s)
{
    while (s.len > 0 && is_blank(s.ptr[0])) {
        s = (struct str){s.ptr + 1, s.len - 1};
    }
    while (s.len > 0 && is_blank(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

static struct str next_line(struct str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    struct str line = {rest->ptr, end == NULL ? rest->len : (size_t)(end - rest->ptr)};
    size_t used = end == NULL ? line.len : line.len + 1;
    *rest = (struct str){rest->ptr + used, rest->len - used};
    return line;
}

/* "[profile dev]" or, in the credentials file and for "default", "[dev]". */
static bool is_section_of(struct str line, struct str profile)
{
    const char *end = memchr(line.ptr, ']', line.len);
    if (end == NULL) {
        return false;
    }
    struct str name = ddb_trim((struct str){line.ptr + 1, (size_t)(end - line.ptr) - 1});
    struct str prefix = STR("profile");
    if (str_begins(name, prefix) && name.len > prefix.len && is_blank(name.ptr[prefix.len])) {
        name = ddb_trim((struct str){name.ptr + prefix.len, name.len - prefix.len});
    }
    return str_equal(name, profile);
}

/* What follows a blank and '#' is a comment. */
static struct str without_comment(struct str value)
{
    for (size_t i = 1; i < value.len; i++) {
        bool starts = value.ptr[i] == '#' || value.ptr[i] == ';';
        if (starts && is_blank(value.ptr[i - 1])) {
            return ddb_trim((struct str){value.ptr, i});
        }
    }
    return value;
}

/* The value, if the line sets `name`; lines that are set in belong to the setting above. */
static bool line_sets(struct str line, struct str name, struct str *value)
{
    const char *equals = memchr(line.ptr, '=', line.len);
    if (equals == NULL || is_blank(line.ptr[0])) {
        return false;
    }
    size_t at = (size_t)(equals - line.ptr);
    if (!str_equal(ddb_trim((struct str){line.ptr, at}), name)) {
        return false;
    }
    *value = without_comment(ddb_trim((struct str){equals + 1, line.len - at - 1}));
    return true;
}

/* The last setting of a name in a profile's sections counts. An empty name looks for a section. */
static bool find(struct str text, struct str profile, struct str name, struct str *value)
{
    bool inside = false;
    bool found = false;
    while (text.len > 0) {
        struct str line = next_line(&text);
        if (line.len > 0 && line.ptr[0] == '[') {
            inside = is_section_of(line, profile);
            found |= inside && name.len == 0;
        } else if (inside && line.len > 0 && name.len > 0) {
            found |= line_sets(line, name, value);
        }
    }
    return found;
}

struct str ddb_profile_get(const struct ddb_shared_files *files, struct str profile,
                           const char *name)
{
    struct str wanted = {name, strlen(name)};
    struct str value = STR("");
    if (!find(files->credentials, profile, wanted, &value)) {
        (void)find(files->config, profile, wanted, &value);
    }
    return value;
}

bool ddb_profile_stands(const struct ddb_shared_files *files, struct str profile)
{
    struct str none = STR("");
    return find(files->credentials, profile, none, &none) ||
           find(files->config, profile, none, &none);
}
