/* arguments — from the words of a call to an invocation: command, options, TABLE, configuration.
 * Options over environment over refold.json. */
#ifndef MIGRATE_CLI_ARGUMENTS_H
#define MIGRATE_CLI_ARGUMENTS_H

#include "engine/base/error.h"
#include "migrate/cli/command.h"

#include <stdbool.h>
#include <stddef.h>

struct arguments {
    const struct command *const *commands; /* must have "help" and "version" */
    size_t command_count;
    const char *const *words; /* without the program's name */
    size_t word_count;
    char *(*environment)(const char *name); /* getenv() */
};

/* The command of that name, or NULL. */
const struct command *arguments_command(const struct command *const *commands, size_t count,
                                        const char *name);

/* Options that every command takes. */
const struct option *arguments_shared_options(size_t *count);

/* Fills command, table, operands, values, json, quiet and plans_dir of *out; its arena must be set.
 * ERROR_USAGE: an unknown command or option (with the nearest one), a missing or doubled value, too
 * few or too many operands, no TABLE, a wrong refold.json. */
MUST_CHECK bool arguments_parse(const struct arguments *arguments, struct invocation *out,
                                struct error *err);

#endif
