#include "engine/base/hash.h"
#include "engine/base/str.h"
#include "tests/support/suite.h"

#include <check.h>

/* FIPS 180-4 examples; XXH3 of nothing is in xxHash's own test vectors. */
START_TEST(hash_sha256_of_the_standard_texts)
{
    unsigned char digest[32];
    char hex[65];
    hash_sha256(STR("abc"), digest);
    hash_hex(digest, sizeof digest, hex);
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash_sha256(STR(""), digest);
    hash_hex(digest, sizeof digest, hex);
    ck_assert_str_eq(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
END_TEST

START_TEST(hash_64_and_128_are_xxh3)
{
    ck_assert_uint_eq(hash_64(STR("")), 0x2d06800538d394c2ULL);
    unsigned char digest[16];
    char hex[33];
    hash_128(STR(""), digest);
    hash_hex(digest, sizeof digest, hex);
    ck_assert_str_eq(hex, "99aa06d3014798d86001c324468d497f");
}
END_TEST

int main(void)
{
    TCase *hash = tcase_create("hash");
    tcase_add_test(hash, hash_sha256_of_the_standard_texts);
    tcase_add_test(hash, hash_64_and_128_are_xxh3);
    Suite *suite = suite_create("engine/base/hash");
    suite_add_tcase(suite, hash);
    return suite_run(suite);
}
