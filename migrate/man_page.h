/* man_page — docs/refold.1, made of the commands' own rows so that it cannot lag behind them. */
#ifndef MIGRATE_MAN_PAGE_H
#define MIGRATE_MAN_PAGE_H

#include "migrate/cli/command.h"

#include <stddef.h>
#include <stdio.h>

/* Prints the manual page in roff (man(7)). */
void man_page_print(const struct command *const *commands, size_t count, FILE *out);

#endif
