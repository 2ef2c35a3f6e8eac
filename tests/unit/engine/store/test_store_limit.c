#include "engine/store/store_limit.h"
#include "tests/support/suite.h"

#include <string.h>

static const struct {
    const char *text;
    bool ok;
    double units;
    bool is_percent;
} limits[] = {
    {"500", true, 500, false},
    {"2.5", true, 2.5, false},
    {"50%", true, 50, true},
    {"150%", true, 150, true},
    {"", false, 0, false},
    {"%", false, 0, false},
    {"0", false, 0, false},
    {"0%", false, 0, false},
    {"-1", false, 0, false},
    {"1e3", false, 0, false},
    {"inf", false, 0, false},
    {"5 0", false, 0, false},
    {"1.2.3", false, 0, false},
    {".", false, 0, false},
    {"1000000000", false, 0, false},
    {"50%%", false, 0, false},
    {"0000000000000000000000000000000000000001", false, 0, false},
};

START_TEST(store_limit_parse_follows_the_table)
{
    struct store_limit limit = {.units = -1};
    struct error err = {0};
    struct str text = {limits[_i].text, strlen(limits[_i].text)};
    bool ok = store_limit_parse("max-rcu", text, &limit, &err);
    ck_assert_msg(ok == limits[_i].ok, "'%s': %s", limits[_i].text, err.text);
    if (ok) {
        ck_assert_double_eq(limit.units, limits[_i].units);
        ck_assert_int_eq(limit.is_percent, limits[_i].is_percent);
    } else {
        ck_assert_int_eq(err.code, ERROR_USAGE);
        ck_assert_ptr_nonnull(strstr(err.text, "max-rcu"));
        ck_assert_double_eq(limit.units, -1);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/store/store_limit");
    TCase *parse = tcase_create("parse");
    tcase_add_loop_test(parse, store_limit_parse_follows_the_table, 0, ROWS(limits));
    suite_add_tcase(suite, parse);
    return suite_run(suite);
}
