/* item_table — items side by side for people: keys first, then attributes as they first appear. */
#ifndef MIGRATE_ITEM_TABLE_H
#define MIGRATE_ITEM_TABLE_H

#include "engine/base/arena.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "migrate/command.h"

/* Values as a person reads them: S as it is, N in digits, B in base64, everything else as JSON. */
struct str item_table_cell(struct value value, struct arena *arena);

/* Prints items on invocation->out as an aligned table, cut to the terminal's width. Memory is
 * bounded: every so many items the table begins anew. */
struct item_table;
struct item_table *item_table_open(struct invocation *invocation, const struct key_schema *keys);
void item_table_add(struct item_table *table, struct value item);
void item_table_close(struct item_table *table);

#endif
