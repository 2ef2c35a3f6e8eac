#include "engine/item/key.h"

#include "engine/base/utf8.h"
#include "engine/base/varint.h"
#include "engine/item/item_json.h"
#include "engine/item/number.h"

#include <assert.h>
#include <stdint.h>

enum { KEY_NAME_MAX_BYTES = 255, SHOWN_BYTES = 60 };

bool key_attribute_parse(struct str text, struct key_attribute *out, struct error *err)
{
    size_t colon = text.len;
    while (colon > 0 && text.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return error_set(err, ERROR_PLAN, "key attribute '%.*s' has no type: write NAME:S",
                         STR_ARG(text));
    }
    struct str name = {text.ptr, colon - 1};
    struct str type_name = {text.ptr + colon, text.len - colon};
    enum value_type type = value_type_named(type_name);
    if (type != VALUE_S && type != VALUE_N && type != VALUE_B) {
        return error_set(err, ERROR_PLAN, "key attribute '%.*s': type '%.*s' is not S, N or B",
                         STR_ARG(name), STR_ARG(type_name));
    }
    if (name.len == 0 || name.len > KEY_NAME_MAX_BYTES) {
        return error_set(err, ERROR_PLAN, "a key attribute's name has 1 to %d bytes, not %zu",
                         KEY_NAME_MAX_BYTES, name.len);
    }
    *out = (struct key_attribute){name, type};
    return true;
}

static size_t part_count(const struct key_schema *schema)
{
    return schema->partition_count + schema->sort_count;
}

static const struct key_attribute *part_attribute(const struct key_schema *schema, size_t part)
{
    return part < schema->partition_count ? &schema->partition[part]
                                          : &schema->sort[part - schema->partition_count];
}

/* One part that is there: its type and that it is not empty. */
static bool check_part(const struct key_attribute *attribute, struct value v, struct error *err)
{
    if (value_type(v) != attribute->type) {
        return error_set(err, ERROR_ITEM, "key attribute %.*s: expected %s, found %s",
                         STR_ARG(attribute->name), value_type_name(attribute->type),
                         value_type_name(value_type(v)));
    }
    if (value_bytes(v).len == 0) {
        return error_set(err, ERROR_ITEM, "key attribute %.*s: it is empty",
                         STR_ARG(attribute->name));
    }
    return true;
}

/* Parts from `from` to `to` together; `limit` is DynamoDB's for that half of the key. */
static bool check_size(const struct key_schema *schema, const struct key *key, bool sort,
                       struct error *err)
{
    size_t from = sort ? schema->partition_count : 0;
    size_t to = sort ? part_count(schema) : schema->partition_count;
    size_t limit = sort ? SORT_KEY_MAX_BYTES : PARTITION_KEY_MAX_BYTES;
    size_t size = 0;
    for (size_t i = from; i < to; i++) {
        size += value_is_missing(key->parts[i]) ? 0 : value_bytes(key->parts[i]).len;
    }
    if (size > limit) {
        return error_set(err, ERROR_LIMIT, "key attribute %.*s: %zu bytes, over the limit of %zu",
                         STR_ARG(part_attribute(schema, from)->name), size, limit);
    }
    return true;
}

/* Finds the parts and checks those that are there; *missing is the first that is not. */
static bool find_parts(const struct key_schema *schema, struct value item, struct key *key,
                       const struct key_attribute **missing, struct error *err)
{
    *missing = NULL;
    for (size_t i = 0; i < key->count; i++) {
        const struct key_attribute *attribute = part_attribute(schema, i);
        key->parts[i] = value_member(item, attribute->name);
        if (value_is_missing(key->parts[i])) {
            *missing = *missing == NULL ? attribute : *missing;
        } else if (!check_part(attribute, key->parts[i], err)) {
            return false;
        }
    }
    return check_size(schema, key, false, err) && check_size(schema, key, true, err);
}

const struct key_attribute *key_schema_find(const struct key_schema *schema, struct str name)
{
    for (size_t i = 0; i < schema->partition_count; i++) {
        if (str_equal(schema->partition[i].name, name)) {
            return &schema->partition[i];
        }
    }
    for (size_t i = 0; i < schema->sort_count; i++) {
        if (str_equal(schema->sort[i].name, name)) {
            return &schema->sort[i];
        }
    }
    return NULL;
}

static bool attribute_equal(const struct key_attribute *a, const struct key_attribute *b)
{
    return str_equal(a->name, b->name) && a->type == b->type;
}

bool key_schema_equal(const struct key_schema *a, const struct key_schema *b)
{
    bool equal = a->partition_count == b->partition_count && a->sort_count == b->sort_count;
    for (size_t i = 0; equal && i < a->partition_count; i++) {
        equal = attribute_equal(&a->partition[i], &b->partition[i]);
    }
    for (size_t i = 0; equal && i < a->sort_count; i++) {
        equal = attribute_equal(&a->sort[i], &b->sort[i]);
    }
    return equal;
}

bool key_of_item(const struct key_schema *schema, struct value item, struct key *out,
                 struct error *err)
{
    struct key key = {.count = part_count(schema)};
    const struct key_attribute *missing = NULL;
    if (!find_parts(schema, item, &key, &missing, err)) {
        return false;
    }
    if (missing != NULL) {
        return error_set(err, ERROR_ITEM, "key attribute %.*s: expected %s, found nothing",
                         STR_ARG(missing->name), value_type_name(missing->type));
    }
    *out = key;
    return true;
}

bool key_of_index(const struct key_schema *schema, struct value item, struct key *out,
                  bool *present, struct error *err)
{
    struct key key = {.count = part_count(schema)};
    const struct key_attribute *missing = NULL;
    if (!find_parts(schema, item, &key, &missing, err)) {
        return false;
    }
    *present = missing == NULL;
    if (*present) {
        *out = key;
    }
    return true;
}

static bool attributes_equal(const struct key_attribute *attributes, size_t count, struct value a,
                             struct value b)
{
    for (size_t i = 0; i < count; i++) {
        if (!value_equal(value_member(a, attributes[i].name),
                         value_member(b, attributes[i].name))) {
            return false;
        }
    }
    return true;
}

bool key_attributes_equal(const struct key_schema *schema, struct value a, struct value b)
{
    return attributes_equal(schema->partition, schema->partition_count, a, b) &&
           attributes_equal(schema->sort, schema->sort_count, a, b);
}

bool key_equal(const struct key *a, const struct key *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (!value_equal(a->parts[i], b->parts[i])) {
            return false;
        }
    }
    return true;
}

struct key key_copy(const struct key *key, struct arena *arena)
{
    struct key copy = {.count = key->count};
    for (size_t i = 0; i < key->count; i++) {
        copy.parts[i] = value_copy(arena, key->parts[i]);
    }
    return copy;
}

static void print_number(struct value v, struct buffer *out)
{
    struct number n = value_number(v);
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format(&n, text);
    buffer_add(out, (struct str){text, len});
}

static void print_part(struct value v, struct buffer *out)
{
    if (value_type(v) == VALUE_N) {
        print_number(v, out);
        return;
    }
    struct str whole = value_bytes(v);
    struct str shown = whole;
    if (value_type(v) == VALUE_S) {
        shown = utf8_cut(whole, SHOWN_BYTES);
        buffer_add(out, STR("'"));
        buffer_add(out, shown);
    } else {
        shown.len = whole.len < SHOWN_BYTES / 2 ? whole.len : SHOWN_BYTES / 2;
        buffer_add(out, STR("b64'"));
        base64_write(shown, out);
    }
    buffer_add(out, shown.len < whole.len ? STR("...'") : STR("'"));
}

struct str key_print(const struct key_schema *schema, const struct key *key, struct arena *arena)
{
    struct buffer out = {0};
    for (size_t i = 0; i < key->count; i++) {
        if (i > 0) {
            buffer_add_char(&out, ' ');
        }
        buffer_add(&out, part_attribute(schema, i)->name);
        buffer_add_char(&out, '=');
        print_part(key->parts[i], &out);
    }
    struct str text = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return text;
}

struct value key_item(const struct key_schema *schema, const struct key *key, struct arena *arena)
{
    struct attribute members[2 * KEY_PARTS_MAX];
    for (size_t i = 0; i < key->count; i++) {
        members[i] = (struct attribute){part_attribute(schema, i)->name, key->parts[i]};
    }
    struct value item = {NULL, 0};
    struct error impossible;
    bool ok = value_map(arena, members, key->count, &item, &impossible);
    assert(ok);
    (void)ok;
    return item;
}

void key_encode(const struct key *key, struct buffer *out)
{
    for (size_t i = 0; i < key->count; i++) {
        struct value part = key->parts[i];
        buffer_add(out, (struct str){(const char *)part.bytes, part.len});
    }
}

/* The length of the S, N or B at the start of `bytes`, or 0 where none is whole. */
static size_t part_size(struct str bytes)
{
    uint64_t length = 0;
    if (bytes.len == 0 || bytes.ptr[0] < VALUE_S || bytes.ptr[0] > VALUE_B) {
        return 0;
    }
    size_t read = varint_get((const unsigned char *)bytes.ptr + 1, bytes.len - 1, &length);
    if (read == 0 || length > bytes.len - 1 - read) {
        return 0;
    }
    return 1 + read + (size_t)length;
}

bool key_decode(struct str bytes, size_t count, struct key *out, struct error *err)
{
    struct key key = {.count = count};
    struct str rest = bytes;
    for (size_t i = 0; i < count; i++) {
        size_t size = part_size(rest);
        key.parts[i] = (struct value){(const unsigned char *)rest.ptr, size};
        if (size == 0) {
            return error_set(err, ERROR_DAMAGED, "damaged key: part %zu is cut short", i + 1);
        }
        if (!value_check(key.parts[i], err)) {
            return error_wrap(err, "damaged key: part %zu", i + 1);
        }
        rest = (struct str){rest.ptr + size, rest.len - size};
    }
    if (rest.len > 0) {
        return error_set(err, ERROR_DAMAGED, "damaged key: bytes follow it");
    }
    *out = key;
    return true;
}
