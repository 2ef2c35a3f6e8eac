#include "migrate/import/import_options.h"

#include "importers/jsonl/jsonl_source.h"
#include "importers/postgres/pg_source.h"
#include "migrate/cli/control_file.h"
#include "migrate/cli/files.h"
#include "migrate/cli/target.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_DEFAULT = 2, JOBS_MAX = 64, MEMORY_DEFAULT_MB = 64, MEMORY_MAX_MB = 1 << 20 };

static bool read_conflict(const char *text, enum import_conflict *out, struct error *err)
{
    static const struct {
        const char *name;
        enum import_conflict conflict;
    } conflicts[] = {{"fail", IMPORT_FAIL}, {"skip", IMPORT_SKIP}, {"overwrite", IMPORT_OVERWRITE}};
    for (size_t i = 0; i < sizeof conflicts / sizeof conflicts[0]; i++) {
        if (strcmp(text, conflicts[i].name) == 0) {
            *out = conflicts[i].conflict;
            return true;
        }
    }
    return error_set(err, ERROR_USAGE,
                     "--on-conflict: expected fail, skip or overwrite, found '%s'", text);
}

bool import_map_read(const char *path, struct arena *arena, const struct map **out,
                     struct error *err)
{
    struct str text;
    return file_read(path, MAP_FILE_MAX_BYTES, arena, &text, err) &&
           map_parse(text, path, arena, out, err);
}

const char *import_temp_dir(const struct invocation *invocation, const char *wanted)
{
    const char *environment = getenv("TMPDIR");
    if (wanted != NULL) {
        return wanted;
    }
    if (environment != NULL && environment[0] != '\0') {
        return environment;
    }
    if (!target_is_file(invocation->table)) {
        return P_tmpdir;
    }
    const char *colon =
        strncmp(invocation->table, "file:", 5) == 0 ? invocation->table + 5 : invocation->table;
    const char *slash = strrchr(colon, '/');
    if (slash == NULL) {
        return ".";
    }
    size_t len = slash == colon ? 1 : (size_t)(slash - colon);
    return arena_copy(invocation->arena, (struct str){colon, len}).ptr;
}

/* A database needs a map, lines have none. */
static bool read_source(const struct invocation *invocation, struct import_options *out,
                        struct error *err)
{
    const char *map = invocation_text(invocation, "map");
    out->from = invocation_text(invocation, "from");
    if (out->from == NULL) {
        return error_set(err, ERROR_USAGE,
                         "--from is needed: postgresql://... with --map FILE, or FILE.jsonl");
    }
    bool database = pg_source_is(out->from) && access(out->from, F_OK) != 0; /* dt=2026/a.jsonl */
    if (database && map == NULL) {
        return error_set(err, ERROR_USAGE, "--map FILE is needed: it says how rows become items");
    }
    if (!database && map != NULL) {
        return error_set(err, ERROR_USAGE, "--map goes with a database; '%s' is none", out->from);
    }
    return !database || import_map_read(map, invocation->arena, &out->map, err);
}

/* The file of rejects is emptied before a row is read. */
static bool check_rejects(const struct invocation *invocation, const struct import_options *options,
                          struct error *err)
{
    const char *path = options->rejects;
    if (path == NULL) {
        return true;
    }
    if (file_is_same(path, options->from) ||
        file_is_same(path, invocation_text(invocation, "map"))) {
        return error_set(err, ERROR_USAGE, "--rejects %s: the import reads that file", path);
    }
    return target_spare(invocation->table, path, err) || error_wrap(err, "--rejects");
}

bool import_options_read(const struct invocation *invocation, struct import_options *out,
                         struct error *err)
{
    struct import_options options = {
        .partition = invocation_text(invocation, "partition"),
        .sort = invocation_text(invocation, "sort"),
        .rejects = invocation_text(invocation, "rejects"),
        .dry_run = invocation_flag(invocation, "dry-run"),
        .temp_dir = import_temp_dir(invocation, invocation_text(invocation, "temp")),
    };
    const char *conflict = invocation_text(invocation, "on-conflict");
    uint64_t jobs = JOBS_DEFAULT;
    uint64_t memory_mb = MEMORY_DEFAULT_MB;
    if ((conflict != NULL && !read_conflict(conflict, &options.conflict, err)) ||
        !invocation_number(invocation, "jobs", (struct number_range){1, JOBS_MAX}, &jobs, err) ||
        !invocation_number(invocation, "memory", (struct number_range){4, MEMORY_MAX_MB},
                           &memory_mb, err) ||
        !control_limits_read(invocation, &options.limits, err) ||
        !read_source(invocation, &options, err) || !check_rejects(invocation, &options, err)) {
        return false;
    }
    options.jobs = (size_t)jobs;
    options.memory_bytes = (size_t)memory_mb << 20;
    *out = options;
    return true;
}

bool import_source_open(const struct import_options *options, const struct table_desc *table,
                        const atomic_bool *stop, struct source **out, struct error *err)
{
    if (options->map == NULL) {
        return jsonl_source_open(options->from, out, err);
    }
    struct pg_source_options source = {options->from, options->map, table, stop};
    return pg_source_open(&source, out, err);
}
