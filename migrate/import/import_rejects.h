/* import_rejects — rows that give no item: what becomes of them. Any thread may call. */
#ifndef MIGRATE_IMPORT_IMPORT_REJECTS_H
#define MIGRATE_IMPORT_IMPORT_REJECTS_H

#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct import_rejects;

struct import_rejects_options {
    const char *path;    /* --rejects: one JSON object a line; NULL: none */
    FILE *messages;      /* where a dry run tells them; NULL: it is none */
    struct buffer *told; /* where they are gathered, each "ROW: REASON" and a NUL; NULL: nowhere */
};

/* Where they are to go nowhere, the first reject is an error.
 * ERROR_STORE: the file cannot be made. */
MUST_CHECK bool import_rejects_open(const struct import_rejects_options *options,
                                    struct import_rejects **out, struct error *err);

/* Takes a reject. ERROR_SOURCE, ERROR_INPUT, ERROR_CONFLICT (as the reason is): the import ends. */
MUST_CHECK bool import_rejects_add(struct import_rejects *rejects, struct str row,
                                   const struct error *reason, struct error *err);

/* Rejects that were taken. */
uint64_t import_rejects_count(const struct import_rejects *rejects);

/* Makes the file durable. ERROR_STORE. */
MUST_CHECK bool import_rejects_keep(struct import_rejects *rejects, struct error *err);
void import_rejects_close(struct import_rejects *rejects);

#endif
