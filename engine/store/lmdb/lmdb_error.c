#include "engine/store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <sys/statvfs.h>

enum { FULL_BELOW_BYTES = 1 << 20, SHOWN_KEY_BYTES = 48 };

/* LMDB reports a short write as EIO; on a full device it is the want of space. */
static bool is_full(const struct lmdb_store *store, int rc)
{
    if (rc == ENOSPC || rc == EDQUOT || rc == EFBIG || rc == MDB_MAP_FULL) {
        return true;
    }
    struct statvfs space;
    return rc == EIO && statvfs(store->path, &space) == 0 &&
           space.f_bavail * space.f_frsize < FULL_BELOW_BYTES;
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
