#include "plans/pass.h"

#include "tests/rules/plans_fixture.h"
#include "tests/support/suite.h"

static const struct {
    const char *step;
    enum step_class class;
    const char *why;
} classes[] = {
    {"{\"where\": \"A = 1\", \"set\": {\"B\": \"x\"}, \"remove\": [\"C\"]}", CLASS_SERVER_ONLY,
     "constants under its own where"},
    {"{\"set\": {\"B\": [1, {\"a\": true}], \"GSI1SK\": 7}}", CLASS_SERVER_ONLY, "constants"},
    {"{\"where\": \"attribute_exists(C)\", \"remove\": [\"C\"]}", CLASS_SERVER_ONLY,
     "removals under its own where"},
    {"{\"set\": {\"B\": \"${upper('x')}\"}}", CLASS_SERVER_ONLY, "constants"},
    {"{\"set\": {\"A\": 1, \"B\": \"x${C.d}\"}}", CLASS_COMPUTED, "B is made from C.d"},
    {"{\"rename\": {\"A\": \"B\"}}", CLASS_COMPUTED, "it renames"},
    {"{\"set\": {\"A.b\": 1}}", CLASS_COMPUTED, "A.b lies within an attribute"},
    {"{\"remove\": [\"A.b\"]}", CLASS_COMPUTED, "it removes what lies within an attribute"},
    {"{\"where\": \"lower(A) = 'x'\", \"set\": {\"B\": 1}}", CLASS_COMPUTED,
     "its where is more than servers evaluate alike"},
    {"{\"where\": \"SK = 'Y'\", \"lookup\": {\"c\": {\"PK\": \"x\", \"SK\": \"X\"}}, \"set\": "
     "{\"B\": \"${c.A}\"}}",
     CLASS_COMPUTED, "it looks up other items"},
    {"{\"set\": {\"A\": 1}}, {\"where\": \"A = 1\", \"set\": {\"B\": 1}}", CLASS_COMPUTED,
     "it shares its pass with other steps"},
    {"{\"rekey\": {\"PK\": \"x\"}, \"set\": {\"A\": 1}}", CLASS_MOVE,
     "its key changes (a transaction)"},
    {"{\"put\": {\"PK\": \"x\", \"SK\": \"y\"}}", CLASS_PUT,
     "if its key is free, or as on_collision says"},
    {"{\"where\": \"A = 1\", \"delete\": true}", CLASS_DELETE, "if the item is as it was read"},
};

START_TEST(a_step_is_sent_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    ck_assert_msg(plans_pass(classes[_i].step, 0, arena, &pass, &err), "%s", err.text);
    const struct pass_step *step = &pass_facts(pass)->steps[0];
    ck_assert_msg(step->class == classes[_i].class, "%s is %s", classes[_i].step,
                  step_class_name(step->class));
    ck_assert_msg(str_equal(step->why, (struct str){classes[_i].why, strlen(classes[_i].why)}),
                  "%s: %.*s", classes[_i].step, STR_ARG(step->why));
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/pass_class");
    TCase *tables = tcase_create("tables");
    tcase_add_loop_test(tables, a_step_is_sent_as_the_table_says, 0,
                        sizeof classes / sizeof *classes);
    suite_add_tcase(suite, tables);
    return suite_run(suite);
}
