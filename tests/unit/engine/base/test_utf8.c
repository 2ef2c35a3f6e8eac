#include "engine/base/str.h"
#include "engine/base/utf8.h"
#include "tests/rules/base_utf8.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stddef.h>
#include <stdint.h>

static const struct {
    const char *says;
    struct str text;
    size_t valid_prefix;
} texts[] = {
    {"nothing", STR_INIT(""), 0},
    {"ASCII and NUL", STR_INIT("a\0b"), 3},
    {"more than a word of ASCII", STR_INIT("0123456789abcdef\xc3\xa9"), 18},
    {"the ends of each length", STR_INIT("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf"), 11},
    {"four bytes", STR_INIT("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), 8},
    {"around the surrogates", STR_INIT("\xed\x9f\xbf\xee\x80\x80"), 6},
    {"a surrogate", STR_INIT("ab\xed\xa0\x80"), 2},
    {"an overlong NUL", STR_INIT("\xc0\x80"), 0},
    {"an overlong letter", STR_INIT("\xc1\xbf"), 0},
    {"overlong in three bytes", STR_INIT("\xe0\x9f\xbf"), 0},
    {"overlong in four bytes", STR_INIT("\xf0\x8f\xbf\xbf"), 0},
    {"above U+10FFFF", STR_INIT("\xf4\x90\x80\x80"), 0},
    {"a first byte that none has", STR_INIT("\xf5\x80\x80\x80"), 0},
    {"a lone continuation", STR_INIT("a\x80"), 1},
    {"cut short in two", STR_INIT("a\xc3"), 1},
    {"cut short in three", STR_INIT("a\xe2\x82"), 1},
    {"cut short in four", STR_INIT("a\xf0\x9f\x98"), 1},
    {"a letter for the third byte", STR_INIT("\xe2\x82z"), 0},
};

START_TEST(utf8_is_valid_follows_the_table)
{
    struct str text = texts[_i].text;
    ck_assert_msg(utf8_valid_prefix(text) == texts[_i].valid_prefix, "%s", texts[_i].says);
    ck_assert_msg(utf8_is_valid(text) == (texts[_i].valid_prefix == text.len), "%s",
                  texts[_i].says);
}
END_TEST

START_TEST(utf8_counts_characters_and_utf16_units)
{
    struct str text = STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_uint_eq(utf8_count(text), 4);
    ck_assert_uint_eq(utf8_utf16_units(text), 5);
    ck_assert_uint_eq(utf8_utf16_units(STR("")), 0);
}
END_TEST

START_TEST(utf8_cut_leaves_characters_whole)
{
    static const size_t wanted[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    struct str text = STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    for (size_t max = 0; max < sizeof wanted / sizeof *wanted; max++) {
        struct str cut = utf8_cut(text, max);
        ck_assert_ptr_eq(cut.ptr, text.ptr);
        ck_assert_msg(cut.len == wanted[max], "%zu: %zu", max, cut.len);
    }
}
END_TEST

/* From UnicodeData.txt, simple mappings. */
static const struct {
    const char *says;
    uint32_t character;
    uint32_t lower;
    uint32_t upper;
} cases[] = {
    {"a letter", 'a', 'a', 'A'},
    {"a capital", 'Z', 'z', 'Z'},
    {"no letter", '[', '[', '['},
    {"e acute", 0xe9, 0xe9, 0xc9},
    {"sharp s has no single capital", 0xdf, 0xdf, 0xdf},
    {"capital sharp s", 0x1e9e, 0xdf, 0x1e9e},
    {"I with dot, in no locale", 0x130, 'i', 0x130},
    {"dotless i", 0x131, 0x131, 'I'},
    {"every second letter", 0x101, 0x101, 0x100},
    {"the capital between them", 0x102, 0x103, 0x102},
    {"a title case letter goes both ways", 0x1c5, 0x1c6, 0x1c4},
    {"final sigma", 0x3c2, 0x3c2, 0x3a3},
    {"capital sigma is not final", 0x3a3, 0x3c3, 0x3a3},
    {"y with diaeresis", 0xff, 0xff, 0x178},
    {"micro sign", 0xb5, 0xb5, 0x39c},
    {"long s", 0x17f, 0x17f, 'S'},
    {"Kelvin sign", 0x212a, 'k', 0x212a},
    {"alpha with iota: the simple one, not two", 0x1f80, 0x1f80, 0x1f88},
    {"Georgian", 0x10d0, 0x10d0, 0x1c90},
    {"Cherokee small letters", 0xab70, 0xab70, 0x13a0},
    {"Deseret, four bytes", 0x10400, 0x10428, 0x10400},
    {"Adlam", 0x1e943, 0x1e943, 0x1e921},
    {"the last character", 0x10ffff, 0x10ffff, 0x10ffff},
};

START_TEST(utf8_case_follows_the_table)
{
    ck_assert_msg(utf8_to_lower(cases[_i].character) == cases[_i].lower, "%s", cases[_i].says);
    ck_assert_msg(utf8_to_upper(cases[_i].character) == cases[_i].upper, "%s", cases[_i].says);
}
END_TEST

START_TEST(utf8_case_maps_as_many_characters_as_unicode)
{
    size_t lowered = 0;
    size_t raised = 0;
    size_t unstable = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        lowered += utf8_to_lower(c) != c ? 1 : 0;
        raised += utf8_to_upper(c) != c ? 1 : 0;
        unstable += utf8_to_lower(utf8_to_lower(c)) != utf8_to_lower(c) ? 1 : 0;
    }
    ck_assert_uint_eq(unstable, 0);
    ck_assert_uint_eq(lowered, 1433); /* of UnicodeData.txt 14.0.0 */
    ck_assert_uint_eq(raised, 1450);
}
END_TEST

START_TEST(utf8_put_and_next_are_inverse)
{
    property_check("utf8_put_and_next_are_inverse", rule_utf8_put_and_next_are_inverse);
}
END_TEST

START_TEST(utf8_prefix_is_valid_and_the_rest_is_not)
{
    property_check("utf8_prefix_is_valid_and_the_rest_is_not",
                   rule_utf8_prefix_is_valid_and_the_rest_is_not);
}
END_TEST

int main(void)
{
    TCase *utf8 = tcase_create("utf8");
    tcase_add_loop_test(utf8, utf8_is_valid_follows_the_table, 0, ROWS(texts));
    tcase_add_test(utf8, utf8_counts_characters_and_utf16_units);
    tcase_add_test(utf8, utf8_cut_leaves_characters_whole);
    tcase_add_loop_test(utf8, utf8_case_follows_the_table, 0, ROWS(cases));
    tcase_add_test(utf8, utf8_case_maps_as_many_characters_as_unicode);
    tcase_add_test(utf8, utf8_put_and_next_are_inverse);
    tcase_add_test(utf8, utf8_prefix_is_valid_and_the_rest_is_not);
    Suite *suite = suite_create("engine/base/utf8");
    suite_add_tcase(suite, utf8);
    return suite_run(suite);
}
