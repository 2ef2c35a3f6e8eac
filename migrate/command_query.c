#include "engine/base/buffer.h"
#include "engine/expr/expr.h"
#include "engine/item/number.h"
#include "engine/store/store.h"
#include "migrate/cli/item_printer.h"
#include "migrate/cli/report.h"
#include "migrate/commands.h"
#include "migrate/key_condition.h"
#include "migrate/query_merge.h"
#include "migrate/table_session.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

enum { SHARDS_MAX = 1000 };

static const struct option options[] = {
    {"index", "NAME", "query this global secondary index"},
    {"where", "CONDITION", "keep only the items for which it holds"},
    {"select", "A,B", "show only these attributes"},
    {"sum", "EXPRESSION", "add up this number over the items, exactly, instead of showing them"},
    {"shards", "N", "ask for {shard} = 0 to N-1 in the key condition, and merge"},
    {"descending", NULL, "from the greatest sort key to the least"},
    {"limit", "N", "stop after N items"},
};

/* What is wanted of each item that the key condition finds. */
struct wanted {
    const struct expr *where; /* NULL: all */
    const struct expr *sum;   /* NULL: the items themselves */
    const struct str *select; /* NULL: all attributes */
    size_t select_count;
    uint64_t limit;
};

/* What has been found so far. */
struct found {
    uint64_t count;
    struct number sum;
    struct arena *scratch; /* for one item */
    struct item_printer *printer;
};

static bool parse_expression(const struct invocation *invocation, const char *option,
                             const struct expr **out, struct error *err)
{
    const char *text = invocation_text(invocation, option);
    struct expr_parsed parsed = {0};
    if (text == NULL) {
        return true;
    }
    if (!expr_parse((struct str){text, strlen(text)}, NULL, invocation->arena, &parsed, err)) {
        return error_wrap(err, "--%s, column %zu", option, parsed.fault + 1);
    }
    *out = parsed.expr;
    return true;
}

/* "a,b" as its parts; empty ones name nothing. */
static void parse_select(const struct invocation *invocation, struct wanted *out)
{
    const char *text = invocation_text(invocation, "select");
    if (text == NULL) {
        return;
    }
    struct str *names = arena_alloc(invocation->arena, (strlen(text) + 1) * sizeof *names);
    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        if (len > 0) {
            names[out->select_count] = (struct str){text, len};
            out->select_count++;
        }
        text += len + (text[len] == ',' ? 1 : 0);
    }
    out->select = names;
}

static bool read_wanted(const struct invocation *invocation, struct wanted *out, struct error *err)
{
    if (!parse_expression(invocation, "where", &out->where, err) ||
        !parse_expression(invocation, "sum", &out->sum, err) ||
        !invocation_number(invocation, "limit", (struct number_range){1, UINT64_MAX}, &out->limit,
                           err)) {
        return false;
    }
    if (out->where != NULL && !expr_is_condition(out->where)) {
        return error_set(
            err, ERROR_USAGE,
            "--where is no condition\n"
            "hint: a condition is true or false; for a BOOL attribute write Paid = true");
    }
    parse_select(invocation, out);
    return true;
}

/* ---------------------------------------------------------------- one item */

static struct value selected(const struct wanted *wanted, struct value item, struct arena *scratch)
{
    if (wanted->select == NULL) {
        return item;
    }
    struct attribute *members = arena_alloc(scratch, (wanted->select_count + 1) * sizeof *members);
    size_t count = 0;
    for (size_t i = 0; i < wanted->select_count; i++) {
        bool doubled = false;
        for (size_t j = 0; j < count; j++) {
            doubled = doubled || str_equal(members[j].name, wanted->select[i]);
        }
        if (!doubled) {
            members[count].name = wanted->select[i];
            members[count].value = value_member(item, wanted->select[i]);
            count++;
        }
    }
    struct value chosen = {0};
    struct error err = {0};
    return value_map(scratch, members, count, &chosen, &err) ? chosen : item;
}

/* Items without the number count as zero, as SQL's SUM passes over NULL. */
static bool add_to_sum(const struct wanted *wanted, struct value item, struct found *found,
                       struct error *err)
{
    struct value value;
    struct expr_scope scope = {.item = item};
    if (!expr_eval(wanted->sum, &scope, found->scratch, &value, err)) {
        return error_wrap(err, "--sum");
    }
    if (value_is_missing(value)) {
        return true;
    }
    if (value_type(value) != VALUE_N) {
        return error_set(err, ERROR_ITEM, "--sum: a value is of type %s, not N",
                         value_type_name(value_type(value)));
    }
    struct number number = value_number(value);
    return number_add(&found->sum, &number, &found->sum, err) || error_wrap(err, "--sum");
}

static bool take_item(const struct wanted *wanted, struct value item, struct found *found,
                      struct error *err)
{
    arena_reset(found->scratch);
    struct expr_scope scope = {.item = item};
    bool holds = true;
    if (wanted->where != NULL && !expr_test(wanted->where, &scope, found->scratch, &holds, err)) {
        return error_wrap(err, "--where");
    }
    if (!holds) {
        return true;
    }
    found->count++;
    if (wanted->sum != NULL) {
        return add_to_sum(wanted, item, found, err);
    }
    struct value shown = selected(wanted, item, found->scratch);
    item_printer_add(found->printer, shown);
    return true;
}

/* ---------------------------------------------------------------- all items */

/* Behind the results, where both streams go to one terminal or file. */
static void say_count(struct invocation *invocation, const char *text, const struct found *found)
{
    (void)fflush(invocation->out);
    (void)fprintf(invocation->messages, "%s%.*s\n", text,
                  STR_ARG(report_counted(invocation->arena, found->count, "item", "items")));
}

static void print_sum(struct invocation *invocation, const struct found *found)
{
    char digits[NUMBER_TEXT_MAX];
    size_t len = number_format(&found->sum, digits);
    if (invocation->json) {
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "sum", digits);
        (void)cJSON_AddNumberToObject(object, "items", (double)found->count);
        report_json(invocation, object);
    } else {
        (void)fprintf(invocation->out, "%.*s\n", (int)len, digits);
        say_count(invocation, "the sum over ", found);
    }
}

static bool take_items(struct invocation *invocation, const struct wanted *wanted,
                       struct query_merge *merge, struct found *found, struct error *err)
{
    while (found->count < wanted->limit) {
        struct value item;
        if (atomic_load(invocation->stop)) {
            return error_set(err, ERROR_STOPPED, "interrupted");
        }
        if (!query_merge_next(merge, &item, err)) {
            return false;
        }
        if (value_is_missing(item)) {
            return true;
        }
        if (!take_item(wanted, item, found, err) || !report_check(invocation, err)) {
            return false;
        }
    }
    return true;
}

static bool print_found(struct invocation *invocation, const struct wanted *wanted,
                        struct query_merge *merge, const struct key_schema *keys, struct error *err)
{
    struct found found = {.scratch = arena_new(), .printer = item_printer_open(invocation, keys)};
    bool ok = take_items(invocation, wanted, merge, &found, err);
    item_printer_close(found.printer);
    if (ok && wanted->sum != NULL) {
        print_sum(invocation, &found);
    } else if (ok && !invocation->json) {
        say_count(invocation, "", &found);
    }
    arena_free(found.scratch);
    return ok;
}

/* ---------------------------------------------------------------- the query */

/* Empty: the table itself. */
static struct str wanted_index(const struct invocation *invocation)
{
    const char *index = invocation_text(invocation, "index");
    return index == NULL ? STR("") : (struct str){index, strlen(index)};
}

static bool find_keys(const struct table_desc *table, struct str index,
                      const struct key_schema **out, struct error *err)
{
    *out = key_condition_keys(table, index);
    return *out != NULL ||
           error_set(err, ERROR_USAGE,
                     "the table has no index '%.*s'\nhint: refold show lists them", STR_ARG(index));
}

/* The text with {shard} replaced by the number. */
static struct str condition_of_shard(const char *text, uint64_t shard, struct arena *arena)
{
    static const char mark[] = "{shard}";
    struct buffer out = {0};
    for (const char *found = strstr(text, mark); found != NULL; found = strstr(text, mark)) {
        buffer_format(&out, "%.*s%" PRIu64, (int)(found - text), text, shard);
        text = found + sizeof mark - 1;
    }
    buffer_add(&out, (struct str){text, strlen(text)});
    struct str condition = arena_copy(arena, buffer_str(&out));
    buffer_free(&out);
    return condition;
}

/* One query for each shard; without --shards there is one. */
static bool make_queries(const struct invocation *invocation, const struct table_desc *table,
                         struct query **out, size_t *count, struct error *err)
{
    const char *text = invocation->operands[0];
    uint64_t shards = 1;
    if (!invocation_number(invocation, "shards", (struct number_range){1, SHARDS_MAX}, &shards,
                           err)) {
        return false;
    }
    if (invocation_flag(invocation, "shards") != (strstr(text, "{shard}") != NULL)) {
        return error_set(err, ERROR_USAGE,
                         "--shards N and {shard} in the key condition go together");
    }
    struct query *queries = arena_zero(invocation->arena, shards * sizeof *queries);
    for (size_t i = 0; i < shards; i++) {
        queries[i].index = wanted_index(invocation);
        queries[i].descending = invocation_flag(invocation, "descending");
        struct str condition = condition_of_shard(text, i, invocation->arena);
        if (!key_condition_parse(condition, table, invocation->arena, &queries[i], err)) {
            return false;
        }
    }
    *out = queries;
    *count = shards;
    return true;
}

static bool run_query(struct invocation *invocation, struct store *store,
                      struct store_reader *reader, struct error *err)
{
    struct table_desc table;
    const struct key_schema *keys = NULL;
    struct wanted wanted = {.limit = UINT64_MAX};
    struct query *queries = NULL;
    size_t count = 0;
    if (!store_describe(store, invocation->arena, &table, err) ||
        !find_keys(&table, wanted_index(invocation), &keys, err) ||
        !read_wanted(invocation, &wanted, err) ||
        !make_queries(invocation, &table, &queries, &count, err)) {
        return false;
    }
    struct query_merge *merge = query_merge_open(reader, keys, queries, count);
    bool ok = print_found(invocation, &wanted, merge, &table.keys, err);
    query_merge_close(merge);
    return ok;
}

static bool run(struct invocation *invocation, struct error *err)
{
    return table_session_read(invocation, run_query, err);
}

const struct command command_query = {
    .name = "query",
    .synopsis = "TABLE KEY-CONDITION [options]",
    .summary = "Find items by key, in the table or one of its indexes.",
    .details = "  refold query shop.refold \"PK = 'CUSTOMER#1' AND begins_with(SK, 'ORDER#')\"\n"
               "  refold query shop.refold \"GSI1PK = 'STATUS#open'\" --index GSI1 --sum Total\n"
               "\n"
               "The key condition fixes the partition key with = and may bound the sort key with\n"
               "= < <= > >= BETWEEN or begins_with. With --format json items are printed as\n"
               "DynamoDB JSON, one a line.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .operands_min = 2,
    .operands_max = 2,
    .takes_table = true,
    .run = run,
};
