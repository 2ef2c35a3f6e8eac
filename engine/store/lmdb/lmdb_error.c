#include "engine/store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROBE_BYTES = 64 << 20, SHOWN_KEY_BYTES = 48 };

/* Whether the file could not grow by what one commit may need. */
static bool cannot_grow(const struct lmdb_store *store)
{
    struct stat file;
    int fd = -1;
    if (store->mode == STORE_READ || store->env == NULL || mdb_env_get_fd(store->env, &fd) != 0 ||
        fstat(fd, &file) != 0) {
        return false;
    }
    bool grew = posix_fallocate(fd, file.st_size, PROBE_BYTES) == 0;
    return ftruncate(fd, file.st_size) != 0 || !grew;
}

/* LMDB reports a short write as EIO; where the file cannot grow, it is the want of space. */
static bool is_full(const struct lmdb_store *store, int rc)
{
    return error_code_of_write(rc) == ERROR_FULL || rc == MDB_MAP_FULL ||
           (rc == EIO && cannot_grow(store));
}

static bool is_damage(int rc)
{
    return rc == MDB_CORRUPTED || rc == MDB_PAGE_NOTFOUND || rc == MDB_INVALID ||
           rc == MDB_CURSOR_FULL || rc == MDB_INCOMPATIBLE;
}

bool lmdb_error(const struct lmdb_store *store, int rc, const char *doing, struct error *err)
{
    if (is_full(store, rc)) {
        return error_set(err, ERROR_FULL,
                         "no space left on the device holding %s: nothing since the last "
                         "checkpoint was written\nhint: make room and give the same command",
                         store->path);
    }
    if (is_damage(rc)) {
        return error_set(err, ERROR_DAMAGED, "%s is damaged: %s: %s\nhint: refold verify %s",
                         store->path, doing, mdb_strerror(rc), store->path);
    }
    return error_set(err, ERROR_STORE, "%s: %s: %s", store->path, doing, mdb_strerror(rc));
}

bool lmdb_damaged_record(const struct lmdb_store *store, MDB_val key, struct error *err)
{
    struct buffer shown = {0};
    const unsigned char *bytes = key.mv_data;
    for (size_t i = HASH_BYTES; i < key.mv_size && i < HASH_BYTES + SHOWN_KEY_BYTES; i++) {
        bool plain = bytes[i] > ' ' && bytes[i] < 0x7f && bytes[i] != '\\';
        buffer_format(&shown, plain ? "%c" : "\\x%02x", bytes[i]);
    }
    error_set(err, ERROR_DAMAGED,
              "%s is damaged: the record at key %.*s fails its checksum\nhint: refold verify %s",
              store->path, STR_ARG(buffer_str(&shown)), store->path);
    buffer_free(&shown);
    return false;
}
