/* What the modules of the DynamoDB API store share. */
#ifndef ENGINE_STORE_DYNAMODB_DDB_INTERNAL_H
#define ENGINE_STORE_DYNAMODB_DDB_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/dynamodb/client/ddb_client.h"
#include "engine/store/dynamodb/ddb_compose_internal.h"
#include "engine/store/dynamodb/ddb_page_size_internal.h"
#include "engine/store/dynamodb/ddb_statement_internal.h"
#include "engine/store/dynamodb/ddb_table_internal.h"
#include "engine/store/dynamodb/ddb_target.h"
#include "engine/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No item of the user's may have a partition key that begins so. */
#define DDB_RESERVED "__refold#"

struct ddb_lease;
struct ddb_undo;
struct ddb_segments;
struct undo_index;

/* Where control records lie: in the table itself where its keys are texts or bytes, else in a table
 * of their own. */
struct ddb_home {
    struct str table;
    struct key_schema keys;
    bool is_apart;
    bool stands; /* the table that it is in */
};

/* How much of what is looked up is read at once: a page may look up hundreds of items of 400 KB. */
enum { PORTION_BYTES = 8 << 20 };
struct portions {
    size_t most_bytes; /* that are at hand, or a little more; SIZE_MAX: all */
    size_t item_bytes; /* what an item had of late; 0: not known */
};

/* Whether the server takes statements of a kind; found by trying. */
enum ddb_states { STATES_UNKNOWN, STATES_THERE, STATES_LACKING };

struct ddb_store {
    struct store base;
    struct arena *arena;
    struct ddb_target target;
    enum store_mode mode;
    struct ddb_world world;
    struct ddb_account *account;
    struct ddb_client *client; /* of the thread that owns the store */
    struct ddb_table table;    /* as it was last described; the keys never change */
    struct ddb_home home;
    struct composer composer;
    struct ddb_lease *lease; /* NULL: not held */
    struct ddb_undo *undo;   /* NULL: nothing was logged yet */
    struct ddb_segments *segments;
    struct ddb_page_size page_size;
    struct portions targets; /* of what stands where a commit puts items */
    size_t intents;          /* records of them that stand, of this owner of the lease */
    const char *state_dir;
    struct store_voice voice;
    const atomic_bool *stop;
    uint64_t read_units, write_units; /* provisioned when the store was opened; 0: on demand */
    bool compares_scalars_only;       /* the server; found by trying */
    struct statements statements;
    enum ddb_states updates; /* as statements */
    enum ddb_states inserts;
    enum { TRANSACTIONS_UNKNOWN, TRANSACTIONS_THERE, TRANSACTIONS_LACKING } transactions;
};

/* Once: the caller says so when it finds out. */
static inline void ddb_say(const struct ddb_store *store, const char *sentence)
{
    if (store->voice.say != NULL) {
        store->voice.say(store->voice.context, sentence);
    }
}

struct ddb_reader {
    struct store_reader base;
    struct ddb_client *client;
    struct arena *arena;   /* of the page at hand */
    struct arena *scratch; /* of the reply at hand */
    struct stored_item *items;
    size_t capacity;
    struct buffer cursor;
    struct expected *expected; /* NULL: nothing is */
    struct portions portions;  /* of that */
    size_t page_times;         /* the next page is so many times as large: few items are wanted */
    struct composer composer;
    struct arena *table_arena;
    struct ddb_table table; /* for queries; described when first needed */
    bool knows_table;
    struct undo_index *undo; /* of the log that was read last; NULL: none yet */
};

static inline struct ddb_store *ddb_of(struct store *store)
{
    return (struct ddb_store *)(void *)store;
}

static inline struct ddb_reader *ddb_reader_of(struct store_reader *reader)
{
    return (struct ddb_reader *)(void *)reader;
}

static inline struct ddb_place ddb_place_of(const struct ddb_store *store)
{
    return (struct ddb_place){store->account, store->client, store->target.table, store->stop};
}

/* Who asks the server for something of the store: each thread by a client of its own. */
struct ddb_asking {
    const struct ddb_store *store;
    struct ddb_client *client;
    struct arena *arena; /* of the requests and replies */
};

static inline struct ddb_asking ddb_asking_of(const struct ddb_store *store, struct arena *arena)
{
    return (struct ddb_asking){store, store->client, arena};
}

/* --- ddb_answer.c: what the server says of items --- */

/* ddb_calls(), but a run that lost its lease is told so: its requests are stopped. ERROR_BUSY. */
MUST_CHECK bool answer_calls(const struct ddb_asking *asking, struct ddb_request *requests,
                             size_t count, struct error *err);
/* ddb_flow_run() and ddb_pause(), likewise. */
MUST_CHECK bool answer_flow(const struct ddb_asking *asking, const struct ddb_flow *flow,
                            struct error *err);
MUST_CHECK bool answer_pause(const struct ddb_asking *asking, const struct ddb_unprocessed *what,
                             struct error *err);

/* The reply as a tree. ERROR_STORE. */
MUST_CHECK bool answer_parse(const struct ddb_request *request, struct arena *arena,
                             const struct json **out, struct error *err);

/* The item under a member; missing where there is none. ERROR_STORE. */
MUST_CHECK bool answer_item(const struct json *object, const char *name, struct arena *arena,
                            struct value *out, struct error *err);

/* The elements of the array under a member, as items; each by item_json. */
const struct json *answer_list(const struct json *object, const char *name);
uint64_t answer_count(const struct json *object, const char *name); /* 0: it is not told */
MUST_CHECK bool answer_element(const struct json *json, struct arena *arena, struct value *out,
                               struct error *err);

/* The reply of a request that must be DDB_OK. */
MUST_CHECK bool answer_expect(const struct ddb_store *store, const struct ddb_request *request,
                              struct arena *arena, const struct json **out, struct error *err);

/* Of one of the Responses of BatchExecuteStatement: its error's code; empty: it is done. */
struct str statement_error(const struct json *response);

/* --- ddb_statement_try.c --- */

/* Find out whether the server takes updates as statements, and their conditions too; and new items,
 * only where none stands. */
void statements_try_updates(struct ddb_store *store);
void statements_try_inserts(struct ddb_store *store);

/* --- ddb_reserved.c: what is ours in the table --- */

/* Whether an item is a control record. ERROR_STORE: it stands where those do and is none. */
MUST_CHECK bool reserved_look(const struct ddb_store *store, struct value item, bool *is_ours,
                              struct error *err);

/* What a scan must see of control records, and of what stands where they do. */
struct scan_mark reserved_mark(const struct ddb_store *store, struct arena *arena);

/* Whether a key is one that control records have. */
bool reserved_key(const struct ddb_store *store, const struct key *key);

/* --- ddb_get.c --- */

struct key_map; /* from keys to numbers */
struct key_map *key_map_new(struct arena *arena, size_t most);
/* The number under which the key is there already; else it is added under `number`. */
size_t key_map_add(struct key_map *map, const struct key *key, size_t number);
void key_map_clear(struct key_map *map);
void key_map_free(struct key_map *map);

/* Consistent reads of many keys; out[i] is missing where there is no item. */
MUST_CHECK bool get_items(const struct ddb_asking *asking, struct key_list keys, struct value *out,
                          struct error *err);

/* As that, but in portions, as they are asked for.
 *   asking    its arena holds the portion at hand, and nothing else
 *   keys      borrowed, as *portions is
 * find: reads on where the key's turn has not come. *found is false where it is none of them, or
 * its portion is gone; out is missing where there is no item. */
struct getting;
struct getting *getting_open(const struct ddb_asking *asking, struct key_list keys,
                             struct portions *portions);
MUST_CHECK bool getting_find(struct getting *getting, const struct key *key, struct value *out,
                             bool *found, struct error *err);
void getting_close(struct getting *getting);

/* --- ddb_lease.c --- */

/* The fencing token of the run's lease, whoever holds it; 0 where this process has no part. */
uint64_t lease_token(const struct ddb_store *store);
/* What this process is called in the run; and whether it holds the lease. */
struct str lease_self(const struct ddb_store *store);
bool lease_leads(const struct ddb_store *store);
/* ERROR_BUSY: the lease was lost, or may have been. */
MUST_CHECK bool lease_check(const struct ddb_store *store, struct error *err);
bool lease_is_lost(const struct ddb_store *store);

/* --- ddb_control.c --- */

/* A record of the store's own, by its whole sort key: "lease", "undo/…". */
MUST_CHECK bool control_key(const struct ddb_home *home, struct str sort, struct arena *arena,
                            struct key *out, struct error *err);
/* The record as an item, read consistently, in the asking's arena; missing where there is none. */
MUST_CHECK bool control_item(const struct ddb_asking *asking, struct str sort, struct value *out,
                             struct error *err);
/* A count as records hold it. */
struct value control_number(uint64_t n, struct arena *arena);
MUST_CHECK bool home_find(struct ddb_store *store, struct error *err);
MUST_CHECK bool home_make(struct ddb_store *store, struct error *err);
/* Writes or deletes (value.ptr NULL) records by their whole sort keys, all at once. */
MUST_CHECK bool control_send(struct ddb_store *store, const struct control *controls, size_t count,
                             struct error *err);
/* A number that no process has drawn from the table before, greater than all that were. */
MUST_CHECK bool control_draw(struct ddb_store *store, uint64_t *out, struct error *err);
/* All records whose sort key begins so, sorted. */
MUST_CHECK bool control_query(const struct ddb_asking *asking, struct str prefix,
                              struct control_list *out, struct error *err);
/* The controls of a batch, after its writes. */
MUST_CHECK bool control_commit(struct ddb_store *store, const struct batch *batch,
                               struct error *err);

/* --- ddb_undo.c --- */

/* Makes the records of a commit durable; and, of a commit whose records are, what of them holds. */
MUST_CHECK bool undo_write(struct ddb_store *store, uint64_t log, struct str records,
                           struct error *err);
MUST_CHECK bool undo_correct(struct ddb_store *store, struct str records, struct error *err);
/* The control record that tells of the log's file; name.ptr NULL where there is none to tell of. */
struct control undo_listing(struct ddb_store *store, struct arena *arena);
void undo_close(struct ddb_store *store);

/* --- ddb_bulk.c: many puts without conditions --- */

/* Puts the items of a batch that is alone; returns when all are done. */
MUST_CHECK bool bulk_commit(struct ddb_store *store, struct batch *batch, struct error *err);

/* --- ddb_count.c: items against index entries --- */

struct index_counts {
    uint64_t eligible; /* items that belong into the index */
    uint64_t entries;
};

/* Counted by the server. ERROR_STOPPED. */
MUST_CHECK bool count_index(const struct ddb_store *store, const struct index_desc *index,
                            struct index_counts *out, struct error *err);

/* --- the interface, by module --- */

bool ddb_describe(struct store *base, struct arena *arena, struct table_desc *out,
                  struct error *err);
bool ddb_reader_open(struct store *base, struct store_reader **out, struct error *err);
void ddb_reader_close(struct store_reader *base);
bool ddb_read_page(struct store_reader *base, const struct page_place *from, struct page *out,
                   struct error *err);
void ddb_release(struct store_reader *base);
bool ddb_get(struct store_reader *base, struct key_list keys, struct arena *arena,
             struct stored_item *out, struct error *err);
bool ddb_expect(struct store_reader *base, struct key_list keys, struct error *err);
/* Forgets what was read for it. */
void expected_drop(struct ddb_reader *reader);
bool ddb_query(struct store_reader *base, const struct query *query, struct page *out,
               struct error *err);
bool ddb_commit(struct store *base, struct batch *batch, struct error *err);
bool ddb_index_create(struct store *base, const struct index_desc *index, struct error *err);
bool ddb_index_finish(struct store *base, struct str name, struct error *err);
bool ddb_index_drop(struct store *base, struct str name, struct error *err);
bool ddb_control_get(struct store_reader *base, struct str name, struct arena *arena,
                     struct str *out, struct error *err);
bool ddb_control_list(struct store_reader *base, struct str prefix, struct arena *arena,
                      struct control_list *out, struct error *err);
bool ddb_undo_last(struct store_reader *base, struct undo_place place, struct arena *arena,
                   struct undo_frame *out, struct error *err);
bool ddb_undo_drop(struct store *base, uint64_t log, struct error *err);
bool ddb_lease_take(struct store *base, const char *owner, struct error *err);
bool ddb_lease_owner(struct store *base, struct arena *arena, struct str *owner, struct error *err);
void ddb_lease_release(struct store *base);
bool ddb_lease_join(struct store *base, const char *owner, struct arena *arena, struct str *leader,
                    struct error *err);
struct str ddb_self(const struct store *base);
bool ddb_members(struct store_reader *base, struct arena *arena, struct run_members *out,
                 struct error *err);
bool ddb_control_try(struct store_reader *base, const struct control *controls, size_t count,
                     bool *written, struct error *err);
bool ddb_set_limits(struct store *base, const struct store_limits *limits, struct error *err);
void ddb_usage(struct store *base, struct store_usage *out);
bool ddb_verify(struct store *base, void (*finding)(void *context, const char *text), void *context,
                struct error *err);

#endif
