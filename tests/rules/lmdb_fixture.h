/* lmdb_fixture — an embedded table in a folder of its own, for tests. */
#ifndef TESTS_RULES_LMDB_FIXTURE_H
#define TESTS_RULES_LMDB_FIXTURE_H

#include "engine/base/arena.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fixture {
    char folder[64];
    char path[96];
    struct arena *arena;
    struct key_schema keys;
    struct store_options options; /* besides the mode, for fixture_open() */
    struct store *store;
    struct store_reader *reader;
    struct error err;
};

/* Makes a table "t.refold" with these keys ("PK:S", "SK:S" or NULL) and indexes, held for writing,
 * and a reader of it. fixture_remove() closes it and deletes the folder. */
void fixture_make(struct fixture *fixture, const char *partition, const char *sort);
void fixture_make_indexed(struct fixture *fixture, const char *partition, const char *sort,
                          const struct index_desc *indexes, size_t count);
void fixture_remove(struct fixture *fixture);

/* Closes the store and its reader, and opens them again; true if that went well. */
void fixture_close(struct fixture *fixture);
bool fixture_open(struct fixture *fixture, enum store_mode mode);

/* "PK:S" as a schema; sort may be NULL. An item from DynamoDB JSON. An index ALL over one or two
 * attributes. */
struct key_schema fixture_keys(const char *partition, const char *sort);
struct value fixture_item(struct arena *arena, const char *json);
struct index_desc fixture_index(const char *name, const char *partition, const char *sort);

/* One write as an effect of its own, with pass 1 and no undo; not flushed. */
enum outcome fixture_write(struct fixture *fixture, struct write write);
enum outcome fixture_put(struct fixture *fixture, struct value item);
bool fixture_flush(struct fixture *fixture);

/* Loads the items, in any order, as a load of an empty table. False: fixture->err. */
bool fixture_load(struct fixture *fixture, const struct value *items, size_t count);

/* The item under the key that `item` has, as it was flushed. */
struct stored_item fixture_get(struct fixture *fixture, struct value item);
struct key fixture_key(struct fixture *fixture, struct value item);

/* All items by pages of one segment each, in the store's order, copied; `page_items` at a time. */
size_t fixture_scan(struct fixture *fixture, uint32_t segments, size_t page_items,
                    struct value **out);

/* All items of a query, page by page, copied. */
size_t fixture_query(struct fixture *fixture, struct query query, struct value **out);

/* The number of findings of store_verify(), each printed; SIZE_MAX if it failed. */
size_t fixture_verify(struct fixture *fixture);

#endif
