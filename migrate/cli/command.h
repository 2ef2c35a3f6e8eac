/* command — what a command of the program is: a row of data and one function.
 * A new command is migrate/command_<name>.c with one const struct command, and a row in commands.c.
 */
#ifndef MIGRATE_CLI_COMMAND_H
#define MIGRATE_CLI_COMMAND_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An option is a row too: parsing, help and the manual's synopsis come from it. */
struct option {
    const char *name;    /* "dry-run", without the dashes */
    const char *value;   /* what stands for its value in the help, "DIR"; NULL: a flag */
    const char *summary; /* one line */
};

struct invocation;

struct command {
    const char *name;
    const char *synopsis; /* "TABLE [--plans DIR]" */
    const char *summary;  /* one line for the list */
    const char *details;  /* paragraphs for `refold help NAME`; may be NULL */
    const struct option *options;
    size_t option_count;
    size_t operands_min, operands_max; /* TABLE included, where the command takes one */
    bool takes_table;                  /* the first operand is a TABLE, else refold.json names it */
    bool table_optional;               /* takes_table: it also runs without one */
    bool needs_no_config;              /* refold.json is not read: help, version */
    /* Returns false with the error that ends the program; its code decides the exit status. */
    bool (*run)(struct invocation *invocation, struct error *err);
};

/* One call of the program: options and operands as given, configuration, and where output goes. */
struct invocation {
    const struct command *command;
    const char *table;           /* the target, resolved through refold.json; NULL: none */
    const char *const *operands; /* without the table */
    size_t operand_count;
    const char **values;   /* by option of the command: NULL: not given; "" for a flag */
    struct arena *arena;   /* for the whole invocation */
    FILE *out;             /* results */
    FILE *messages;        /* progress and messages */
    bool json;             /* --format json */
    bool color;            /* messages is a terminal and NO_COLOR is not set */
    bool quiet;            /* --quiet: no progress */
    atomic_bool *stop;     /* set by SIGINT and SIGTERM, and by the control file */
    atomic_bool *paused;   /* set by the control file */
    const char *plans_dir; /* --plans, REFOLD_PLANS, refold.json or "plans" */
    int exit_status;       /* set by the command where it succeeds with other than 0 (3, 4) */
};

/* The value of an option: NULL if it was not given. The name must be one of the command's. */
const char *invocation_text(const struct invocation *invocation, const char *name);
bool invocation_flag(const struct invocation *invocation, const char *name);

/* What an option's number may be, both ends included. */
struct number_range {
    uint64_t low, high;
};

/* A whole number option; *out stays as it is where the option is not given.
 * ERROR_USAGE: not a number, or outside the range. */
MUST_CHECK bool invocation_number(const struct invocation *invocation, const char *name,
                                  struct number_range range, uint64_t *out, struct error *err);

#endif
