/* jsonl_source — a file of JSON lines as a source of items: {"Item": {DynamoDB JSON}} each, as in
 * DynamoDB's exports. */
#ifndef IMPORTERS_JSONL_JSONL_SOURCE_H
#define IMPORTERS_JSONL_JSONL_SOURCE_H

#include "engine/base/error.h"
#include "importers/source.h"

#include <stdbool.h>

/* A line over this is refused: no item is as long, however it is escaped. */
enum { JSONL_LINE_MAX_BYTES = 16 << 20 };

/* Opens the file; rows are named "PATH:LINE". A reader ends with ERROR_INPUT if somebody has
 * written to the file meanwhile. ERROR_USAGE: it cannot be read, or is no file. */
MUST_CHECK bool jsonl_source_open(const char *path, struct source **out, struct error *err);

#endif
