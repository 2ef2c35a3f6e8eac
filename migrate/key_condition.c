#include "migrate/key_condition.h"

#include "engine/expr/expr.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* One more than a condition on all key parts has. */
enum { CONJUNCTS_MAX = 2 * KEY_PARTS_MAX + 1 };

enum relation { EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, BETWEEN, BEGINS_WITH };

/* NAME relation VALUE, or NAME BETWEEN value AND upper. */
struct clause {
    struct str name;
    enum relation relation;
    struct value value;
    struct value upper;
};

/* How a comparison is spelled, and what it is with its sides changed. */
static const struct {
    struct str spelling;
    enum relation relation;
    enum relation mirrored;
} comparisons[] = {
    {STR_INIT("="), EQUAL, EQUAL},
    {STR_INIT("<"), LESS, GREATER},
    {STR_INIT("<="), LESS_OR_EQUAL, GREATER_OR_EQUAL},
    {STR_INIT(">"), GREATER, LESS},
    {STR_INIT(">="), GREATER_OR_EQUAL, LESS_OR_EQUAL},
};

/* True if the expression is an attribute's name and nothing else. */
static bool is_name(const struct expr *expr, struct str *name)
{
    struct path path;
    if (!expr_is_path(expr, &path) || path.count != 1) {
        return false;
    }
    *name = path.steps[0].name;
    return true;
}

static bool is_constant(const struct expr *expr, struct arena *arena, struct value *out)
{
    *out = expr_constant(expr, arena);
    return !value_is_missing(*out);
}

/* Whoever forgets the quotes means a text. */
static bool hint_at_quotes(struct str name, struct error *err)
{
    return error_hint(err, "texts stand in single quotes: %.*s = 'CUSTOMER#1'", STR_ARG(name));
}

static bool wrong_clause(const struct expr *expr, struct arena *arena, struct error *err)
{
    struct str name;
    struct value value;
    (void)error_set(err, ERROR_USAGE, "'%.*s' is no condition on a key",
                    STR_ARG(expr_print(expr, arena)));
    if (expr_kind(expr) == EXPR_COMPARE && is_name(expr_argument(expr, 0), &name) &&
        !is_constant(expr_argument(expr, 1), arena, &value)) {
        return hint_at_quotes(name, err);
    }
    return error_hint(err, "a key attribute, one of = < <= > >= BETWEEN begins_with, and a "
                           "constant; other conditions go into --where");
}

static bool read_comparison(const struct expr *expr, struct arena *arena, struct clause *out)
{
    const struct expr *left = expr_argument(expr, 0);
    const struct expr *right = expr_argument(expr, 1);
    bool mirrored = !is_name(left, &out->name);
    if (mirrored && !is_name(right, &out->name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (str_equal(expr_name(expr), comparisons[i].spelling)) {
            out->relation = mirrored ? comparisons[i].mirrored : comparisons[i].relation;
            return is_constant(mirrored ? left : right, arena, &out->value);
        }
    }
    return false;
}

static bool read_clause(const struct expr *expr, struct arena *arena, struct clause *out,
                        struct error *err)
{
    enum expr_kind kind = expr_kind(expr);
    bool ok = false;
    if (kind == EXPR_COMPARE) {
        ok = read_comparison(expr, arena, out);
    } else if (kind == EXPR_BETWEEN) {
        out->relation = BETWEEN;
        ok = is_name(expr_argument(expr, 0), &out->name) &&
             is_constant(expr_argument(expr, 1), arena, &out->value) &&
             is_constant(expr_argument(expr, 2), arena, &out->upper);
    } else if (kind == EXPR_CALL && str_equal(expr_name(expr), STR("begins_with"))) {
        out->relation = BEGINS_WITH;
        ok = is_name(expr_argument(expr, 0), &out->name) &&
             is_constant(expr_argument(expr, 1), arena, &out->value);
    }
    return ok || wrong_clause(expr, arena, err);
}

/* As DynamoDB refuses the request: a type other than the key's, an empty value. */
static bool check_value(const struct key_attribute *attribute, struct value value,
                        struct error *err)
{
    if (value_type(value) != attribute->type) {
        return error_set(err, ERROR_USAGE, "key attribute %.*s is of type %s, not %s",
                         STR_ARG(attribute->name), value_type_name(attribute->type),
                         value_type_name(value_type(value)));
    }
    if (value_bytes(value).len == 0) {
        return error_set(err, ERROR_USAGE, "key attribute %.*s: the value is empty",
                         STR_ARG(attribute->name));
    }
    return true;
}

/* That BETWEEN's values fit each other is the parser's to check. */
static bool check_clause(const struct key_attribute *attribute, const struct clause *clause,
                         struct error *err)
{
    if (clause->relation == BEGINS_WITH && attribute->type == VALUE_N) {
        return error_set(err, ERROR_USAGE, "begins_with: key attribute %.*s is of type N",
                         STR_ARG(attribute->name));
    }
    return check_value(attribute, clause->value, err);
}

/* The clause on an attribute; NULL where there is none. */
static const struct clause *find_clause(const struct clause *clauses, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(clauses[i].name, name)) {
            return &clauses[i];
        }
    }
    return NULL;
}

static bool take_partition(const struct clause *clauses, size_t count,
                           const struct key_schema *keys, struct query *out, struct error *err)
{
    for (size_t i = 0; i < keys->partition_count; i++) {
        const struct key_attribute *attribute = &keys->partition[i];
        const struct clause *clause = find_clause(clauses, count, attribute->name);
        if (clause == NULL || clause->relation != EQUAL) {
            return error_set(err, ERROR_USAGE,
                             "expected %.*s = VALUE: a query needs one whole partition key",
                             STR_ARG(attribute->name));
        }
        if (!check_clause(attribute, clause, err)) {
            return false;
        }
        out->partition[i] = clause->value;
    }
    return true;
}

static void take_range(const struct clause *clause, struct query *out)
{
    switch (clause->relation) {
    case LESS:
    case LESS_OR_EQUAL:
        out->high = clause->value;
        out->high_exclusive = clause->relation == LESS;
        break;
    case GREATER:
    case GREATER_OR_EQUAL:
        out->low = clause->value;
        out->low_exclusive = clause->relation == GREATER;
        break;
    case BETWEEN:
        out->low = clause->value;
        out->high = clause->upper;
        break;
    case BEGINS_WITH:
        out->low = clause->value;
        out->low_is_prefix = true;
        break;
    case EQUAL:
        out->sort_equal[out->sort_equal_count] = clause->value;
        out->sort_equal_count++;
        break;
    }
}

/* Each sort attribute only where the one before it is fixed. */
static bool take_sort(const struct clause *clauses, size_t count, const struct key_schema *keys,
                      struct query *out, struct error *err)
{
    bool open = true;
    for (size_t i = 0; i < keys->sort_count; i++) {
        const struct key_attribute *attribute = &keys->sort[i];
        const struct clause *clause = find_clause(clauses, count, attribute->name);
        if (clause != NULL && !open) {
            return error_set(err, ERROR_USAGE, "a condition on %.*s needs %.*s = VALUE before it",
                             STR_ARG(attribute->name), STR_ARG(keys->sort[i - 1].name));
        }
        if (clause != NULL && !check_clause(attribute, clause, err)) {
            return false;
        }
        if (clause != NULL) {
            take_range(clause, out);
        }
        open = clause != NULL && clause->relation == EQUAL;
    }
    return true;
}

const struct key_schema *key_condition_keys(const struct table_desc *table, struct str index)
{
    if (index.len == 0) {
        return &table->keys;
    }
    for (size_t i = 0; i < table->index_count; i++) {
        if (str_equal(table->indexes[i].name, index)) {
            return &table->indexes[i].keys;
        }
    }
    return NULL;
}

/* The name may be a key attribute elsewhere: of another index, or of the table. */
static bool refuse_name(struct str name, const struct table_desc *table, struct error *err)
{
    for (size_t i = 0; i < table->index_count; i++) {
        struct str index = table->indexes[i].name;
        if (key_schema_find(&table->indexes[i].keys, name) != NULL) {
            return error_set(err, ERROR_USAGE,
                             "%.*s is a key attribute of index %.*s\nhint: add --index %.*s; "
                             "conditions besides those on its key go into --where",
                             STR_ARG(name), STR_ARG(index), STR_ARG(index));
        }
    }
    if (key_schema_find(&table->keys, name) != NULL) {
        return error_set(err, ERROR_USAGE,
                         "%.*s is a key attribute of the table, not of the index\n"
                         "hint: leave out --index, or put the condition into --where",
                         STR_ARG(name));
    }
    return error_set(err, ERROR_USAGE,
                     "%.*s is no key attribute\nhint: conditions on other attributes go into "
                     "--where",
                     STR_ARG(name));
}

static bool check_names(const struct clause *clauses, size_t count, const struct key_schema *keys,
                        const struct table_desc *table, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (key_schema_find(keys, clauses[i].name) == NULL) {
            return refuse_name(clauses[i].name, table, err);
        }
        if (find_clause(clauses, i, clauses[i].name) != NULL) {
            return error_set(err, ERROR_USAGE, "%.*s has more than one condition",
                             STR_ARG(clauses[i].name));
        }
    }
    return true;
}

bool key_condition_parse(struct str text, const struct table_desc *table, struct arena *arena,
                         struct query *out, struct error *err)
{
    struct expr_parsed parsed = {0};
    const struct expr *parts[CONJUNCTS_MAX];
    struct clause clauses[CONJUNCTS_MAX] = {0};
    const struct key_schema *keys = key_condition_keys(table, out->index);
    assert(keys != NULL);
    if (!expr_parse(text, NULL, arena, &parsed, err)) {
        (void)error_wrap(err, "key condition, column %zu", parsed.fault + 1);
        return !str_has(text, '\'') && hint_at_quotes(keys->partition[0].name, err);
    }
    size_t count = expr_conjuncts(parsed.expr, parts, CONJUNCTS_MAX);
    if (count > CONJUNCTS_MAX) {
        return error_set(err, ERROR_USAGE, "the key condition has too many parts");
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_clause(parts[i], arena, &clauses[i], err)) {
            return false;
        }
    }
    struct query query = *out;
    if (!check_names(clauses, count, keys, table, err) ||
        !take_partition(clauses, count, keys, &query, err) ||
        !take_sort(clauses, count, keys, &query, err)) {
        return false;
    }
    *out = query;
    return true;
}
