/* ddb_table — DescribeTable, CreateTable, UpdateTable: what the table is, and waiting for it. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_TABLE_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_TABLE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/dynamodb/client/ddb_client.h"
#include "engine/store/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Where requests about a table go. */
struct ddb_place {
    struct ddb_account *account;
    struct ddb_client *client;
    struct str table;
    const atomic_bool *stop; /* ends waiting; NULL: never */
};

struct ddb_table {
    struct table_desc desc;
    struct str account;   /* that owns it; empty: the server does not say */
    bool active;          /* the table itself: not being made or changed */
    bool provisioned;     /* else on demand */
    uint64_t read_units;  /* provisioned */
    uint64_t write_units; /* provisioned */
};

/* What the server says of the table, owned by the arena; *missing where there is none (NULL: that
 * is an error, which says where it was looked for). */
MUST_CHECK bool ddb_table_read(const struct ddb_place *place, struct arena *arena,
                               struct ddb_table *out, bool *missing, struct error *err);

/* Makes a table, on demand, and waits until it can be used. */
MUST_CHECK bool ddb_table_create(const struct ddb_place *place, const struct table_desc *wanted,
                                 struct error *err);

/* What a description shows once it tells of a change. It may lag behind for some seconds (Amazon
 * DynamoDB API Reference, DescribeTable: "an eventually consistent query"). */
struct ddb_change {
    enum { CHANGE_NONE, CHANGE_TABLE_MADE, CHANGE_INDEX_MADE, CHANGE_INDEX_DROPPED } kind;
    struct str index;
};

/* Waits until the table shows the change, as long as that may lag, and neither it nor any of its
 * indexes is being made or changed. `watch` is told of the table at each look; NULL: nobody is.
 * ERROR_STOPPED. */
struct ddb_watch {
    void (*look)(void *context, const struct ddb_table *table);
    void *context;
};
MUST_CHECK bool ddb_table_wait(const struct ddb_place *place, const struct ddb_change *change,
                               const struct ddb_watch *watch, struct error *err);

/* UpdateTable with one change of an index: returns when it is under way.
 *   out  the table as the server says that it is then, in the arena */
MUST_CHECK bool ddb_table_add_index(const struct ddb_place *place, const struct index_desc *index,
                                    struct arena *arena, struct ddb_table *out, struct error *err);
MUST_CHECK bool ddb_table_drop_index(const struct ddb_place *place, struct str name,
                                     struct error *err);

/* The table that the reply of DescribeTable, or of a change, describes. ERROR_STORE. */
MUST_CHECK bool ddb_table_parse(const struct ddb_place *place, const struct ddb_request *request,
                                struct arena *arena, struct ddb_table *out, struct error *err);

/* The index of that name, or NULL. */
const struct index_desc *ddb_table_index(const struct ddb_table *table, struct str name);

/* Sleeps. */
void ddb_sleep_ms(unsigned milliseconds);

/* As that; but false, with ERROR_STOPPED, as soon as the place's stop is set. */
MUST_CHECK bool ddb_place_rest(const struct ddb_place *place, unsigned milliseconds,
                               struct error *err);

#endif
