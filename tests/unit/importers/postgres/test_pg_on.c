#include "importers/postgres/pg_on.h"

#include "tests/support/suite.h"

/* columns: inner=outer pairs; NULL: it is something else. The relation that is joined is c. */
static const struct {
    const char *sql;
    const char *columns;
} conditions[] = {
    {"c.p = p.id", "c.p=p.id "},
    {"p.id = c.p", "c.p=p.id "},
    {"  c.p=p.id  ", "c.p=p.id "},
    {"c.a = p.a AND c.b = p.b", "c.a=p.a c.b=p.b "},
    {"c.a = p.a\nand p.b = c.b", "c.a=p.a c.b=p.b "},
    {"C.A = P.Id", "c.a=p.id "},
    {"c.\"Odd \"\"x\"\"\" = p.id", "c.Odd \"x\"=p.id "},
    {"\"C\".a = p.id", NULL},
    {"c.a = c.b", NULL},
    {"p.a = q.b", NULL},
    {"c.a = 1", NULL},
    {"a = p.id", NULL},
    {"c.a = p.id AND", NULL},
    {"c.a = p.id OR c.b = p.b", NULL},
    {"c.a = p.id AND c.b > 1", NULL},
    {"c.a = p.id -- so", NULL},
    {"c.a = p.id + 1", NULL},
    {"c.a = p.\"id", NULL},
    {"(c.a = p.id)", NULL},
    {"", NULL},
};

START_TEST(pg_on_parse_follows_the_table)
{
    struct arena *arena = arena_new();
    struct pg_on on;
    struct str sql = {conditions[_i].sql, strlen(conditions[_i].sql)};
    bool is_equalities = pg_on_parse(sql, STR("c"), arena, &on);
    ck_assert_msg(is_equalities == (conditions[_i].columns != NULL), "%s", conditions[_i].sql);
    char found[128] = "";
    size_t len = 0;
    for (size_t i = 0; is_equalities && i < on.count; i++) {
        len += (size_t)snprintf(found + len, sizeof found - len, "%.*s.%.*s=%.*s.%.*s ",
                                STR_ARG(on.inner[i].relation), STR_ARG(on.inner[i].column),
                                STR_ARG(on.outer[i].relation), STR_ARG(on.outer[i].column));
    }
    if (is_equalities) {
        ck_assert_str_eq(found, conditions[_i].columns);
    }
    arena_free(arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("importers/postgres/pg_on");
    TCase *tcase = tcase_create("pg_on");
    tcase_add_loop_test(tcase, pg_on_parse_follows_the_table, 0, ROWS(conditions));
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
