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

/* Two items side by side; their attributes are sorted by name. */
enum side { OLD, NEW };
struct comparison {
    struct value_iter iters[2];
    struct attribute heads[2];
    bool more[2];
};

static void advance(struct comparison *items, enum side side)
{
    items->more[side] = value_next(&items->iters[side], &items->heads[side]);
}

static struct comparison compare_items(struct value old, struct value new)
{
    struct comparison items = {.iters = {value_members(old), value_members(new)}};
    advance(&items, OLD);
    advance(&items, NEW);
    return items;
}

/* The next name of either and its value in both; false after the last. */
static bool next_name(struct comparison *items, struct str *name, struct value values[2])
{
    if (!items->more[OLD] && !items->more[NEW]) {
        return false;
    }
    int order = !items->more[OLD]   ? 1
                : !items->more[NEW] ? -1
                                    : str_compare(items->heads[OLD].name, items->heads[NEW].name);
    values[OLD] = values[NEW] = (struct value){NULL, 0};
    if (order <= 0) {
        *name = items->heads[OLD].name;
        values[OLD] = items->heads[OLD].value;
        advance(items, OLD);
    }
    if (order >= 0) {
        *name = items->heads[NEW].name;
        values[NEW] = items->heads[NEW].value;
        advance(items, NEW);
    }
    return true;
}

static void write_changes(enum undo_kind kind, struct value before, struct value after,
                          struct buffer *out)
{
    struct comparison items = compare_items(before, after);
    struct str name;
    struct value values[2];
    while (next_name(&items, &name, values)) {
        if (value_equal(values[OLD], values[NEW])) {
            continue;
        }
        buffer_add_varint(out, name.len);
        buffer_add(out, name);
        write_digest(values[NEW], out);
        if (kind == UNDO_UPDATE) {
            write_value(values[OLD], out);
        }
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
