#include "engine/base/error.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

START_TEST(error_wrap_puts_the_context_first)
{
    struct error err = {0};
    ck_assert(!error_set(&err, ERROR_STORE, "read %d bytes", 7));
    ck_assert(!error_wrap(&err, "segment %u", 3U));
    ck_assert(!error_wrap(&err, "plan %s", "0007"));
    ck_assert_str_eq(err.text, "plan 0007: segment 3: read 7 bytes");
    ck_assert_int_eq(err.code, ERROR_STORE);
}
END_TEST

START_TEST(error_hint_is_the_first_that_was_given)
{
    struct error err = {0};
    (void)error_set(&err, ERROR_USAGE, "no folder %s", "plans");
    ck_assert(!error_hint(&err, "make %s", "one"));
    ck_assert(!error_hint(&err, "give up"));
    (void)error_wrap(&err, "check");
    ck_assert_str_eq(err.text, "check: no folder plans\nhint: make one");
    ck_assert_int_eq(err.code, ERROR_USAGE);
}
END_TEST

START_TEST(error_text_is_cut_to_fit)
{
    char longer[3000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    struct error err = {0};
    (void)error_set(&err, ERROR_INPUT, "%s", longer);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    (void)error_wrap(&err, "outer");
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    ck_assert_int_eq(strncmp(err.text, "outer: xxx", 10), 0);
    (void)error_wrap(&err, "%s", longer);
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
    (void)error_hint(&err, "there is no room for one");
    ck_assert_uint_eq(strlen(err.text), sizeof err.text - 1);
}
END_TEST

static const struct {
    enum error_code code;
    int exit_status;
} codes[] = {
    {ERROR_NONE, 0},  {ERROR_USAGE, 2}, {ERROR_PLAN, 2},    {ERROR_INPUT, 1},   {ERROR_ITEM, 3},
    {ERROR_LIMIT, 3}, {ERROR_BUSY, 1},  {ERROR_PENDING, 4}, {ERROR_STOPPED, 5},
};

START_TEST(error_codes_have_the_documented_exit_status)
{
    ck_assert_int_eq(error_exit_status(codes[_i].code), codes[_i].exit_status);
}
END_TEST

START_TEST(error_code_of_write_tells_no_room_from_the_rest)
{
    ck_assert_int_eq(error_code_of_write(ENOSPC), ERROR_FULL);
    ck_assert_int_eq(error_code_of_write(EDQUOT), ERROR_FULL);
    ck_assert_int_eq(error_code_of_write(EFBIG), ERROR_FULL);
    ck_assert_int_eq(error_code_of_write(EIO), ERROR_STORE);
    ck_assert_int_eq(error_code_of_write(0), ERROR_STORE);
}
END_TEST

int main(void)
{
    TCase *error = tcase_create("error");
    tcase_add_test(error, error_wrap_puts_the_context_first);
    tcase_add_test(error, error_hint_is_the_first_that_was_given);
    tcase_add_test(error, error_text_is_cut_to_fit);
    tcase_add_loop_test(error, error_codes_have_the_documented_exit_status, 0, ROWS(codes));
    tcase_add_test(error, error_code_of_write_tells_no_room_from_the_rest);
    Suite *suite = suite_create("engine/base/error");
    suite_add_tcase(suite, error);
    return suite_run(suite);
}
