#include "engine/item/key_middle.h"

#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "engine/item/number.h"
#include "tests/rules/item_key_middle.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct {
    const char *says;
    enum value_type type;
    struct str low;
    struct str high;
    bool found;
} rows[] = {
    {"numbers in a text", VALUE_S, STR_INIT("ORDER#000100"), STR_INIT("ORDER#000900"), true},
    {"days", VALUE_S, STR_INIT("2026-01-01"), STR_INIT("2026-12-31"), true},
    {"one begins the other", VALUE_S, STR_INIT("A"), STR_INIT("AB"), true},
    {"neighbours", VALUE_S, STR_INIT("ab"), STR_INIT("ac"), true},
    {"no space between", VALUE_S, STR_INIT("a"), STR_INIT("a\0"), false},
    {"equal", VALUE_S, STR_INIT("abc"), STR_INIT("abc"), false},
    {"ASCII and not", VALUE_S, STR_INIT("a"), STR_INIT("\xC3\xA9"), true},
    {"neighbours beyond ASCII", VALUE_S, STR_INIT("\xC3\xA8"), STR_INIT("\xC3\xA9"), true},
    {"alike within a character", VALUE_S, STR_INIT("\xC3\x80"), STR_INIT("\xC3\xBF"), true},
    {"around the surrogates", VALUE_S, STR_INIT("\xED\x9F\xBF"), STR_INIT("\xEE\x80\x81"), true},
    {"of several widths", VALUE_S, STR_INIT("z"), STR_INIT("\xF0\x9F\x98\x80"), true},
    {"no space beyond ASCII", VALUE_S, STR_INIT("\xC3\xA8"), STR_INIT("\xC3\xA8\0"), false},
    {"only NULs between", VALUE_S, STR_INIT("a"), STR_INIT("a\0\0\0\0\0\0\0"), true},
    {"the last before the next", VALUE_S, STR_INIT("a\x7F\x7F\x7F\x7F\x7F\x7F"), STR_INIT("b"),
     true},
    {"no space between bytes", VALUE_B, STR_INIT("\x01"), STR_INIT("\x01\x00"), false},
    {"bytes", VALUE_B, STR_INIT("\x00\xFF"), STR_INIT("\x01\x01"), true},
    {"numbers", VALUE_N, STR_INIT("-5"), STR_INIT("1000000"), true},
    {"fractions", VALUE_N, STR_INIT("1"), STR_INIT("1.1"), true},
    {"one number", VALUE_N, STR_INIT("7"), STR_INIT("7"), false},
};

static struct value value_of(enum value_type type, struct str text, struct arena *arena)
{
    struct number number;
    struct error err = {0};
    if (type != VALUE_N) {
        return type == VALUE_S ? value_string(arena, text) : value_binary(arena, text);
    }
    ck_assert(number_parse(text, &number, &err));
    return value_from_number(arena, &number);
}

START_TEST(the_middle_lies_between)
{
    struct arena *arena = arena_new();
    struct value low = value_of(rows[_i].type, rows[_i].low, arena);
    struct value high = value_of(rows[_i].type, rows[_i].high, arena);
    struct value middle = {NULL, 0};
    bool found = key_middle(low, high, arena, &middle);
    ck_assert_msg(found == rows[_i].found, "%s", rows[_i].says);
    if (found && rows[_i].type == VALUE_N) {
        struct number a = value_number(low);
        struct number m = value_number(middle);
        struct number b = value_number(high);
        ck_assert_msg(number_compare(&a, &m) < 0 && number_compare(&m, &b) < 0, "%s",
                      rows[_i].says);
    } else if (found) {
        struct str m = value_bytes(middle);
        ck_assert_msg(str_compare(value_bytes(low), m) < 0 && str_compare(m, value_bytes(high)) < 0,
                      "%s", rows[_i].says);
        ck_assert_msg(rows[_i].type == VALUE_B || utf8_is_valid(m), "%s", rows[_i].says);
    }
    arena_free(arena);
}
END_TEST

/* So that a collection is divided into parts of much the same size. */
static const struct {
    const char *says;
    struct str low;
    struct str high;
    struct str middle;
} halves[] = {
    {"numbers", STR_INIT("ORDER#000100"), STR_INIT("ORDER#000900"), STR_INIT("ORDER#000500")},
    {"Cyrillic", STR_INIT("\xD0\x90"), STR_INIT("\xD0\xAE"), STR_INIT("\xD0\x9F")},
    {"Han", STR_INIT("\xE4\xB8\x80"), STR_INIT("\xE4\xBB\xA0"), STR_INIT("\xE4\xB9\xB0")},
    {"numbers behind Cyrillic", STR_INIT("\xD0\x90#100"), STR_INIT("\xD0\x90#300"),
     STR_INIT("\xD0\x90#200")},
};

START_TEST(the_middle_is_half_way)
{
    struct arena *arena = arena_new();
    struct value middle = {NULL, 0};
    ck_assert(key_middle(value_of(VALUE_S, halves[_i].low, arena),
                         value_of(VALUE_S, halves[_i].high, arena), arena, &middle));
    struct str found = value_bytes(middle);
    ck_assert_msg(str_equal(found, halves[_i].middle), "%s: '%.*s'", halves[_i].says,
                  STR_ARG(found));
    arena_free(arena);
}
END_TEST

START_TEST(the_middle_obeys_its_law)
{
    property_check("key_middle_lies_between_or_none_does",
                   rule_key_middle_lies_between_or_none_does);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("key_middle");
    tcase_add_loop_test(cases, the_middle_lies_between, 0, ROWS(rows));
    tcase_add_loop_test(cases, the_middle_is_half_way, 0, ROWS(halves));
    tcase_add_test(cases, the_middle_obeys_its_law);
    Suite *suite = suite_create("engine/item/key_middle");
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
