#include "importers/postgres/pg_schema_internal.h"

#include "tests/support/suite.h"

/* A type of pg_catalog by its name in pg_type; modifier -1: none. */
static const struct {
    const char *type;
    long modifier;
    enum schema_kind kind;
    uint32_t digits;
    bool refused;
} kinds[] = {
    {"int2", -1, SCHEMA_INTEGER, 5, false},
    {"int8", -1, SCHEMA_INTEGER, 19, false},
    {"xid8", -1, SCHEMA_INTEGER, 20, false},
    {"numeric", -1, SCHEMA_NUMBER, 0, false},
    {"numeric", (12 << 16) + 4, SCHEMA_INTEGER, 12, false},
    {"numeric", (12 << 16 | 2) + 4, SCHEMA_NUMBER, 0, false},
    {"numeric", (5 << 16 | 0x7fe) + 4, SCHEMA_NUMBER, 0, false}, /* numeric(5,-2) */
    {"numeric", (38 << 16) + 4, SCHEMA_INTEGER, 38, false},
    {"numeric", (39 << 16) + 4, SCHEMA_NUMBER, 0, false},
    {"float8", -1, SCHEMA_NUMBER, 0, false},
    {"money", -1, SCHEMA_NUMBER, 0, false},
    {"bool", -1, SCHEMA_BOOLEAN, 0, false},
    {"uuid", -1, SCHEMA_PLAIN, 0, false},
    {"timestamptz", -1, SCHEMA_PLAIN, 0, false},
    {"varchar", 44, SCHEMA_TEXT, 0, false},
    {"bpchar", 8, SCHEMA_TEXT, 0, false},
    {"tsvector", -1, SCHEMA_TEXT, 0, false},
    {"bytea", -1, SCHEMA_BYTES, 0, false},
    {"jsonb", -1, SCHEMA_DOCUMENT, 0, false},
    {"hstore", -1, SCHEMA_DOCUMENT, 0, false},
    {"txid_snapshot", -1, SCHEMA_TEXT, 0, true},
};

START_TEST(pg_schema_kind_follows_the_table)
{
    struct pg_type type = {.name = {kinds[_i].type, strlen(kinds[_i].type)}};
    struct schema_column column = {.digits = 0};
    (void)pg_type_base(type.name, &type);
    pg_schema_kind(&type, kinds[_i].modifier, &column);
    ck_assert_msg(column.kind == kinds[_i].kind && column.digits == kinds[_i].digits, "%s: %d %u",
                  kinds[_i].type, (int)column.kind, column.digits);
    ck_assert_msg(column.refused == kinds[_i].refused, "%s", kinds[_i].type);
    ck_assert(str_equal(column.type, type.name));
}
END_TEST

START_TEST(pg_schema_kind_looks_into_a_type)
{
    struct pg_type inner = {.name = STR("txid_snapshot")};
    struct pg_type number = {.name = STR("int4")};
    struct pg_type list = {.name = STR("_int4"), .convert = pg_convert_array, .element = &number};
    struct schema_column column = {.digits = 0};
    ck_assert(pg_type_base(number.name, &number));
    pg_schema_kind(&list, -1, &column);
    ck_assert(column.kind == SCHEMA_DOCUMENT && !column.refused);
    list.element = &inner;
    pg_schema_kind(&list, -1, &column);
    ck_assert(column.kind == SCHEMA_TEXT && column.refused);
    ck_assert(str_equal(column.type, STR("txid_snapshot")));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("importers/postgres/pg_schema_kind");
    TCase *tcase = tcase_create("pg_schema_kind");
    tcase_add_loop_test(tcase, pg_schema_kind_follows_the_table, 0, ROWS(kinds));
    tcase_add_test(tcase, pg_schema_kind_looks_into_a_type);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
