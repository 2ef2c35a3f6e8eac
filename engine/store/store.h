/* store — where a table lives. One interface for the embedded table, the DynamoDB API and exports,
 * so that plans, runs and imports are written once. Batch-oriented, so that each runs at its full
 * speed. docs/architecture.md says what each store guarantees.
 *
 * Threads: a struct store belongs to one thread (the committer's); each other thread reads through
 * a store_reader of its own. */
#ifndef ENGINE_STORE_STORE_H
#define ENGINE_STORE_STORE_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store_limit.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct store_reader;

/* ---------------------------------------------------------------- what the table is */

enum projection { PROJECT_ALL, PROJECT_KEYS_ONLY, PROJECT_INCLUDE };

enum index_state {
    INDEX_CREATING, /* declared: its key types are enforced; not filled, cannot be queried */
    INDEX_ACTIVE,
    INDEX_BEHIND /* changed so much that commits leave it alone: queries answer from it as it was,
                    until store_index_finish() has made it anew */
};

/* Amazon DynamoDB Developer Guide, "Quotas": 20 indexes a table. A table on a server may have more,
 * by request, and local ones besides; INDEXES_KNOWN_MAX bounds what is described. */
enum {
    INDEXES_MAX = 20,
    INDEXES_KNOWN_MAX = 100,
    INDEX_INCLUDE_MAX = 100,
    INDEX_NAME_MIN = 3,
    INDEX_NAME_MAX = 255
};

struct index_desc {
    struct str name;
    struct key_schema keys;
    enum projection projection;
    const struct str *include; /* PROJECT_INCLUDE: attribute names besides the keys */
    size_t include_count;
    uint64_t read_units, write_units; /* provisioned, a second, where the table is; 0: as there */
    enum index_state state;           /* out only, as all that follows */
    struct str status; /* in the server's words: "CREATING, backfilling"; empty: none */
    uint64_t entry_count;
    uint64_t size_bytes; /* 0: not known */
};

/* Who keeps the table, where that is a server. */
struct store_server {
    struct str endpoint;
    struct str region;
    struct str account;               /* its number; empty: not known */
    struct str key_end;               /* of the key id that is used, the last characters */
    struct str key_from;              /* "the environment" */
    bool is_provisioned;              /* else on demand */
    uint64_t read_units, write_units; /* provisioned, a second */
};

struct table_desc {
    struct str name;     /* for messages and reports */
    struct str identity; /* differs when the table was dropped and made again */
    struct key_schema keys;
    const struct index_desc *indexes;
    size_t index_count;
    uint64_t item_count;
    uint64_t size_bytes;               /* as DynamoDB counts items */
    bool is_estimate;                  /* these counts, and those of the indexes */
    const struct store_server *server; /* NULL: none */
};

/* ---------------------------------------------------------------- reading */

struct stored_item {
    struct value item;
    uint64_t stamp; /* of this version; a write names it as what it was computed from */
    uint64_t pass;  /* number of the pass that wrote it; 0 where the store does not keep it */
};

struct segment {
    uint32_t index;
    uint32_t total;
};

struct page {
    const struct stored_item *items;
    size_t count;
    struct str cursor; /* key_encode() of the last item met, for the next page */
    bool last;         /* nothing follows in this segment */
    size_t left_out;   /* items that were looked at and are not wanted */
};

/* What a scan wants of the items. A store may give more. */
struct page_use {
    const struct expr *const *any_of; /* pushable: items of which none holds may be left out */
    size_t any_of_count;              /* 0: all items are wanted */
    const struct str *names;          /* attributes besides the table's keys; NULL: all */
    size_t name_count;
};

struct page_limits {
    size_t items; /* at most; 0: the store's own choice */
    size_t bytes;
    bool may_be_stale; /* a server may answer, at half the price, as things stood a moment ago */
    const struct page_use *use; /* of a scan; NULL: all of it is wanted */
    struct str until; /* of a scan of a store that is shared: not empty, the key (as a cursor) with
                         which it ends; the cursor is of the same collection */
};

/* Where a page of a scan begins, and how large it may be. */
struct page_place {
    struct segment segment;
    struct str cursor; /* empty: at the segment's start; else a page's cursor */
    const struct page_limits *limits;
};

/* Borrowed keys. */
struct key_list {
    const struct key *list;
    size_t count;
};

/* Key condition of a query, and what is wanted of it. */
struct query {
    struct str index;                       /* empty: the table itself */
    struct value partition[KEY_PARTS_MAX];  /* one for each partition attribute */
    struct value sort_equal[KEY_PARTS_MAX]; /* leading sort attributes that are fixed */
    size_t sort_equal_count;
    struct value low, high; /* bounds of the next sort attribute; missing: open */
    bool low_exclusive, high_exclusive;
    bool low_is_prefix; /* begins_with(low) of S or B; high is missing */
    bool descending;
    struct str cursor; /* empty: from the start; else a page's cursor */
    struct page_limits limits;
};

/* ---------------------------------------------------------------- writing */

enum write_kind {
    WRITE_PUT,    /* the item stands under its key afterwards */
    WRITE_UPDATE, /* the item is replaced by `item`, its key unchanged */
    WRITE_DELETE,
    WRITE_MOVE /* the item under `key` goes, `item` stands under its own (other) key */
};

/* What of an item an update was made from: it applies to an item that may have changed otherwise.
 * A store may ask for more. */
struct basis {
    const struct expr *condition; /* it still holds; pushable, or NULL: none */
    const struct str *names; /* attributes, the missing too; NULL: the whole item. Borrowed from
                                what outlives the commit, the array itself is copied */
    size_t count;
    size_t
        count_without; /* with those behind them that the condition reads: all names, without it */
};

struct write {
    enum write_kind kind;
    bool overwrite;    /* PUT, MOVE: replace what stands under the new key; else CONFLICT */
    struct key key;    /* UPDATE, DELETE, MOVE: of the item as it stands */
    uint64_t stamp;    /* UPDATE, DELETE, MOVE: it must still be this version, else STALE */
    struct value item; /* PUT, UPDATE, MOVE: the whole new item */
    struct value
        before;         /* UPDATE, DELETE, MOVE: what it was computed from, if store_needs_before();
                           PUT that overwrites: what it is to replace, or missing, in the same case */
    struct basis basis; /* UPDATE: what of `before` must still be so besides what it changes, if
                           store_needs_before() */
    struct str undo;    /* its record (engine/undo), appended to batch.undo_log when it applies */
};

enum outcome {
    OUTCOME_NONE,
    OUTCOME_APPLIED,
    OUTCOME_UNCHANGED, /* every write found its result standing already; nothing was written */
    OUTCOME_STALE,     /* an item is no longer the version named, or gone */
    OUTCOME_CONFLICT,  /* another, different item stands under a new key */
    OUTCOME_REJECTED   /* the store refuses an item; `refusal` says why */
};

/* All writes that come of one item: they apply together or not at all. */
struct effect {
    struct write *writes;
    size_t count;
    void *tag;            /* the caller's */
    enum outcome outcome; /* out */
    const char *refusal;  /* out: CONFLICT and REJECTED, owned by the batch's arena */
};

/* Whether every effect has outcome APPLIED. */
bool effects_have_applied(const struct effect *effects, size_t count);

/* A control record: ledger, checkpoints, verdicts. Never seen by scans, queries and counts. */
struct control {
    struct str name;
    struct str value;    /* ptr NULL: delete the record */
    bool conditional;    /* fail the commit with ERROR_BUSY unless it stands as `expected` */
    struct str expected; /* ptr NULL: absent */
    uint64_t token;      /* where several processes write, not 0: kept with the record; unless
                            `conditional`, it must stand with this one, else ERROR_BUSY */
};

struct control_list {
    struct control *list;
    size_t count;
};

/* A process that takes part in the run. */
struct run_member {
    struct str id;
    struct str owner; /* for messages */
};

struct run_members {
    struct run_member *list;
    size_t count;
};

/* The undo log of a plan's version, and the sequence number before which to look. */
struct undo_place {
    uint64_t log;
    uint64_t before; /* UINT64_MAX: the last frame */
};

struct undo_frame {
    struct str bytes; /* ptr NULL: there is none */
    uint64_t sequence;
};

struct batch {
    struct effect *effects;
    size_t count;
    const struct control *controls;
    size_t control_count;
    uint64_t pass;       /* written into each record */
    uint64_t undo_log;   /* 0: no undo is kept */
    bool restores;       /* items stood like this before: an index leaves out what it cannot hold */
    bool alone;          /* one put an effect, each key once, and nobody else has items in the
                            table: a store may put without looking what stands */
    struct arena *arena; /* for refusals */
};

/* What a server has counted for this store since it was opened; all zero without one. */
struct store_usage {
    double read_units;
    double write_units;
};

/* ---------------------------------------------------------------- the interface */

struct store_ops {
    void (*close)(struct store *store);
    bool (*describe)(struct store *store, struct arena *arena, struct table_desc *out,
                     struct error *err);
    bool (*reader_open)(struct store *store, struct store_reader **out, struct error *err);
    void (*reader_close)(struct store_reader *reader);
    bool (*read_page)(struct store_reader *reader, const struct page_place *from, struct page *out,
                      struct error *err);
    bool (*query)(struct store_reader *reader, const struct query *query, struct page *out,
                  struct error *err);
    void (*release)(struct store_reader *reader);
    bool (*get)(struct store_reader *reader, struct key_list keys, struct arena *arena,
                struct stored_item *out, struct error *err);
    bool (*expect)(struct store_reader *reader, struct key_list keys, struct error *err);
    bool (*commit)(struct store *store, struct batch *batch, struct error *err);
    bool (*flush)(struct store *store, struct error *err);
    bool (*index_create)(struct store *store, const struct index_desc *index, struct error *err);
    bool (*index_finish)(struct store *store, struct str name, struct error *err);
    bool (*index_drop)(struct store *store, struct str name, struct error *err);
    bool (*control_get)(struct store_reader *reader, struct str name, struct arena *arena,
                        struct str *out, struct error *err);
    bool (*control_list)(struct store_reader *reader, struct str prefix, struct arena *arena,
                         struct control_list *out, struct error *err);
    bool (*control_try)(struct store_reader *reader, const struct control *controls, size_t count,
                        bool *written, struct error *err);
    bool (*undo_last)(struct store_reader *reader, struct undo_place place, struct arena *arena,
                      struct undo_frame *out, struct error *err);
    bool (*undo_drop)(struct store *store, uint64_t log, struct error *err);
    bool (*lease_take)(struct store *store, const char *owner, struct error *err);
    bool (*lease_owner)(struct store *store, struct arena *arena, struct str *owner,
                        struct error *err);
    void (*lease_release)(struct store *store);
    bool (*lease_join)(struct store *store, const char *owner, struct arena *arena,
                       struct str *leader, struct error *err);
    struct str (*self)(const struct store *store);
    bool (*members)(struct store_reader *reader, struct arena *arena, struct run_members *out,
                    struct error *err);
    void (*order_key)(const struct store *store, const struct key *key, struct buffer *out);
    bool (*load_open)(struct store *store, uint64_t pass, struct error *err);
    bool (*load_item)(struct store *store, const struct key *key, struct value item,
                      struct error *err);
    bool (*load_close)(struct store *store, struct error *err);
    bool (*load_abort)(struct store *store, struct error *err);
    bool (*set_limits)(struct store *store, const struct store_limits *limits, struct error *err);
    void (*usage)(struct store *store, struct store_usage *out);
    bool (*verify)(struct store *store, void (*finding)(void *context, const char *text),
                   void *context, struct error *err);
    bool needs_before; /* writes carry what they were computed from */
    bool keeps_pass;   /* records carry the number of the pass that wrote them */
    bool shares;       /* several processes may take part in one run */
};

/* Every implementation's struct begins with this. */
struct store {
    const struct store_ops *ops;
    const char *run_files; /* how paths of a run's own files begin: "shop.refold-"; NULL: none */
};
struct store_reader {
    struct store *store;
};

/* How a target is opened. */
enum store_mode {
    STORE_READ,  /* never writes a byte, nor a lock file where it has no right to */
    STORE_WRITE, /* must exist */
    STORE_CREATE /* must not exist */
};

/* How far an index is, or the indexes of a load together. */
struct index_growth {
    bool reads;     /* items are still read for it; else it gets its entries */
    uint64_t done;  /* items, or entries */
    uint64_t total; /* of them; 0: not known */
};

/* What the user should know meanwhile: a sentence, from any thread. */
struct store_voice {
    void (*say)(void *context, const char *sentence); /* NULL: nobody listens */
    /* Of what is being made now; the store's thread. NULL: as above */
    void (*index_grows)(void *context, const struct index_growth *growth);
    void *context;
};

struct store_options {
    enum store_mode mode;
    const struct table_desc *create; /* STORE_CREATE: keys and indexes (made ACTIVE at once) */
    const char *temp_dir;            /* for sorted runs; NULL: beside the table or $TMPDIR */
    size_t memory_bytes;             /* for sorting; 0: a default */
    const char *state_dir; /* for undo files, where the table itself holds none; NULL: a default */
    struct store_voice voice;
    const atomic_bool *stop; /* ends making an index, with ERROR_STOPPED; NULL: never */
};

/* Closes without losing what was flushed; NULL is fine. */
void store_close(struct store *store);

/* Keys, indexes and counts, owned by the arena. */
MUST_CHECK bool store_describe(struct store *store, struct arena *arena, struct table_desc *out,
                               struct error *err);

MUST_CHECK bool store_reader_open(struct store *store, struct store_reader **out,
                                  struct error *err);
void store_reader_close(struct store_reader *reader);

/* One page of a segment: the first items after the place's cursor (which need not stand any more),
 * in the store's order. Values are valid until store_release() or the next read of this reader. An
 * empty page that is not `last` is a page. ERROR_STORE, ERROR_DAMAGED. */
MUST_CHECK bool store_read_page(struct store_reader *reader, const struct page_place *from,
                                struct page *out, struct error *err);

/* One page of a query, in sort order, projected as the index projects. Same lifetime.
 * ERROR_USAGE: no such index, an index not ACTIVE, a value of the wrong type. */
MUST_CHECK bool store_query(struct store_reader *reader, const struct query *query,
                            struct page *out, struct error *err);
void store_release(struct store_reader *reader);

/* Items by key, copied into the arena; out[i] for keys.list[i], its item missing where there is
 * none. Does not invalidate the page at hand. */
MUST_CHECK bool store_get(struct store_reader *reader, struct key_list keys, struct arena *arena,
                          struct stored_item *out, struct error *err);

/* Whether a get is so slow that many are better made together, by store_expect(): what store_get()
 * is going to be asked for, key by key and mostly in this order, until the next page is read or
 * released. It is read in portions of bounded size, each when the first of it is asked for. A get
 * of several keys reads them now. Copies the keys. */
static inline bool store_gets_are_slow(const struct store *store)
{
    return store->ops->expect != NULL;
}
MUST_CHECK bool store_expect(struct store_reader *reader, struct key_list keys, struct error *err);

/* Applies a batch: each effect as a whole, in order; sets each effect's outcome; then the control
 * records. Embedded: data, index entries, counters, undo and controls become durable together, at
 * the latest with store_flush(); never some of a batch without the rest.
 * Controls count on all effects of their batch. Where one has not applied, the caller commits
 * again, with controls that are right: until then those of this batch do not become durable.
 * Returns false only where the batch as a whole failed: ERROR_FULL, ERROR_STORE, ERROR_DAMAGED,
 * ERROR_BUSY; then nothing of it, nor of what was not flushed before, has happened. */
MUST_CHECK bool store_commit(struct store *store, struct batch *batch, struct error *err);
MUST_CHECK bool store_flush(struct store *store, struct error *err);

/* Declares an index (INDEX_CREATING); from now on its key types are enforced.
 * ERROR_PLAN: the name stands, too many, or an attribute declared with another type. */
MUST_CHECK bool store_index_create(struct store *store, const struct index_desc *index,
                                   struct error *err);
/* Fills an index that is not ACTIVE from the items and makes it so; repeatable after a crash. An
 * item that violates the index key is left out (checked before, see engine/scan). An index that a
 * server has made is counted against the items. ERROR_STOPPED: it is as it was, and the same call
 * begins anew, or goes on waiting for a server. */
MUST_CHECK bool store_index_finish(struct store *store, struct str name, struct error *err);
MUST_CHECK bool store_index_drop(struct store *store, struct str name, struct error *err);

/* A control record, copied; out->ptr is NULL where there is none. And all whose name begins with
 * `prefix`, sorted by name. */
MUST_CHECK bool store_control_get(struct store_reader *reader, struct str name, struct arena *arena,
                                  struct str *out, struct error *err);
MUST_CHECK bool store_control_list(struct store_reader *reader, struct str prefix,
                                   struct arena *arena, struct control_list *out,
                                   struct error *err);

/* The newest undo frame of the place's log with a sequence below its `before`. And dropping a log,
 * in the next commit. */
MUST_CHECK bool store_undo_last(struct store_reader *reader, struct undo_place place,
                                struct arena *arena, struct undo_frame *out, struct error *err);
MUST_CHECK bool store_undo_drop(struct store *store, uint64_t log, struct error *err);

/* The run's lease. ERROR_BUSY: held by a live owner, who is named. lease_owner: who holds it now
 * (ptr NULL: nobody), without taking it. */
MUST_CHECK bool store_lease_take(struct store *store, const char *owner, struct error *err);
MUST_CHECK bool store_lease_owner(struct store *store, struct arena *arena, struct str *owner,
                                  struct error *err);
/* What was not flushed is forgotten. */
void store_lease_release(struct store *store);

/* Where several processes may take part in one run (store_is_shared()): they take its segments by
 * records of their own, and one of them holds the lease and does what is to be done once.
 *
 * lease_join: takes the lease if it is free or its owner dead; else takes part beside the one who
 * holds it, who is named. Called again, it looks again. ERROR_BUSY: the one who holds it, does not
 * share. Elsewhere as store_lease_take().
 *   leader  out, in the arena; ptr NULL: this process holds the lease
 * self: the id of this process among the members; while it holds its part or the lease.
 * members: who takes part and is not known to be dead, in the arena. Whom it takes for dead can
 * write no more. Of the same reader, calls some seconds apart find out more.
 * control_try: writes conditional records now, whoever commits meanwhile; written[i] is false where
 * one stands otherwise. Any thread, by a reader of its own. */
MUST_CHECK bool store_lease_join(struct store *store, const char *owner, struct arena *arena,
                                 struct str *leader, struct error *err);
struct str store_self(const struct store *store);
MUST_CHECK bool store_members(struct store_reader *reader, struct arena *arena,
                              struct run_members *out, struct error *err);
MUST_CHECK bool store_control_try(struct store_reader *reader, const struct control *controls,
                                  size_t count, bool *written, struct error *err);

/* Bytes whose memcmp order is the order in which store_load_item() wants keys; equal keys have
 * equal bytes. Appended to `out`. Pure: any thread. */
void store_order_key(const struct store *store, const struct key *key, struct buffer *out);

/* Loading an empty table, where store_keeps_pass() says that nobody else writes: items in
 * ascending order_key order, each key once. Indexes are filled at the close, from sorted runs.
 * Until the close a load is unfinished: load_abort() (also after a restart) empties the table
 * again. ERROR_LIMIT, ERROR_ITEM: an item that DynamoDB refuses. ERROR_STOPPED: asked to, while
 * indexes were filled. */
MUST_CHECK bool store_load_open(struct store *store, uint64_t pass, struct error *err);
MUST_CHECK bool store_load_item(struct store *store, const struct key *key, struct value item,
                                struct error *err);
MUST_CHECK bool store_load_close(struct store *store, struct error *err);
MUST_CHECK bool store_load_abort(struct store *store, struct error *err);

/* Changes what may be used a second; what is left open (0) is as the store was opened. Any thread.
 * ERROR_USAGE: the table has no capacity, or a share is wanted where nothing is provisioned. */
MUST_CHECK bool store_set_limits(struct store *store, const struct store_limits *limits,
                                 struct error *err);

/* Any thread. */
void store_usage(struct store *store, struct store_usage *out);

/* Checks the store against itself: every record, count, index entry both ways. Each finding is one
 * sentence that names the item. */
MUST_CHECK bool store_verify(struct store *store, void (*finding)(void *context, const char *text),
                             void *context, struct error *err);

static inline bool store_needs_before(const struct store *store)
{
    return store->ops->needs_before;
}

static inline bool store_is_shared(const struct store *store)
{
    return store->ops->shares;
}

static inline bool store_keeps_pass(const struct store *store)
{
    return store->ops->keeps_pass;
}

#endif
