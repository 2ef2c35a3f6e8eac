#include "importers/postgres/copy_row.h"

#include <string.h>

static bool is_null(struct str field)
{
    return field.len == 2 && field.ptr[0] == '\\' && field.ptr[1] == 'N';
}

/* The character that stands for "\\c"; 0 where COPY TO never writes that. */
static char escaped(char c)
{
    switch (c) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    case '\\':
        return '\\';
    default:
        return '\0';
    }
}

/* The character at *at, which moves onto the last byte of it; 0 if that is no escape of COPY's. */
static char next_char(const char *bytes, size_t len, size_t *at)
{
    if (bytes[*at] != '\\') {
        return bytes[*at];
    }
    (*at)++;
    char c = '\0';
    if (*at < len) {
        c = escaped(bytes[*at]);
    }
    return c;
}

static bool unescape(char *bytes, size_t *len, struct error *err)
{
    size_t out = 0;
    for (size_t i = 0; i < *len; i++) {
        char c = next_char(bytes, *len, &i);
        if (c == '\0') {
            return error_set(err, ERROR_SOURCE, "COPY: an unknown escape in a field");
        }
        bytes[out++] = c;
    }
    *len = out;
    return true;
}

bool copy_row_split(char *line, size_t len, struct str *fields, size_t count, struct error *err)
{
    char *at = line;
    char *end = line + len;
    bool escapes = len > 0 && memchr(at, '\\', len) != NULL;
    for (size_t i = 0; i < count; i++) {
        char *tab = at == end ? NULL : memchr(at, '\t', (size_t)(end - at));
        if ((tab == NULL) != (i + 1 == count)) {
            return error_set(err, ERROR_SOURCE, "COPY: a row has not %zu fields", count);
        }
        char *stop = tab == NULL ? end : tab;
        struct str field = {at, (size_t)(stop - at)};
        if (escapes && is_null(field)) {
            field = (struct str){NULL, 0};
        } else if (escapes && !unescape(at, &field.len, err)) {
            return false;
        }
        fields[i] = field;
        at = stop + 1;
    }
    return true;
}
