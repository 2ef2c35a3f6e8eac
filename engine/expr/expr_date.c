#include "engine/expr/expr_date_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum field { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, MILLISECOND, FIELD_COUNT };

struct fields {
    int of[FIELD_COUNT];
};

static const struct {
    struct str letters;
    int min;
    int max;
} kinds[FIELD_COUNT] = {
    [YEAR] = {STR_INIT("YYYY"), 0, 9999},      [MONTH] = {STR_INIT("MM"), 1, 12},
    [DAY] = {STR_INIT("DD"), 1, 31},           [HOUR] = {STR_INIT("HH"), 0, 23},
    [MINUTE] = {STR_INIT("mm"), 0, 59},        [SECOND] = {STR_INIT("ss"), 0, 59},
    [MILLISECOND] = {STR_INIT("SSS"), 0, 999},
};

enum {
    MINUTE_SECONDS = 60,
    HOUR_SECONDS = 60 * MINUTE_SECONDS,
    DAY_SECONDS = 24 * HOUR_SECONDS,
    DAYS_TO_1970 = 719528, /* from 0000-01-01 */
    DAYS_TO_10000 = 3652425,
    DAYS_IN_400_YEARS = 146097,
    MONTHS = 12,
    ISO_MAX_BYTES = sizeof "YYYY-MM-DDTHH:mm:ssZ" + NUMBER_TEXT_MAX
};

/* --- the calendar --- */

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
    static const int days[MONTHS] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* From 0000-01-01 to the year's first day: 365 a year and a day for each leap year before it. */
static int days_to_year(int year)
{
    return year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
}

static int days_to(const struct fields *fields)
{
    int days = days_to_year(fields->of[YEAR]) + fields->of[DAY] - 1;
    for (int month = 1; month < fields->of[MONTH]; month++) {
        days += days_in_month(fields->of[YEAR], month);
    }
    return days;
}

static struct fields fields_of(int64_t seconds)
{
    int64_t all = seconds + (int64_t)DAYS_TO_1970 * DAY_SECONDS;
    int days = (int)(all / DAY_SECONDS);
    int rest = (int)(all % DAY_SECONDS);
    int year = (int)((int64_t)days * 400 / DAYS_IN_400_YEARS); /* or one beside it */
    while (days_to_year(year) > days) {
        year--;
    }
    while (days_to_year(year + 1) <= days) {
        year++;
    }
    int day = days - days_to_year(year);
    int month = 1;
    while (day >= days_in_month(year, month)) {
        day -= days_in_month(year, month);
        month++;
    }
    return (struct fields){{year, month, day + 1, rest / HOUR_SECONDS,
                            rest / MINUTE_SECONDS % MINUTE_SECONDS, rest % MINUTE_SECONDS, 0}};
}

static bool is_in_range(int64_t seconds)
{
    return seconds >= -(int64_t)DAYS_TO_1970 * DAY_SECONDS &&
           seconds < (int64_t)(DAYS_TO_10000 - DAYS_TO_1970) * DAY_SECONDS;
}

static bool refuse_range(struct error *err)
{
    return error_set(err, ERROR_ITEM, "outside the years 0000 to 9999");
}

/* --- patterns --- */

/* The field whose letters stand at `at`; FIELD_COUNT if a literal character does. */
static enum field field_at(struct str pattern, size_t at)
{
    struct str rest = {pattern.ptr + at, pattern.len - at};
    for (enum field field = YEAR; field < FIELD_COUNT; field++) {
        if (str_begins(rest, kinds[field].letters)) {
            return field;
        }
    }
    return FIELD_COUNT;
}

static bool is_stray_letter(char c)
{
    bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter && c != 'T' && c != 'Z';
}

bool expr_date_check_pattern(struct str pattern, struct error *err)
{
    bool seen[FIELD_COUNT + 1] = {false};
    for (size_t at = 0; at < pattern.len;) {
        enum field field = field_at(pattern, at);
        if (field == FIELD_COUNT && is_stray_letter(pattern.ptr[at])) {
            return error_set(err, ERROR_ITEM,
                             "'%.*s' is no date format: '%c' at %zu is none of "
                             "iso, epoch, epoch_ms, YYYY, MM, DD, HH, mm, ss, SSS",
                             STR_ARG(pattern), pattern.ptr[at], at + 1);
        }
        if (field < FIELD_COUNT && seen[field]) {
            return error_set(err, ERROR_ITEM, "'%.*s' is no date format: %.*s stands in it twice",
                             STR_ARG(pattern), STR_ARG(kinds[field].letters));
        }
        seen[field] = true;
        at += field < FIELD_COUNT ? kinds[field].letters.len : 1;
    }
    if (!seen[YEAR]) {
        return error_set(err, ERROR_ITEM, "'%.*s' is no date format: YYYY does not stand in it",
                         STR_ARG(pattern));
    }
    return true;
}

static bool read_digits(struct str text, size_t at, size_t count, int *out)
{
    int n = 0;
    for (size_t i = at; i < at + count; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        n = n * 10 + (text.ptr[i] - '0');
    }
    *out = n;
    return true;
}

/* Reads what stands at pattern.ptr[*i], a field or a literal, and moves both places past it. */
static bool read_piece(struct str text, struct str pattern, size_t *at, size_t *i,
                       struct fields *out)
{
    enum field field = field_at(pattern, *i);
    size_t len = field == FIELD_COUNT ? 1 : kinds[field].letters.len;
    if (len > text.len - *at) {
        return false;
    }
    bool ok = field == FIELD_COUNT ? text.ptr[*at] == pattern.ptr[*i]
                                   : read_digits(text, *at, len, &out->of[field]);
    *at += len;
    *i += len;
    return ok;
}

/* Reads the pattern at *at and moves past it. */
static bool read_fields(struct str text, struct str pattern, size_t *at, struct fields *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < pattern.len;) {
        ok = read_piece(text, pattern, at, &i, out);
    }
    return ok;
}

static bool is_date(const struct fields *fields)
{
    for (enum field field = YEAR; field < FIELD_COUNT; field++) {
        if (fields->of[field] < kinds[field].min || fields->of[field] > kinds[field].max) {
            return false;
        }
    }
    return fields->of[DAY] <= days_in_month(fields->of[YEAR], fields->of[MONTH]);
}

static int64_t seconds_of(const struct fields *fields)
{
    int of_day =
        fields->of[HOUR] * HOUR_SECONDS + fields->of[MINUTE] * MINUTE_SECONDS + fields->of[SECOND];
    return (int64_t)(days_to(fields) - DAYS_TO_1970) * DAY_SECONDS + of_day;
}

static const struct fields least = {{[MONTH] = 1, [DAY] = 1}};

static const struct number thousandth = {.exponent = -3, .count = 1, .digits = {1}};

bool expr_date_read(struct str text, struct str pattern, struct moment *out, struct error *err)
{
    struct fields fields = least;
    size_t at = 0;
    if (!read_fields(text, pattern, &at, &fields) || at != text.len) {
        return error_set(err, ERROR_ITEM, "not of the form %.*s", STR_ARG(pattern));
    }
    if (!is_date(&fields)) {
        return error_set(err, ERROR_ITEM, "no such day or time");
    }
    struct number milliseconds = number_from_int(fields.of[MILLISECOND]);
    out->seconds = seconds_of(&fields);
    return number_multiply(&milliseconds, &thousandth, &out->fraction, err);
}

/* ".123" of a fraction; "" of none. */
static size_t format_fraction(const struct number *fraction, char out[NUMBER_TEXT_MAX])
{
    if (fraction->count == 0) {
        return 0;
    }
    char text[NUMBER_TEXT_MAX];
    size_t len = number_format(fraction, text) - 1;
    memcpy(out, text + 1, len);
    return len;
}

static int milliseconds_of(const struct number *fraction)
{
    char text[NUMBER_TEXT_MAX];
    size_t len = format_fraction(fraction, text);
    int n = 0;
    for (size_t i = 1; i <= 3; i++) {
        n = n * 10 + (i < len ? text[i] - '0' : 0);
    }
    return n;
}

struct str expr_date_write(struct moment moment, struct str pattern, struct arena *arena)
{
    struct fields fields = fields_of(moment.seconds);
    fields.of[MILLISECOND] = milliseconds_of(&moment.fraction);
    char *bytes = arena_bytes(arena, pattern.len);
    memcpy(bytes, pattern.ptr, pattern.len);
    for (size_t at = 0; at < pattern.len;) {
        enum field field = field_at(pattern, at);
        if (field == FIELD_COUNT) {
            at++;
            continue;
        }
        int n = fields.of[field];
        for (size_t i = kinds[field].letters.len; i > 0; i--, n /= 10) {
            bytes[at + i - 1] = (char)('0' + n % 10);
        }
        at += kinds[field].letters.len;
    }
    return (struct str){bytes, pattern.len};
}

/* --- ISO 8601 --- */

static bool next_is(struct str text, size_t at, const char *one_of)
{
    return at < text.len && text.ptr[at] != '\0' && strchr(one_of, text.ptr[at]) != NULL;
}

static bool read_fraction(struct str text, size_t *at, struct number *out, struct error *err)
{
    if (!next_is(text, *at, ".")) {
        return true;
    }
    size_t end = *at + 1;
    while (next_is(text, end, "0123456789")) {
        end++;
    }
    struct str digits = {text.ptr + *at, end - *at};
    *at = end;
    return number_parse(digits, out, err);
}

/* Z, z or nothing: 0; else hours and minutes east of Greenwich. */
static bool read_zone(struct str text, size_t *at, int *seconds)
{
    struct fields zone = least;
    if (next_is(text, *at, "Zz")) {
        (*at)++;
    } else if (next_is(text, *at, "+-")) {
        int sign = text.ptr[*at] == '-' ? -1 : 1;
        (*at)++;
        if (!read_fields(text, STR("HH"), at, &zone)) {
            return false;
        }
        bool colon = next_is(text, *at, ":");
        if (*at < text.len && !read_fields(text, colon ? STR(":mm") : STR("mm"), at, &zone)) {
            return false;
        }
        *seconds = sign * (zone.of[HOUR] * HOUR_SECONDS + zone.of[MINUTE] * MINUTE_SECONDS);
    }
    return *at == text.len && is_date(&zone);
}

struct iso {
    struct fields fields;
    struct number fraction;
    int zone_seconds;
};

/* The time of day, behind the date. */
static bool read_time(struct str text, size_t at, struct iso *iso, struct error *err)
{
    if (!next_is(text, at, "Tt ")) {
        return false;
    }
    at++;
    if (!read_fields(text, STR("HH:mm"), &at, &iso->fields)) {
        return false;
    }
    if (next_is(text, at, ":") && (!read_fields(text, STR(":ss"), &at, &iso->fields) ||
                                   !read_fraction(text, &at, &iso->fraction, err))) {
        return false;
    }
    return read_zone(text, &at, &iso->zone_seconds);
}

bool expr_date_read_iso(struct str text, struct moment *out, struct error *err)
{
    struct iso iso = {.fields = least};
    size_t at = 0;
    bool ok = read_fields(text, STR("YYYY-MM-DD"), &at, &iso.fields) &&
              (at == text.len || read_time(text, at, &iso, err));
    if (!ok) {
        return error_set(err, ERROR_ITEM, "not of the form YYYY-MM-DDTHH:mm:ssZ");
    }
    if (!is_date(&iso.fields)) {
        return error_set(err, ERROR_ITEM, "no such day or time");
    }
    int64_t seconds = seconds_of(&iso.fields) - iso.zone_seconds;
    if (!is_in_range(seconds)) {
        return refuse_range(err);
    }
    *out = (struct moment){seconds, iso.fraction};
    return true;
}

struct str expr_date_write_iso(struct moment moment, struct arena *arena)
{
    struct str whole = expr_date_write(moment, STR("YYYY-MM-DDTHH:mm:ss"), arena);
    char fraction[NUMBER_TEXT_MAX];
    int len = (int)format_fraction(&moment.fraction, fraction);
    return arena_format(arena, "%.*s%.*sZ", STR_ARG(whole), len, fraction);
}

/* --- epoch --- */

/* Rounds towards zero. */
static struct number whole_part(struct number n)
{
    if (n.exponent < 0) {
        return (struct number){0};
    }
    if (n.count > n.exponent + 1) {
        n.count = (uint8_t)(n.exponent + 1);
    }
    while (n.count > 0 && n.digits[n.count - 1] == 0) {
        n.count--;
    }
    return n;
}

bool expr_date_from_epoch(const struct number *n, int64_t scale, struct moment *out,
                          struct error *err)
{
    static const struct number one = {.count = 1, .digits = {1}};
    struct number seconds = *n;
    if (scale == 1000 && !number_multiply(n, &thousandth, &seconds, err)) {
        return false;
    }
    struct moment moment = {0};
    struct number whole = whole_part(seconds);
    if (!number_to_int(&whole, &moment.seconds)) {
        return refuse_range(err);
    }
    if (!number_subtract(&seconds, &whole, &moment.fraction, err)) {
        return false;
    }
    if (moment.fraction.negative) {
        moment.seconds--;
        if (!number_add(&moment.fraction, &one, &moment.fraction, err)) {
            return false;
        }
    }
    if (!is_in_range(moment.seconds)) {
        return refuse_range(err);
    }
    *out = moment;
    return true;
}

bool expr_date_to_epoch(struct moment moment, int64_t scale, struct number *out, struct error *err)
{
    struct number seconds = number_from_int(moment.seconds);
    struct number factor = number_from_int(scale);
    return number_add(&seconds, &moment.fraction, &seconds, err) &&
           number_multiply(&seconds, &factor, out, err);
}
