#include "engine/store/lmdb/lmdb_internal.h"
#include "engine/store/lmdb/lmdb_pages_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof(size_t) == 8, "LMDB's 64-bit layout");

/* A file up to this size is checked as a whole whenever it is opened: that takes some 25 ms. */
enum { DEEP_MAX_BYTES = 32 << 20 };

enum {
    PAGE_IS_META = 0x08,
    META_VERSION = 1,
    PAGE_MIN_BYTES = 512,
    PAGE_MAX_BYTES = 65536,
    TREE_DEPTH_MAX = 32,
    LINKS_MAX = 40, /* as Linux has it */
    READ_ATTEMPTS = 5
};

static const uint32_t meta_magic = 0xBEEFC0DE;

static bool is_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static bool is_ours(const struct page_meta *meta)
{
    uint32_t size = meta->trees[0].pad;
    return (meta->flags & PAGE_IS_META) != 0 && meta->magic == meta_magic &&
           meta->version == META_VERSION && size >= PAGE_MIN_BYTES && size <= PAGE_MAX_BYTES &&
           is_power_of_two(size);
}

static bool tree_is_sane(const struct page_tree *tree, uint64_t last_page)
{
    if (tree->root == NO_PAGE) {
        return tree->depth == 0 && tree->entries == 0;
    }
    return tree->root > 1 && tree->root <= last_page && tree->depth > 0 &&
           tree->depth <= TREE_DEPTH_MAX;
}

static bool meta_is_sane(const struct page_meta *meta, uint64_t number)
{
    return meta->page_number == number && meta->last_page >= 1 &&
           meta->last_page < UINT64_MAX / PAGE_MAX_BYTES &&
           tree_is_sane(&meta->trees[0], meta->last_page) &&
           tree_is_sane(&meta->trees[1], meta->last_page);
}

static bool read_meta(int fd, const char *path, off_t at, struct page_meta *out, struct error *err)
{
    ssize_t got = pread(fd, out, sizeof *out, at);
    if (got < 0) {
        return error_set(err, ERROR_STORE, "%s cannot be read: %s", path, strerror(errno));
    }
    if ((size_t)got < sizeof *out) {
        return error_set(err, ERROR_DAMAGED, "%s is damaged: it is cut short", path);
    }
    if (!is_ours(out)) {
        return at == 0 ? error_set(err, ERROR_STORE, "%s is not a refold table", path)
                       : error_set(err, ERROR_DAMAGED, "%s is damaged: its second page", path);
    }
    return true;
}

/* Each commit writes the other one: they are one transaction apart, but for a file just made. */
static bool metas_agree(const struct page_meta metas[2])
{
    uint64_t low = metas[0].transaction;
    uint64_t high = metas[1].transaction;
    return meta_is_sane(&metas[0], 0) && meta_is_sane(&metas[1], 1) &&
           metas[0].trees[0].pad == metas[1].trees[0].pad &&
           (low + 1 == high || high + 1 == low || (low == 0 && high == 0));
}

/* A run may write one while they are read, so a contradiction is looked at again. */
static bool read_metas(int fd, const char *path, struct page_meta metas[2], struct error *err)
{
    for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        if (!read_meta(fd, path, 0, &metas[0], err) ||
            !read_meta(fd, path, (off_t)metas[0].trees[0].pad, &metas[1], err)) {
            return false;
        }
        if (metas_agree(metas)) {
            return true;
        }
    }
    return error_set(err, ERROR_DAMAGED, "%s is damaged: its first pages contradict", path);
}

/* The first pages' state as of a transaction, which must be one of the last two; 0: the newest. */
static bool read_meta_of(int fd, const char *path, uint64_t transaction, struct page_meta *out,
                         struct error *err)
{
    struct page_meta metas[2];
    if (!read_metas(fd, path, metas, err)) {
        return false;
    }
    size_t newest = metas[1].transaction > metas[0].transaction ? 1 : 0;
    *out = metas[transaction > 0 ? transaction % 2 : newest];
    return true;
}

static bool inspect_once(int fd, const char *path, struct page_meta *meta, bool *whole,
                         struct error *err)
{
    struct stat stat;
    if (!read_meta_of(fd, path, 0, meta, err)) {
        return false;
    }
    if (fstat(fd, &stat) != 0) {
        return error_set(err, ERROR_STORE, "%s cannot be read: %s", path, strerror(errno));
    }
    uint64_t needed = (meta->last_page + 1) * meta->trees[0].pad;
    if (needed > (uint64_t)stat.st_size) {
        return error_set(err, ERROR_DAMAGED, "%s is damaged: it has %jd bytes of %" PRIu64, path,
                         (intmax_t)stat.st_size, needed);
    }
    *whole = stat.st_size <= DEEP_MAX_BYTES;
    return pages_check(fd, meta, *whole, err) || error_wrap(err, "%s", path);
}

/* A run may write meanwhile: what looks damaged is looked at again in its newest state. */
static bool inspect_pages(int fd, const char *path, enum file_state *out, bool *whole,
                          struct error *err)
{
    struct page_meta meta = {.transaction = 0};
    struct page_meta newest = {.transaction = 0};
    bool ok = false;
    do {
        ok = inspect_once(fd, path, &meta, whole, err);
    } while (!ok && read_meta_of(fd, path, 0, &newest, &(struct error){0}) &&
             newest.transaction != meta.transaction);
    *out = meta.trees[1].root == NO_PAGE ? FILE_UNFINISHED : FILE_TABLE;
    return ok;
}

const char *file_follow(const char *path, struct arena *arena)
{
    const char *at = arena_copy(arena, (struct str){path, strlen(path)}).ptr;
    char target[PATH_MAX];
    for (int links = 0; links < LINKS_MAX; links++) {
        ssize_t len = readlink(at, target, sizeof target);
        if (len < 0 || len == sizeof target) {
            return at;
        }
        const char *slash = target[0] == '/' ? NULL : strrchr(at, '/');
        int folder_len = slash == NULL ? 0 : (int)(slash - at) + 1;
        at = arena_format(arena, "%.*s%.*s", folder_len, at, (int)len, target).ptr;
    }
    return at; /* a circle: opening it says so */
}

bool file_inspect(const char *path, enum file_state *out, bool *whole, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *out = FILE_ABSENT;
        return true;
    }
    if (fd < 0) {
        return error_set(err, ERROR_STORE, "%s cannot be opened: %s", path, strerror(errno));
    }
    struct stat stat;
    bool ok = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode);
    if (!ok) {
        error_set(err, ERROR_STORE, "%s is not a file", path);
    } else if (stat.st_size == 0) {
        *out = FILE_UNFINISHED;
    } else {
        ok = inspect_pages(fd, path, out, whole, err);
    }
    (void)close(fd);
    return ok;
}

/* The first pages as of the transaction; a run that commits twice meanwhile has us begin anew. */
static bool pin(struct lmdb_store *store, int fd, MDB_txn **txn, struct page_meta *meta,
                struct error *err)
{
    *txn = NULL;
    do {
        mdb_txn_abort(*txn);
        *txn = NULL;
        int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, txn);
        if (rc != 0) {
            return lmdb_error(store, rc, "reading", err);
        }
        if (!read_meta_of(fd, store->path, mdb_txn_id(*txn), meta, err)) {
            return false;
        }
    } while (meta->transaction != mdb_txn_id(*txn));
    return true;
}

bool file_check(struct lmdb_store *store, MDB_txn **out, struct error *err)
{
    struct page_meta meta;
    int fd = -1;
    (void)mdb_env_get_fd(store->env, &fd);
    return pin(store, fd, out, &meta, err) && pages_check(fd, &meta, true, err);
}

bool file_check_once(struct lmdb_store *store, struct error *err)
{
    (void)pthread_mutex_lock(&store->check_mutex);
    if (!store->checked) {
        MDB_txn *txn = NULL;
        store->checked = file_check(store, &txn, err) || error_wrap(err, "%s", store->path);
        mdb_txn_abort(txn);
    }
    bool ok = store->checked;
    (void)pthread_mutex_unlock(&store->check_mutex);
    return ok;
}
