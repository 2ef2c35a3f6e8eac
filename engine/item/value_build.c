#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/base/varint.h"
#include "engine/item/number.h"
#include "engine/item/value.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Few members are sorted by insertion, which costs next to nothing where they stand in order. */
enum { FEW_MEMBERS = 32 };

static unsigned char *put_bytes(unsigned char *out, const void *bytes, size_t len)
{
    if (len > 0) {
        memcpy(out, bytes, len);
    }
    return out + len;
}

static unsigned char *put_counted(unsigned char *out, struct str s)
{
    out += varint_put(out, s.len);
    return put_bytes(out, s.ptr, s.len);
}

static size_t counted_size(struct str s)
{
    return varint_size(s.len) + s.len;
}

static struct value build_bytes(struct arena *arena, enum value_type type, struct str s)
{
    size_t size = 1 + counted_size(s);
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, size);
    bytes[0] = (unsigned char)type;
    (void)put_counted(bytes + 1, s);
    return (struct value){bytes, size};
}

/* Starts a set, L or M whose members take `members_size`; returns where they go. */
static unsigned char *build_body(struct arena *arena, enum value_type type, size_t count,
                                 size_t members_size, struct value *out)
{
    size_t body_size = varint_size(count) + members_size;
    size_t size = 1 + varint_size(body_size) + body_size;
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, size);
    *out = (struct value){bytes, size};
    *bytes++ = (unsigned char)type;
    bytes += varint_put(bytes, body_size);
    return bytes + varint_put(bytes, count);
}

struct value value_string(struct arena *arena, struct str s)
{
    return build_bytes(arena, VALUE_S, s);
}

struct value value_binary(struct arena *arena, struct str bytes)
{
    return build_bytes(arena, VALUE_B, bytes);
}

struct value value_from_number(struct arena *arena, const struct number *n)
{
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, 2 + NUMBER_ENCODED_MAX);
    size_t size = number_encode(n, bytes + 2);
    bytes[0] = VALUE_N;
    bytes[1] = (unsigned char)size;
    return (struct value){bytes, 2 + size};
}

struct value value_from_bool(bool b)
{
    static const unsigned char no[] = {VALUE_BOOL, 0};
    static const unsigned char yes[] = {VALUE_BOOL, 1};
    return (struct value){b ? yes : no, sizeof no};
}

struct value value_null(void)
{
    static const unsigned char null[] = {VALUE_NULL};
    return (struct value){null, sizeof null};
}

struct value value_from_member(struct arena *arena, enum value_type type, struct str member)
{
    return build_bytes(arena, type, member);
}

struct value value_copy(struct arena *arena, struct value v)
{
    if (value_is_missing(v)) {
        return v;
    }
    unsigned char *bytes = (unsigned char *)arena_bytes(arena, v.len);
    memcpy(bytes, v.bytes, v.len);
    return (struct value){bytes, v.len};
}

struct value value_list(struct arena *arena, const struct value *values, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        assert(!value_is_missing(values[i]));
        size += values[i].len;
    }
    struct value list;
    unsigned char *at = build_body(arena, VALUE_L, count, size, &list);
    for (size_t i = 0; i < count; i++) {
        at = put_bytes(at, values[i].bytes, values[i].len);
    }
    return list;
}

static int compare_strs(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static int compare_attributes(const void *a, const void *b)
{
    const struct attribute *left = a;
    const struct attribute *right = b;
    return str_compare(left->name, right->name);
}

static void sort_attributes(struct attribute *members, size_t count)
{
    if (count > FEW_MEMBERS) {
        qsort(members, count, sizeof *members, compare_attributes);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct attribute moving = members[i];
        size_t place = i;
        while (place > 0 && str_compare(members[place - 1].name, moving.name) > 0) {
            members[place] = members[place - 1];
            place--;
        }
        members[place] = moving;
    }
}

static size_t drop_missing(struct attribute *members, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!value_is_missing(members[i].value)) {
            members[kept++] = members[i];
        }
    }
    return kept;
}

bool value_map(struct arena *arena, struct attribute *members, size_t count, struct value *out,
               struct error *err)
{
    count = drop_missing(members, count);
    sort_attributes(members, count);
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && str_equal(members[i - 1].name, members[i].name)) {
            return error_set(err, ERROR_ITEM, "\"%.*s\" stands twice in a map",
                             STR_ARG(members[i].name));
        }
        size += counted_size(members[i].name) + members[i].value.len;
    }
    unsigned char *at = build_body(arena, VALUE_M, count, size, out);
    for (size_t i = 0; i < count; i++) {
        at = put_counted(at, members[i].name);
        at = put_bytes(at, members[i].value.bytes, members[i].value.len);
    }
    return true;
}

static enum value_type set_type(enum value_type member)
{
    switch (member) {
    case VALUE_S:
        return VALUE_SS;
    case VALUE_N:
        return VALUE_NS;
    case VALUE_B:
        return VALUE_BS;
    default:
        return VALUE_MISSING;
    }
}

/* The members' bytes, sorted; NULL: they make no set. */
static struct str *sort_members(struct arena *arena, const struct value *members, size_t count,
                                struct error *err)
{
    if (count == 0) {
        (void)error_set(err, ERROR_ITEM, "a set may not be empty");
        return NULL;
    }
    struct str *sorted = arena_alloc(arena, count * sizeof *sorted);
    enum value_type type = value_type(members[0]);
    for (size_t i = 0; i < count; i++) {
        enum value_type found = value_type(members[i]);
        if (set_type(found) == VALUE_MISSING) {
            (void)error_set(err, ERROR_ITEM, "a set holds S, N or B, not %s",
                            value_type_name(found));
            return NULL;
        }
        if (found != type) {
            (void)error_set(err, ERROR_ITEM, "a set of %s holds a member of type %s",
                            value_type_name(type), value_type_name(found));
            return NULL;
        }
        sorted[i] = value_bytes(members[i]);
    }
    qsort(sorted, count, sizeof *sorted, compare_strs);
    return sorted;
}

/* Of sorted members: how many are left. */
static size_t drop_doubles(struct str *sorted, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || !str_equal(sorted[kept - 1], sorted[i])) {
            sorted[kept++] = sorted[i];
        }
    }
    return kept;
}

static struct value build_set(struct arena *arena, enum value_type type, const struct str *sorted,
                              size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += counted_size(sorted[i]);
    }
    struct value set;
    unsigned char *at = build_body(arena, type, count, size, &set);
    for (size_t i = 0; i < count; i++) {
        at = put_counted(at, sorted[i]);
    }
    return set;
}

bool value_set(struct arena *arena, const struct value *members, size_t count, struct value *out,
               struct error *err)
{
    struct str *sorted = sort_members(arena, members, count, err);
    if (sorted == NULL) {
        return false;
    }
    if (drop_doubles(sorted, count) < count) {
        return error_set(err, ERROR_ITEM, "a set holds one member twice");
    }
    *out = build_set(arena, set_type(value_type(members[0])), sorted, count);
    return true;
}

bool value_set_merged(struct arena *arena, const struct value *members, size_t count,
                      struct value *out, struct error *err)
{
    struct str *sorted = sort_members(arena, members, count, err);
    if (sorted == NULL) {
        return false;
    }
    size_t kept = drop_doubles(sorted, count);
    *out = build_set(arena, set_type(value_type(members[0])), sorted, kept);
    return true;
}
