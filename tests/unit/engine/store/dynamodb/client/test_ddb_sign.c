#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_endpoint_internal.h"
#include "engine/store/dynamodb/client/ddb_sign_internal.h"
#include "tests/support/suite.h"

#include <check.h>

/* Of AWS's own test suite for Signature Version 4. */
static const struct ddb_sign_scope suite_scope = {STR_INIT("AKIDEXAMPLE"), STR_INIT("us-east-1"),
                                                  STR_INIT("service"), "20150830T123600Z"};
static const struct str suite_secret = STR_INIT("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");

START_TEST(a_signature_is_that_of_the_suite)
{
    const struct ddb_header headers[] = {
        {STR_INIT("host"), STR_INIT("example.amazonaws.com")},
        {STR_INIT("x-amz-date"), STR_INIT("20150830T123600Z")},
    };
    struct ddb_signed message = {STR("POST"), STR("/"), headers, 2, STR("")};
    struct ddb_signing_key key;
    struct ddb_signer *signer = ddb_signer_new();
    struct buffer out = {0};
    ddb_signing_key_make(suite_secret, &suite_scope, &key);
    ddb_sign(signer, &key, &suite_scope, &message, &out);
    struct str wanted =
        STR("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
            "SignedHeaders=host;x-amz-date, "
            "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
    ck_assert_msg(str_equal(buffer_str(&out), wanted), "%.*s", (int)out.len, out.bytes);
    ddb_signer_free(signer);
    buffer_free(&out);
}
END_TEST

START_TEST(a_date_is_of_utc)
{
    char date[DDB_DATE_SIZE];
    ddb_date_format(1440938160, date);
    ck_assert_str_eq(date, "20150830T123600Z");
}
END_TEST

static const struct {
    const char *says;
    struct str text;
    const char *url; /* NULL: refused */
    const char *host;
    const char *path;
} endpoints[] = {
    {"a port", STR_INIT("http://127.0.0.1:8000"), "http://127.0.0.1:8000/", "127.0.0.1:8000", "/"},
    {"the scheme's own port is not sent", STR_INIT("https://h:443/"), "https://h/", "h", "/"},
    {"nor the other's", STR_INIT("http://h:80"), "http://h/", "h", "/"},
    {"a port of the other scheme", STR_INIT("http://h:443"), "http://h:443/", "h:443", "/"},
    {"a path", STR_INIT("https://h/a%20b"), "https://h/a%20b", "h", "/a%20b"},
    {"an IPv6 address", STR_INIT("http://[::1]:80"), "http://[::1]/", "[::1]", "/"},
    {"no scheme", STR_INIT("127.0.0.1:8000"), NULL, NULL, NULL},
    {"another scheme", STR_INIT("ftp://h"), NULL, NULL, NULL},
    {"no host", STR_INIT("http:///x"), NULL, NULL, NULL},
    {"a query", STR_INIT("http://h/?a=b"), NULL, NULL, NULL},
    {"a user", STR_INIT("http://u@h/"), NULL, NULL, NULL},
    {"a line end", STR_INIT("http://h\r\nX: y"), NULL, NULL, NULL},
};

START_TEST(an_endpoint_is_cut_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct ddb_endpoint out = {0};
    struct error err = {0};
    bool ok = ddb_endpoint_parse(endpoints[_i].text, arena, &out, &err);
    ck_assert_msg(ok == (endpoints[_i].url != NULL), "%s", endpoints[_i].says);
    ck_assert_int_eq(err.code, ok ? ERROR_NONE : ERROR_USAGE);
    if (ok) {
        ck_assert_str_eq(out.url.ptr, endpoints[_i].url);
        ck_assert_str_eq(out.host.ptr, endpoints[_i].host);
        ck_assert_str_eq(out.path.ptr, endpoints[_i].path);
    }
    arena_free(arena);
}
END_TEST

START_TEST(a_region_has_an_endpoint_of_its_own)
{
    struct arena *arena = arena_new();
    ck_assert_str_eq(ddb_endpoint_of("dynamodb", STR("eu-west-1"), arena).ptr,
                     "https://dynamodb.eu-west-1.amazonaws.com");
    ck_assert_str_eq(ddb_endpoint_of("sts", STR("cn-north-1"), arena).ptr,
                     "https://sts.cn-north-1.amazonaws.com.cn");
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *sign = tcase_create("sign");
    tcase_add_test(sign, a_signature_is_that_of_the_suite);
    tcase_add_test(sign, a_date_is_of_utc);
    tcase_add_loop_test(sign, an_endpoint_is_cut_as_the_table_says, 0,
                        (int)(sizeof endpoints / sizeof endpoints[0]));
    tcase_add_test(sign, a_region_has_an_endpoint_of_its_own);
    Suite *suite = suite_create("engine/store/dynamodb/client/ddb_sign");
    suite_add_tcase(suite, sign);
    return suite_run(suite);
}
