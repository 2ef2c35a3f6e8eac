/* output_file — a result in a file that is there as a whole or not at all; or on stdout. */
#ifndef MIGRATE_CLI_OUTPUT_FILE_H
#define MIGRATE_CLI_OUTPUT_FILE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stdio.h>

struct output_file;

/* Begins to write beside `path`, under a name of its own; "-" is `standard`, which is only flushed
 * at the end. The arena owns the handle.
 * ERROR_STORE: the folder cannot be written to. ERROR_USAGE: something stands there that is no
 * plain file, and would be replaced. */
MUST_CHECK bool output_file_open(const char *path, FILE *standard, struct arena *arena,
                                 struct output_file **out, struct error *err);

/* ERROR_FULL, ERROR_STORE. */
MUST_CHECK bool output_file_write(struct output_file *file, struct str bytes, struct error *err);

/* Makes what was written durable and gives it its name; what stood there is replaced.
 * ERROR_FULL, ERROR_STORE; then nothing is left behind. */
MUST_CHECK bool output_file_keep(struct output_file *file, struct error *err);

/* Leaves nothing behind, unless it was kept. NULL is fine. */
void output_file_close(struct output_file *file);

#endif
