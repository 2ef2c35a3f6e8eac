/* item_printer — items as results: JSON lines for programs, and for people side by side, keys
 * first, then attributes as they first appear. */
#ifndef MIGRATE_CLI_ITEM_PRINTER_H
#define MIGRATE_CLI_ITEM_PRINTER_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "migrate/cli/command.h"

/* Values as a person reads them: S as it is, N in digits, B in base64, everything else as JSON. */
struct str item_printer_cell(struct value value, struct arena *arena);

/* Prints items on invocation->out: as {"Item": DynamoDB JSON} with --format json, else as an
 * aligned table, cut to the terminal's width. Memory is bounded: every so many items a table begins
 * anew. */
struct item_printer;
struct item_printer *item_printer_open(struct invocation *invocation,
                                       const struct key_schema *keys);
void item_printer_add(struct item_printer *printer, struct value item);
void item_printer_close(struct item_printer *printer);

#endif
