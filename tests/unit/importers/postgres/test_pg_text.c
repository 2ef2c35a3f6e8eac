#include "importers/postgres/pg_text.h"

#include "importers/postgres/copy_row.h"
#include "tests/rules/postgres_text.h"
#include "tests/support/suite.h"

enum { FIELDS_MAX = 4 };

#define NO_FIELD \
    {            \
        NULL, 0  \
    }

static const struct row {
    const char *says;
    const char *text;
    size_t count;
    struct str fields[FIELDS_MAX];
    const char *message; /* NULL: it is split */
} rows[] = {
    {"plain fields", "a\tbc\t", 3, {STR_INIT("a"), STR_INIT("bc"), STR_INIT("")}, NULL},
    {"one empty field", "", 1, {STR_INIT("")}, NULL},
    {"no fields", "", 0, {NO_FIELD}, NULL},
    {"NULL", "\\N\ta", 2, {NO_FIELD, STR_INIT("a")}, NULL},
    {"a text that looks like NULL", "\\\\N\tNULL", 2, {STR_INIT("\\N"), STR_INIT("NULL")}, NULL},
    {"escapes", "\\b\\f\\n\\r\\t\\v\\\\", 1, {STR_INIT("\b\f\n\r\t\v\\")}, NULL},
    {"too few", "a", 2, {NO_FIELD}, "COPY: a row has not 2 fields"},
    {"too many", "a\tb", 1, {NO_FIELD}, "COPY: a row has not 1 fields"},
    {"an unknown escape", "\\q", 1, {NO_FIELD}, "COPY: an unknown escape in a field"},
    {"an escape cut short", "a\\", 1, {NO_FIELD}, "COPY: an unknown escape in a field"},
};

static void expect_fields(const struct row *row, bool ok, const struct str *found,
                          const struct error *err)
{
    if (row->message != NULL) {
        ck_assert_msg(!ok && strcmp(err->text, row->message) == 0, "%s: %s", row->says, err->text);
        return;
    }
    ck_assert_msg(ok, "%s: %s", row->says, err->text);
    for (size_t i = 0; i < row->count; i++) {
        ck_assert_msg((found[i].ptr == NULL) == (row->fields[i].ptr == NULL) &&
                          str_equal(found[i], row->fields[i]),
                      "%s: field %zu is '%.*s'", row->says, i, STR_ARG(found[i]));
    }
}

START_TEST(copy_row_split_follows_the_table)
{
    struct arena *arena = arena_new();
    struct str fields[FIELDS_MAX];
    struct error err = {0};
    size_t len = strlen(rows[_i].text);
    char *line = arena_bytes(arena, len + 1);
    memcpy(line, rows[_i].text, len);
    bool ok = copy_row_split(line, len, fields, rows[_i].count, &err);
    expect_fields(&rows[_i], ok, fields, &err);
    arena_free(arena);
}
END_TEST

static const struct row composites[] = {
    {"plain", "(a,b)", 2, {STR_INIT("a"), STR_INIT("b")}, NULL},
    {"NULL and empty", "(,\"\")", 2, {NO_FIELD, STR_INIT("")}, NULL},
    {"none", "()", 0, {NO_FIELD}, NULL},
    {"one NULL", "()", 1, {NO_FIELD}, NULL},
    {"quotes",
     "(\"a,b\",\"say \"\"hi\"\"\",\"\\\\\")",
     3,
     {STR_INIT("a,b"), STR_INIT("say \"hi\""), STR_INIT("\\")},
     NULL},
    {"parentheses in quotes", "(\"(x)\")", 1, {STR_INIT("(x)")}, NULL},
    {"too few", "(a)", 2, {NO_FIELD}, "a composite value has not 2 fields"},
    {"too many", "(a,b)", 1, {NO_FIELD}, "a composite value has not 1 fields"},
    {"text behind it", "(a)b)", 1, {NO_FIELD}, "a composite value has not 1 fields"},
    {"a quote that does not end", "(\"a)", 1, {NO_FIELD}, "a composite value has not 1 fields"},
    {"no composite", "a", 1, {NO_FIELD}, "not the text of a composite value"},
};

START_TEST(pg_composite_split_follows_the_table)
{
    struct arena *arena = arena_new();
    struct str fields[FIELDS_MAX];
    struct error err = {0};
    struct str text = {composites[_i].text, strlen(composites[_i].text)};
    bool ok = pg_composite_split(text, arena, fields, composites[_i].count, &err);
    expect_fields(&composites[_i], ok, fields, &err);
    arena_free(arena);
}
END_TEST

/* Tokens as letters: { } N (NULL) ! (bad), and texts between slashes. */
static const struct {
    const char *text;
    char delimiter;
    const char *tokens;
} arrays[] = {
    {"{}", ',', "{}"},
    {"{a,NULL,\"NULL\"}", ',', "{/a/N/NULL/}"},
    {"{{1,2},{3,4}}", ',', "{{/1//2/}{/3//4/}}"},
    {"{\"a\\\"b\",\"c\\\\d\",\"\"}", ',', "{/a\"b//c\\d///}"},
    {"{(1,2),(3,4);(5,6),(7,8)}", ';', "{/(1,2),(3,4)//(5,6),(7,8)/}"},
    {"{\"a", ',', "{!"},
    {"{,}", ',', "{!"},
    {"{{{{{{{", ',', "{{{{{{!"},
};

START_TEST(pg_array_next_follows_the_table)
{
    struct arena *arena = arena_new();
    struct pg_array_reader reader = {.at = arrays[_i].text,
                                     .end = arrays[_i].text + strlen(arrays[_i].text),
                                     .delimiter = arrays[_i].delimiter};
    char found[64] = "";
    size_t len = 0;
    struct str text;
    enum pg_array_token token = PG_ARRAY_OPEN;
    while (token != PG_ARRAY_END && token != PG_ARRAY_BAD) {
        token = pg_array_next(&reader, arena, &text);
        static const char letters[] = "!{}N";
        if (token == PG_ARRAY_TEXT) {
            len += (size_t)snprintf(found + len, sizeof found - len, "/%.*s/", STR_ARG(text));
        } else if (token != PG_ARRAY_END) {
            len += (size_t)snprintf(found + len, sizeof found - len, "%c", letters[token]);
        }
    }
    ck_assert_str_eq(found, arrays[_i].tokens);
    arena_free(arena);
}
END_TEST

START_TEST(texts_come_back_as_they_were_written)
{
    property_check("a row of COPY", rule_copy_row_comes_back);
    property_check("a composite", rule_composite_comes_back);
    property_check("an array", rule_array_comes_back);
    property_check("any bytes", rule_any_text_converts_or_is_refused);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("importers/postgres/pg_text");
    TCase *tcase = tcase_create("pg_text");
    tcase_add_loop_test(tcase, copy_row_split_follows_the_table, 0, ROWS(rows));
    tcase_add_loop_test(tcase, pg_composite_split_follows_the_table, 0, ROWS(composites));
    tcase_add_loop_test(tcase, pg_array_next_follows_the_table, 0, ROWS(arrays));
    tcase_add_test(tcase, texts_come_back_as_they_were_written);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
