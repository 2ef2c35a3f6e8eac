#include "engine/store/lmdb/lmdb_internal.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* LMDB keeps a transaction's changed pages in memory: 12,000 are 48 MB. */
enum { PAGE_BYTES = 4096, DIRTY_PAGES_MAX = 12000, SPARE_PAGES = 24000 };

bool writer_begin(struct lmdb_store *store, struct error *err)
{
    struct writer *writer = &store->writer;
    assert(store->lease_fd >= 0);
    if (writer->txn != NULL) {
        return true;
    }
    int rc = mdb_txn_begin(store->env, NULL, 0, &writer->txn);
    if (rc != 0) {
        writer->txn = NULL;
        return lmdb_error(store, rc, "beginning to write", err);
    }
    writer->dirty_pages = 0;
    writer->last_touched = NULL;
    writer->wrote = false;
    memset(writer->indexes, 0, sizeof writer->indexes);
    rc = mdb_cursor_open(writer->txn, store->items, &writer->items);
    rc = rc == 0 ? meta_get_u64(store, writer->txn, "size_bytes", &writer->size_bytes) : rc;
    return rc == 0 || writer_fail(store, rc, "beginning to write", err);
}

/* LMDB closes a write transaction's cursors with it. */
static void forget(struct writer *writer)
{
    writer->txn = NULL;
    writer->items = NULL;
    writer->undo.len = 0;
}

void writer_abort(struct lmdb_store *store)
{
    mdb_txn_abort(store->writer.txn);
    forget(&store->writer);
}

bool writer_fail(struct lmdb_store *store, int rc, const char *doing, struct error *err)
{
    writer_abort(store);
    return lmdb_error(store, rc, doing, err);
}

int writer_index_cursor(struct lmdb_store *store, size_t index, MDB_cursor **out)
{
    struct writer *writer = &store->writer;
    int rc = 0;
    if (writer->indexes[index] == NULL) {
        rc =
            mdb_cursor_open(writer->txn, store->schema.indexes[index].dbi, &writer->indexes[index]);
    }
    *out = writer->indexes[index];
    return rc;
}

void writer_touched(struct lmdb_store *store, const void *place, size_t size)
{
    struct writer *writer = &store->writer;
    const char *at = place;
    writer->wrote = true;
    writer->dirty_pages += size / PAGE_BYTES;
    if (at - writer->last_touched >= PAGE_BYTES || writer->last_touched - at >= PAGE_BYTES) {
        writer->dirty_pages++;
    }
    writer->last_touched = at;
}

void writer_appended(struct lmdb_store *store, size_t bytes)
{
    struct writer *writer = &store->writer;
    writer->wrote = true;
    writer->appended_bytes += bytes;
    writer->dirty_pages += writer->appended_bytes / PAGE_BYTES;
    writer->appended_bytes %= PAGE_BYTES;
}

bool writer_is_full(const struct lmdb_store *store)
{
    return store->writer.dirty_pages >= DIRTY_PAGES_MAX;
}

/* LMDB counts pages that it then need not write: at the end of the file, they would make it look
 * cut short. So it is made long enough before, as far as it may be, and cut to measure behind. */
static int set_length(struct lmdb_store *store, uint64_t extra_pages)
{
    MDB_envinfo info;
    MDB_stat stat;
    struct stat file;
    int fd = -1;
    (void)mdb_env_info(store->env, &info);
    (void)mdb_env_stat(store->env, &stat);
    (void)mdb_env_get_fd(store->env, &fd);
    off_t length = (off_t)((info.me_last_pgno + 1 + extra_pages) * stat.ms_psize);
    bool right = fstat(fd, &file) == 0 &&
                 (file.st_size == length || (extra_pages > 0 && file.st_size > length));
    return right || ftruncate(fd, length) == 0 ? 0 : errno;
}

bool writer_commit(struct lmdb_store *store, struct error *err)
{
    struct writer *writer = &store->writer;
    if (writer->txn == NULL) {
        return true;
    }
    if (!writer->wrote) {
        writer_abort(store);
        return true;
    }
    int rc = undo_put_frame(store);
    rc = rc == 0 ? meta_put_u64(store, writer->txn, "size_bytes", writer->size_bytes) : rc;
    if (rc != 0) {
        return writer_fail(store, rc, "writing", err);
    }
    (void)set_length(store, SPARE_PAGES + 4 * writer->dirty_pages);
    rc = mdb_txn_commit(writer->txn);
    forget(writer);
    /* A reader that was killed would keep what is overwritten from being used again. */
    int dead = 0;
    (void)mdb_reader_check(store->env, &dead);
    int trimmed = set_length(store, 0);
    rc = rc == 0 ? trimmed : rc;
    return rc == 0 || lmdb_error(store, rc, "writing", err);
}
