#include "engine/store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER_MAX_BYTES = 256, LEASE_FILE_MODE = 0644, TRIES_MAX = 100 };

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static const char *lease_path(const char *path, struct arena *arena)
{
    return arena_format(arena, "%s-run", path).ptr;
}

static struct str read_owner(int fd, struct arena *arena)
{
    char *text = arena_bytes(arena, OWNER_MAX_BYTES);
    ssize_t len = pread(fd, text, OWNER_MAX_BYTES, 0);
    return len > 0 ? (struct str){text, (size_t)len} : STR("another process");
}

static bool write_owner(int fd, const char *owner)
{
    size_t len = strnlen(owner, OWNER_MAX_BYTES);
    return ftruncate(fd, 0) == 0 && pwrite(fd, owner, len, 0) == (ssize_t)len;
}

/* Nobody has heard of the file of the lease: where its folder is missing, so is the table's. */
static bool not_opened(const char *lease, const char *table, struct error *err)
{
    if (errno == ENOENT) {
        return error_set(err, ERROR_STORE, "%s cannot be made: its folder does not exist", table);
    }
    return error_set(err, ERROR_STORE, "%s cannot be opened: %s", lease, strerror(errno));
}

/* The kernel frees a lock with its last descriptor: a dead owner holds nothing. */
static bool lock(int fd, const char *path, struct error *err)
{
    struct flock all = whole_file();
    if (fcntl(fd, F_OFD_SETLK, &all) == 0) {
        return true;
    }
    if (errno != EAGAIN && errno != EACCES) {
        return error_set(err, ERROR_STORE, "%s-run cannot be locked: %s", path, strerror(errno));
    }
    struct arena *arena = arena_new();
    error_set(err, ERROR_BUSY, "%s is being written by %.*s", path, STR_ARG(read_owner(fd, arena)));
    arena_free(arena);
    return false;
}

/* Whether that is still the file of the name: who takes a table away takes its lease's file along.
 */
static bool is_named(int fd, const char *path)
{
    struct stat held;
    struct stat named;
    return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_dev == named.st_dev &&
           held.st_ino == named.st_ino;
}

static bool take_file(struct lmdb_store *store, struct error *err)
{
    const char *path = lease_path(store->path, store->arena);
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, LEASE_FILE_MODE);
        if (fd < 0) {
            return not_opened(path, store->path, err);
        }
        bool ok = lock(fd, store->path, err);
        if (ok && is_named(fd, path)) {
            store->lease_fd = fd;
            return true;
        }
        (void)close(fd);
        if (!ok) {
            return false;
        }
    }
    return error_set(err, ERROR_BUSY, "%s is deleted again and again", path);
}

/* Between opening the table and getting the lease another run may have changed indexes, or an
 * import have made the file anew. */
static bool look_again(struct lmdb_store *store, struct error *err)
{
    int fd = -1;
    if (store->env == NULL) {
        return true;
    }
    (void)mdb_env_get_fd(store->env, &fd);
    if (!is_named(fd, store->path)) {
        return error_set(err, ERROR_BUSY,
                         "%s was made anew by another process in this very moment\n"
                         "hint: give the command again",
                         store->path);
    }
    return schema_load(store, &store->schema, err);
}

bool lmdb_lease_take(struct store *base, const char *owner, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    if (store->mode == STORE_READ) {
        return error_set(err, ERROR_STORE, "%s is open for reading only", store->path);
    }
    if (store->lease_fd < 0 && !take_file(store, err)) {
        return false;
    }
    if (!write_owner(store->lease_fd, owner)) {
        error_set(err, errno == ENOSPC ? ERROR_FULL : ERROR_STORE, "%s-run cannot be written: %s",
                  store->path, strerror(errno));
        lmdb_lease_release(base);
        return false;
    }
    if (!look_again(store, err)) {
        lmdb_lease_release(base);
        return false;
    }
    return true;
}

bool lease_look(const char *path, struct arena *arena, struct str *owner, struct error *err)
{
    const char *lease = lease_path(path, arena);
    int fd = open(lease, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        *owner = (struct str){NULL, 0};
        return true;
    }
    if (fd < 0) {
        return error_set(err, ERROR_STORE, "%s cannot be opened: %s", lease, strerror(errno));
    }
    struct flock all = whole_file();
    bool ok = fcntl(fd, F_OFD_GETLK, &all) == 0;
    if (!ok) {
        error_set(err, ERROR_STORE, "%s cannot be looked at: %s", lease, strerror(errno));
    } else {
        *owner = all.l_type == F_UNLCK ? (struct str){NULL, 0} : read_owner(fd, arena);
    }
    (void)close(fd);
    return ok;
}

bool lmdb_lease_owner(struct store *base, struct arena *arena, struct str *owner, struct error *err)
{
    return lease_look(lmdb_of(base)->path, arena, owner, err);
}

void lmdb_lease_release(struct store *base)
{
    struct lmdb_store *store = lmdb_of(base);
    writer_abort(store);
    if (store->lease_fd >= 0) {
        (void)close(store->lease_fd);
        store->lease_fd = -1;
    }
}
