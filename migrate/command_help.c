#include "migrate/cli/arguments.h"
#include "migrate/cli/target.h"
#include "migrate/commands.h"
#include "migrate/man_page.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = {
    {"man", NULL, "print the manual page (roff)"},
};

/* What stands before the summaries, the longest option with its value included. */
enum { NAME_COLUMN = 12, OPTION_COLUMN = 30 };

static void print_options(const char *title, const struct option *rows, size_t count, FILE *out)
{
    if (count > 0) {
        (void)fprintf(out, "\n%s\n", title);
    }
    for (size_t i = 0; i < count; i++) {
        char left[128];
        (void)snprintf(left, sizeof left, "--%s%s%s", rows[i].name,
                       rows[i].value == NULL ? "" : " ",
                       rows[i].value == NULL ? "" : rows[i].value);
        (void)fprintf(out, "  %-*s  %s\n", OPTION_COLUMN, left, rows[i].summary);
    }
}

static void print_shared_options(FILE *out)
{
    size_t count = 0;
    const struct option *shared = arguments_shared_options(&count);
    print_options("Options of every command:", shared, count, out);
}

static void print_list(FILE *out)
{
    (void)fputs("Usage: refold COMMAND [TABLE] [options]\n\n"
                "Folds relational data into one DynamoDB-style table, and refolds it by plans.\n\n"
                "Commands:\n",
                out);
    size_t count = 0;
    const struct command *const *commands = commands_all(&count);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "  %-*s  %s\n", NAME_COLUMN, commands[i]->name, commands[i]->summary);
    }
    print_shared_options(out);
    (void)fprintf(out,
                  "\nTABLE is %s, or a name in refold.json.\n"
                  "refold help COMMAND explains one.\n"
                  "\nExit: 0 done, 1 failed, 2 usage or wrong plan, 3 item errors or findings,\n"
                  "4 changes pending, 5 interrupted.\n",
                  target_forms());
}

static void print_command(const struct command *command, FILE *out)
{
    (void)fprintf(out, "Usage: refold %s %s\n\n%s\n", command->name, command->synopsis,
                  command->summary);
    if (command->details != NULL) {
        (void)fprintf(out, "\n%s\n", command->details);
    }
    print_options("Options:", command->options, command->option_count, out);
    print_shared_options(out);
}

static bool run(struct invocation *invocation, struct error *err)
{
    size_t count = 0;
    const struct command *const *commands = commands_all(&count);
    if (invocation_flag(invocation, "man")) {
        man_page_print(commands, count, invocation->out);
        return true;
    }
    if (invocation->operand_count == 0) {
        print_list(invocation->out);
        return true;
    }
    const char *name = invocation->operands[0];
    const struct command *command = arguments_command(commands, count, name);
    if (command == NULL) {
        return error_set(err, ERROR_USAGE, "unknown command '%s'\nhint: refold --help lists them",
                         name);
    }
    print_command(command, invocation->out);
    return true;
}

const struct command command_help = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "Explain a command, or list all.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_max = 1,
    .needs_no_config = true,
    .run = run,
};
