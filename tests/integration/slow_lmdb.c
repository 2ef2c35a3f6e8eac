/* slow_lmdb — stands before LMDB (LD_PRELOAD) and makes an index take minutes: first a millisecond
 * for each item or entry, so that a run tells of its progress, then twenty. SLOW says which: "read"
 * (items, once a tree was made) or "append" (entries of an index). */
#include <dlfcn.h>
#include <lmdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BRISK_CALLS = 14000, BRISK_NS = 1000000, SLOW_NS = 20000000 };

static atomic_uint calls;
static atomic_bool made;

static void *next_of(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        abort();
    }
    return found;
}

static bool is_slow(const char *what)
{
    const char *slow = getenv("SLOW");
    return slow != NULL && strcmp(slow, what) == 0;
}

static void take_time(void)
{
    bool brisk = atomic_fetch_add(&calls, 1) < BRISK_CALLS;
    struct timespec rest = {.tv_nsec = brisk ? BRISK_NS : SLOW_NS};
    (void)nanosleep(&rest, NULL);
}

int mdb_dbi_open(MDB_txn *txn, const char *name, unsigned flags, MDB_dbi *dbi)
{
    int (*real)(MDB_txn *, const char *, unsigned, MDB_dbi *);
    *(void **)&real = next_of("mdb_dbi_open");
    if ((flags & MDB_CREATE) != 0) {
        atomic_store(&made, true);
    }
    return real(txn, name, flags, dbi);
}

int mdb_cursor_get(MDB_cursor *cursor, MDB_val *key, MDB_val *data, MDB_cursor_op op)
{
    int (*real)(MDB_cursor *, MDB_val *, MDB_val *, MDB_cursor_op);
    *(void **)&real = next_of("mdb_cursor_get");
    if (op == MDB_NEXT && atomic_load(&made) && is_slow("read")) {
        take_time();
    }
    return real(cursor, key, data, op);
}

/* Items are appended with MDB_RESERVE. */
int mdb_cursor_put(MDB_cursor *cursor, MDB_val *key, MDB_val *data, unsigned flags)
{
    int (*real)(MDB_cursor *, MDB_val *, MDB_val *, unsigned);
    *(void **)&real = next_of("mdb_cursor_put");
    if (flags == MDB_APPEND && is_slow("append")) {
        take_time();
    }
    return real(cursor, key, data, flags);
}
