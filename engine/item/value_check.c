#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "engine/base/varint.h"
#include "engine/item/number.h"
#include "engine/item/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that are not trusted yet. The first fault ends the walk. */
struct walk {
    const unsigned char *next;
    const unsigned char *end;
    const char *fault;
};

static bool fail(struct walk *walk, const char *fault)
{
    walk->fault = fault;
    return false;
}

static size_t left(const struct walk *walk)
{
    return (size_t)(walk->end - walk->next);
}

static bool read_varint(struct walk *walk, uint64_t *n)
{
    size_t read = varint_get(walk->next, left(walk), n);
    walk->next += read;
    return read > 0 || fail(walk, "a length is cut short or not in its shortest form");
}

/* A varint length and as many bytes. */
static bool read_counted(struct walk *walk, struct str *out)
{
    uint64_t length = 0;
    if (!read_varint(walk, &length)) {
        return false;
    }
    if (length > left(walk)) {
        return fail(walk, "a length goes past the end");
    }
    *out = (struct str){(const char *)walk->next, (size_t)length};
    walk->next += length;
    return true;
}

static bool check_content(struct walk *walk, enum value_type type, struct str content)
{
    struct number n;
    switch (type) {
    case VALUE_S:
        return utf8_is_valid(content) || fail(walk, "a string is not UTF-8");
    case VALUE_N:
        return (content.len > 0 && content.len <= NUMBER_ENCODED_MAX &&
                number_decode((const unsigned char *)content.ptr, content.len, &n) ==
                    content.len) ||
               fail(walk, "a number is not canonical");
    default:
        return true;
    }
}

/* The next member's name or bytes, which must sort behind the one before. */
static bool read_sorted(struct walk *walk, enum value_type type, struct str *before,
                        struct str *out)
{
    if (!read_counted(walk, out) || !check_content(walk, type, *out)) {
        return false;
    }
    if (before->ptr != NULL && str_compare(*before, *out) >= 0) {
        return fail(walk, "members are out of order or stand twice");
    }
    *before = *out;
    return true;
}

static bool check_set(struct walk *walk, enum value_type member, uint64_t count)
{
    struct str before = {NULL, 0};
    struct str ignored;
    if (count == 0) {
        return fail(walk, "a set is empty");
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!read_sorted(walk, member, &before, &ignored)) {
            return false;
        }
    }
    return true;
}

static bool check_value(struct walk *walk, int depth);

static bool check_members(struct walk *walk, enum value_type type, uint64_t count, int depth)
{
    struct str before = {NULL, 0};
    struct str name;
    if (depth > VALUE_MAX_DEPTH) {
        return fail(walk, "nested too deep");
    }
    for (uint64_t i = 0; i < count; i++) {
        if (type == VALUE_M && !read_sorted(walk, VALUE_S, &before, &name)) {
            return false;
        }
        if (!check_value(walk, depth)) {
            return false;
        }
    }
    return true;
}

/* A set, L or M: its body must hold exactly what its count says. */
static bool check_body(struct walk *walk, enum value_type type, int depth)
{
    struct str content;
    uint64_t count = 0;
    if (!read_counted(walk, &content)) {
        return false;
    }
    const unsigned char *start = (const unsigned char *)content.ptr;
    struct walk body = {start, start + content.len, NULL};
    bool ok = read_varint(&body, &count);
    if (ok && (type == VALUE_L || type == VALUE_M)) {
        ok = check_members(&body, type, count, depth + 1);
    } else if (ok) {
        ok = check_set(&body,
                       type == VALUE_SS   ? VALUE_S
                       : type == VALUE_NS ? VALUE_N
                                          : VALUE_B,
                       count);
    }
    if (ok && left(&body) > 0) {
        ok = fail(&body, "a body goes on behind its last member");
    }
    walk->fault = body.fault;
    return ok;
}

static bool check_bool(struct walk *walk)
{
    if (left(walk) == 0 || walk->next[0] > 1) {
        return fail(walk, "a BOOL is neither 0 nor 1");
    }
    walk->next++;
    return true;
}

static bool check_value(struct walk *walk, int depth)
{
    if (left(walk) == 0) {
        return fail(walk, "a value is cut short");
    }
    enum value_type type = (enum value_type)walk->next[0];
    walk->next++;
    struct str content;
    if (type >= VALUE_S && type <= VALUE_B) {
        return read_counted(walk, &content) && check_content(walk, type, content);
    }
    if (type >= VALUE_SS && type <= VALUE_M) {
        return check_body(walk, type, depth);
    }
    if (type == VALUE_BOOL) {
        return check_bool(walk);
    }
    return type == VALUE_NULL || fail(walk, "a tag is unknown");
}

/* The outermost M may be an item, which does not count as a level. */
bool value_check(struct value v, struct error *err)
{
    if (value_is_missing(v)) {
        return error_set(err, ERROR_DAMAGED, "damaged value: there is none");
    }
    struct walk walk = {v.bytes, v.bytes + v.len, NULL};
    int depth = v.len > 0 && v.bytes[0] == VALUE_M ? -1 : 0;
    if (check_value(&walk, depth) && left(&walk) > 0) {
        walk.fault = "bytes follow it";
    }
    return walk.fault == NULL || error_set(err, ERROR_DAMAGED, "damaged value: %s", walk.fault);
}
