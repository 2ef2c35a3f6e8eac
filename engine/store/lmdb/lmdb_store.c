#include "engine/store/lmdb/lmdb_store.h"

#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Readers: two slots for each reader thread of each process; one run may have 256. */
enum { READERS_MAX = 2046, TREES_MAX = 64, FILE_MODE = 0644 };

static const size_t map_max_bytes = (size_t)1 << 40;
static const size_t map_min_bytes = (size_t)1 << 30;
static const size_t default_memory_bytes = (size_t)32 << 20;

static void close_env(struct lmdb_store *store)
{
    if (store->env != NULL) {
        mdb_env_close(store->env);
        store->env = NULL;
    }
}

static int open_env_sized(struct lmdb_store *store, unsigned flags, size_t map_bytes)
{
    int rc = mdb_env_create(&store->env);
    rc = rc == 0 ? mdb_env_set_mapsize(store->env, map_bytes) : rc;
    rc = rc == 0 ? mdb_env_set_maxreaders(store->env, READERS_MAX) : rc;
    rc = rc == 0 ? mdb_env_set_maxdbs(store->env, TREES_MAX) : rc;
    rc = rc == 0 ? mdb_env_open(store->env, store->path, flags, FILE_MODE) : rc;
    if (rc != 0) {
        close_env(store);
    }
    return rc;
}

/* Address space is free, but may be rationed: then half of it, and so on. */
static bool open_env(struct lmdb_store *store, unsigned flags, struct error *err)
{
    size_t map_bytes = map_max_bytes;
    int rc = open_env_sized(store, flags, map_bytes);
    while (rc == ENOMEM && map_bytes > map_min_bytes) {
        map_bytes /= 2;
        rc = open_env_sized(store, flags, map_bytes);
    }
    return rc == 0 || lmdb_error(store, rc, "opening it", err);
}

static const char *beside(const struct lmdb_store *store, const char *end)
{
    return arena_format(store->arena, "%s%s", store->path, end).ptr;
}

static bool can_write(const char *path)
{
    return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

static const char *parent_folder(const struct lmdb_store *store)
{
    const char *slash = strrchr(store->path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - store->path) + 1;
    return arena_format(store->arena, "%.*s.", (int)len, store->path).ptr;
}

/* LMDB's lock file can be opened for writing, or made. */
static bool can_lock(const struct lmdb_store *store)
{
    return can_write(beside(store, "-lock")) ||
           (errno == ENOENT && can_write(parent_folder(store)));
}

/* A second name of the file would have a lock file and a lease of its own. */
static bool check_names(const struct lmdb_store *store, struct error *err)
{
    struct stat stat_of;
    if (store->mode == STORE_READ || stat(store->path, &stat_of) != 0 || stat_of.st_nlink <= 1) {
        return true;
    }
    return error_set(err, ERROR_STORE,
                     "%s has other names too (hard links), under which others could write it "
                     "unseen\n"
                     "hint: write a copy of it",
                     store->path);
}

/* Without a lock file no run can know of this reader, and would overwrite what it reads. */
static bool open_unlocked(struct lmdb_store *store, struct error *err)
{
    struct str owner;
    if (!lease_look(store->path, store->arena, &owner, err)) {
        return false;
    }
    if (owner.ptr != NULL) {
        return error_set(err, ERROR_BUSY,
                         "%s is being written by %.*s, and cannot be read meanwhile without the "
                         "right to write %s-lock",
                         store->path, STR_ARG(owner), store->path);
    }
    store->unlocked = true;
    return open_env(store, MDB_NOSUBDIR | MDB_NOTLS | MDB_RDONLY | MDB_NOLOCK, err);
}

static bool open_existing(struct lmdb_store *store, struct error *err)
{
    enum file_state state = FILE_ABSENT;
    if (!file_inspect(store->path, &state, &store->checked, err)) {
        return false;
    }
    if (state == FILE_ABSENT) {
        return error_set(err, ERROR_STORE, "%s does not exist\nhint: refold import makes a table",
                         store->path);
    }
    if (state == FILE_UNFINISHED) {
        return error_set(err, ERROR_STORE,
                         "%s holds nothing: its creation was interrupted\n"
                         "hint: give the command again that was to make it",
                         store->path);
    }
    if (!check_names(store, err)) {
        return false;
    }
    if (store->mode == STORE_READ && !can_lock(store)) {
        return open_unlocked(store, err);
    }
    unsigned readonly = store->mode == STORE_READ ? MDB_RDONLY : 0;
    return open_env(store, MDB_NOSUBDIR | MDB_NOTLS | readonly, err);
}

/* The file is there after a power cut too. */
static bool sync_folder(const struct lmdb_store *store, struct error *err)
{
    int fd = open(parent_folder(store), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok || error_set(err, ERROR_STORE, "the folder of %s cannot be synced: %s", store->path,
                           strerror(errno));
}

/* The lease comes first, so that two cannot make one table. */
static bool create(struct lmdb_store *store, const struct table_desc *table, struct error *err)
{
    enum file_state state = FILE_ABSENT;
    struct lmdb_schema *schema = arena_alloc(store->arena, sizeof *schema);
    if (!schema_make(table, store->arena, schema, err) ||
        !lmdb_lease_take(&store->base, "a process that makes the table", err) ||
        !file_inspect(store->path, &state, &store->checked, err)) {
        return false;
    }
    if (state == FILE_TABLE) {
        return error_set(err, ERROR_STORE, "%s is there already", store->path);
    }
    bool ok = open_env(store, MDB_NOSUBDIR | MDB_NOTLS, err) && schema_create(store, schema, err) &&
              sync_folder(store, err);
    if (!ok) {
        (void)unlink(store->path);
        (void)unlink(beside(store, "-lock"));
    }
    return ok;
}

static void lmdb_close(struct store *base)
{
    struct lmdb_store *store = lmdb_of(base);
    load_free(store->load);
    writer_abort(store);
    close_env(store);
    lmdb_lease_release(base);
    schema_free(&store->schema);
    buffer_free(&store->writer.undo);
    buffer_free(&store->writer.scratch);
    buffer_free(&store->writer.table_key);
    (void)pthread_mutex_destroy(&store->dbi_mutex);
    (void)pthread_mutex_destroy(&store->check_mutex);
    arena_free(store->arena);
    heap_free(store);
}

static const struct store_ops ops = {
    .close = lmdb_close,
    .describe = lmdb_describe,
    .reader_open = lmdb_reader_open,
    .reader_close = lmdb_reader_close,
    .read_page = lmdb_read_page,
    .query = lmdb_query,
    .release = lmdb_release,
    .get = lmdb_get,
    .commit = lmdb_commit,
    .flush = lmdb_flush,
    .index_create = lmdb_index_create,
    .index_finish = lmdb_index_finish,
    .index_drop = lmdb_index_drop,
    .control_get = lmdb_control_get,
    .control_list = lmdb_control_list,
    .undo_last = lmdb_undo_last,
    .undo_drop = lmdb_undo_drop,
    .lease_take = lmdb_lease_take,
    .lease_owner = lmdb_lease_owner,
    .lease_release = lmdb_lease_release,
    .order_key = lmdb_order_key,
    .load_open = lmdb_load_open,
    .load_item = lmdb_load_item,
    .load_close = lmdb_load_close,
    .load_abort = lmdb_load_abort,
    .verify = lmdb_verify,
    .needs_before = false,
    .keeps_pass = true,
};

static const char *copy_text(struct arena *arena, const char *text)
{
    return arena_copy(arena, (struct str){text, strlen(text)}).ptr;
}

/* Sorted runs go where the caller says, else to $TMPDIR, else beside the table. */
static const char *choose_temp_dir(const struct lmdb_store *store, const char *wanted)
{
    const char *chosen = wanted != NULL ? wanted : getenv("TMPDIR");
    return chosen != NULL && chosen[0] != '\0' ? copy_text(store->arena, chosen)
                                               : parent_folder(store);
}

bool lmdb_store_open(const char *path, const struct store_options *options, struct store **out,
                     struct error *err)
{
    struct lmdb_store *store = heap_alloc(sizeof *store);
    store->base.ops = &ops;
    store->arena = arena_new();
    store->path = file_follow(path, store->arena);
    store->base.run_files = beside(store, "-");
    store->temp_dir = choose_temp_dir(store, options->temp_dir);
    store->memory_bytes = options->memory_bytes > 0 ? options->memory_bytes : default_memory_bytes;
    store->voice = options->voice;
    store->stop = options->stop;
    store->mode = options->mode;
    store->lease_fd = -1;
    (void)pthread_mutex_init(&store->dbi_mutex, NULL);
    (void)pthread_mutex_init(&store->check_mutex, NULL);
    bool ok = options->mode == STORE_CREATE ? create(store, options->create, err)
                                            : open_existing(store, err);
    ok = ok && schema_load(store, &store->schema, err);
    if (!ok) {
        lmdb_close(&store->base);
        return false;
    }
    *out = &store->base;
    return true;
}

void lmdb_store_remove(const char *path)
{
    static const char *const ends[] = {"", "-lock", "-run"};
    struct arena *arena = arena_new();
    const char *file = file_follow(path, arena);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        (void)unlink(arena_format(arena, "%s%s", file, ends[i]).ptr);
    }
    arena_free(arena);
}

bool lmdb_store_exists(const char *path, bool *out, struct error *err)
{
    enum file_state state = FILE_ABSENT;
    bool whole = false;
    *out = !file_inspect(path, &state, &whole, err) || state == FILE_TABLE;
    return true;
}
