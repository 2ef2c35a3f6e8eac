#include "migrate/cli/suggest.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stddef.h>

static const char *const candidates[] = {"apply", "import", "export", "query", "show", "to"};

static const struct {
    const char *word;
    const char *nearest;
} words[] = {
    {"apply", "apply"},
    {"aply", "apply"},
    {"appyl", "apply"},
    {"imprt", "import"},
    {"exporrt", "export"},
    {"qeury", "query"},
    {"sow", "show"},
    {"ot", "to"},
    {"delete", NULL},
    {"zzz", NULL},
    {"", NULL},
    {"a word that is far too long for any command", NULL},
};

START_TEST(suggest_nearest_follows_the_table)
{
    ck_assert_pstr_eq(
        suggest_nearest(words[_i].word, candidates, sizeof candidates / sizeof *candidates),
        words[_i].nearest);
}
END_TEST

START_TEST(suggest_nearest_of_nothing_is_nothing)
{
    ck_assert_ptr_null(suggest_nearest("apply", candidates, 0));
}
END_TEST

int main(void)
{
    TCase *nearest = tcase_create("nearest");
    tcase_add_loop_test(nearest, suggest_nearest_follows_the_table, 0, ROWS(words));
    tcase_add_test(nearest, suggest_nearest_of_nothing_is_nothing);
    Suite *suite = suite_create("migrate/cli/suggest");
    suite_add_tcase(suite, nearest);
    return suite_run(suite);
}
