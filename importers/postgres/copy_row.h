/* copy_row — one line of COPY's text form, split into fields (PostgreSQL, "COPY", Text Format). */
#ifndef IMPORTERS_POSTGRES_COPY_ROW_H
#define IMPORTERS_POSTGRES_COPY_ROW_H

#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stddef.h>

/* Splits a line, unescaping it in place.
 *   line    of `len` bytes, without its line feed
 *   fields  room for `count`; ptr NULL is SQL NULL; they point into `line`
 * ERROR_SOURCE: another number of fields, an escape that COPY does not write. */
MUST_CHECK bool copy_row_split(char *line, size_t len, struct str *fields, size_t count,
                               struct error *err);

#endif
