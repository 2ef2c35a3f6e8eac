#include "plans/pass.h"

#include "tests/rules/plans_fixture.h"
#include "tests/support/suite.h"

/* use: how many conditions filter, then the names that are wanted; "all" of them. The table has an
 * index of GSI1PK, GSI1SK. */
static const struct {
    const char *says;
    const char *steps;
    const char *use;
} uses[] = {
    {"an update needs what it reads and writes",
     "{\"where\": \"B = 1\", \"set\": {\"A\": \"${upper(C)}\"}}", "1 A B C"},
    {"of all steps",
     "{\"where\": \"B = 1\", \"set\": {\"A\": 1}}, {\"where\": \"A = 1\", \"remove\": [\"D\"]}",
     "2 A B D"},
    {"and the whole of a key that it touches",
     "{\"where\": \"B = 1\", \"set\": {\"GSI1PK\": \"x\"}}", "1 B GSI1PK GSI1SK"},
    {"a key that is only read is no more than read",
     "{\"where\": \"GSI1PK = 'x'\", \"set\": {\"A\": \"x\"}}", "1 A GSI1PK"},
    {"a step without a where wants all items", "{\"set\": {\"A\": 1}}", "0 A"},
    {"so does one whose where servers may take otherwise",
     "{\"where\": \"B = 1\", \"set\": {\"A\": 1}}, {\"where\": \"size(A) > 1\", \"set\": {\"B\": "
     "1}}",
     "0 A B"},
    {"a delete takes the whole item", "{\"where\": \"B = 1\", \"delete\": true}", "1 all"},
    {"a move too", "{\"where\": \"B = 1\", \"rekey\": {\"PK\": \"x\"}}", "1 all"},
    {"and a put, whose source is noted as a whole",
     "{\"where\": \"B = 1\", \"put\": {\"PK\": \"x\", \"SK\": \"y\"}}", "1 all"},
};

static int compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

START_TEST(a_pass_needs_what_the_table_says)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    ck_assert_msg(plans_pass(uses[_i].steps, 0, arena, &pass, &err), "%s", err.text);
    const struct page_use *use = &pass_facts(pass)->use;
    struct str text =
        arena_format(arena, "%zu%s", use->any_of_count, use->names == NULL ? " all" : "");
    struct str *names = arena_alloc(arena, (use->name_count + 1) * sizeof *names);
    for (size_t i = 0; i < use->name_count; i++) {
        names[i] = use->names[i];
    }
    qsort(names, use->name_count, sizeof *names, compare);
    for (size_t i = 0; i < use->name_count; i++) {
        text = arena_format(arena, "%.*s %.*s", STR_ARG(text), STR_ARG(names[i]));
    }
    ck_assert_msg(str_equal(text, (struct str){uses[_i].use, strlen(uses[_i].use)}), "%s: %.*s",
                  uses[_i].says, STR_ARG(text));
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/pass_use");
    TCase *tables = tcase_create("tables");
    tcase_add_loop_test(tables, a_pass_needs_what_the_table_says, 0, sizeof uses / sizeof *uses);
    suite_add_tcase(suite, tables);
    return suite_run(suite);
}
