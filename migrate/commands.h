/* commands — all commands of the program, in the order in which help lists them. */
#ifndef MIGRATE_COMMANDS_H
#define MIGRATE_COMMANDS_H

#include "migrate/cli/command.h"

#include <stddef.h>

extern const struct command command_apply;
extern const struct command command_check;
extern const struct command command_export;
extern const struct command command_help;
extern const struct command command_import;
extern const struct command command_new;
extern const struct command command_query;
extern const struct command command_rollback;
extern const struct command command_scaffold;
extern const struct command command_show;
extern const struct command command_size;
extern const struct command command_status;
extern const struct command command_verify;
extern const struct command command_version;

/* The table and how many rows it has. */
const struct command *const *commands_all(size_t *count);

#endif
