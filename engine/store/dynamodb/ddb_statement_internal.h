/* ddb_statement — updates and new items as PartiQL statements, many in one request
 * (BatchExecuteStatement): what a server that knows them takes several times as fast. Pure. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_STATEMENT_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_STATEMENT_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/store/dynamodb/ddb_compose_internal.h"

#include <stdbool.h>
#include <stddef.h>

/* Amazon DynamoDB API Reference, BatchExecuteStatement: at most 25 statements. */
enum { STATEMENTS_MAX = 25 };

/* One request under construction; its buffers are used again for the next. Starts as {0}. */
struct statements {
    struct buffer body;
    struct buffer parameters; /* of the statement at hand */
    size_t count;
};

void statements_free(struct statements *statements);

/* Where an update goes. */
struct statement_place {
    struct str table;
    const struct key_schema *keys;
    const struct key *key;
};

/* Adds the update whose expressions the composer holds (compose_change()), under its condition. A
 * condition on the key says that the item stands. False, and nothing is added: it cannot be said in
 * a statement; at most STATEMENTS_MAX are added. */
bool statements_add(struct statements *statements, const struct composer *composer,
                    const struct statement_place *place);

/* Adds the item, where none stands under its key: else the answer is DuplicateItem. Likewise. */
bool statements_add_insert(struct statements *statements, struct str table, struct value item);

/* The request's body, in the arena; begins anew. */
struct str statements_end(struct statements *statements, struct arena *arena);

#endif
