#include "tests/rules/expr_answer.h"
#include "tests/rules/expr_text.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct answer_row from_epoch[] = {
    {"date(0)", "{\"S\":\"1970-01-01T00:00:00Z\"}"},
    {"date(1776481445)", "{\"S\":\"2026-04-18T03:04:05Z\"}"},
    {"date(1776481445.250)", "{\"S\":\"2026-04-18T03:04:05.25Z\"}"},
    {"date(-1)", "{\"S\":\"1969-12-31T23:59:59Z\"}"},
    {"date(-0.5)", "{\"S\":\"1969-12-31T23:59:59.5Z\"}"},
    {"date(951782399)", "{\"S\":\"2000-02-28T23:59:59Z\"}"},
    {"date(951782400)", "{\"S\":\"2000-02-29T00:00:00Z\"}"},
    {"date(-62167219200)", "{\"S\":\"0000-01-01T00:00:00Z\"}"},
    {"date(253402300799)", "{\"S\":\"9999-12-31T23:59:59Z\"}"},
    {"date(I * 1e11)", "item: date(): N 700000000000: outside the years 0000 to 9999"},
    {"date(-1e120 * I)",
     "item: date(): N -70000000000000000000000000000000000000000000000...: outside the years 0000 "
     "to 9999"},
    {"date(I * 1e-130)",
     "{\"S\":\"1970-01-01T00:00:00."
     "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "0000000000000000000000000000000000007Z\"}"},
    {"date(gone)", "missing"},
    {"date(S)", "item: date(): expected N, found S 'text'"},
    {"date(1776481445123, 'epoch_ms', 'iso')", "{\"S\":\"2026-04-18T03:04:05.123Z\"}"},
    {"date(1776481445, 'epoch', 'YYYY-MM-DD')", "{\"S\":\"2026-04-18\"}"},
    {"date(1776481445.0629, 'epoch', 'DD.MM.YYYY HH:mm:ss,SSS')",
     "{\"S\":\"18.04.2026 03:04:05,062\"}"},
    {"date(1776481445, 'epoch', 'YYYYMMDDTHHmmssZ')", "{\"S\":\"20260418T030405Z\"}"},
    {"date(1776481445.5, 'epoch', 'epoch_ms')", "{\"N\":\"1776481445500\"}"},
    {"date(1776481445123, 'epoch_ms', 'epoch')", "{\"N\":\"1776481445.123\"}"},
    {"date(S, 'epoch', 'iso')", "item: date(): S 'text': epoch is read from N"},
};

static const struct answer_row from_text[] = {
    {"epoch('2026-04-18T03:04:05Z')", "{\"N\":\"1776481445\"}"},
    {"epoch('2026-04-18T03:04:05.123456Z')", "{\"N\":\"1776481445.123456\"}"},
    {"epoch('2026-04-18T05:34:05+02:30')", "{\"N\":\"1776481445\"}"},
    {"epoch('2026-04-17T22:04:05-0500')", "{\"N\":\"1776481445\"}"},
    {"epoch('2026-04-18 05:04:05+02')", "{\"N\":\"1776481445\"}"},
    {"epoch('2026-04-18T03:04:05')", "{\"N\":\"1776481445\"}"}, /* no zone: UTC */
    {"epoch('2026-04-18T03:04')", "{\"N\":\"1776481440\"}"},
    {"epoch('2026-04-18')", "{\"N\":\"1776470400\"}"},
    {"epoch('1969-12-31T23:59:59.5Z')", "{\"N\":\"-0.5\"}"},
    {"epoch('0000-02-29')", "{\"N\":\"-62162121600\"}"}, /* 0000 is a leap year */
    {"epoch('1900-02-28')", "{\"N\":\"-2203977600\"}"},
    {"date('2026-04-18', 'iso', 'DD/MM/YYYY')", "{\"S\":\"18/04/2026\"}"},
    {"date('18/04/2026', 'DD/MM/YYYY', 'iso')", "{\"S\":\"2026-04-18T00:00:00Z\"}"},
    {"date('20260418030405062', 'YYYYMMDDHHmmssSSS', 'iso')",
     "{\"S\":\"2026-04-18T03:04:05.062Z\"}"},
    {"date('2026', 'YYYY', 'iso')", "{\"S\":\"2026-01-01T00:00:00Z\"}"},
    {"date('2026-04-18T03:04:05+02:00', 'iso', 'iso')", "{\"S\":\"2026-04-18T01:04:05Z\"}"},
};

static const struct {
    const char *text;
    const char *why;
} no_dates[] = {
    {"", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T03", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-4-18", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T03:04:05.", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T03:04:05Zx", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T03:04:05+2", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T03:04:05+24:00", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-04-18T03:04:05 +02:00", "not of the form YYYY-MM-DDTHH:mm:ssZ"},
    {"2026-02-29", "no such day or time"},
    {"1900-02-29", "no such day or time"},
    {"2026-04-31", "no such day or time"},
    {"2026-13-01", "no such day or time"},
    {"2026-00-01", "no such day or time"},
    {"2026-01-00", "no such day or time"},
    {"2026-04-18T24:00:00Z", "no such day or time"},
    {"2026-04-18T23:60:00Z", "no such day or time"},
    {"2016-12-31T23:59:60Z", "no such day or time"},
    {"9999-12-31T23:59:59-01:00", "outside the years 0000 to 9999"},
    {"0000-01-01T00:00:00+00:01", "outside the years 0000 to 9999"},
};

START_TEST(dates_are_made_of_epochs)
{
    answer_check(&from_epoch[_i]);
}
END_TEST

START_TEST(dates_are_read_with_their_zone)
{
    answer_check(&from_text[_i]);
}
END_TEST

START_TEST(what_is_no_date_is_refused)
{
    struct arena *arena = arena_new();
    struct str text = arena_format(arena, "epoch('%s')", no_dates[_i].text);
    struct str answer =
        arena_format(arena, "plan: epoch(): S '%s': %s", no_dates[_i].text, no_dates[_i].why);
    struct answer_row row = {text.ptr, answer.ptr};
    answer_check(&row);
    arena_free(arena);
}
END_TEST

START_TEST(dates_come_back)
{
    property_check("dates_come_back", rule_dates_come_back);
}
END_TEST

START_TEST(dates_sort_as_their_epochs)
{
    property_check("dates_sort_as_their_epochs", rule_dates_sort_as_their_epochs);
}
END_TEST

int main(void)
{
    TCase *functions = tcase_create("functions");
    tcase_add_loop_test(functions, dates_are_made_of_epochs, 0, ROWS(from_epoch));
    tcase_add_loop_test(functions, dates_are_read_with_their_zone, 0, ROWS(from_text));
    tcase_add_loop_test(functions, what_is_no_date_is_refused, 0, ROWS(no_dates));
    tcase_add_test(functions, dates_come_back);
    tcase_add_test(functions, dates_sort_as_their_epochs);
    Suite *suite = suite_create("engine/expr/expr_functions_date");
    suite_add_tcase(suite, functions);
    return suite_run(suite);
}
