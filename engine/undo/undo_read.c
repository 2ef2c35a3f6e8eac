#include "engine/base/varint.h"
#include "engine/undo/undo.h"
#include "engine/undo/undo_bytes_internal.h"

#include <endian.h>
#include <string.h>

static bool damaged(struct error *err, const char *what)
{
    return error_set(err, ERROR_DAMAGED, "damaged undo record: %s", what);
}

static void skip(struct str *rest, size_t size)
{
    *rest = (struct str){rest->ptr + size, rest->len - size};
}

static bool read_counted(struct str *rest, struct str *out, struct error *err)
{
    uint64_t size = 0;
    size_t read = varint_get((const unsigned char *)rest->ptr, rest->len, &size);
    if (read == 0 || size > rest->len - read) {
        return damaged(err, "it is cut short");
    }
    *out = (struct str){rest->ptr + read, (size_t)size};
    skip(rest, read + out->len);
    return true;
}

static bool read_digest(struct str *rest, uint64_t *out, struct error *err)
{
    if (rest->len < sizeof *out) {
        return damaged(err, "it is cut short");
    }
    memcpy(out, rest->ptr, sizeof *out);
    *out = le64toh(*out);
    skip(rest, sizeof *out);
    return true;
}

/* The length of the value that seems to start here; value_check() says whether it is one. */
static size_t value_extent(struct str bytes)
{
    uint64_t size = 0;
    size_t read = 0;
    switch (bytes.ptr[0]) {
    case VALUE_NULL:
        return 1;
    case VALUE_BOOL:
        return 2;
    default:
        read = varint_get((const unsigned char *)bytes.ptr + 1, bytes.len - 1, &size);
        return size > bytes.len ? 0 : 1 + read + (size_t)size;
    }
}

static bool read_value(struct str *rest, struct value *out, struct error *err)
{
    size_t size = rest->len == 0 ? 0 : value_extent(*rest);
    if (size == 0 || size > rest->len) {
        return damaged(err, "it is cut short");
    }
    struct value v = {(const unsigned char *)rest->ptr, size};
    if (!value_check(v, err)) {
        return error_wrap(err, "damaged undo record");
    }
    *out = v;
    skip(rest, size);
    return true;
}

static bool read_value_or_missing(struct str *rest, struct value *out, struct error *err)
{
    if (rest->len > 0 && rest->ptr[0] == UNDO_MISSING) {
        *out = (struct value){NULL, 0};
        skip(rest, 1);
        return true;
    }
    return read_value(rest, out, err);
}

/* In schema order; a key that came from outside has the types of the schema. */
static const struct key_attribute *key_attribute(const struct key_schema *schema, size_t place)
{
    return place < schema->partition_count ? &schema->partition[place]
                                           : &schema->sort[place - schema->partition_count];
}

static bool read_key(const struct key_schema *schema, struct str *rest, struct key *out,
                     struct error *err)
{
    struct str bytes = {NULL, 0};
    if (!read_counted(rest, &bytes, err) ||
        !key_decode(bytes, schema->partition_count + schema->sort_count, out, err)) {
        return error_wrap(err, "damaged undo record");
    }
    for (size_t i = 0; i < out->count; i++) {
        if (value_type(out->parts[i]) != key_attribute(schema, i)->type) {
            return damaged(err, "its key has another type");
        }
    }
    return true;
}

static bool read_image(const struct key_schema *schema, struct str *rest, struct undo_record *out,
                       struct error *err)
{
    if (!read_value(rest, &out->image, err)) {
        return false;
    }
    struct error ignored = {0};
    if (value_type(out->image) != VALUE_M ||
        !key_of_item(schema, out->image, &out->key, &ignored)) {
        return damaged(err, "its image is no item");
    }
    return true;
}

static bool read_change(const struct undo_record *record, struct str *rest,
                        struct undo_attribute *out, struct error *err)
{
    if (!read_counted(rest, &out->name, err) || !read_digest(rest, &out->after_digest, err)) {
        return false;
    }
    if (record->kind == UNDO_MOVE) {
        out->before = value_member(record->image, out->name);
        return true;
    }
    return read_value_or_missing(rest, &out->before, err);
}

/* To the end of the body. */
static bool read_changes(struct str *rest, struct arena *arena, struct undo_record *out,
                         struct error *err)
{
    size_t count = 0, capacity = 0;
    for (; rest->len > 0; count++) {
        if (count == capacity) {
            out->attributes =
                arena_grow(arena, out->attributes, sizeof *out->attributes, &capacity);
        }
        struct undo_attribute *attribute = &out->attributes[count];
        if (!read_change(out, rest, attribute, err)) {
            return false;
        }
        if (count > 0 && str_compare(attribute[-1].name, attribute->name) >= 0) {
            return damaged(err, "its attributes are out of order");
        }
    }
    out->attribute_count = count;
    return true;
}

static const struct undo_attribute *find_change(const struct undo_record *record, struct str name)
{
    for (size_t i = 0; i < record->attribute_count; i++) {
        if (str_equal(record->attributes[i].name, name)) {
            return &record->attributes[i];
        }
    }
    return NULL;
}

/* What a move changed of its key is among its changes; an update changes no key. */
static bool check_key_changes(const struct key_schema *schema, const struct undo_record *record,
                              struct error *err)
{
    if (record->kind == UNDO_MOVE && key_equal(&record->key, &record->new_key)) {
        return damaged(err, "it moves an item onto itself");
    }
    for (size_t i = 0; i < record->key.count; i++) {
        const struct undo_attribute *change = find_change(record, key_attribute(schema, i)->name);
        struct value is =
            record->kind == UNDO_MOVE ? record->new_key.parts[i] : record->key.parts[i];
        bool differs = !value_equal(is, record->key.parts[i]);
        if (differs != (change != NULL) || (differs && change->after_digest != undo_digest(is))) {
            return damaged(err, "its key and its changes do not agree");
        }
    }
    return true;
}

static bool read_update(const struct key_schema *schema, struct str *rest, struct arena *arena,
                        struct undo_record *out, struct error *err)
{
    return read_key(schema, rest, &out->key, err) && read_changes(rest, arena, out, err) &&
           check_key_changes(schema, out, err);
}

static bool read_move(const struct key_schema *schema, struct str *rest, struct arena *arena,
                      struct undo_record *out, struct error *err)
{
    return read_key(schema, rest, &out->new_key, err) &&
           read_digest(rest, &out->after_digest, err) && read_image(schema, rest, out, err) &&
           read_changes(rest, arena, out, err) && check_key_changes(schema, out, err);
}

static bool read_body(const struct key_schema *schema, struct str *rest, struct arena *arena,
                      struct undo_record *out, struct error *err)
{
    switch (out->kind) {
    case UNDO_PUT:
        return read_key(schema, rest, &out->key, err) && read_digest(rest, &out->after_digest, err);
    case UNDO_UPDATE:
        return read_update(schema, rest, arena, out, err);
    case UNDO_DELETE:
        return read_image(schema, rest, out, err);
    case UNDO_MOVE:
        return read_move(schema, rest, arena, out, err);
    default:
        return damaged(err, "its kind is unknown");
    }
}

bool undo_read(const struct key_schema *schema, struct str bytes, struct arena *arena,
               struct undo_record *out, struct error *err)
{
    uint32_t body_size = 0;
    if (bytes.len < UNDO_HEAD_BYTES) {
        return damaged(err, "it is cut short");
    }
    memcpy(&body_size, bytes.ptr + 1, sizeof body_size);
    struct str rest = {bytes.ptr + UNDO_HEAD_BYTES, le32toh(body_size)};
    if (rest.len > bytes.len - UNDO_HEAD_BYTES) {
        return damaged(err, "it is cut short");
    }
    struct undo_record record = {.kind = (enum undo_kind)bytes.ptr[0],
                                 .len = UNDO_HEAD_BYTES + rest.len};
    if (!read_body(schema, &rest, arena, &record, err)) {
        return false;
    }
    if (rest.len > 0) {
        return damaged(err, "bytes follow it");
    }
    *out = record;
    return true;
}
