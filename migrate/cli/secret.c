#include "migrate/cli/secret.h"

#include "engine/base/buffer.h"

#include <stddef.h>
#include <string.h>

static const char hidden[] = "***";

static struct str rest(struct str text, size_t from)
{
    return (struct str){text.ptr + from, text.len - from};
}

/* Bytes of what stands before a URI's user information: "://", or, as its slashes are easily
 * misspelled, all of "postgresql:/"; 0: no URI begins here. */
static size_t start_len(struct str text)
{
    static const struct str starts[] = {STR_INIT("://"), STR_INIT("postgres:"),
                                        STR_INIT("postgresql:")};
    size_t len = 0;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        len = str_begins(text, starts[i]) ? starts[i].len : len;
    }
    while (len > 0 && len < text.len && text.ptr[len] == '/') {
        len++;
    }
    return len;
}

/* Bytes of the user information "user:password" at the start of `text`, which an '@' ends; 0: it
 * holds no password. The last '@' before a blank or quote divides, as passwords may hold anything
 * else: rather too much is hidden than too little. */
static size_t user_information_len(struct str text)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len && strchr(" \t\n'\"", text.ptr[i]) == NULL; i++) {
        if (text.ptr[i] == '@') {
            len = i;
        }
    }
    return len > 0 && memchr(text.ptr, ':', len) != NULL ? len : 0;
}

/* Writes a URI's start and user information without the password; returns the bytes read. */
static size_t add_start(struct str text, size_t start, struct buffer *out)
{
    struct str after = rest(text, start);
    size_t len = user_information_len(after);
    buffer_add(out, (struct str){text.ptr, start});
    if (len > 0) {
        const char *colon = memchr(after.ptr, ':', len);
        buffer_add(out, (struct str){after.ptr, (size_t)(colon - after.ptr) + 1});
        buffer_add(out, STR(hidden));
    }
    return start + len;
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
    static const struct str member = STR_INIT("password=");
    struct buffer out = {0};
    for (size_t at = 0; at < text.len;) {
        struct str left = rest(text, at);
        size_t start = start_len(left);
        if (start > 0) {
            at += add_start(left, start, &out);
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
