#include "engine/store/dynamodb/ddb_target.h"
#include "tests/support/suite.h"

static const struct {
    const char *says;
    const char *place;
    bool ok;
    const char *table, *control_table, *region, *endpoint;
    double max_wcu;
    bool is_percent;
} places[] = {
    {"a name alone", "Shop", true, "Shop", "Shop-refold", "", "", 0, false},
    {"all parameters", "Shop?region=eu-west-1&endpoint=http://h:1/x&control-table=C.t&max-wcu=2.5",
     true, "Shop", "C.t", "eu-west-1", "http://h:1/x", 2.5, false},
    {"a share", "Shop?max-wcu=50%", true, "Shop", "Shop-refold", "", "", 50, true},
    {"an ARN", "arn:aws:dynamodb:eu-west-1:1:table/Shop", true,
     "arn:aws:dynamodb:eu-west-1:1:table/Shop", "arn:aws:dynamodb:eu-west-1:1:table/Shop-refold",
     "", "", 0, false},
    {"no name", "?region=x", false, "", "", "", "", 0, false},
    {"a name with a space", "a shop", false, "", "", "", "", 0, false},
    {"a short name", "ab", false, "", "", "", "", 0, false},
    {"an unknown parameter", "Shop?zone=1", false, "", "", "", "", 0, false},
    {"a doubled parameter", "Shop?region=a&region=b", false, "", "", "", "", 0, false},
    {"no value", "Shop?region=", false, "", "", "", "", 0, false},
    {"a limit that is no number", "Shop?max-wcu=fast", false, "", "", "", "", 0, false},
    {"a limit of nothing", "Shop?max-rcu=0", false, "", "", "", "", 0, false},
};

static bool is(struct str text, const char *wanted)
{
    return str_equal(text, (struct str){wanted, strlen(wanted)});
}

START_TEST(a_target_is_taken_apart_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct ddb_target target;
    struct error err = {0};
    bool ok = ddb_target_parse(places[_i].place, arena, &target, &err);
    ck_assert_msg(ok == places[_i].ok, "%s: %s", places[_i].says, err.text);
    if (ok) {
        ck_assert_msg(is(target.table, places[_i].table) &&
                          is(target.control_table, places[_i].control_table) &&
                          is(target.options.region, places[_i].region) &&
                          is(target.options.endpoint, places[_i].endpoint),
                      "%s", places[_i].says);
        ck_assert_double_eq(target.limits.write.units, places[_i].max_wcu);
        ck_assert_int_eq(target.limits.write.is_percent, places[_i].is_percent);
    } else {
        ck_assert_int_eq(err.code, ERROR_USAGE);
    }
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_target");
    TCase *parse = tcase_create("parse");
    tcase_add_loop_test(parse, a_target_is_taken_apart_as_the_table_says, 0,
                        sizeof places / sizeof *places);
    suite_add_tcase(suite, parse);
    return suite_run(suite);
}
