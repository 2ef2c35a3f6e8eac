#include "plans/pass.h"

#include "tests/rules/plans_fixture.h"
#include "tests/support/suite.h"

/* names: sorted; of the item {PK, SK, N: 1}. */
static const struct {
    const char *says;
    const char *steps;
    const char *names;
} bases[] = {
    {"what is read and what is written", "{\"set\": {\"A\": \"${upper(B)}\"}}", "A B"},
    {"each once", "{\"where\": \"B = 1 OR B <> N\", \"set\": {\"B\": \"${N}\"}}", "B N"},
    {"documents by their attribute", "{\"where\": \"a.b[0] <> N\", \"set\": {\"c\": \"${d.e}\"}}",
     "N a c d"},
    {"both ends of a rename, and what is removed",
     "{\"rename\": {\"A\": \"B\"}, \"remove\": [\"C\"]}", "A B C"},
    {"what a put is made from", "{\"put\": {\"PK\": \"${N}\", \"SK\": \"${B}\"}}", "B N"},
    {"what a lookup is found by, but not what it finds",
     "{\"where\": \"SK = 'x' OR N = 1\", \"lookup\": {\"c\": {\"PK\": \"U#${U}\", \"SK\": "
     "\"PROFILE\"}}, \"set\": {\"A\": \"${c.Name}\"}}",
     "A N SK U"},
    {"of a step that does not match, only its where",
     "{\"where\": \"N = 2\", \"set\": {\"A\": \"${B}\"}}, {\"set\": {\"C\": \"${D}\"}}", "C D N"},
    {"of constants under their own where, what is written",
     "{\"where\": \"B = 1\", \"set\": {\"A\": 1}, \"remove\": [\"C\"]}", "A C if B = 1 or B"},
};

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

START_TEST(pass_basis_is_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    ck_assert_msg(plans_pass(bases[_i].steps, 0, arena, &pass, &err), "%s", err.text);
    unsigned char outcomes[] = {STEP_WRITTEN, STEP_WRITTEN};
    if (strstr(bases[_i].steps, "N = 2") != NULL) {
        outcomes[0] = STEP_NOT_MATCHED;
    }
    struct basis basis = pass_basis(pass, outcomes, arena);
    struct str *names = arena_alloc(arena, (basis.count + 1) * sizeof *names);
    struct str all = STR("");
    for (size_t i = 0; i < basis.count; i++) {
        names[i] = basis.names[i];
    }
    qsort(names, basis.count, sizeof *names, compare);
    for (size_t i = 0; i < basis.count; i++) {
        all = arena_format(arena, "%.*s%s%.*s", STR_ARG(all), i == 0 ? "" : " ", STR_ARG(names[i]));
    }
    if (basis.condition != NULL) {
        struct str condition = expr_print(basis.condition, arena);
        all = arena_format(arena, "%.*s if %.*s", STR_ARG(all), STR_ARG(condition));
        for (size_t i = basis.count; i < basis.count_without; i++) {
            all = arena_format(arena, "%.*s or %.*s", STR_ARG(all), STR_ARG(basis.names[i]));
        }
    }
    ck_assert_msg(str_equal(all, (struct str){bases[_i].names, strlen(bases[_i].names)}),
                  "%s: %.*s", bases[_i].says, STR_ARG(all));
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/pass_basis");
    TCase *tables = tcase_create("tables");
    tcase_add_loop_test(tables, pass_basis_is_as_the_table_says, 0, sizeof bases / sizeof *bases);
    suite_add_tcase(suite, tables);
    return suite_run(suite);
}
