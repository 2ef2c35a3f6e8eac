#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/number.h"
#include "tests/rules/item_number.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NINES_38 "99999999999999999999999999999999999999"
#define ZEROS_38 "00000000000000000000000000000000000000"

static const struct {
    const char *says;
    struct str text;
    const char *plain; /* NULL: refused */
} texts[] = {
    {"zero", STR_INIT("0"), "0"},
    {"minus zero is zero", STR_INIT("-0.00e5"), "0"},
    {"zero with a huge exponent", STR_INIT("0e999999999999999999999"), "0"},
    {"whole", STR_INIT("150"), "150"},
    {"an exponent", STR_INIT("1.5E2"), "150"},
    {"a plus and zeros", STR_INIT("+0001000.0"), "1000"},
    {"a negative fraction", STR_INIT("-0.50"), "-0.5"},
    {"no digit before the point", STR_INIT(".5"), "0.5"},
    {"no digit behind the point", STR_INIT("5."), "5"},
    {"a point in the middle", STR_INIT("-12.0340"), "-12.034"},
    {"zeros on both sides of the point", STR_INIT("00.0010"), "0.001"},
    {"a small exponent", STR_INIT("123e-5"), "0.00123"},
    {"a point and an exponent", STR_INIT("0.00123e+3"), "1.23"},
    {"38 digits", STR_INIT(NINES_38), NINES_38},
    {"38 digits and zeros", STR_INIT("-" NINES_38 "000.000"), "-" NINES_38 "000"},
    {"38 digits from the first to the last", STR_INIT("1000000000000000000000000000000000000.1"),
     "1000000000000000000000000000000000000.1"},
    {"39 digits", STR_INIT(NINES_38 "1"), NULL},
    {"39 digits from the first to the last", STR_INIT("1" ZEROS_38 ".1"), NULL},
    {"39 digits, then another", STR_INIT("1" ZEROS_38 "11"), NULL},
    {"zeros in front are no digits", STR_INIT("0." ZEROS_38 "1"), "0." ZEROS_38 "1"},
    {"the largest exponent", STR_INIT("1e125"), "1" ZEROS_38 ZEROS_38 ZEROS_38 "00000000000"},
    {"over the largest exponent", STR_INIT("1e126"), NULL},
    {"digits can carry it over", STR_INIT("10e125"), NULL},
    {"or bring it back", STR_INIT("0.1e126"), "1" ZEROS_38 ZEROS_38 ZEROS_38 "00000000000"},
    {"the smallest exponent", STR_INIT("-1e-130"),
     "-0." ZEROS_38 ZEROS_38 ZEROS_38 "0000000000000001"},
    {"below the smallest: never rounded to 0", STR_INIT("1e-131"), NULL},
    {"a huge exponent", STR_INIT("1e99999999999999999999"), NULL},
    {"a huge negative exponent", STR_INIT("1e-99999999999999999999"), NULL},
    {"nothing", STR_INIT(""), NULL},
    {"a sign", STR_INIT("-"), NULL},
    {"a point", STR_INIT("."), NULL},
    {"a sign and a point", STR_INIT("+."), NULL},
    {"an exponent alone", STR_INIT("e5"), NULL},
    {"an exponent without digits", STR_INIT("1e"), NULL},
    {"an exponent of a sign", STR_INIT("1e+"), NULL},
    {"two signs", STR_INIT("--1"), NULL},
    {"two points", STR_INIT("1.2.3"), NULL},
    {"a blank before", STR_INIT(" 1"), NULL},
    {"a blank behind", STR_INIT("1 "), NULL},
    {"a NUL behind", STR_INIT("1\0"), NULL},
    {"hexadecimal", STR_INIT("0x10"), NULL},
    {"infinity", STR_INIT("Infinity"), NULL},
    {"not a number", STR_INIT("NaN"), NULL},
    {"a group mark", STR_INIT("1,000"), NULL},
};

START_TEST(number_parse_follows_the_table)
{
    struct number n = {.count = 99};
    struct error err = {0};
    bool ok = number_parse(texts[_i].text, &n, &err);
    if (texts[_i].plain == NULL) {
        ck_assert_msg(!ok && err.code == ERROR_ITEM && n.count == 99, "%s", texts[_i].says);
        return;
    }
    ck_assert_msg(ok, "%s: %s", texts[_i].says, err.text);
    char plain[NUMBER_TEXT_MAX];
    size_t len = number_format(&n, plain);
    ck_assert_msg(strcmp(plain, texts[_i].plain) == 0, "%s: %s", texts[_i].says, plain);
    ck_assert_uint_eq(len, strlen(plain));
}
END_TEST

static struct number number(const char *text)
{
    struct number n;
    struct error err = {0};
    ck_assert_msg(number_parse((struct str){text, strlen(text)}, &n, &err), "%s", err.text);
    return n;
}

START_TEST(number_format_fits_the_longest)
{
    char text[NUMBER_TEXT_MAX];
    struct number n = number("-1." ZEROS_38 "e-130");
    memset(n.digits, 9, sizeof n.digits);
    n.count = NUMBER_DIGITS_MAX;
    ck_assert_uint_lt(number_format(&n, text), sizeof text);
}
END_TEST

/* Part of docs/format.md: these bytes may not change. */
static const struct {
    const char *text;
    size_t len;
    unsigned char bytes[5];
} encodings[] = {
    {"0", 1, {2}},
    {"1", 3, {3, 130, 20}},
    {"10", 3, {3, 131, 20}},
    {"12", 3, {3, 131, 24}},
    {"12.3", 4, {3, 131, 25, 60}},
    {"-12.3", 4, {1, 124, 230, 195}},
    {"1e-130", 3, {3, 0, 20}},
    {"9.999e125", 4, {3, 255, 199, 198}},
};

START_TEST(number_encode_follows_the_format)
{
    struct number n = number(encodings[_i].text);
    unsigned char bytes[NUMBER_ENCODED_MAX];
    ck_assert_uint_eq(number_encode(&n, bytes), encodings[_i].len);
    ck_assert_mem_eq(bytes, encodings[_i].bytes, encodings[_i].len);
}
END_TEST

static const struct {
    const char *says;
    size_t len;
    unsigned char bytes[24];
} damaged[] = {
    {"nothing", 0, {0}},
    {"an unknown class", 3, {4, 130, 20}},
    {"no digits", 2, {3, 130}},
    {"cut short", 3, {3, 130, 21}},
    {"a first digit 0", 3, {3, 130, 10}},
    {"no digit at all", 3, {3, 130, 0}},
    {"zeros at the end", 4, {3, 130, 21, 0}},
    {"a pair over 99", 3, {3, 130, 200}},
    {"20 pairs", 22, {3,  130, 21, 21, 21, 21, 21, 21, 21, 21, 21,
                      21, 21,  21, 21, 21, 21, 21, 21, 21, 21, 20}},
};

START_TEST(number_decode_refuses_what_is_not_canonical)
{
    struct number n = {.count = 99};
    ck_assert_msg(number_decode(damaged[_i].bytes, damaged[_i].len, &n) == 0, "%s",
                  damaged[_i].says);
    ck_assert_uint_eq(n.count, 99);
}
END_TEST

/* In order, each below the next. */
static const char *const ordered[] = {
    "-9.9e125", "-1e125", "-1000",     "-999.9", "-10",     "-9.5",    "-9",     "-1.1",
    "-1.01",    "-1",     "-0.5",      "-1e-5",  "-1e-130", "0",       "1e-130", "1e-5",
    "0.5",      "1",      "1.0000001", "1.01",   "1.1",     "9",       "9.5",    "10",
    "11",       "99",     "100",       "101",    "1e125",   "9.9e125",
};

START_TEST(number_order_is_that_of_values)
{
    for (size_t i = 0; i < sizeof ordered / sizeof *ordered; i++) {
        for (size_t j = 0; j < sizeof ordered / sizeof *ordered; j++) {
            struct number a = number(ordered[i]);
            struct number b = number(ordered[j]);
            int order = number_compare(&a, &b);
            ck_assert_msg((order < 0) == (i < j) && (order > 0) == (i > j), "%s and %s", ordered[i],
                          ordered[j]);
        }
    }
}
END_TEST

typedef bool operation(const struct number *, const struct number *, struct number *,
                       struct error *);

static const struct {
    operation *operation;
    const char *a, *b, *result; /* NULL: refused */
} sums[] = {
    {number_add, "1", "2", "3"},
    {number_add, "0", "-2.5", "-2.5"},
    {number_add, "999", "1", "1000"},
    {number_add, "0.1", "0.2", "0.3"},
    {number_add, "-5", "3", "-2"},
    {number_add, "5", "-5", "0"},
    {number_add, NINES_38, "1", "1" ZEROS_38},
    {number_add, NINES_38, "2", NULL},
    {number_add, "1e37", "0.1", NULL},
    {number_add, "1e37", "-0.1", "9999999999999999999999999999999999999.9"},
    {number_add, "1e125", "1e-130", NULL},
    {number_add, "9e125", "1e125", NULL},
    {number_add, "1.1e-130", "-1e-130", NULL},
    {number_subtract, "1", "0.0001", "0.9999"},
    {number_subtract, "3", "5", "-2"},
    {number_subtract, "0", "7", "-7"},
    {number_subtract, "1e100", "1e100", "0"},
    {number_multiply, "12", "-12", "-144"},
    {number_multiply, "0.5", "0.2", "0.1"},
    {number_multiply, "0", "-3", "0"},
    {number_multiply, "9999999999999999999", "9999999999999999999",
     "99999999999999999980000000000000000001"},
    {number_multiply, "99999999999999999999", "99999999999999999999", NULL},
    {number_multiply, "1e100", "1e26", NULL},
    {number_multiply, "1e-100", "1e-31", NULL},
    {number_multiply, "1e-100", "-1e-30", "-1e-130"},
};

START_TEST(number_arithmetic_is_exact_or_refused)
{
    struct number a = number(sums[_i].a);
    struct number b = number(sums[_i].b);
    struct number result = {.count = 99};
    struct error err = {0};
    bool ok = sums[_i].operation(&a, &b, &result, &err);
    if (sums[_i].result == NULL) {
        ck_assert_msg(!ok && err.code == ERROR_ITEM && result.count == 99, "%s, %s", sums[_i].a,
                      sums[_i].b);
        return;
    }
    ck_assert_msg(ok, "%s, %s: %s", sums[_i].a, sums[_i].b, err.text);
    struct number expected = number(sums[_i].result);
    ck_assert_msg(number_compare(&result, &expected) == 0, "%s, %s", sums[_i].a, sums[_i].b);
}
END_TEST

START_TEST(number_result_may_replace_an_operand)
{
    struct number n = number("21");
    struct error err;
    ck_assert(number_add(&n, &n, &n, &err));
    ck_assert(number_multiply(&n, &n, &n, &err));
    struct number expected = number("1764");
    ck_assert_int_eq(number_compare(&n, &expected), 0);
}
END_TEST

static const struct {
    const char *text;
    bool whole;
    int64_t value;
} integers[] = {
    {"0", true, 0},
    {"-1", true, -1},
    {"120", true, 120},
    {"1e18", true, 1000000000000000000},
    {"9223372036854775807", true, INT64_MAX},
    {"9223372036854775808", false, 0},
    {"-9223372036854775808", true, INT64_MIN},
    {"-9223372036854775809", false, 0},
    {"1e19", false, 0},
    {"1e125", false, 0},
    {"0.5", false, 0},
    {"12.5", false, 0},
    {"1000000000000000000.1", false, 0},
};

START_TEST(number_to_int_takes_whole_numbers_in_range)
{
    struct number n = number(integers[_i].text);
    int64_t value = 42;
    ck_assert_msg(number_to_int(&n, &value) == integers[_i].whole, "%s", integers[_i].text);
    ck_assert_int_eq(value, integers[_i].whole ? integers[_i].value : 42);
    if (integers[_i].whole) {
        struct number back = number_from_int(value);
        ck_assert_int_eq(number_compare(&n, &back), 0);
    }
}
END_TEST

static const struct {
    const char *name;
    property_rule *rule;
} laws[] = {
    {"number_comes_back", rule_number_comes_back},
    {"number_encoding_keeps_order", rule_number_encoding_keeps_order},
    {"number_decodes_only_canonical_bytes", rule_number_decodes_only_canonical_bytes},
    {"number_parses_any_text_or_refuses", rule_number_parses_any_text_or_refuses},
    {"number_arithmetic_obeys_its_laws", rule_number_arithmetic_obeys_its_laws},
    {"number_agrees_with_integers", rule_number_agrees_with_integers},
};

START_TEST(number_obeys_its_laws)
{
    property_check(laws[_i].name, laws[_i].rule);
}
END_TEST

int main(void)
{
    TCase *number = tcase_create("number");
    tcase_add_loop_test(number, number_parse_follows_the_table, 0, ROWS(texts));
    tcase_add_test(number, number_format_fits_the_longest);
    tcase_add_loop_test(number, number_encode_follows_the_format, 0, ROWS(encodings));
    tcase_add_loop_test(number, number_decode_refuses_what_is_not_canonical, 0, ROWS(damaged));
    tcase_add_test(number, number_order_is_that_of_values);
    tcase_add_loop_test(number, number_arithmetic_is_exact_or_refused, 0, ROWS(sums));
    tcase_add_test(number, number_result_may_replace_an_operand);
    tcase_add_loop_test(number, number_to_int_takes_whole_numbers_in_range, 0, ROWS(integers));
    tcase_add_loop_test(number, number_obeys_its_laws, 0, ROWS(laws));
    Suite *suite = suite_create("engine/item/number");
    suite_add_tcase(suite, number);
    return suite_run(suite);
}
