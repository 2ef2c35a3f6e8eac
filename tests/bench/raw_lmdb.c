/* raw_lmdb — the yardstick of the embedded table: the least that LMDB must do for a plan that sets
 * two attributes of 1,000,000 items of 300 bytes and indexes them, with no item language, no
 * checks and no undo.
 *
 * raw_lmdb FILE ITEMS apply-new-index       entries are sorted and appended at the end
 * raw_lmdb FILE ITEMS apply-standing-index  each item's entry is inserted where it belongs, in the
 * item's transaction
 */
#include "engine/base/arena.h"

#include <inttypes.h>
#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_BYTES = 36,
    RECORD_BYTES = 300,
    GROWN_BYTES = 360,
    ENTRY_KEY_BYTES = 64,
    ENTRY_BYTES = 30,
    ENTRY_PAGE_BYTES = 4096, /* the page that an entry changes */
    COMMIT_BYTES = 48 << 20
};

struct entry {
    unsigned char key[ENTRY_KEY_BYTES];
    unsigned char value[ENTRY_BYTES];
};

struct bench {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi items;
    MDB_dbi index;
    MDB_cursor *item_cursor;
    MDB_cursor *index_cursor;
    size_t written;
    uint64_t count;
    struct entry *entries;
};

static void must(int rc)
{
    if (rc != 0) {
        (void)fprintf(stderr, "raw_lmdb: %s\n", mdb_strerror(rc));
        exit(EXIT_FAILURE);
    }
}

static uint64_t mix(uint64_t n) /* splitmix64 */
{
    n += UINT64_C(0x9e3779b97f4a7c15);
    n = (n ^ (n >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ (n >> 27)) * UINT64_C(0x94d049bb133111eb);
    return n ^ (n >> 31);
}

static void fill(unsigned char *out, size_t size, uint64_t seed)
{
    for (size_t i = 0; i < size; i++) {
        out[i] = (unsigned char)(seed >> (i % 8 * 8));
    }
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void begin(struct bench *bench)
{
    must(mdb_txn_begin(bench->env, NULL, 0, &bench->txn));
    must(mdb_dbi_open(bench->txn, "items", MDB_CREATE, &bench->items));
    must(mdb_dbi_open(bench->txn, "index", MDB_CREATE, &bench->index));
    must(mdb_cursor_open(bench->txn, bench->items, &bench->item_cursor));
    must(mdb_cursor_open(bench->txn, bench->index, &bench->index_cursor));
    bench->written = 0;
}

static void commit(struct bench *bench)
{
    must(mdb_txn_commit(bench->txn));
}

/* Commits and begins anew once `bytes` more make a commit full. */
static bool wrote(struct bench *bench, size_t bytes)
{
    bench->written += bytes;
    if (bench->written < COMMIT_BYTES) {
        return false;
    }
    commit(bench);
    begin(bench);
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;
    return memcmp(left->key, right->key, ENTRY_KEY_BYTES);
}

static void append_entries(struct bench *bench)
{
    qsort(bench->entries, bench->count, sizeof *bench->entries, compare_entries);
    for (uint64_t i = 0; i < bench->count; i++) {
        MDB_val key = {ENTRY_KEY_BYTES, bench->entries[i].key};
        MDB_val value = {ENTRY_BYTES, bench->entries[i].value};
        must(mdb_cursor_put(bench->index_cursor, &key, &value, MDB_APPEND));
        (void)wrote(bench, ENTRY_KEY_BYTES + ENTRY_BYTES);
    }
}

static void make_entry(struct bench *bench, uint64_t number)
{
    struct entry *entry = &bench->entries[number];
    fill(entry->key, ENTRY_KEY_BYTES, mix(number));
    fill(entry->value, ENTRY_BYTES, number);
}

static void load(struct bench *bench)
{
    unsigned char key_bytes[KEY_BYTES];
    unsigned char record[RECORD_BYTES];
    begin(bench);
    for (uint64_t i = 0; i < bench->count; i++) {
        memset(key_bytes, 'k', sizeof key_bytes);
        uint64_t place = i * (UINT64_MAX / bench->count);
        for (int b = 0; b < 8; b++) {
            key_bytes[b] = (unsigned char)(place >> (56 - 8 * b));
        }
        fill(record, sizeof record, i);
        MDB_val key = {sizeof key_bytes, key_bytes};
        MDB_val value = {sizeof record, record};
        must(mdb_cursor_put(bench->item_cursor, &key, &value, MDB_APPEND));
        (void)wrote(bench, KEY_BYTES + RECORD_BYTES);
    }
    commit(bench);
}

static void insert_entry(struct bench *bench, uint64_t number)
{
    make_entry(bench, number);
    MDB_val key = {ENTRY_KEY_BYTES, bench->entries[number].key};
    MDB_val entry = {ENTRY_BYTES, bench->entries[number].value};
    must(mdb_cursor_put(bench->index_cursor, &key, &entry, 0));
}

static void apply(struct bench *bench, bool indexed)
{
    unsigned char grown[GROWN_BYTES];
    unsigned char key_bytes[KEY_BYTES];
    MDB_val key;
    MDB_val value;
    begin(bench);
    must(mdb_cursor_get(bench->item_cursor, &key, &value, MDB_FIRST));
    for (uint64_t i = 0; i < bench->count; i++) {
        memcpy(key_bytes, key.mv_data, sizeof key_bytes);
        memcpy(grown, value.mv_data, RECORD_BYTES);
        fill(grown + RECORD_BYTES, GROWN_BYTES - RECORD_BYTES, i);
        MDB_val at = {sizeof key_bytes, key_bytes};
        MDB_val record = {sizeof grown, grown};
        must(mdb_cursor_put(bench->item_cursor, &at, &record, MDB_CURRENT));
        size_t bytes = KEY_BYTES + GROWN_BYTES;
        if (indexed) {
            insert_entry(bench, i);
            bytes += ENTRY_PAGE_BYTES;
        } else {
            make_entry(bench, i);
        }
        if (wrote(bench, bytes)) {
            at = (MDB_val){sizeof key_bytes, key_bytes};
            must(mdb_cursor_get(bench->item_cursor, &at, &value, MDB_SET));
        }
        int rc = mdb_cursor_get(bench->item_cursor, &key, &value, MDB_NEXT);
        must(rc == MDB_NOTFOUND && i == bench->count - 1 ? 0 : rc);
    }
    if (!indexed) {
        append_entries(bench);
    }
    commit(bench);
}

int main(int argc, char **argv)
{
    bool indexed = argc == 4 && strcmp(argv[3], "apply-standing-index") == 0;
    if (argc != 4 || (!indexed && strcmp(argv[3], "apply-new-index") != 0)) {
        (void)fprintf(stderr, "usage: raw_lmdb FILE ITEMS apply-new-index|apply-standing-index\n");
        return EXIT_FAILURE;
    }
    struct bench bench = {.count = strtoull(argv[2], NULL, 10)};
    bench.entries = heap_alloc(bench.count * sizeof *bench.entries);
    (void)unlink(argv[1]);
    must(mdb_env_create(&bench.env));
    must(mdb_env_set_mapsize(bench.env, (size_t)1 << 40));
    must(mdb_env_set_maxdbs(bench.env, 4));
    must(mdb_env_open(bench.env, argv[1], MDB_NOSUBDIR, 0644));
    load(&bench);
    double start = seconds();
    apply(&bench, indexed);
    double took = seconds() - start;
    (void)printf("%" PRIu64 " items in %.3f s: %.0f items/s\n", bench.count, took,
                 (double)bench.count / took);
    mdb_env_close(bench.env);
    heap_free(bench.entries);
    return EXIT_SUCCESS;
}
