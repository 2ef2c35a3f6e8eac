#include "importers/postgres/pg_type.h"

#include <string.h>

enum { DATE_LEN = 10, CLOCK_LEN = 8, FRACTION_DIGITS = 6 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* `pattern` has 0 for a digit; anything else stands for itself. */
static bool looks_like(struct str text, const char *pattern)
{
    size_t len = strlen(pattern);
    if (text.len < len) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (pattern[i] == '0' ? !is_digit(text.ptr[i]) : text.ptr[i] != pattern[i]) {
            return false;
        }
    }
    return true;
}

static bool refuse(struct str text, struct error *err)
{
    return error_set(
        err, ERROR_ITEM,
        "%.*s cannot be kept in an order that text has: only the years 0001 to 9999 can",
        text.len > 60 ? 60 : (int)text.len, text.ptr);
}

bool pg_convert_date(const struct pg_type *type, struct str text, struct arena *arena,
                     struct value *out, struct error *err)
{
    (void)type;
    if (text.len != DATE_LEN || !looks_like(text, "0000-00-00")) {
        return refuse(text, err);
    }
    *out = value_string(arena, text);
    return true;
}

/* Writes 03:04:05.6 as 03:04:05.600000; returns how much of `text` that was, 0 if it is no time. */
static size_t put_clock(struct str text, char out[CLOCK_LEN + 1 + FRACTION_DIGITS])
{
    if (!looks_like(text, "00:00:00")) {
        return 0;
    }
    memcpy(out, text.ptr, CLOCK_LEN);
    memcpy(out + CLOCK_LEN, ".000000", 1 + FRACTION_DIGITS);
    size_t at = CLOCK_LEN;
    if (at == text.len || text.ptr[at] != '.') {
        return at;
    }
    for (at++; at < text.len && is_digit(text.ptr[at]); at++) {
        if (at > CLOCK_LEN + FRACTION_DIGITS) {
            return 0;
        }
        out[at] = text.ptr[at];
    }
    return at;
}

/* time, and timetz, whose offset follows as it is. */
bool pg_convert_time(const struct pg_type *type, struct str text, struct arena *arena,
                     struct value *out, struct error *err)
{
    (void)type;
    char full[32];
    size_t len = CLOCK_LEN + 1 + FRACTION_DIGITS;
    size_t used = put_clock(text, full);
    if (used == 0 || text.len - used > sizeof full - len) {
        return refuse(text, err);
    }
    memcpy(full + len, text.ptr + used, text.len - used);
    *out = value_string(arena, (struct str){full, len + text.len - used});
    return true;
}

/* 2026-04-18 03:04:05.6 and, behind it, exactly `zone`, which becomes `written`. */
static bool convert_moment(struct str text, struct str zone, struct str written,
                           struct arena *arena, struct value *out)
{
    char full[DATE_LEN + 1 + CLOCK_LEN + 1 + FRACTION_DIGITS + 1];
    if (!looks_like(text, "0000-00-00 ")) {
        return false;
    }
    memcpy(full, text.ptr, DATE_LEN);
    full[DATE_LEN] = 'T';
    struct str clock = {text.ptr + DATE_LEN + 1, text.len - DATE_LEN - 1};
    size_t used = put_clock(clock, full + DATE_LEN + 1);
    if (used == 0 || !str_equal((struct str){clock.ptr + used, clock.len - used}, zone)) {
        return false;
    }
    size_t len = sizeof full - 1;
    memcpy(full + len, written.ptr, written.len);
    *out = value_string(arena, (struct str){full, len + written.len});
    return true;
}

bool pg_convert_timestamp(const struct pg_type *type, struct str text, struct arena *arena,
                          struct value *out, struct error *err)
{
    (void)type;
    return convert_moment(text, STR(""), STR(""), arena, out) || refuse(text, err);
}

/* The session's time zone is UTC: the offset is always +00. */
bool pg_convert_timestamptz(const struct pg_type *type, struct str text, struct arena *arena,
                            struct value *out, struct error *err)
{
    (void)type;
    return convert_moment(text, STR("+00"), STR("Z"), arena, out) || refuse(text, err);
}
