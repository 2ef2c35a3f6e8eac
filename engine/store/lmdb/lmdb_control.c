#include "engine/base/buffer.h"
#include "engine/store/lmdb/lmdb_internal.h"

#include <string.h>

/* --- within a commit --- */

static int standing_control(struct lmdb_store *store, struct str name, struct str *out)
{
    MDB_val key = val_of(name);
    MDB_val value;
    int rc = mdb_get(store->writer.txn, store->control, &key, &value);
    *out = rc == 0 ? str_of(value) : (struct str){NULL, 0};
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static bool is_as_expected(struct str standing, struct str expected)
{
    if (standing.ptr == NULL || expected.ptr == NULL) {
        return standing.ptr == expected.ptr;
    }
    return str_equal(standing, expected);
}

bool control_check(struct lmdb_store *store, const struct batch *batch, struct error *err)
{
    for (size_t i = 0; i < batch->control_count; i++) {
        const struct control *control = &batch->controls[i];
        struct str standing;
        int rc = control->conditional ? standing_control(store, control->name, &standing) : 0;
        if (rc != 0) {
            return writer_fail(store, rc, "reading a control record", err);
        }
        if (control->conditional && !is_as_expected(standing, control->expected)) {
            writer_abort(store);
            return error_set(err, ERROR_BUSY, "%s: control record %.*s was changed by another run",
                             store->path, STR_ARG(control->name));
        }
    }
    return true;
}

int control_apply(struct lmdb_store *store, const struct batch *batch)
{
    int rc = 0;
    for (size_t i = 0; i < batch->control_count && rc == 0; i++) {
        const struct control *control = &batch->controls[i];
        MDB_val key = val_of(control->name);
        MDB_val value = val_of(control->value);
        if (control->value.ptr == NULL) {
            rc = mdb_del(store->writer.txn, store->control, &key, NULL);
            rc = rc == MDB_NOTFOUND ? 0 : rc;
        } else {
            rc = mdb_put(store->writer.txn, store->control, &key, &value, 0);
        }
        writer_touched(store, control, control->value.len);
    }
    return rc;
}

/* --- reading: what was flushed --- */

bool lmdb_control_get(struct store_reader *base, struct str name, struct arena *arena,
                      struct str *out, struct error *err)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    struct lmdb_store *store = lmdb_of(base->store);
    if (!get_begin(reader, err)) {
        return false;
    }
    MDB_val key = val_of(name);
    MDB_val value;
    int rc = mdb_get(reader->get_txn, store->control, &key, &value);
    if (rc == 0) {
        *out = arena_copy(arena, str_of(value));
    } else {
        *out = (struct str){NULL, 0};
    }
    get_end(reader);
    return rc == 0 || rc == MDB_NOTFOUND || lmdb_error(store, rc, "reading a control record", err);
}

static int list(MDB_cursor *cursor, struct str prefix, struct arena *arena, struct buffer *out)
{
    MDB_val name = val_of(prefix);
    MDB_val value;
    int rc = mdb_cursor_get(cursor, &name, &value, prefix.len == 0 ? MDB_FIRST : MDB_SET_RANGE);
    while (rc == 0 && str_begins(str_of(name), prefix)) {
        struct control control = {.name = arena_copy(arena, str_of(name)),
                                  .value = arena_copy(arena, str_of(value))};
        buffer_add(out, (struct str){(const char *)&control, sizeof control});
        rc = mdb_cursor_get(cursor, &name, &value, MDB_NEXT);
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

bool lmdb_control_list(struct store_reader *base, struct str prefix, struct arena *arena,
                       struct control_list *out, struct error *err)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    struct lmdb_store *store = lmdb_of(base->store);
    if (!get_begin(reader, err)) {
        return false;
    }
    MDB_cursor *cursor = NULL;
    struct buffer found = {0};
    int rc = mdb_cursor_open(reader->get_txn, store->control, &cursor);
    rc = rc == 0 ? list(cursor, prefix, arena, &found) : rc;
    mdb_cursor_close(cursor);
    get_end(reader);
    if (rc == 0) {
        out->list = arena_alloc(arena, found.len + 1);
        out->count = found.len / sizeof *out->list;
        memcpy(out->list, found.len > 0 ? found.bytes : "", found.len);
    }
    buffer_free(&found);
    return rc == 0 || lmdb_error(store, rc, "reading control records", err);
}
