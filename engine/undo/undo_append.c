#include "engine/base/hash.h"
#include "engine/undo/undo.h"
#include "engine/undo/undo_bytes_internal.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static void write_digest(struct value v, struct buffer *out)
{
    uint64_t digest = htole64(undo_digest(v));
    buffer_add(out, (struct str){(const char *)&digest, sizeof digest});
}

static void write_value(struct value v, struct buffer *out)
{
    if (value_is_missing(v)) {
        buffer_add_char(out, UNDO_MISSING);
    } else {
        buffer_add(out, (struct str){(const char *)v.bytes, v.len});
    }
}

static void write_key(const struct key *key, struct buffer *out)
{
    size_t size = 0;
    for (size_t i = 0; i < key->count; i++) {
        size += key->parts[i].len;
    }
    buffer_add_varint(out, size);
    key_encode(key, out);
}

/* Of two items whose attributes are sorted by name; `kind` says whether an image has the values. */
static void write_changes(enum undo_kind kind, struct value before, struct value after,
                          struct buffer *out)
{
    struct value_iter old_iter = value_members(before), new_iter = value_members(after);
    struct attribute old, new;
    bool has_old = value_next(&old_iter, &old), has_new = value_next(&new_iter, &new);
    while (has_old || has_new) {
        int order = !has_old ? 1 : !has_new ? -1 : str_compare(old.name, new.name);
        struct value was = order <= 0 ? old.value : (struct value){NULL, 0};
        struct value is = order >= 0 ? new.value : (struct value){NULL, 0};
        if (!value_equal(was, is)) {
            struct str name = order <= 0 ? old.name : new.name;
            buffer_add_varint(out, name.len);
            buffer_add(out, name);
            write_digest(is, out);
            if (kind == UNDO_UPDATE) {
                write_value(was, out);
            }
        }
        has_old = order <= 0 ? value_next(&old_iter, &old) : has_old;
        has_new = order >= 0 ? value_next(&new_iter, &new) : has_new;
    }
}

static enum undo_kind kind_of(const struct key_schema *schema, struct value before,
                              struct value after, struct key *newest)
{
    struct error err = {0};
    struct key old = {0};
    bool ok = value_is_missing(before) || key_of_item(schema, before, &old, &err);
    ok = ok && key_of_item(schema, value_is_missing(after) ? before : after, newest, &err);
    assert(ok);
    (void)ok;
    if (value_is_missing(before)) {
        return UNDO_PUT;
    }
    if (value_is_missing(after)) {
        return UNDO_DELETE;
    }
    return key_equal(&old, newest) ? UNDO_UPDATE : UNDO_MOVE;
}

void undo_append(const struct key_schema *schema, struct value before, struct value after,
                 struct buffer *out)
{
    struct key newest = {0};
    enum undo_kind kind = kind_of(schema, before, after, &newest);
    size_t start = out->len;
    (void)buffer_reserve(out, UNDO_HEAD_BYTES);
    out->len += UNDO_HEAD_BYTES;
    if (kind != UNDO_DELETE) {
        write_key(&newest, out);
    }
    if (kind == UNDO_PUT || kind == UNDO_MOVE) {
        write_digest(after, out);
    }
    if (kind == UNDO_DELETE || kind == UNDO_MOVE) {
        write_value(before, out);
    }
    if (kind == UNDO_UPDATE || kind == UNDO_MOVE) {
        write_changes(kind, before, after, out);
    }
    uint32_t size = htole32((uint32_t)(out->len - start - UNDO_HEAD_BYTES));
    out->bytes[start] = (char)kind;
    memcpy(out->bytes + start + 1, &size, sizeof size);
}
