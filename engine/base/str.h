/* str — a borrowed run of bytes: pointer and length, no NUL needed. */
#ifndef ENGINE_BASE_STR_H
#define ENGINE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *ptr;
    size_t len;
};

/* A literal as a str, its closing NUL not counted: in an initializer, and as a value. */
#define STR_INIT(literal)              \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }
#define STR(literal) ((struct str)STR_INIT(literal))

/* For "%.*s": printf("%.*s", STR_ARG(key)). */
#define STR_ARG(s) (int)(s).len, (s).ptr

/* By content; NULs are bytes like others. */
static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* <0, 0, >0: by unsigned bytes, shorter first on a common prefix. */
static inline int str_compare(struct str a, struct str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0 || a.len == b.len) {
        return order;
    }
    return a.len < b.len ? -1 : 1;
}

/* Whether s begins with `prefix`, or is it; whether it holds the byte. */
static inline bool str_begins(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_equal((struct str){s.ptr, prefix.len}, prefix);
}

static inline bool str_has(struct str s, char c)
{
    return s.len > 0 && memchr(s.ptr, c, s.len) != NULL;
}

#endif
