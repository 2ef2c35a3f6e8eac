/* expr_date — moments in time, exactly, and their texts. Proleptic Gregorian calendar, UTC, years
 * 0000 to 9999, days of 86,400 seconds; the C library's time functions and zones play no part. */
#ifndef ENGINE_EXPR_EXPR_DATE_INTERNAL_H
#define ENGINE_EXPR_EXPR_DATE_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/number.h"

#include <stdbool.h>
#include <stdint.h>

struct moment {
    int64_t seconds;        /* since 1970-01-01T00:00:00Z, rounded down */
    struct number fraction; /* of a second: from 0 to below 1 */
};

/* True for a pattern of YYYY MM DD HH mm ss SSS, each at most once, YYYY among them, with anything
 * between but other letters than T and Z.
 * ERROR_ITEM otherwise. */
MUST_CHECK bool expr_date_check_pattern(struct str pattern, struct error *err);

/* Reads text of the pattern; what the pattern does not name is the least (January, 1, 0).
 * ERROR_ITEM: another form, or no such day or time. */
MUST_CHECK bool expr_date_read(struct str text, struct str pattern, struct moment *out,
                               struct error *err);
struct str expr_date_write(struct moment moment, struct str pattern, struct arena *arena);

/* ISO 8601: YYYY-MM-DD, then T or a space and HH:mm, then :ss, then a fraction of any length, then
 * a zone: Z, +HH, +HHmm, +HH:mm. Without a zone: UTC.
 * ERROR_ITEM: another form, no such day or time, or outside the years 0000 to 9999 in UTC. */
MUST_CHECK bool expr_date_read_iso(struct str text, struct moment *out, struct error *err);

/* YYYY-MM-DDTHH:mm:ssZ, with the fraction where there is one. */
struct str expr_date_write_iso(struct moment moment, struct arena *arena);

/* Seconds since 1970 times `scale` (1 or 1000).
 * ERROR_ITEM: outside the years 0000 to 9999, or over 38 digits. */
MUST_CHECK bool expr_date_from_epoch(const struct number *n, int64_t scale, struct moment *out,
                                     struct error *err);
MUST_CHECK bool expr_date_to_epoch(struct moment moment, int64_t scale, struct number *out,
                                   struct error *err);

#endif
