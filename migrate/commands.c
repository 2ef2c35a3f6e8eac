#include "migrate/commands.h"

static const struct command *const commands[] = {
    &command_scaffold, &command_import, &command_apply,   &command_rollback, &command_status,
    &command_query,    &command_show,   &command_size,    &command_export,   &command_verify,
    &command_check,    &command_new,    &command_version, &command_help,
};

const struct command *const *commands_all(size_t *count)
{
    *count = sizeof commands / sizeof *commands;
    return commands;
}
