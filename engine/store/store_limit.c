#include "engine/store/store_limit.h"

#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 31 };

bool store_limit_parse(const char *name, struct str text, struct store_limit *out,
                       struct error *err)
{
    static const double least_unusual = 1e9;
    char digits[DIGITS_MAX + 1] = "";
    bool is_percent = text.len > 0 && text.ptr[text.len - 1] == '%';
    size_t len = is_percent ? text.len - 1 : text.len;
    double units = 0;
    if (len > 0 && len <= DIGITS_MAX) {
        memcpy(digits, text.ptr, len);
        bool is_plain = strspn(digits, "0123456789.") == len;
        char *end = NULL;
        units = is_plain ? strtod(digits, &end) : 0;
        units = is_plain && *end == '\0' ? units : 0;
    }
    if (!(units > 0 && units < least_unusual)) {
        return error_set(err, ERROR_USAGE,
                         "%s: expected capacity units a second (500) or a share of what is "
                         "provisioned (50%%), found '%.*s'",
                         name, STR_ARG(text));
    }
    *out = (struct store_limit){units, is_percent};
    return true;
}
