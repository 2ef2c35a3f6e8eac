#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_internal.h"
#include "engine/undo/undo.h"

#include <string.h>

/* A frame's name: log, sequence from 1. */
enum { NAME_BYTES = 2 * HASH_BYTES, FRAME_BYTES = 1 << 20 };

static MDB_val frame_name(unsigned char *room, uint64_t log, uint64_t sequence)
{
    put_u64(room, log);
    put_u64(room + HASH_BYTES, sequence);
    return (MDB_val){NAME_BYTES, room};
}

/* The newest frame of the log before a sequence; MDB_NOTFOUND. */
static int find_frame(MDB_cursor *cursor, uint64_t log, uint64_t before, uint64_t *sequence,
                      MDB_val *frame)
{
    unsigned char room[NAME_BYTES];
    MDB_val name = frame_name(room, log, before);
    int rc = mdb_cursor_get(cursor, &name, frame, MDB_SET_RANGE);
    if (rc == 0 || rc == MDB_NOTFOUND) {
        rc = mdb_cursor_get(cursor, &name, frame, rc == 0 ? MDB_PREV : MDB_LAST);
    }
    if (rc != 0) {
        return rc;
    }
    const unsigned char *bytes = name.mv_data;
    if (name.mv_size != NAME_BYTES || get_u64(bytes) != log) {
        return MDB_NOTFOUND;
    }
    *sequence = get_u64(bytes + HASH_BYTES);
    return 0;
}

static int append_frame(struct lmdb_store *store, MDB_cursor *cursor, struct str frame)
{
    struct writer *writer = &store->writer;
    unsigned char room[NAME_BYTES];
    uint64_t last = 0;
    MDB_val value;
    int rc = find_frame(cursor, writer->undo_log, UINT64_MAX, &last, &value);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }
    MDB_val name = frame_name(room, writer->undo_log, last + 1);
    value = val_of(frame);
    writer_touched(store, frame.ptr, frame.len);
    return mdb_cursor_put(cursor, &name, &value, MDB_NOOVERWRITE);
}

int undo_put_frame(struct lmdb_store *store)
{
    struct writer *writer = &store->writer;
    if (writer->undo.len == 0) {
        return 0;
    }
    MDB_cursor *cursor = NULL;
    struct buffer frame = {0};
    undo_pack(buffer_str(&writer->undo), &frame);
    int rc = mdb_cursor_open(writer->txn, store->undo, &cursor);
    rc = rc == 0 ? append_frame(store, cursor, buffer_str(&frame)) : rc;
    mdb_cursor_close(cursor);
    buffer_free(&frame);
    writer->undo.len = 0;
    return rc;
}

int undo_add(struct lmdb_store *store, uint64_t log, struct str record)
{
    struct writer *writer = &store->writer;
    if (log == 0 || record.len == 0) {
        return 0;
    }
    int rc = 0;
    if (log != writer->undo_log || writer->undo.len + record.len > FRAME_BYTES) {
        rc = undo_put_frame(store);
    }
    writer->undo_log = log;
    buffer_add(&writer->undo, record);
    return rc;
}

bool lmdb_undo_last(struct store_reader *base, struct undo_place place, struct arena *arena,
                    struct undo_frame *out, struct error *err)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    struct lmdb_store *store = lmdb_of(base->store);
    if (!get_begin(reader, err)) {
        return false;
    }
    MDB_cursor *cursor = NULL;
    MDB_val value;
    struct undo_frame found = {{NULL, 0}, 0};
    int rc = mdb_cursor_open(reader->get_txn, store->undo, &cursor);
    rc = rc == 0 ? find_frame(cursor, place.log, place.before, &found.sequence, &value) : rc;
    if (rc == 0) {
        found.bytes = arena_copy(arena, str_of(value));
    }
    mdb_cursor_close(cursor);
    get_end(reader);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return lmdb_error(store, rc, "reading the undo log", err);
    }
    *out = found;
    return true;
}

static int drop_frames(struct lmdb_store *store, MDB_cursor *cursor, uint64_t log)
{
    int rc = 0;
    while (rc == 0) {
        unsigned char room[NAME_BYTES];
        MDB_val name = frame_name(room, log, 0);
        MDB_val frame;
        rc = mdb_cursor_get(cursor, &name, &frame, MDB_SET_RANGE);
        if (rc != 0 || name.mv_size != NAME_BYTES || get_u64(name.mv_data) != log) {
            break;
        }
        writer_touched(store, name.mv_data, 0);
        rc = mdb_cursor_del(cursor, 0);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

bool lmdb_undo_drop(struct store *base, uint64_t log, struct error *err)
{
    struct lmdb_store *store = lmdb_of(base);
    MDB_cursor *cursor = NULL;
    if (!writer_begin(store, err)) {
        return false;
    }
    int rc = mdb_cursor_open(store->writer.txn, store->undo, &cursor);
    rc = rc == 0 ? drop_frames(store, cursor, log) : rc;
    mdb_cursor_close(cursor);
    return rc == 0 || writer_fail(store, rc, "dropping an undo log", err);
}
