/* table_report — what a table is: its key, size and indexes, for people and for programs. */
#ifndef MIGRATE_TABLE_REPORT_H
#define MIGRATE_TABLE_REPORT_H

#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <cjson/cJSON.h>

/* A line on the table, who keeps it, and its indexes as a table. */
void table_report_print(struct invocation *invocation, const struct table_desc *table);

/* A count or size of the table, marked "~" where it is an estimate. */
struct str table_report_about(const struct table_desc *table, struct str quantity,
                              struct arena *arena);

/* The same as an object, the caller's: table, partition, sort, items, bytes, estimated, server,
 * indexes. */
cJSON *table_report_json(const struct invocation *invocation, const struct table_desc *table);

#endif
