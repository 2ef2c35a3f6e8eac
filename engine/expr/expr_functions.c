#include "engine/expr/expr_functions_internal.h"

#include "engine/expr/expr_literal_internal.h"
#include "engine/expr/expr_operators_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- parameters --- */

int64_t expr_function_whole(struct value v)
{
    struct number n = value_number(v);
    int64_t whole = 0;
    bool ok = number_to_int(&n, &whole);
    assert(ok);
    (void)ok;
    return whole;
}

static bool is_whole_from(struct value v, int64_t min, int64_t max, struct error *err)
{
    struct number n = value_number(v);
    int64_t whole = 0;
    if (!number_to_int(&n, &whole)) {
        return error_set(err, ERROR_ITEM, "%s is not a whole number of at most 18 digits",
                         expr_literal_shown(v).text);
    }
    if (whole < min || whole > max) {
        return error_set(err, ERROR_ITEM, "%" PRId64 " is not within %" PRId64 " to %" PRId64,
                         whole, min, max);
    }
    return true;
}

static bool is_whole(struct value v, struct error *err)
{
    return is_whole_from(v, INT64_MIN, INT64_MAX, err);
}

static bool is_length(struct value v, struct error *err)
{
    return is_whole_from(v, 0, INT64_MAX, err);
}

static bool is_shard_count(struct value v, struct error *err)
{
    return is_whole_from(v, 1, INT64_MAX, err);
}

static bool is_width(struct value v, struct error *err)
{
    return is_whole_from(v, 1, PAD_WIDTH_MAX, err);
}

static bool is_hash_digits(struct value v, struct error *err)
{
    return is_whole_from(v, 1, HASH_DIGITS_MAX, err);
}

static bool is_part(struct value v, struct error *err)
{
    if (!is_whole(v, err)) {
        return false;
    }
    if (expr_function_whole(v) == 0) {
        return error_set(err, ERROR_ITEM, "parts are counted from 1, or from the end with -1");
    }
    return true;
}

static bool is_separator(struct value v, struct error *err)
{
    if (value_bytes(v).len == 0) {
        return error_set(err, ERROR_ITEM, "an empty string stands nowhere");
    }
    return true;
}

static bool is_type_name(struct value v, struct error *err)
{
    if (value_type_named(value_bytes(v)) == VALUE_MISSING) {
        return error_set(err, ERROR_ITEM, "%s is none of the types %s", expr_literal_shown(v).text,
                         expr_literal_types(TYPE_ANY).text);
    }
    return true;
}

static bool is_signed(struct value v, struct error *err)
{
    if (!str_equal(value_bytes(v), STR("signed"))) {
        return error_set(err, ERROR_ITEM, "expected 'signed', found %s",
                         expr_literal_shown(v).text);
    }
    return true;
}

static const struct parameter any = {.types = TYPE_ANY};
static const struct parameter path = {.form = PARAMETER_PATH, .types = TYPE_ANY};
static const struct parameter condition = {.form = PARAMETER_CONDITION, .types = TYPE_BOOL};
static const struct parameter text = {.types = TYPE_S};
static const struct parameter number = {.types = TYPE_N};
static const struct parameter bytes = {.types = TYPE_B};
static const struct parameter list = {.types = TYPE_L};
static const struct parameter prefix = {.types = TYPE_S | TYPE_B};
static const struct parameter digits_or_text = {.types = TYPE_S | TYPE_N};
static const struct parameter member = {.types = TYPE_ORDERED};
static const struct parameter members = {.types = TYPE_SET | TYPE_L};
static const struct parameter container = {.types = TYPE_S | TYPE_B | TYPE_SET | TYPE_L};
static const struct parameter sized = {.types = TYPE_S | TYPE_B | TYPE_SET | TYPE_L | TYPE_M};
static const struct parameter scalar = {.types = TYPE_ORDERED | TYPE_BOOL};
static const struct parameter separator = {.types = TYPE_S, .valid = is_separator};
static const struct parameter whole = {.types = TYPE_N, .valid = is_whole};
static const struct parameter length = {.types = TYPE_N, .valid = is_length};
static const struct parameter part = {.types = TYPE_N, .valid = is_part};
static const struct parameter width = {.types = TYPE_N, .valid = is_width};
static const struct parameter shard_count = {.types = TYPE_N, .valid = is_shard_count};
static const struct parameter hash_digits = {.types = TYPE_N, .valid = is_hash_digits};
static const struct parameter type_name = {PARAMETER_LITERAL, TYPE_S, is_type_name};
static const struct parameter sign = {PARAMETER_LITERAL, TYPE_S, is_signed};
static const struct parameter date_format = {PARAMETER_LITERAL, TYPE_S,
                                             expr_function_is_date_format};

/* --- results that depend on the arguments --- */

static unsigned types_from(const struct expr *expr, size_t first)
{
    unsigned types = 0;
    for (size_t i = first; i < expr->argument_count; i++) {
        types |= expr->arguments[i]->types;
    }
    return types;
}

static unsigned branch_types(const struct expr *expr)
{
    return types_from(expr, 1);
}

static unsigned coalesce_types(const struct expr *expr)
{
    return types_from(expr, 0) & ~(unsigned)TYPE_NULL;
}

/* --- the table --- */

/* clang-format off */
static const struct operation functions[] = {
    {"attribute_exists", 1, 1, {&path}, TYPE_BOOL, .evaluate = expr_function_attribute_exists},
    {"attribute_not_exists", 1, 1, {&path}, TYPE_BOOL, .evaluate = expr_function_attribute_not_exists},
    {"attribute_type", 2, 2, {&path, &type_name}, TYPE_BOOL, .evaluate = expr_function_attribute_type},
    {"begins_with", 2, 2, {&prefix}, TYPE_BOOL, .evaluate = expr_function_begins_with},
    {"contains", 2, 2, {&container, &any}, TYPE_BOOL, .evaluate = expr_function_contains},
    {"size", 1, 1, {&sized}, TYPE_N, .evaluate = expr_function_size},
    {"if_not_exists", 2, 2, {&path, &any}, TYPE_ANY, .evaluate = expr_function_if_not_exists},
    {"coalesce", 2, SIZE_MAX, {&any}, 0, coalesce_types, expr_function_coalesce, NULL},
    {"if", 3, 3, {&condition, &any, &any}, 0, branch_types, expr_function_if, NULL},
    {"list", 1, SIZE_MAX, {&any}, TYPE_L, .evaluate = expr_evaluate_list},
    {"set", 1, SIZE_MAX, {&member}, TYPE_SET, .evaluate = expr_evaluate_set},
    {"to_list", 1, 1, {&members}, TYPE_L, .call = expr_function_to_list},
    {"to_set", 1, 1, {&members}, TYPE_SET, .call = expr_function_to_set},
    {"list_append", 2, 2, {&list}, TYPE_L, .call = expr_function_list_append},
    {"string", 1, 1, {&scalar}, TYPE_S, .call = expr_function_string},
    {"number", 1, 1, {&digits_or_text}, TYPE_N, .call = expr_function_number},
    {"binary", 1, 1, {&text}, TYPE_B, .call = expr_function_binary},
    {"base64", 1, 1, {&bytes}, TYPE_S, .call = expr_function_base64},
    {"unbase64", 1, 1, {&text}, TYPE_B, .call = expr_function_unbase64},
    {"lower", 1, 1, {&text}, TYPE_S, .call = expr_function_lower},
    {"upper", 1, 1, {&text}, TYPE_S, .call = expr_function_upper},
    {"trim", 1, 1, {&text}, TYPE_S, .call = expr_function_trim},
    {"substring", 3, 3, {&text, &whole, &length}, TYPE_S, .call = expr_function_substring},
    {"split", 2, 2, {&text, &separator}, TYPE_L, .call = expr_function_split},
    {"split", 3, 3, {&text, &separator, &part}, TYPE_S, .call = expr_function_split_part},
    {"before", 2, 2, {&text, &separator}, TYPE_S, .call = expr_function_before},
    {"after", 2, 2, {&text, &separator}, TYPE_S, .call = expr_function_after},
    {"replace", 3, 3, {&text, &separator, &text}, TYPE_S, .call = expr_function_replace},
    {"pad", 2, 2, {&number, &width}, TYPE_S, .call = expr_function_pad},
    {"pad", 3, 3, {&number, &width, &sign}, TYPE_S, .call = expr_function_pad_signed},
    {"date", 1, 1, {&number}, TYPE_S, .call = expr_function_date_of_epoch},
    {"date", 3, 3, {&digits_or_text, &date_format, &date_format}, 0, expr_function_date_types, NULL, expr_function_date},
    {"epoch", 1, 1, {&text}, TYPE_N, .call = expr_function_epoch},
    {"shard", 2, 2, {&digits_or_text, &shard_count}, TYPE_N, .call = expr_function_shard},
    {"hash", 1, 1, {&member}, TYPE_S, .call = expr_function_hash},
    {"hash", 2, 2, {&member, &hash_digits}, TYPE_S, .call = expr_function_hash_digits},
    {"json", 1, 1, {&any}, TYPE_S, .call = expr_function_json},
    {"parse_json", 1, 1, {&text}, TYPE_ANY, .call = expr_function_parse_json},
};
/* clang-format on */

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions, NAME_MAX_BYTES = 31 };

/* --- finding a row --- */

static bool is_named(const struct operation *function, struct str name)
{
    return str_equal((struct str){function->name, strlen(function->name)}, name);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be put in, taken out or changed: the rows of the classic table, in one. */
static size_t distance(struct str a, struct str b)
{
    size_t row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; i < a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.len; j++) {
            size_t change = diagonal + ((a.ptr[i] | 0x20) == (b.ptr[j] | 0x20) ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = least(change, least(row[j], diagonal) + 1);
        }
    }
    return row[b.len];
}

/* A function whose name is at most a third wrong; NULL if none is. */
static const char *nearest_name(struct str name)
{
    const char *nearest = NULL;
    size_t best = name.len / 3 + 1;
    for (size_t i = 0; i < FUNCTION_COUNT && name.len <= 2 * (size_t)NAME_MAX_BYTES; i++) {
        size_t away = distance(name, (struct str){functions[i].name, strlen(functions[i].name)});
        if (away < best) {
            best = away;
            nearest = functions[i].name;
        }
    }
    return nearest;
}

static bool refuse_unknown(struct str name, struct error *err)
{
    const char *nearest = nearest_name(name);
    int shown = (int)least(name.len, NAME_MAX_BYTES);
    if (nearest != NULL) {
        return error_set(err, ERROR_PLAN, "unknown function %.*s(); did you mean %s()?", shown,
                         name.ptr, nearest);
    }
    char all[640] = "";
    size_t used = 0;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        bool again = i > 0 && strcmp(functions[i - 1].name, functions[i].name) == 0;
        int added = snprintf(all + used, sizeof all - used, "%s%s", again || i == 0 ? "" : ", ",
                             again ? "" : functions[i].name);
        used = least(used + (size_t)added, sizeof all - 1);
    }
    return error_set(err, ERROR_PLAN, "unknown function %.*s(); there are %s", shown, name.ptr,
                     all);
}

static bool refuse_count(const struct operation *first, size_t count, struct error *err)
{
    char takes[64] = "";
    size_t used = 0;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (strcmp(functions[i].name, first->name) == 0) {
            int added =
                snprintf(takes + used, sizeof takes - used, "%s%s%zu", used == 0 ? "" : " or ",
                         functions[i].max == SIZE_MAX ? "at least " : "", functions[i].min);
            used = least(used + (size_t)added, sizeof takes - 1);
        }
    }
    bool one = first->min == 1 && strstr(takes, " or ") == NULL;
    return error_set(err, ERROR_PLAN, "%s() takes %s argument%s, found %zu", first->name, takes,
                     one ? "" : "s", count);
}

bool expr_function_find(struct str name, size_t count, const struct operation **out,
                        struct error *err)
{
    const struct operation *named = NULL;
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (!is_named(&functions[i], name)) {
            continue;
        }
        named = &functions[i];
        if (count >= named->min && count <= named->max) {
            *out = named;
            return true;
        }
    }
    return named == NULL ? refuse_unknown(name, err) : refuse_count(named, count, err);
}
