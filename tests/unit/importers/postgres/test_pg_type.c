#include "importers/postgres/pg_type.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "tests/support/suite.h"

/* json NULL: `message` is what the refusal says. */
static const struct {
    const char *type;
    const char *text;
    const char *json;
    const char *message;
} values[] = {
    {"bool", "t", "{\"BOOL\":true}", NULL},
    {"bool", "true", NULL, "'true' is no boolean"},
    {"int8", "-9223372036854775808", "{\"N\":\"-9223372036854775808\"}", NULL},
    {"numeric", "1.1000", "{\"N\":\"1.1\"}", NULL},
    {"numeric", "NaN", NULL, "'NaN' is not a number"},
    {"float8", "1e+100",
     "{\"N\":"
     "\"10000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000\"}",
     NULL},
    {"float8", "-0", "{\"N\":\"0\"}", NULL},
    {"money", "-$1,234,567.89", "{\"N\":\"-1234567.89\"}", NULL},
    {"text", "", "{\"S\":\"\"}", NULL},
    {"bpchar", "ab  ", "{\"S\":\"ab\"}", NULL},
    {"bpchar", "   ", "{\"S\":\"\"}", NULL},
    {"bytea", "\\x00fF", NULL, "a bytea is not in hex"},
    {"bytea", "\\x00ff", "{\"B\":\"AP8=\"}", NULL},
    {"bytea", "\\x", "{\"B\":\"\"}", NULL},
    {"bytea", "\\x0", NULL, "a bytea is not in hex"},
    {"bytea", "abc", NULL, "a bytea is not in hex"},
    {"date", "2026-04-18", "{\"S\":\"2026-04-18\"}", NULL},
    {"date", "10000-01-01", NULL, "10000-01-01 cannot"},
    {"date", "0044-03-15 BC", NULL, "0044-03-15 BC cannot"},
    {"date", "infinity", NULL, "infinity cannot"},
    {"time", "03:04:05", "{\"S\":\"03:04:05.000000\"}", NULL},
    {"time", "03:04:05.123456", "{\"S\":\"03:04:05.123456\"}", NULL},
    {"time", "03:04:05.1234567", NULL, "03:04:05.1234567 cannot"},
    {"timetz", "03:04:05.5-15:59:59", "{\"S\":\"03:04:05.500000-15:59:59\"}", NULL},
    {"timestamp", "2026-04-18 03:04:05.1", "{\"S\":\"2026-04-18T03:04:05.100000\"}", NULL},
    {"timestamp", "2026-04-18 03:04:05+00", NULL, "2026-04-18 03:04:05+00 cannot"},
    {"timestamp", "0044-03-15 03:04:05 BC", NULL, "0044-03-15 03:04:05 BC cannot"},
    {"timestamptz", "2026-04-18 03:04:05+00", "{\"S\":\"2026-04-18T03:04:05.000000Z\"}", NULL},
    {"timestamptz", "2026-04-18 03:04:05+01", NULL, "2026-04-18 03:04:05+01 cannot"},
    {"timestamptz", "-infinity", NULL, "-infinity cannot"},
    {"jsonb", "{\"n\": 1234567890123456789, \"x\": [null, 1.50]}",
     "{\"M\":{\"n\":{\"N\":\"1234567890123456789\"},\"x\":{\"L\":[{\"NULL\":true},{\"N\":\"1.5\"}]}"
     "}}",
     NULL},
    {"json", "{\"a\":1,\"a\":2}", "{\"S\":\"{\\\"a\\\":1,\\\"a\\\":2}\"}", NULL},
    {"hstore", "\"a\"=>\"1\", \"b\"=>NULL", "{\"M\":{\"a\":{\"S\":\"1\"},\"b\":{\"NULL\":true}}}",
     NULL},
    {"hstore", "", "{\"M\":{}}", NULL},
    {"hstore", "\"a\"=>", NULL, "not the text of an hstore"},
};

START_TEST(pg_convert_follows_the_table)
{
    struct arena *arena = arena_new();
    struct pg_type type = {.delimiter = ','};
    struct error err = {0};
    struct value value;
    struct str name = {values[_i].type, strlen(values[_i].type)};
    struct str text = {values[_i].text, strlen(values[_i].text)};
    ck_assert(pg_type_base(name, &type));
    bool ok = type.convert(&type, text, arena, &value, &err);
    ck_assert_msg(ok == (values[_i].json != NULL), "%s %s: %s", values[_i].type, values[_i].text,
                  err.text);
    if (ok) {
        struct buffer json = {0};
        item_json_write_value(value, &json);
        buffer_add_char(&json, '\0');
        ck_assert_str_eq(json.bytes, values[_i].json);
        buffer_free(&json);
    } else {
        ck_assert_msg(strncmp(err.text, values[_i].message, strlen(values[_i].message)) == 0,
                      "%s %s: %s", values[_i].type, values[_i].text, err.text);
    }
    arena_free(arena);
}
END_TEST

START_TEST(pg_type_refused_finds_the_type_inside)
{
    struct pg_type unknown = {.name = STR("geometry")};
    struct pg_type text = {.name = STR("text"), .convert = pg_convert_text};
    struct pg_field fields[] = {{STR("a"), &text}, {STR("b"), &unknown}};
    struct pg_type composite = {
        .convert = pg_convert_composite, .fields = fields, .field_count = 2};
    struct pg_type array = {.convert = pg_convert_array, .element = &composite};
    ck_assert_ptr_eq(pg_type_refused(&array), &unknown);
    ck_assert_ptr_null(pg_type_refused(&text));
    struct pg_type none = {.name = STR("none")};
    ck_assert(!pg_type_base(STR("geometry"), &none));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("importers/postgres/pg_type");
    TCase *tcase = tcase_create("pg_type");
    tcase_add_loop_test(tcase, pg_convert_follows_the_table, 0, ROWS(values));
    tcase_add_test(tcase, pg_type_refused_finds_the_type_inside);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
