#include "engine/base/buffer.h"
#include "engine/base/str.h"
#include "engine/base/varint.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

START_TEST(buffer_holds_what_was_added_in_order)
{
    struct buffer buffer = {0};
    buffer_add(&buffer, STR("a\0b"));
    buffer_add_char(&buffer, '-');
    buffer_add(&buffer, (struct str){NULL, 0});
    buffer_format(&buffer, "%s=%d", "n", 7);
    buffer_format(&buffer, "%s", "");
    ck_assert(str_equal(buffer_str(&buffer), STR("a\0b-n=7")));
    buffer_free(&buffer);
    ck_assert_uint_eq(buffer.len + buffer.capacity, 0);
    ck_assert_ptr_null(buffer.bytes);
}
END_TEST

START_TEST(buffer_grows_past_any_reserve)
{
    struct buffer buffer = {0};
    for (size_t i = 0; i < 10000; i++) {
        buffer_add_char(&buffer, (char)('a' + i % 26));
    }
    memset(buffer_reserve(&buffer, 100000), 'z', 100000);
    ck_assert_uint_eq(buffer.len, 10000);
    buffer.len += 100000;
    for (size_t i = 0; i < 10000; i++) {
        ck_assert_int_eq(buffer.bytes[i], (char)('a' + i % 26));
    }
    ck_assert_int_eq(buffer.bytes[buffer.len - 1], 'z');
    buffer_free(&buffer);
}
END_TEST

START_TEST(buffer_add_number_writes_digits)
{
    struct buffer buffer = {0};
    for (uint64_t n = 0; n <= 100; n += 10) {
        buffer_add_number(&buffer, n);
    }
    buffer_add_number(&buffer, UINT64_MAX);
    ck_assert(str_equal(buffer_str(&buffer), STR("010203040506070809010018446744073709551615")));
    buffer_free(&buffer);
}
END_TEST

START_TEST(buffer_add_varint_is_read_back)
{
    struct buffer buffer = {0};
    buffer_add_varint(&buffer, 300);
    buffer_add_varint(&buffer, UINT64_MAX);
    uint64_t n = 0;
    const unsigned char *bytes = (const unsigned char *)buffer.bytes;
    size_t read = varint_get(bytes, buffer.len, &n);
    ck_assert_uint_eq(n, 300);
    ck_assert_uint_eq(read + varint_get(bytes + read, buffer.len - read, &n), buffer.len);
    ck_assert_uint_eq(n, UINT64_MAX);
    buffer_free(&buffer);
}
END_TEST

START_TEST(buffer_add_quoted_doubles_quotes)
{
    struct buffer buffer = {0};
    buffer_add_quoted(&buffer, STR("it's \"so\""), '\'');
    buffer_add_quoted(&buffer, STR(""), '"');
    ck_assert(str_equal(buffer_str(&buffer), STR("'it''s \"so\"'\"\"")));
    buffer_free(&buffer);
}
END_TEST

int main(void)
{
    TCase *buffer = tcase_create("buffer");
    tcase_add_test(buffer, buffer_holds_what_was_added_in_order);
    tcase_add_test(buffer, buffer_grows_past_any_reserve);
    tcase_add_test(buffer, buffer_add_number_writes_digits);
    tcase_add_test(buffer, buffer_add_varint_is_read_back);
    tcase_add_test(buffer, buffer_add_quoted_doubles_quotes);
    Suite *suite = suite_create("engine/base/buffer");
    suite_add_tcase(suite, buffer);
    return suite_run(suite);
}
