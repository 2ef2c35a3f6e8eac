/* table_size — how much is in a table, counted by reading all of it. */
#ifndef MIGRATE_TABLE_SIZE_H
#define MIGRATE_TABLE_SIZE_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"
#include "migrate/cli/command.h"

#include <stdint.h>

/* Items, and their bytes as DynamoDB counts them. */
struct size_sum {
    uint64_t items;
    uint64_t bytes;
};

struct table_size {
    struct size_sum table;
    struct size_sum *indexes;           /* in the table's order; bytes of what they project */
    struct size_sum largest_item;       /* all zero where the table is empty */
    struct str largest_key;             /* PK='CUSTOMER#1' SK='ORDER#2' */
    struct size_sum largest_collection; /* items of one partition key */
    struct str largest_partition;
};

/* Reads every item; what it finds lies in the invocation's arena. ERROR_STOPPED. */
MUST_CHECK bool table_size_measure(struct invocation *invocation, struct store_reader *reader,
                                   const struct table_desc *table, struct table_size *out,
                                   struct error *err);

#endif
