#include "engine/item/value.h"

#include <assert.h>
#include <string.h>

static const char *const type_names[] = {"missing", "S",  "N",  "B", "BOOL", "NULL",
                                         "SS",      "NS", "BS", "L", "M"};

_Static_assert(sizeof type_names / sizeof *type_names == VALUE_M + 1, "a name for each type");

const char *value_type_name(enum value_type type)
{
    return type_names[type];
}

enum value_type value_type_named(struct str name)
{
    for (enum value_type type = VALUE_S; type <= VALUE_M; type++) {
        if (str_equal(name, (struct str){type_names[type], strlen(type_names[type])})) {
            return type;
        }
    }
    return VALUE_MISSING;
}

/* A length that is known to be well formed; nearly all are below 128. */
static inline const unsigned char *read_length(const unsigned char *in, size_t *out)
{
    size_t length = *in++;
    if (length >= 0x80) {
        length &= 0x7f;
        unsigned shift = 7;
        do {
            length |= (size_t)(*in & 0x7f) << shift;
            shift += 7;
        } while (*in++ >= 0x80);
    }
    *out = length;
    return in;
}

/* The end of the well-formed value that starts at `in`. */
static inline const unsigned char *value_end(const unsigned char *in)
{
    switch ((enum value_type)in[0]) {
    case VALUE_NULL:
        return in + 1;
    case VALUE_BOOL:
        return in + 2;
    default: {
        size_t length = 0;
        const unsigned char *content = read_length(in + 1, &length);
        return content + length;
    }
    }
}

struct str value_bytes(struct value v)
{
    size_t length = 0;
    const unsigned char *content = read_length(v.bytes + 1, &length);
    return (struct str){(const char *)content, length};
}

bool value_bool(struct value v)
{
    return v.bytes[1] != 0;
}

struct number value_number(struct value v)
{
    struct number n = {0};
    struct str encoded = value_bytes(v);
    size_t read = number_decode((const unsigned char *)encoded.ptr, encoded.len, &n);
    assert(read == encoded.len);
    (void)read;
    return n;
}

/* The start of the count in the body of a set, L or M. */
static const unsigned char *body(struct value v)
{
    size_t length = 0;
    return read_length(v.bytes + 1, &length);
}

size_t value_count(struct value v)
{
    size_t count = 0;
    (void)read_length(body(v), &count);
    return count;
}

static enum value_type member_type(enum value_type set)
{
    switch (set) {
    case VALUE_SS:
        return VALUE_S;
    case VALUE_NS:
        return VALUE_N;
    case VALUE_BS:
        return VALUE_B;
    default:
        return VALUE_MISSING;
    }
}

struct value_iter value_members(struct value v)
{
    enum value_type type = value_type(v);
    if (type < VALUE_SS) {
        return (struct value_iter){NULL, NULL, false, VALUE_MISSING};
    }
    size_t count = 0;
    return (struct value_iter){read_length(body(v), &count), v.bytes + v.len, type == VALUE_M,
                               member_type(type)};
}

bool value_next(struct value_iter *iter, struct attribute *out)
{
    if (iter->next == iter->end) {
        return false;
    }
    const unsigned char *at = iter->next;
    out->name = (struct str){NULL, 0};
    if (iter->named) {
        at = read_length(at, &out->name.len);
        out->name.ptr = (const char *)at;
        at += out->name.len;
    }
    iter->next = value_end(at);
    out->value = (struct value){at, (size_t)(iter->next - at)};
    return true;
}

bool value_next_member(struct value_iter *iter, struct str *out)
{
    if (iter->next == iter->end) {
        return false;
    }
    const unsigned char *at = read_length(iter->next, &out->len);
    out->ptr = (const char *)at;
    iter->next = at + out->len;
    return true;
}

/* As str_compare(); the first bytes decide most of the time, without a call. */
static inline int compare_names(struct str a, struct str b)
{
    if (a.len > 0 && b.len > 0 && a.ptr[0] != b.ptr[0]) {
        return (unsigned char)a.ptr[0] - (unsigned char)b.ptr[0];
    }
    return str_compare(a, b);
}

struct value value_member(struct value v, struct str name)
{
    if (value_type(v) != VALUE_M) {
        return (struct value){NULL, 0};
    }
    size_t count = 0;
    const unsigned char *end = v.bytes + v.len;
    for (const unsigned char *at = read_length(body(v), &count); at < end;) {
        struct str here;
        at = read_length(at, &here.len);
        here.ptr = (const char *)at;
        at += here.len;
        int order = compare_names(here, name);
        if (order > 0) {
            break;
        }
        const unsigned char *next = value_end(at);
        if (order == 0) {
            return (struct value){at, (size_t)(next - at)};
        }
        at = next;
    }
    return (struct value){NULL, 0};
}

struct value value_element(struct value v, size_t index)
{
    struct attribute element = {.value = {NULL, 0}};
    if (value_type(v) != VALUE_L || index >= value_count(v)) {
        return element.value;
    }
    struct value_iter iter = value_members(v);
    for (size_t i = 0; i <= index; i++) {
        (void)value_next(&iter, &element);
    }
    return element.value;
}

int value_compare(struct value a, struct value b)
{
    assert(value_type(a) == value_type(b));
    return str_compare(value_bytes(a), value_bytes(b));
}
