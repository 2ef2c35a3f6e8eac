/* lmdb_internal — what the files of the embedded store share. */
#ifndef ENGINE_STORE_LMDB_LMDB_INTERNAL_H
#define ENGINE_STORE_LMDB_LMDB_INTERNAL_H

#include "engine/store/lmdb/lmdb_entry_internal.h"
#include "engine/store/store.h"

#include <lmdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load;

/* The number of the format that docs/format.md describes. */
enum { LMDB_FORMAT = 1 };

/* ---------------------------------------------------------------- what the table is */

struct lmdb_index {
    struct index_desc desc; /* without the entry count */
    uint64_t generation;    /* of its B-tree: "index:NAME:GENERATION" */
    MDB_dbi dbi;
};

/* One reading of the "schema" record. */
struct lmdb_schema {
    struct arena *arena;
    struct str text;
    struct str name;
    struct str identity;
    struct key_schema keys;
    struct lmdb_index indexes[INDEXES_MAX];
    size_t index_count;
};

/* The open write transaction: of all commits since the last that was made durable. */
struct writer {
    MDB_txn *txn;
    MDB_cursor *items;
    MDB_cursor *indexes[INDEXES_MAX]; /* opened when first used */
    uint64_t size_bytes;              /* of the table, with what the transaction has changed */
    size_t dirty_pages;               /* estimated */
    size_t appended_bytes;            /* that do not fill a page yet */
    const char *last_touched;
    bool wrote;
    struct buffer undo; /* records that are not in a frame yet */
    uint64_t undo_log;
    struct buffer scratch;   /* a record on its way */
    struct buffer table_key; /* encoded, of the item whose index entries change */
    struct entry_key key;    /* of the item at hand */
};

struct lmdb_store {
    struct store base;
    struct arena *arena; /* of what lives as long as the store */
    const char *path;
    const char *temp_dir;
    size_t memory_bytes;
    struct store_voice voice;
    const atomic_bool *stop; /* NULL: never */
    enum store_mode mode;
    bool unlocked; /* no run knows of what is read here */
    MDB_env *env;
    MDB_dbi meta;
    MDB_dbi items;
    MDB_dbi control;
    MDB_dbi undo;
    pthread_mutex_t dbi_mutex; /* LMDB wants one thread at a time to open handles */
    pthread_mutex_t check_mutex;
    bool checked; /* all pages in use, since the store was opened; behind check_mutex */
    struct lmdb_schema schema; /* the writer's own; its table keys never change */
    struct writer writer;
    uint64_t index_changes[INDEXES_MAX]; /* of entries, by this pass */
    uint64_t index_changes_pass;
    int lease_fd; /* -1: not held */
    struct load *load;
    struct index_growth growth; /* of the indexes that get entries */
};

struct lmdb_reader {
    struct store_reader base;
    MDB_txn *page_txn;
    MDB_cursor *page_items;
    bool page_open;
    bool held;     /* both transactions stay open, as of one moment */
    size_t moment; /* or, without a lock, each page must be as of this transaction; 0: of any */
    MDB_txn *get_txn;
    MDB_cursor *get_items;
    struct lmdb_schema schema; /* its own, read again when the table's has changed */
    struct stored_item *items; /* of the page at hand */
    size_t capacity;
    struct buffer cursor;
    struct arena *arena; /* items of the page at hand that are projected or copied */
    struct entry_key key;
};

/* The store and the reader behind the interface. */
static inline struct lmdb_store *lmdb_of(struct store *store)
{
    return (struct lmdb_store *)store;
}

static inline struct lmdb_reader *lmdb_reader_of(struct store_reader *reader)
{
    return (struct lmdb_reader *)reader;
}

/* The B-tree of the items, and that of an index. */
static inline struct tree items_tree(const struct lmdb_store *store,
                                     const struct lmdb_schema *schema)
{
    return (struct tree){store->items, &schema->keys, NULL};
}

static inline struct tree index_tree(const struct lmdb_schema *schema,
                                     const struct lmdb_index *index)
{
    return (struct tree){index->dbi, &schema->keys, &index->desc.keys};
}

/* ---------------------------------------------------------------- lmdb_error.c */

/* Turns LMDB's code into an error; returns false. `doing` completes "SHOP: ...". */
bool lmdb_error(const struct lmdb_store *store, int rc, const char *doing, struct error *err);

/* A record that fails its checksum, named by its key in the B-tree; returns false. */
bool lmdb_damaged_record(const struct lmdb_store *store, MDB_val key, struct error *err);

/* ---------------------------------------------------------------- lmdb_file.c */

enum file_state {
    FILE_ABSENT,
    FILE_UNFINISHED, /* its creation was broken off: it holds nothing */
    FILE_TABLE
};

/* The path behind symbolic links, whether a file is there or not: what stands beside a file (locks,
 * lease) is to be one, whatever name the file is called by. The arena owns it. */
const char *file_follow(const char *path, struct arena *arena);

/* Looks at a file before LMDB, which trusts what it maps; at all its pages where it is small, which
 * *whole then says. */
MUST_CHECK bool file_inspect(const char *path, enum file_state *out, bool *whole,
                             struct error *err);

/* Checks all pages that are in use as of a read transaction, begun for it: *out, the caller's to
 * abort in any case, keeps them from being used again. ERROR_DAMAGED: the first fault. */
MUST_CHECK bool file_check(struct lmdb_store *store, MDB_txn **out, struct error *err);

/* As file_check(), once, before a scan is led by the pages: a damaged one can end it too early
 * without a word. */
MUST_CHECK bool file_check_once(struct lmdb_store *store, struct error *err);

/* ---------------------------------------------------------------- lmdb_schema.c, lmdb_meta.c */

/* Reads format and schema in a transaction of its own and opens all handles. */
MUST_CHECK bool schema_load(struct lmdb_store *store, struct lmdb_schema *out, struct error *err);
void schema_free(struct lmdb_schema *schema);

/* The index of this name, or NULL. */
struct lmdb_index *schema_index(struct lmdb_schema *schema, struct str name);

/* Writes the schema in a transaction; or in the writer's, which it then makes durable. */
int schema_put(struct lmdb_store *store, MDB_txn *txn, const struct lmdb_schema *schema);
MUST_CHECK bool schema_write(struct lmdb_store *store, const struct lmdb_schema *schema,
                             struct error *err);

/* The name of an index's B-tree. */
const char *schema_index_dbi(const struct lmdb_index *index, struct arena *arena);

/* What a new table is to be: ERROR_PLAN as index_check(). Then its B-trees and records. */
MUST_CHECK bool schema_make(const struct table_desc *table, struct arena *arena,
                            struct lmdb_schema *out, struct error *err);
MUST_CHECK bool schema_create(struct lmdb_store *store, struct lmdb_schema *schema,
                              struct error *err);

/* A number in "meta"; 0 where there is none. */
int meta_get_u64(const struct lmdb_store *store, MDB_txn *txn, const char *name, uint64_t *out);
int meta_put_u64(const struct lmdb_store *store, MDB_txn *txn, const char *name, uint64_t n);
int meta_delete(const struct lmdb_store *store, MDB_txn *txn, const char *name);

/* store_describe(). */
bool lmdb_describe(struct store *base, struct arena *arena, struct table_desc *out,
                   struct error *err);

/* ---------------------------------------------------------------- lmdb_lease.c */

/* store_lease_take() and so on. */
bool lmdb_lease_take(struct store *base, const char *owner, struct error *err);
bool lmdb_lease_owner(struct store *base, struct arena *arena, struct str *owner,
                      struct error *err);
void lmdb_lease_release(struct store *base);

/* Who holds the lease of the table at `path`; ptr NULL: nobody. */
MUST_CHECK bool lease_look(const char *path, struct arena *arena, struct str *owner,
                           struct error *err);

/* ---------------------------------------------------------------- lmdb_writer.c */

/* Begins the write transaction if none is open; the lease must be held. */
MUST_CHECK bool writer_begin(struct lmdb_store *store, struct error *err);

/* Makes everything since writer_begin() durable; or forgets it. */
MUST_CHECK bool writer_commit(struct lmdb_store *store, struct error *err);
void writer_abort(struct lmdb_store *store);

/* Fails with LMDB's code, having forgotten the transaction; returns false. */
bool writer_fail(struct lmdb_store *store, int rc, const char *doing, struct error *err);

/* The cursor of an index's B-tree, opened when first asked for. */
int writer_index_cursor(struct lmdb_store *store, size_t index, MDB_cursor **out);

/* Counts the page on which `size` bytes were written at `place`, if it is not the last again. */
void writer_touched(struct lmdb_store *store, const void *place, size_t size);

/* Counts `bytes` that were appended in key order. */
void writer_appended(struct lmdb_store *store, size_t bytes);

/* The estimate is so high that the transaction should be committed. */
bool writer_is_full(const struct lmdb_store *store);

/* ---------------------------------------------------------------- lmdb_index.c and its check */

/* Makes the index's B-tree, or empties one that an attempt broken off has left; durable. */
MUST_CHECK bool index_open_tree(struct lmdb_store *store, struct lmdb_index *index,
                                struct error *err);

/* Leaves an index alone from now on if this pass has changed so many entries that making it anew
 * is cheaper. Between commits. */
MUST_CHECK bool index_fall_behind(struct lmdb_store *store, uint64_t pass, struct error *err);

/* ERROR_PLAN: the index cannot be added to the schema. */
MUST_CHECK bool index_check(struct lmdb_schema *schema, const struct index_desc *index,
                            struct error *err);

/* ---------------------------------------------------------------- lmdb_undo.c, lmdb_control.c */

/* Appends a record to a log (0: to none); records that fill a frame are packed. */
int undo_add(struct lmdb_store *store, uint64_t log, struct str record);

/* Packs the records that are not in a frame yet. */
int undo_put_frame(struct lmdb_store *store);

/* Within a commit: fails unless conditional records stand as expected; writes the records. */
MUST_CHECK bool control_check(struct lmdb_store *store, const struct batch *batch,
                              struct error *err);
int control_apply(struct lmdb_store *store, const struct batch *batch);

/* ---------------------------------------------------------------- the rest of the interface */

/* Each as the store_ function of its name. */
bool lmdb_commit(struct store *base, struct batch *batch, struct error *err);
bool lmdb_flush(struct store *base, struct error *err);
bool lmdb_reader_open(struct store *base, struct store_reader **out, struct error *err);
void lmdb_reader_close(struct store_reader *base);
bool lmdb_read_page(struct store_reader *base, const struct page_place *from, struct page *out,
                    struct error *err);
bool lmdb_query(struct store_reader *base, const struct query *query, struct page *out,
                struct error *err);
void lmdb_release(struct store_reader *base);
bool lmdb_get(struct store_reader *base, struct key_list keys, struct arena *arena,
              struct stored_item *out, struct error *err);
bool lmdb_index_create(struct store *base, const struct index_desc *index, struct error *err);
bool lmdb_index_finish(struct store *base, struct str name, struct error *err);
bool lmdb_index_drop(struct store *base, struct str name, struct error *err);
bool lmdb_control_get(struct store_reader *base, struct str name, struct arena *arena,
                      struct str *out, struct error *err);
bool lmdb_control_list(struct store_reader *base, struct str prefix, struct arena *arena,
                       struct control_list *out, struct error *err);
bool lmdb_undo_last(struct store_reader *base, struct undo_place place, struct arena *arena,
                    struct undo_frame *out, struct error *err);
bool lmdb_undo_drop(struct store *base, uint64_t log, struct error *err);
void lmdb_order_key(const struct store *base, const struct key *key, struct buffer *out);
bool lmdb_load_open(struct store *base, uint64_t pass, struct error *err);
bool lmdb_load_item(struct store *base, const struct key *key, struct value item,
                    struct error *err);
bool lmdb_load_close(struct store *base, struct error *err);
bool lmdb_load_abort(struct store *base, struct error *err);
bool lmdb_verify(struct store *base, void (*finding)(void *context, const char *text),
                 void *context, struct error *err);

/* Frees a load that is neither closed nor aborted; NULL is fine. */
void load_free(struct load *load);

/* ---------------------------------------------------------------- shared by reads */

/* A fresh read transaction (unless it is held) with a cursor on the items, for all but pages; ends
 * with get_end(). */
MUST_CHECK bool get_begin(struct lmdb_reader *reader, struct error *err);
void get_end(struct lmdb_reader *reader);

/* The page's transaction, fresh unless it is held; all values of the page before are gone. */
MUST_CHECK bool page_begin(struct lmdb_reader *reader, struct error *err);

/* Makes a page last, of a reader without a lock: LMDB may use its pages again from the next commit
 * but one. ERROR_BUSY: there was a commit. */
MUST_CHECK bool page_keep(struct lmdb_reader *reader, const struct page *page, struct error *err);

/* Whether the reader's schema is that of the page's transaction. */
MUST_CHECK bool schema_is_current(const struct lmdb_reader *reader, bool *out, struct error *err);

/* Room for one more item in the page's array. */
struct stored_item *page_slot(struct lmdb_reader *reader, size_t count);

/* The item of this key by a cursor on the items; MDB_NOTFOUND. A damaged record: MDB_CORRUPTED.
 * out->stamp is a version of which it is known that its checksum holds, or 0. */
int find_item(const struct tree *items, MDB_cursor *cursor, const struct key *key,
              struct entry_key *scratch, struct stored_item *out);

/* The limits that hold where the caller leaves the choice. */
struct page_limits page_limits_or_default(const struct page_limits *limits);

#endif
