#include "engine/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum error_code error_code_of_write(int reason)
{
    bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    return is_full ? ERROR_FULL : ERROR_STORE;
}

bool(error_set)(struct error *err, enum error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->code = code;
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}

bool(error_wrap)(struct error *err, const char *format, ...)
{
    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);

    va_list args;
    va_start(args, format);
    int outer = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (outer >= 0 && (size_t)outer < sizeof err->text) {
        size_t room = sizeof err->text - (size_t)outer;
        if (snprintf(err->text + outer, room, ": %s", inner) < 0) {
            err->text[outer] = '\0';
        }
    }
    return false;
}

bool(error_hint)(struct error *err, const char *format, ...)
{
    static const char mark[] = "\nhint: ";
    size_t len = strlen(err->text);
    if (strstr(err->text, mark) != NULL || len + sizeof mark > sizeof err->text) {
        return false;
    }
    memcpy(err->text + len, mark, sizeof mark);
    len += sizeof mark - 1;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text + len, sizeof err->text - len, format, args);
    va_end(args);
    return false;
}

static const int exit_statuses[] = {
#define X(name, exit_status) exit_status,
    ERROR_CODES(X)
#undef X
};

int error_exit_status(enum error_code code)
{
    return exit_statuses[code];
}
