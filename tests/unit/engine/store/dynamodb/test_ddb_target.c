#include "engine/store/dynamodb/ddb_target.h"
#include "tests/support/suite.h"

static const struct {
    const char *says;
    const char *place;
    const char *table, *control_table, *region, *endpoint;
    double max_wcu;
    bool is_percent;
} places[] = {
    {"a name alone", "Shop", "Shop", "Shop-refold", "", "", 0, false},
    {"all parameters", "Shop?region=eu-west-1&endpoint=http://h:1/x&control-table=C.t&max-wcu=2.5",
     "Shop", "C.t", "eu-west-1", "http://h:1/x", 2.5, false},
    {"a share", "Shop?max-wcu=50%", "Shop", "Shop-refold", "", "", 50, true},
    {"an ARN", "arn:aws:dynamodb:eu-west-1:1:table/Shop", "arn:aws:dynamodb:eu-west-1:1:table/Shop",
     "arn:aws:dynamodb:eu-west-1:1:table/Shop-refold", "", "", 0, false},
};

static const struct {
    const char *says;
    const char *place;
    const char *message;
} refused[] = {
    {"no name", "?region=x", "dynamodb:TABLE: '' is no table name: 3 to 255 of a-z"},
    {"a name with a space", "a shop", "'a shop' is no table name"},
    {"a short name", "ab", "'ab' is no table name"},
    {"an unknown parameter", "Shop?regio=1",
     "dynamodb:Shop: unknown parameter 'regio': expected region, endpoint"},
    {"a doubled parameter", "Shop?region=a&region=b", "dynamodb:Shop: 'region' is given twice"},
    {"no value", "Shop?region=", "dynamodb:Shop: 'region' needs a value"},
    {"a limit that is no number", "Shop?max-wcu=fast", "dynamodb:Shop: max-wcu: "},
    {"a limit of nothing", "Shop?max-rcu=0", "dynamodb:Shop: max-rcu: "},
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
    ck_assert_msg(ok, "%s: %s", places[_i].says, err.text);
    ck_assert_msg(is(target.table, places[_i].table) &&
                      is(target.control_table, places[_i].control_table) &&
                      is(target.options.region, places[_i].region) &&
                      is(target.options.endpoint, places[_i].endpoint),
                  "%s", places[_i].says);
    ck_assert_double_eq(target.limits.write.units, places[_i].max_wcu);
    ck_assert_int_eq(target.limits.write.is_percent, places[_i].is_percent);
    arena_free(arena);
}
END_TEST

START_TEST(a_wrong_target_is_refused_by_its_name)
{
    struct arena *arena = arena_new();
    struct ddb_target target;
    struct error err = {0};
    ck_assert_msg(!ddb_target_parse(refused[_i].place, arena, &target, &err), "%s",
                  refused[_i].says);
    ck_assert_int_eq(err.code, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].message) != NULL, "%s: %s", refused[_i].says,
                  err.text);
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/dynamodb/ddb_target");
    TCase *parse = tcase_create("parse");
    tcase_add_loop_test(parse, a_target_is_taken_apart_as_the_table_says, 0,
                        sizeof places / sizeof *places);
    tcase_add_loop_test(parse, a_wrong_target_is_refused_by_its_name, 0,
                        sizeof refused / sizeof *refused);
    suite_add_tcase(suite, parse);
    return suite_run(suite);
}
