/* ledger_json — records of the ledger as JSON, through cJSON, which alone would take too much and
 * too little: a NUL ends its strings, and it looks neither at UTF-8 nor behind the value. */
#ifndef MIGRATE_LEDGER_LEDGER_JSON_H
#define MIGRATE_LEDGER_LEDGER_JSON_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/store/store.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* Whole numbers up to here come back exactly: cJSON 1.7.15 prints 15 digits. */
#define LEDGER_NUMBER_MAX ((uint64_t)999999999999999)

/* Parses exactly one object; *out is the caller's to cJSON_Delete().
 *   name  of the record, for the message
 * ERROR_DAMAGED: not UTF-8, not JSON, no object, text behind it, a NUL in a string. */
MUST_CHECK bool ledger_json_parse(struct str text, struct str name, cJSON **out, struct error *err);

/* Members that must be there. Texts are copied into the arena.
 * ERROR_DAMAGED: the member is missing or of another kind; numbers: not whole, or negative. */
MUST_CHECK bool ledger_json_text(const cJSON *object, const char *name, struct arena *arena,
                                 struct str *out, struct error *err);
MUST_CHECK bool ledger_json_number(const cJSON *object, const char *name, uint64_t *out,
                                   struct error *err);
MUST_CHECK bool ledger_json_bool(const cJSON *object, const char *name, bool *out,
                                 struct error *err);
MUST_CHECK bool ledger_json_array(const cJSON *object, const char *name, const cJSON **out,
                                  struct error *err);

/* Adds a text; bytes that cJSON cannot hold (NUL) or that are no UTF-8 become U+FFFD. */
void ledger_json_add_text(cJSON *object, const char *name, struct str text);

/* Capacity, as the members read_units and write_units; they may be absent, and are 0 then. */
void ledger_json_add_usage(cJSON *object, const struct store_usage *usage);
void ledger_json_usage(const cJSON *object, struct store_usage *out);

/* Prints without white space into the arena and deletes the object. */
struct str ledger_json_print(cJSON *object, struct arena *arena);

#endif
