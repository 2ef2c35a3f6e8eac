#include "migrate/cli/secret.h"

#include "engine/base/buffer.h"

#include <stddef.h>
#include <string.h>

static const char hidden[] = "***";

static struct str rest(struct str text, size_t from)
{
    return (struct str){text.ptr + from, text.len - from};
}

/* Bytes of the user information "user:password" that stands before an '@' in `text`, which follows
 * "://"; 0 where there is none. The last '@' before the path divides, as passwords may hold one. */
static size_t user_information_len(struct str text)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len && strchr("/? \t\n'\"", text.ptr[i]) == NULL; i++) {
        if (text.ptr[i] == '@') {
            len = i;
        }
    }
    return len;
}

/* Bytes of the value at the start of `text`: up to a blank or '&', or a 'quoted one'. */
static size_t value_len(struct str text)
{
    if (text.len > 0 && text.ptr[0] == '\'') {
        size_t end = 1;
        while (end < text.len && text.ptr[end] != '\'') {
            end += text.ptr[end] == '\\' ? 2 : 1;
        }
        return end < text.len ? end + 1 : text.len;
    }
    size_t len = 0;
    while (len < text.len && strchr(" \t\n&", text.ptr[len]) == NULL) {
        len++;
    }
    return len;
}

struct str secret_hide(struct str text, struct arena *arena)
{
    static const struct str url = STR_INIT("://");
    static const struct str member = STR_INIT("password=");
    struct buffer out = {0};
    for (size_t at = 0; at < text.len;) {
        struct str left = rest(text, at);
        if (str_begins(left, url)) {
            struct str after = rest(left, url.len);
            size_t len = user_information_len(after);
            const char *colon = len > 0 ? memchr(after.ptr, ':', len) : NULL;
            size_t user_len = colon != NULL ? (size_t)(colon - after.ptr) + 1 : len;
            buffer_add(&out, (struct str){left.ptr, url.len + user_len});
            buffer_add(&out, (struct str){hidden, colon != NULL ? sizeof hidden - 1 : 0});
            at += url.len + len;
        } else if (str_begins(left, member)) {
            buffer_add(&out, member);
            buffer_add(&out, STR(hidden));
            at += member.len + value_len(rest(left, member.len));
        } else {
            buffer_add_char(&out, text.ptr[at]);
            at++;
        }
    }
    struct str copy = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return copy;
}
