/* files — whole small files read and written: plans, maps, configuration. */
#ifndef MIGRATE_CLI_FILES_H
#define MIGRATE_CLI_FILES_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a file of at most `limit` bytes. ERROR_USAGE: cannot be read, too large. */
MUST_CHECK bool file_read(const char *path, size_t limit, struct arena *arena, struct str *out,
                          struct error *err);

/* True if both name one file, which is there. NULL names none. */
bool file_is_same(const char *a, const char *b);

struct file_names {
    struct str *list; /* each ends in a NUL that is not counted */
    size_t count;
};

/* The names (not paths) of a folder's entries that end in `suffix`, sorted by bytes.
 * ERROR_USAGE: the folder cannot be read. */
MUST_CHECK bool folder_list(const char *path, const char *suffix, struct arena *arena,
                            struct file_names *out, struct error *err);

#endif
