/* expr_functions — the functions of the language: one row of the table and one C function each. */
#ifndef ENGINE_EXPR_EXPR_FUNCTIONS_INTERNAL_H
#define ENGINE_EXPR_EXPR_FUNCTIONS_INTERNAL_H

#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr_internal.h"

#include <stddef.h>
#include <stdint.h>

/* The row of the function that takes so many arguments.
 * ERROR_PLAN: unknown (with a name that is near, or all of them), or another count. */
MUST_CHECK bool expr_function_find(struct str name, size_t count, const struct operation **out,
                                   struct error *err);

/* A whole number that its parameter has already accepted. */
int64_t expr_function_whole(struct value v);

/* A new S. ERROR_ITEM if no item could hold it. */
MUST_CHECK bool expr_function_new_text(struct evaluation *in, struct str text, struct value *out);

enum {
    PAD_WIDTH_MAX = SORT_KEY_MAX_BYTES, /* padded numbers are there to be sort keys */
    HASH_DIGITS_MAX = 64                /* of SHA-256 in hexadecimal */
};

/* expr_functions_condition.c */
expr_evaluate expr_function_attribute_exists;
expr_evaluate expr_function_attribute_not_exists;
expr_evaluate expr_function_attribute_type;
expr_evaluate expr_function_begins_with;
expr_evaluate expr_function_contains;
expr_evaluate expr_function_size;
expr_evaluate expr_function_coalesce;
expr_evaluate expr_function_if_not_exists;
expr_evaluate expr_function_if;

/* expr_functions_value.c */
expr_call expr_function_to_list;
expr_call expr_function_to_set;
expr_call expr_function_list_append;
expr_call expr_function_string;
expr_call expr_function_number;
expr_call expr_function_binary;
expr_call expr_function_base64;
expr_call expr_function_unbase64;
expr_call expr_function_json;
expr_call expr_function_parse_json;
expr_call expr_function_shard;
expr_call expr_function_hash;
expr_call expr_function_hash_digits;

/* expr_functions_text.c */
expr_call expr_function_lower;
expr_call expr_function_upper;
expr_call expr_function_trim;
expr_call expr_function_substring;
expr_call expr_function_split;
expr_call expr_function_split_part;
expr_call expr_function_before;
expr_call expr_function_after;
expr_call expr_function_replace;
expr_call expr_function_pad;
expr_call expr_function_pad_signed;

/* expr_functions_date.c */
expr_call expr_function_date;
expr_call expr_function_date_of_epoch;
expr_call expr_function_epoch;
bool expr_function_is_date_format(struct value v, struct error *err);
unsigned expr_function_date_types(const struct expr *expr);

#endif
