#include "engine/base/varint.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stddef.h>
#include <stdint.h>

static const struct {
    uint64_t n;
    size_t size;
} numbers[] = {
    {0, 1},           {1, 1},        {127, 1},
    {128, 2},         {16383, 2},    {16384, 3},
    {1U << 21, 4},    {1U << 28, 5}, {UINT64_MAX >> 1, 9},
    {UINT64_MAX, 10},
};

START_TEST(varint_comes_back_as_it_was_put)
{
    unsigned char bytes[VARINT_MAX_BYTES];
    uint64_t n = 0;
    ck_assert_uint_eq(varint_size(numbers[_i].n), numbers[_i].size);
    ck_assert_uint_eq(varint_put(bytes, numbers[_i].n), numbers[_i].size);
    ck_assert_uint_eq(varint_get(bytes, sizeof bytes, &n), numbers[_i].size);
    ck_assert_uint_eq(n, numbers[_i].n);
    ck_assert_uint_eq(varint_get(bytes, numbers[_i].size - 1, &n), 0);
}
END_TEST

static const struct {
    const char *says;
    unsigned char bytes[11];
    size_t len;
} refused[] = {
    {"nothing", {0}, 0},
    {"cut short", {0x80}, 1},
    {"0 in two bytes", {0x80, 0}, 2},
    {"127 in two bytes", {0xff, 0}, 2},
    {"over 64 bits", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2}, 10},
    {"over 10 bytes", {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 1}, 11},
};

START_TEST(varint_refuses_what_is_not_the_shortest_form)
{
    uint64_t n = 42;
    ck_assert_msg(varint_get(refused[_i].bytes, refused[_i].len, &n) == 0, "%s", refused[_i].says);
    ck_assert_uint_eq(n, 42);
}
END_TEST

int main(void)
{
    TCase *varint = tcase_create("varint");
    tcase_add_loop_test(varint, varint_comes_back_as_it_was_put, 0, ROWS(numbers));
    tcase_add_loop_test(varint, varint_refuses_what_is_not_the_shortest_form, 0, ROWS(refused));
    Suite *suite = suite_create("engine/base/varint");
    suite_add_tcase(suite, varint);
    return suite_run(suite);
}
