#include "plans/pass.h"

#include "tests/rules/plans_fixture.h"
#include "tests/support/suite.h"

#define AT "plans/0007_test.json:1:"

/* The message, whole. */
static const struct {
    const char *steps;
    const char *message;
} faults[] = {
    {"{\"set\": {\"PK\": \"x\"}}",
     AT "27: steps[0].set: expected an attribute that is no key of the table, found PK\n"
        "hint: rekey changes keys"},
    {"{\"set\": {\"SK.a\": \"x\"}}",
     AT "29: steps[0].set: expected an attribute that is no key of the table, found SK\n"
        "hint: rekey changes keys"},
    {"{\"remove\": [\"a\", \"SK\"]}",
     AT "29: steps[0].remove: expected an attribute that is no key of the table, found SK\n"
        "hint: rekey changes keys"},
    {"{\"rename\": {\"a\": \"PK\"}}",
     AT "29: steps[0].rename: expected an attribute that is no key of the table, found PK\n"
        "hint: rekey changes keys"},
    {"{\"rename\": {\"PK\": \"a\"}}",
     AT "30: steps[0].rename: expected an attribute that is no key of the table, found PK\n"
        "hint: rekey changes keys"},
    {"{\"rekey\": {\"PK\": \"x\", \"pk\": \"y\"}}",
     AT "40: steps[0].rekey: expected a key attribute of the table, found pk"},
    {"{\"rekey\": {\"PK\": 1}}",
     AT "29: steps[0].rekey.PK: expected S for a key attribute, found N"},
    {"{\"rekey\": {\"PK\": \"\"}}",
     AT "29: steps[0].rekey.PK: expected a value for a key attribute, found an empty S"},
    {"{\"rekey\": {\"PK\": {\"N\": \"${a}\"}}}",
     AT "29: steps[0].rekey.PK: expected S for a key attribute, found N"},
    {"{\"put\": {\"PK\": \"x\"}}",
     AT "12: steps[0].put: expected the table's key attribute SK, found none"},
    {"{\"put\": {\"PK\": \"x\", \"SK\": [1]}}",
     AT "38: steps[0].put.SK: expected S for a key attribute, found L"},
    {"{\"set\": {\"GSI1SK\": \"A#${a}\"}}",
     AT "31: steps[0].set.GSI1SK: expected N for a key attribute, found S"},
    {"{\"set\": {\"GSI1PK\": {\"SS\": []}}}",
     AT "31: steps[0].set.GSI1PK: expected S for a key attribute, found SS"},
    {"{\"create_index\": {\"name\": \"two\", \"partition\": \"X:N\"}}, {\"set\": {\"X\": \"a\"}}",
     AT "81: steps[1].set.X: expected N for a key attribute, found S"},
    {"{\"set\": {\"a\": 1}}, {\"create_index\": {\"name\": \"two\", \"partition\": \"GSI1SK:S\"}}",
     AT "48: steps[1].create_index: index two: expected GSI1SK:N as it is declared elsewhere, "
        "found S"},
    {"{\"set\": {\"a\": 1}}, {\"create_index\": {\"name\": \"two\", \"partition\": \"PK:B\"}}",
     AT "48: steps[1].create_index: index two: expected PK:S as it is declared elsewhere, found B"},
    {"{\"lookup\": {\"c\": {\"PK\": \"x\"}}, \"set\": {\"a\": \"${c.b}\"}}",
     AT "29: steps[0].lookup.c: expected the table's key attribute SK, found none"},
    {"{\"lookup\": {\"c\": {\"PK\": \"x\", \"SK\": \"y\", \"a\": \"z\"}}, \"set\": {\"a\": "
     "\"${c.b}\"}}",
     AT "57: steps[0].lookup.c: expected a key attribute of the table, found a"},
    {"{\"lookup\": {\"c\": {\"PK\": \"x\", \"SK\": {\"N\": \"1\"}}}, \"set\": {\"a\": \"${c.b}\"}}",
     AT "47: steps[0].lookup.c.SK: expected S for a key attribute, found N"},
};

START_TEST(pass_compile_says_where_the_fault_is)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    size_t stage = strncmp(faults[_i].steps, "{\"create", 8) == 0 ? 1 : 0;
    ck_assert_msg(!plans_pass(faults[_i].steps, stage, arena, &pass, &err), "%s is taken",
                  faults[_i].steps);
    ck_assert_int_eq(err.code, ERROR_PLAN);
    ck_assert_msg(strcmp(err.text, faults[_i].message) == 0, "%s: %s", faults[_i].steps, err.text);
    arena_free(arena);
}
END_TEST

/* The step that looks up, and one beside it in the same pass; what the other does to it, or NULL.
 */
#define LOOKUP                                                                             \
    "{\"where\": \"begins_with(SK, 'ORDER#')\", \"lookup\": {\"c\": {\"PK\": \"U#${U}\", " \
    "\"SK\": \"PROFILE\"}}, \"set\": {\"CustomerName\": \"${c.Name}\"}}, "

static const struct {
    const char *says;
    const char *other;
    const char *what;
} lookups[] = {
    {"another attribute", "{\"set\": {\"Title\": 1}}", NULL},
    {"the attribute", "{\"set\": {\"Name\": 1}}", "writes"},
    {"within the attribute", "{\"set\": {\"Name.First\": 1}}", "writes"},
    {"removes it", "{\"remove\": [\"Name\"]}", "writes"},
    {"renames it", "{\"rename\": {\"Name\": \"N\"}}", "writes"},
    {"renames to it", "{\"rename\": {\"N\": \"Name\"}}", "writes"},
    {"the attribute of other sort keys",
     "{\"where\": \"begins_with(SK, 'ORDER#')\", \"set\": {\"Name\": 1}}", NULL},
    {"of another sort key", "{\"where\": \"SK = 'CART'\", \"set\": {\"Name\": 1}}", NULL},
    {"of a sort key that begins alike",
     "{\"where\": \"begins_with(SK, 'PRO')\", \"set\": {\"Name\": 1}}", "writes"},
    {"of longer sort keys", "{\"where\": \"begins_with(SK, 'PROFILE#')\", \"set\": {\"Name\": 1}}",
     NULL},
    {"of other partitions", "{\"where\": \"begins_with(PK, 'V#')\", \"set\": {\"Name\": 1}}", NULL},
    {"of partitions that begin shorter",
     "{\"where\": \"begins_with(PK, 'U')\", \"set\": {\"Name\": 1}}", "writes"},
    {"or is no proof", "{\"where\": \"SK = 'CART' OR SK = 'x'\", \"set\": {\"Name\": 1}}",
     "writes"},
    {"deletes others", "{\"where\": \"SK = 'CART'\", \"delete\": true}", NULL},
    {"deletes any", "{\"where\": \"Kind = 'x'\", \"delete\": true}", "deletes"},
    {"puts others", "{\"put\": {\"PK\": \"${A}\", \"SK\": \"CART#${B}\"}}", NULL},
    {"puts alike", "{\"put\": {\"PK\": \"${A}\", \"SK\": \"${B}\"}}", "puts"},
    {"rekeys others to others",
     "{\"where\": \"begins_with(PK, 'V#')\", \"rekey\": {\"PK\": \"W#${A}\"}}", NULL},
    {"rekeys others to alike",
     "{\"where\": \"begins_with(PK, 'V#')\", \"rekey\": {\"PK\": \"U#${A}\"}}", "rekeys"},
    {"rekeys one part of others",
     "{\"where\": \"begins_with(PK, 'V#')\", \"rekey\": {\"SK\": \"PROFILE\"}}", NULL},
    {"rekeys alike to others",
     "{\"where\": \"begins_with(PK, 'U#')\", \"rekey\": {\"PK\": \"W#${A}\"}}", "rekeys"},
};

START_TEST(pass_compile_shows_that_lookups_are_safe)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    struct str steps = arena_format(arena, "%s%s", LOOKUP, lookups[_i].other);
    bool ok = plans_pass(steps.ptr, 0, arena, &pass, &err);
    ck_assert_msg(ok == (lookups[_i].what == NULL), "%s: %s", lookups[_i].says, err.text);
    if (!ok) {
        struct str message = arena_format(
            arena,
            AT "67: steps[0].lookup.c: expected items that this pass leaves as they are, found "
               "that steps[1] %s them\nhint: put {\"pass\": \"why\"} between the two steps, or a "
               "where that tells their keys apart",
            lookups[_i].what);
        ck_assert_str_eq(err.text, message.ptr);
    }
    arena_free(arena);
}
END_TEST

START_TEST(pass_compile_counts_what_the_step_itself_does)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    ck_assert(!plans_pass("{\"lookup\": {\"c\": {\"PK\": \"${P}\", \"SK\": \"X\"}}, \"set\": "
                          "{\"Name\": \"${c.Name}\"}}",
                          0, arena, &pass, &err));
    ck_assert(!plans_pass("{\"lookup\": {\"c\": {\"PK\": \"${P}\", \"SK\": \"X\"}}, \"set\": "
                          "{\"Copy\": \"${c}\"}}",
                          0, arena, &pass, &err));
    ck_assert_msg(plans_pass("{\"where\": \"SK = 'Y'\", \"lookup\": {\"c\": {\"PK\": \"${P}\", "
                             "\"SK\": \"X\"}}, \"set\": {\"Copy\": \"${c}\"}}",
                             0, arena, &pass, &err),
                  "%s", err.text);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *says;
    const char *steps;
    bool proved;
} proofs[] = {
    {"a constant", "{\"set\": {\"A\": 1}}", true},
    {"from other attributes", "{\"where\": \"Kind = 'x'\", \"set\": {\"A\": \"${B}#${PK}\"}}",
     true},
    {"from itself", "{\"set\": {\"A\": \"${A}x\"}}", false},
    {"from itself, idempotent", "{\"set\": {\"A\": \"${lower(A)}\"}}", false},
    {"two steps from others", "{\"set\": {\"A\": \"${C}\"}}, {\"set\": {\"A\": \"${D}\"}}", true},
    {"from what another step sets", "{\"set\": {\"A\": \"${C}\"}}, {\"set\": {\"B\": \"${A}\"}}",
     false},
    {"where reads what another step sets",
     "{\"set\": {\"A\": \"${C}\"}}, {\"where\": \"A = 1\", \"set\": {\"B\": 1}}", false},
    {"a marker", "{\"where\": \"attribute_not_exists(A)\", \"set\": {\"A\": 1, \"B\": \"${B}x\"}}",
     true},
    {"a marker, said otherwise",
     "{\"where\": \"NOT attribute_exists(A)\", \"set\": {\"A\": 1, \"B\": \"${B}x\"}}", true},
    {"a marker below",
     "{\"where\": \"attribute_not_exists(M.A)\", \"set\": {\"M.A\": 1, \"B\": \"${B}x\"}}", true},
    {"a marker in a list",
     "{\"where\": \"attribute_not_exists(L[0])\", \"set\": {\"L[0]\": 1, \"B\": \"${B}x\"}}",
     false},
    {"a marker that may be nothing",
     "{\"where\": \"attribute_not_exists(A)\", \"set\": {\"A\": \"${to_set(T)}\", \"B\": "
     "\"${B}x\"}}",
     false},
    {"a marker with another condition",
     "{\"where\": \"Kind = 'x' AND attribute_not_exists(A)\", \"set\": {\"A\": \"${B}\", \"B\": "
     "1}}",
     true},
    {"a marker or another condition",
     "{\"where\": \"Kind = 'x' OR attribute_not_exists(A)\", \"set\": {\"A\": \"${B}\", \"B\": 1}}",
     false},
    {"an overloaded index",
     "{\"where\": \"begins_with(SK, 'A') AND attribute_not_exists(GSI1PK)\", \"set\": {\"GSI1PK\": "
     "\"${B}\"}}, {\"where\": \"begins_with(SK, 'B') AND attribute_not_exists(GSI1PK)\", \"set\": "
     "{\"GSI1PK\": \"${C}\"}}",
     true},
    {"a marker that another step removes",
     "{\"where\": \"attribute_not_exists(A)\", \"set\": {\"A\": 1, \"B\": \"${B}x\"}}, "
     "{\"where\": \"attribute_exists(C)\", \"remove\": [\"A\"]}",
     false},
    {"a rename", "{\"rename\": {\"a\": \"b\"}}", true},
    {"a rename where it is", "{\"where\": \"attribute_exists(a)\", \"rename\": {\"a\": \"b\"}}",
     true},
    {"a rename where the other is not",
     "{\"where\": \"attribute_exists(a) AND attribute_not_exists(b)\", \"rename\": {\"a\": \"b\"}}",
     true},
    {"a rename and a set of its source",
     "{\"rename\": {\"a\": \"b\"}}, {\"set\": {\"a\": \"${c}\"}}", false},
    {"a remove", "{\"where\": \"attribute_exists(a)\", \"remove\": [\"a\"]}", true},
    {"a remove from a list", "{\"remove\": [\"a[0]\"]}", false},
    {"past the end of a list", "{\"set\": {\"a[99]\": 1}}", false},
    {"a forced type",
     "{\"where\": \"attribute_type(Total, 'S')\", \"set\": {\"Total\": {\"N\": \"${Total}\"}}}",
     true},
    {"the same type again",
     "{\"where\": \"attribute_type(Total, 'S')\", \"set\": {\"Total\": \"x${Total}\"}}", false},
    {"an unknown type",
     "{\"where\": \"attribute_type(Total, 'S')\", \"set\": {\"Total\": \"${abs}\", \"abs\": 1}}",
     false},
    {"another constant", "{\"where\": \"v = 1\", \"set\": {\"v\": 2, \"n\": \"${n + 1}\"}}", true},
    {"the constant itself, left",
     "{\"where\": \"v <> 2\", \"set\": {\"v\": 2, \"n\": \"${n + 1}\"}}", true},
    {"the same constant", "{\"where\": \"v = 1\", \"set\": {\"v\": 1, \"n\": \"${n + 1}\"}}",
     false},
    {"constants in a ring",
     "{\"where\": \"v = 1\", \"set\": {\"v\": 2}}, {\"where\": \"v = 2\", \"set\": {\"v\": 1}}",
     false},
    {"a text that begins otherwise", "{\"where\": \"v = 'A#1'\", \"set\": {\"v\": \"B#${v}\"}}",
     true},
    {"a rekey away", "{\"where\": \"begins_with(PK, 'c#')\", \"rekey\": {\"PK\": \"C#${PK}\"}}",
     true},
    {"a rekey to a longer beginning",
     "{\"where\": \"begins_with(PK, 'c#')\", \"rekey\": {\"PK\": \"c#1${PK}\"}}", false},
    {"a rekey that may be skipped",
     "{\"where\": \"begins_with(PK, 'c#')\", \"rekey\": {\"PK\": \"C#${PK}\"}, \"on_collision\": "
     "\"skip\"}",
     false},
    {"a rekey that may overwrite",
     "{\"where\": \"begins_with(PK, 'c#')\", \"rekey\": {\"PK\": \"C#${PK}\"}, \"on_collision\": "
     "\"overwrite\"}",
     true},
    {"a rekey from other attributes", "{\"rekey\": {\"PK\": \"C#${Id}\"}}", true},
    {"keys read beside a rekey",
     "{\"where\": \"begins_with(PK, 'c#')\", \"rekey\": {\"PK\": \"C#${PK}\"}}, {\"set\": {\"A\": "
     "\"${PK}\"}}",
     false},
    {"a delete", "{\"where\": \"Kind = 'x'\", \"delete\": true}", true},
    {"a delete of what another step sets",
     "{\"set\": {\"Kind\": \"${K}\"}}, {\"where\": \"Kind = 'x'\", \"delete\": true}", false},
    {"a marker where a lookup decides, by a key that another step sets",
     "{\"lookup\": {\"c\": {\"PK\": \"X#${U}\", \"SK\": \"P\"}}, \"where\": \"c.x = 1 AND "
     "attribute_not_exists(done)\", \"set\": {\"done\": 1}}, {\"set\": {\"U\": \"5\"}}",
     false},
    {"a marker where a lookup decides, by a key that stays",
     "{\"lookup\": {\"c\": {\"PK\": \"X#${U}\", \"SK\": \"P\"}}, \"where\": \"c.x = 1 AND "
     "attribute_not_exists(done)\", \"set\": {\"done\": \"${PK}\"}}, {\"set\": {\"V\": \"5\"}}",
     true},
    {"a marker where a lookup decides, by a key that the step sets itself",
     "{\"lookup\": {\"c\": {\"PK\": \"X#${U}\", \"SK\": \"P\"}}, \"where\": \"c.x = 1 AND "
     "attribute_not_exists(done)\", \"set\": {\"done\": 1, \"U\": [1]}}",
     false},
    {"a marker behind what may fail then",
     "{\"where\": \"lower(v) = 'x' AND attribute_not_exists(done)\", \"set\": {\"v\": 1, \"done\": "
     "true}}",
     false},
    {"a marker before what may fail then",
     "{\"where\": \"attribute_not_exists(done) AND lower(v) = 'x'\", \"set\": {\"v\": 1, \"done\": "
     "true}}",
     true},
    {"a marker behind what may fail, but does not then",
     "{\"where\": \"lower(v) = 'x' AND attribute_not_exists(done)\", \"set\": {\"w\": \"${w}x\", "
     "\"done\": true}}",
     true},
    {"a marker, and a value by a key that another step sets",
     "{\"lookup\": {\"c\": {\"PK\": \"X#${U}\", \"SK\": \"P\"}}, \"where\": "
     "\"attribute_not_exists(done)\", \"set\": {\"done\": \"${c.x}\"}}, {\"set\": {\"U\": "
     "\"5\"}}",
     true},
    {"a NUL is a byte of a text",
     "{\"where\": \"begins_with(v, 'A\\u0000')\", \"set\": {\"v\": \"A\\u0000${'B'}${w}\"}}, "
     "{\"where\": \"attribute_not_exists(w)\", \"set\": {\"w\": 1}}",
     false},
    {"a put is tried", "{\"put\": {\"PK\": \"x\", \"SK\": \"${SK}\"}}", false},
    {"a steady step before one that runs once",
     "{\"set\": {\"A\": 1}}, {\"where\": \"attribute_not_exists(M)\", \"set\": {\"A\": 2, \"M\": "
     "1}}",
     false},
    {"a parent that another step removes", "{\"set\": {\"a.b\": 1}}, {\"remove\": [\"a\"]}", false},
};

START_TEST(pass_compile_proves_convergence)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    ck_assert_msg(plans_pass(proofs[_i].steps, 0, arena, &pass, &err), "%s: %s", proofs[_i].says,
                  err.text);
    ck_assert_msg(pass_facts(pass)->proved == proofs[_i].proved, "%s", proofs[_i].says);
    arena_free(arena);
}
END_TEST

START_TEST(pass_facts_tell_what_its_steps_are)
{
    struct arena *arena = arena_new();
    struct error err = {0};
    const struct pass *pass = NULL;
    bool ok = plans_pass("{\"drop_index\": \"old\"}, {\"name\": \"first\", \"set\": {\"a\": 1}}, "
                         "{\"where\": \"SK = 'X'\", \"rekey\": {\"PK\": \"x\"}, \"on_collision\": "
                         "\"keep_newer: at\"}",
                         1, arena, &pass, &err);
    ck_assert_msg(ok, "%s", err.text);
    const struct pass_facts *facts = pass_facts(pass);
    ck_assert_uint_eq(facts->step_count, 2);
    ck_assert(str_equal(facts->steps[0].label, STR("first")));
    ck_assert(str_equal(facts->steps[1].label, STR("steps[2]")));
    ck_assert_int_eq(facts->steps[0].collision, COLLISION_FAIL);
    ck_assert_int_eq(facts->steps[1].collision, COLLISION_KEEP_NEWER);
    ck_assert(str_equal(facts->steps[1].newer, STR("at")));
    ck_assert(facts->steps[1].rekeys && !facts->steps[0].rekeys);
    ck_assert(facts->rekeys && !facts->puts && !facts->deletes && !facts->looks_up);
    ck_assert(facts->needs_probe);
    ck_assert(facts->proved && facts->steps[0].proved && facts->steps[1].proved);
    ck_assert(plans_pass("{\"delete\": true}", 0, arena, &pass, &err));
    ck_assert(!pass_facts(pass)->needs_probe && pass_facts(pass)->deletes);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plans/pass_compile");
    TCase *tcase = tcase_create("pass_compile");
    tcase_add_loop_test(tcase, pass_compile_says_where_the_fault_is, 0, ROWS(faults));
    tcase_add_loop_test(tcase, pass_compile_shows_that_lookups_are_safe, 0, ROWS(lookups));
    tcase_add_test(tcase, pass_compile_counts_what_the_step_itself_does);
    tcase_add_loop_test(tcase, pass_compile_proves_convergence, 0, ROWS(proofs));
    tcase_add_test(tcase, pass_facts_tell_what_its_steps_are);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
