#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/expr/expr.h"
#include "tests/rules/expr_answer.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static const struct expr *parsed(struct arena *arena, const char *text,
                                 const struct expr_options *options)
{
    struct expr_parsed parsed = {0};
    struct error err = {0};
    struct str all = {text, strlen(text)};
    ck_assert_msg(expr_parse(all, options, arena, &parsed, &err), "%s: %s", text, err.text);
    return parsed.expr;
}

static const struct {
    const char *text;
    const char *name;
    size_t arguments;
    enum expr_kind kind;
    bool is_condition;
} kinds[] = {
    {"A", "", 0, EXPR_PATH, false},
    {"A.B[0]", "", 0, EXPR_PATH, false},
    {"1", "", 0, EXPR_CONSTANT, false},
    {"-1", "", 0, EXPR_CONSTANT, false},
    {"true", "", 0, EXPR_CONSTANT, true},
    {"[1, {'a': 'b'}]", "", 0, EXPR_CONSTANT, false},
    {"[1, A]", "[", 2, EXPR_OTHER, false},
    {"lower(A)", "lower", 1, EXPR_CALL, false},
    {"attribute_exists(A)", "attribute_exists", 1, EXPR_CALL, true},
    {"A = 1", "=", 2, EXPR_COMPARE, true},
    {"A <> 1", "<>", 2, EXPR_COMPARE, true},
    {"A < 1", "<", 2, EXPR_COMPARE, true},
    {"A <= 1", "<=", 2, EXPR_COMPARE, true},
    {"A > 1", ">", 2, EXPR_COMPARE, true},
    {"A >= 1", ">=", 2, EXPR_COMPARE, true},
    {"A BETWEEN 1 AND 2", "BETWEEN", 3, EXPR_BETWEEN, true},
    {"A IN (1, 2, 3)", "IN", 4, EXPR_IN, true},
    {"A = 1 AND B = 1 AND C = 1", "AND", 3, EXPR_AND, true},
    {"A = 1 OR (B = 1 OR C = 1)", "OR", 3, EXPR_OR, true},
    {"NOT A = 1", "NOT", 1, EXPR_NOT, true},
    {"A || 'x' || B", "||", 3, EXPR_CONCAT, false},
    {"A + 1", "+", 2, EXPR_OTHER, false},
    {"-A", "-", 1, EXPR_OTHER, false},
    {"if(A = 1, B = 2, false)", "if", 3, EXPR_CALL, true},
    {"if(A = 1, B, false)", "if", 3, EXPR_CALL, false},
    {"coalesce(A = 1, null)", "coalesce", 2, EXPR_CALL, true},
    {"coalesce(A, true)", "coalesce", 2, EXPR_CALL, false},
    {"parse_json(A)", "parse_json", 1, EXPR_CALL, false},
};

START_TEST(an_expression_says_what_it_is)
{
    struct arena *arena = arena_new();
    const struct expr *expr = parsed(arena, kinds[_i].text, NULL);
    struct str name = {kinds[_i].name, strlen(kinds[_i].name)};
    ck_assert_msg(expr_kind(expr) == kinds[_i].kind, "%s", kinds[_i].text);
    ck_assert_msg(str_equal(expr_name(expr), name), "%s", kinds[_i].text);
    ck_assert_msg(expr_argument_count(expr) == kinds[_i].arguments, "%s", kinds[_i].text);
    ck_assert_msg(expr_is_condition(expr) == kinds[_i].is_condition, "%s", kinds[_i].text);
    struct path path;
    ck_assert_msg(expr_is_path(expr, &path) == (kinds[_i].kind == EXPR_PATH), "%s", kinds[_i].text);
    arena_free(arena);
}
END_TEST

START_TEST(arguments_stand_in_order)
{
    struct arena *arena = arena_new();
    const struct expr *expr = parsed(arena, "A BETWEEN B AND C", NULL);
    const char *names[] = {"A", "B", "C"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(expr_print(expr_argument(expr, i), arena).ptr, names[i]);
    }
    arena_free(arena);
}
END_TEST

/* NULL: missing. */
static const struct {
    const char *text;
    const char *constant;
} constants[] = {
    {"'a' || 'b'", "'ab'"},
    {"1 + 2 * 3", "7"},
    {"lower('ABC')", "'abc'"},
    {"NOT 1 = 2", "true"},
    {"[1 + 1]", "[2]"},
    {"if(1 = 1, 'a', 'b')", "'a'"},
    {"split('a#b', '#', 2)", "'b'"},
    {"split('a#b', '#', 3)", NULL},
    {"A", NULL},
    {"A = A", NULL},
    {"if(true, 1, A)", NULL},
};

START_TEST(what_reads_nothing_is_constant)
{
    struct arena *arena = arena_new();
    struct value found = expr_constant(parsed(arena, constants[_i].text, NULL), arena);
    struct value wanted = constants[_i].constant == NULL
                              ? (struct value){NULL, 0}
                              : value_of_expr(arena, constants[_i].constant);
    ck_assert_msg(value_equal(found, wanted), "%s", constants[_i].text);
    arena_free(arena);
}
END_TEST

struct seen {
    struct arena *arena;
    struct buffer text;
};

static void see(void *context, int slot, struct path path)
{
    struct seen *seen = context;
    struct str text = path_print(path, seen->arena);
    buffer_format(&seen->text, "%d:%.*s ", slot, STR_ARG(text));
}

static int resolve(void *context, struct path path, size_t *used, struct error *err)
{
    (void)context;
    (void)err;
    bool is_alias = str_equal(path.steps[0].name, STR("c"));
    *used = is_alias ? 1 : 0;
    return is_alias ? 3 : EXPR_ITEM;
}

START_TEST(all_paths_are_visited)
{
    struct arena *arena = arena_new();
    struct seen seen = {.arena = arena};
    struct expr_options options = {.resolve = resolve};
    const struct expr *expr = parsed(
        arena, "A.B[1] = 1 AND NOT if(c.Name = 'x', D, lower(A.B[1])) IN (E, 2, [F])", &options);
    expr_paths(expr, see, &seen);
    buffer_add_char(&seen.text, '\0');
    ck_assert_str_eq(seen.text.bytes, "-1:A.B[1] 3:c.Name -1:D -1:A.B[1] -1:E -1:F ");
    buffer_free(&seen.text);
    arena_free(arena);
}
END_TEST

START_TEST(conjuncts_are_the_operands_of_and)
{
    struct arena *arena = arena_new();
    const struct expr *out[2] = {NULL, NULL};
    const struct expr *three = parsed(arena, "A = 1 AND (B = 2 AND C = 3)", NULL);
    ck_assert_uint_eq(expr_conjuncts(three, out, 2), 3);
    ck_assert_str_eq(expr_print(out[1], arena).ptr, "B = 2");
    const struct expr *one = parsed(arena, "A = 1 OR B = 2", NULL);
    ck_assert_uint_eq(expr_conjuncts(one, out, 2), 1);
    ck_assert_ptr_eq(out[0], one);
    arena_free(arena);
}
END_TEST

START_TEST(a_test_is_the_truth_of_a_condition)
{
    struct arena *arena = arena_new();
    struct expr_scope scope = {.item = value_of_expr(arena, "{'A': 1, 'S': 'x'}")};
    bool holds = false;
    struct error err = {0};
    ck_assert(expr_test(parsed(arena, "A = 1", NULL), &scope, arena, &holds, &err));
    ck_assert(holds);
    ck_assert(expr_test(parsed(arena, "B = 1", NULL), &scope, arena, &holds, &err));
    ck_assert(!holds);
    ck_assert(!expr_test(parsed(arena, "number(S) = 1", NULL), &scope, arena, &holds, &err));
    ck_assert_int_eq(err.code, ERROR_ITEM);
    ck_assert(!holds);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *inspect = tcase_create("inspect");
    tcase_add_loop_test(inspect, an_expression_says_what_it_is, 0, ROWS(kinds));
    tcase_add_test(inspect, arguments_stand_in_order);
    tcase_add_loop_test(inspect, what_reads_nothing_is_constant, 0, ROWS(constants));
    tcase_add_test(inspect, all_paths_are_visited);
    tcase_add_test(inspect, conjuncts_are_the_operands_of_and);
    tcase_add_test(inspect, a_test_is_the_truth_of_a_condition);
    Suite *suite = suite_create("engine/expr/expr_inspect");
    suite_add_tcase(suite, inspect);
    return suite_run(suite);
}
