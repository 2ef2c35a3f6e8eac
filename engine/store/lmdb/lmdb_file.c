#include "engine/store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first two pages of an LMDB 0.9 file, as a 64-bit process writes them. */
struct meta_tree {
    uint32_t pad; /* of the first: the page size */
    uint16_t flags;
    uint16_t depth;
    uint64_t branch_pages;
    uint64_t leaf_pages;
    uint64_t overflow_pages;
    uint64_t entries;
    uint64_t root;
};

struct meta_page {
    uint64_t page_number;
    uint16_t pad;
    uint16_t flags;
    uint16_t lower;
    uint16_t upper;
    uint32_t magic;
    uint32_t version;
    uint64_t address;
    uint64_t map_size;
    struct meta_tree trees[2]; /* free pages, named trees */
    uint64_t last_page;
    uint64_t transaction;
};

_Static_assert(sizeof(struct meta_page) == 152, "no padding: read as it stands in the file");
_Static_assert(sizeof(size_t) == 8, "LMDB's 64-bit layout");

enum {
    PAGE_IS_META = 0x08,
    META_VERSION = 1,
    PAGE_MIN_BYTES = 512,
    PAGE_MAX_BYTES = 65536,
    TREE_DEPTH_MAX = 32
};

static const uint32_t META_MAGIC = 0xBEEFC0DE;
static const uint64_t NO_PAGE = UINT64_MAX;

static bool is_power_of_two(uint32_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static bool is_ours(const struct meta_page *meta)
{
    uint32_t size = meta->trees[0].pad;
    return (meta->flags & PAGE_IS_META) != 0 && meta->magic == META_MAGIC &&
           meta->version == META_VERSION && size >= PAGE_MIN_BYTES && size <= PAGE_MAX_BYTES &&
           is_power_of_two(size);
}

static bool tree_is_sane(const struct meta_tree *tree, uint64_t last_page)
{
    if (tree->root == NO_PAGE) {
        return tree->depth == 0 && tree->entries == 0;
    }
    return tree->root > 1 && tree->root <= last_page && tree->depth > 0 &&
           tree->depth <= TREE_DEPTH_MAX;
}

static bool meta_is_sane(const struct meta_page *meta, uint64_t number)
{
    return meta->page_number == number && meta->last_page >= 1 &&
           meta->last_page < UINT64_MAX / PAGE_MAX_BYTES &&
           tree_is_sane(&meta->trees[0], meta->last_page) &&
           tree_is_sane(&meta->trees[1], meta->last_page);
}

static bool read_meta(int fd, const char *path, off_t at, struct meta_page *out, struct error *err)
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

static bool inspect_pages(int fd, const char *path, uint64_t size, enum file_state *out,
                          struct error *err)
{
    struct meta_page metas[2];
    if (!read_meta(fd, path, 0, &metas[0], err)) {
        return false;
    }
    uint32_t page_bytes = metas[0].trees[0].pad;
    if (!read_meta(fd, path, (off_t)page_bytes, &metas[1], err)) {
        return false;
    }
    size_t newest = metas[1].transaction > metas[0].transaction ? 1 : 0;
    const struct meta_page *meta = &metas[newest];
    if (metas[1].trees[0].pad != page_bytes || !meta_is_sane(meta, newest)) {
        return error_set(err, ERROR_DAMAGED, "%s is damaged: its first pages contradict", path);
    }
    if ((meta->last_page + 1) * page_bytes > size) {
        return error_set(err, ERROR_DAMAGED, "%s is damaged: it has %zu bytes of %zu", path,
                         (size_t)size, (size_t)((meta->last_page + 1) * page_bytes));
    }
    *out = meta->trees[1].root == NO_PAGE ? FILE_UNFINISHED : FILE_TABLE;
    return true;
}

bool file_inspect(const char *path, enum file_state *out, struct error *err)
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
        ok = inspect_pages(fd, path, (uint64_t)stat.st_size, out, err);
    }
    (void)close(fd);
    return ok;
}
