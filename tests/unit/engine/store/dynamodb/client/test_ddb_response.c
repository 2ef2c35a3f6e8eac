#include "engine/store/dynamodb/client/ddb_response_internal.h"
#include "tests/rules/client_response.h"
#include "tests/support/property.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\n"

/* `bytes` come, and then the connection ends. */
static const struct {
    const char *says;
    struct str bytes;
    int status;
    struct str body;
    bool keeps_alive;
    size_t left; /* bytes behind the reply */
} wholes[] = {
    {"a length", STR_INIT(OK "Content-Length: 2\r\n\r\n{}"), 200, STR_INIT("{}"), true, 0},
    {"no reason", STR_INIT("HTTP/1.1 400\r\nContent-Length: 0\r\n\r\n"), 400, STR_INIT(""), true,
     0},
    {"an empty reason", STR_INIT("HTTP/1.1 400 \r\nContent-Length: 0\r\n\r\n"), 400, STR_INIT(""),
     true, 0},
    {"blanks around a value, and none", STR_INIT(OK "X:\r\ncontent-length: \t2 \r\n\r\n{}"), 200,
     STR_INIT("{}"), true, 0},
    {"the same length twice", STR_INIT(OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), 200,
     STR_INIT("{}"), true, 0},
    {"more than was asked for", STR_INIT(OK "Content-Length: 2\r\n\r\n{}HTTP"), 200, STR_INIT("{}"),
     true, 4},
    {"until the end", STR_INIT(OK "\r\n{\"a\":1}"), 200, STR_INIT("{\"a\":1}"), false, 0},
    {"nothing until the end", STR_INIT(OK "\r\n"), 200, STR_INIT(""), false, 0},
    {"the connection closes", STR_INIT(OK "Connection: x, Close\r\nContent-Length: 2\r\n\r\n{}"),
     200, STR_INIT("{}"), false, 0},
    {"HTTP/1.0", STR_INIT("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}"), 200, STR_INIT("{}"),
     false, 0},
    {"no content", STR_INIT("HTTP/1.1 204 X\r\nContent-Length: 2\r\n\r\n{}"), 204, STR_INIT(""),
     true, 2},
    {"not modified", STR_INIT("HTTP/1.1 304 X\r\n\r\n"), 304, STR_INIT(""), true, 0},
    {"interim replies",
     STR_INIT("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nContent-Length: 9\r\n"
              "x-amz-crc32: 1\r\n\r\n" OK "Content-Length: 2\r\n\r\n{}"),
     200, STR_INIT("{}"), true, 0},
    {"chunks",
     STR_INIT(OK
              "Transfer-Encoding: Chunked\r\n\r\n1\r\n{\r\n09;x=\"y\"\r\n\"a\":\"\r\n1\"\r\n1\r\n}"
              "\r\n00\r\n\r\n"),
     200, STR_INIT("{\"a\":\"\r\n1\"}"), true, 0},
    {"chunks with a trailer, and more",
     STR_INIT(
         OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\nContent-Length: 7\r\n\r\n{"),
     200, STR_INIT("{}"), true, 1},
    {"bytes that are not ASCII", STR_INIT(OK "X: \xc3\xa9\xff\r\nContent-Length: 0\r\n\r\n"), 200,
     STR_INIT(""), true, 0},
};

START_TEST(a_reply_is_read)
{
    struct ddb_response response = {.body_max = 100};
    struct str bytes = wholes[_i].bytes;
    size_t taken = ddb_response_take(&response, bytes);
    ddb_response_end(&response);
    ck_assert_msg(response.state == DDB_RESPONSE_WHOLE, "%s", wholes[_i].says);
    ck_assert_int_eq(response.status, wholes[_i].status);
    ck_assert_msg(str_equal(buffer_str(&response.body), wholes[_i].body), "%s", wholes[_i].says);
    ck_assert_msg(response.keeps_alive == wholes[_i].keeps_alive, "%s", wholes[_i].says);
    ck_assert_uint_eq(bytes.len - taken, wholes[_i].left);
    ck_assert_str_eq(response.crc32, "");
    ddb_response_free(&response);
}
END_TEST

/* Cut anywhere, what says how long it is is no reply. */
START_TEST(a_reply_that_ends_early_is_broken)
{
    struct ddb_response response = {.body_max = 100};
    size_t whole = wholes[_i].bytes.len - wholes[_i].left;
    bool goes_to_the_end = strstr(wholes[_i].says, "until the end") != NULL;
    for (size_t len = 0; len < whole; len++) {
        ddb_response_reset(&response);
        size_t taken = ddb_response_take(&response, (struct str){wholes[_i].bytes.ptr, len});
        ck_assert_uint_eq(taken, len);
        ck_assert_msg(!ddb_response_is_over(&response), "%s: %zu", wholes[_i].says, len);
        bool has_no_end = response.state == DDB_RESPONSE_TO_END;
        ck_assert(!has_no_end || goes_to_the_end);
        ddb_response_end(&response);
        ck_assert((response.state == DDB_RESPONSE_WHOLE) == has_no_end);
    }
    ddb_response_free(&response);
}
END_TEST

static const struct {
    const char *says;
    struct str bytes;
} broken[] = {
    {"no HTTP", STR_INIT("SSH-2.0-OpenSSH\r\n")},
    {"another version", STR_INIT("HTTP/2 200 OK\r\n")},
    {"a blank before", STR_INIT(" " OK)},
    {"an empty line before", STR_INIT("\r\n" OK)},
    {"no status", STR_INIT("HTTP/1.1 \r\n")},
    {"a short status", STR_INIT("HTTP/1.1 20\r\n")},
    {"a long status", STR_INIT("HTTP/1.1 2000\r\n")},
    {"a status that is no number", STR_INIT("HTTP/1.1 2x0 OK\r\n")},
    {"a status below", STR_INIT("HTTP/1.1 099 OK\r\n")},
    {"another protocol", STR_INIT("HTTP/1.1 101 Switching\r\n")},
    {"a control character in the reason", STR_INIT("HTTP/1.1 200 O\1K\r\n")},
    {"a line without a carriage return", STR_INIT("HTTP/1.1 200 OK\n")},
    {"a carriage return within a line", STR_INIT(OK "X: a\rb\r\n")},
    {"a NUL in a value", STR_INIT(OK "X: a\0b\r\n")},
    {"a line that goes on", STR_INIT(OK "X: a\r\n b: c\r\n")},
    {"no colon", STR_INIT(OK "X\r\n")},
    {"no name", STR_INIT(OK ": a\r\n")},
    {"a blank before the colon", STR_INIT(OK "Content-Length : 2\r\n")},
    {"two lengths", STR_INIT(OK "Content-Length: 2\r\nContent-Length: 3\r\n")},
    {"a list of lengths", STR_INIT(OK "Content-Length: 2, 2\r\n")},
    {"no length", STR_INIT(OK "Content-Length:\r\n")},
    {"a negative length", STR_INIT(OK "Content-Length: -1\r\n")},
    {"a length with a sign", STR_INIT(OK "Content-Length: +1\r\n")},
    {"a length in hexadecimal", STR_INIT(OK "Content-Length: 0x2\r\n")},
    {"too long", STR_INIT(OK "Content-Length: 101\r\n")},
    {"2^64 and one", STR_INIT(OK "Content-Length: 18446744073709551617\r\n")},
    {"too long, until the end",
     STR_INIT(OK "\r\n........................................................................."
                 "............................")},
    {"a length and chunks", STR_INIT(OK "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n")},
    {"another coding", STR_INIT(OK "Transfer-Encoding: gzip, chunked\r\n")},
    {"two codings", STR_INIT(OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
    {"chunks in HTTP/1.0", STR_INIT("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n")},
    {"two checksums", STR_INIT(OK "x-amz-crc32: 1\r\nX-Amz-Crc32: 2\r\n")},
    {"two encodings", STR_INIT(OK "Content-Encoding: gzip\r\nContent-Encoding: identity\r\n")},
    {"a chunk without a size", STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n\r\n")},
    {"a chunk's size that is none", STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n2g\r\n")},
    {"a blank behind a chunk's size", STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n2 \r\n")},
    {"a control character behind a chunk's size",
     STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n2;\r\r\n")},
    {"a chunk that is too long", STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n65\r\n")},
    {"a chunk of 2^64 bytes and two",
     STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n")},
    {"chunks that are too long together",
     STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n63\r\n")},
    {"a chunk that does not end with its size",
     STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n0\r\n\r\n")},
};

START_TEST(what_is_doubtful_is_broken)
{
    struct ddb_response response = {.body_max = 100};
    (void)ddb_response_take(&response, broken[_i].bytes);
    ck_assert_msg(response.state == DDB_RESPONSE_BROKEN, "%s", broken[_i].says);
    ddb_response_free(&response);
}
END_TEST

START_TEST(values_are_kept)
{
    struct ddb_response response = {.body_max = 100};
    struct str bytes =
        STR(OK "X-AMZ-CRC32: 2745614147\r\nx-amz-crc32:2745614147\r\n"
               "Content-Encoding: gzip\r\nDate: Mon, 01 Jan 2026 00:00:00 GMT\r\n\r\n");
    (void)ddb_response_take(&response, bytes);
    ck_assert_str_eq(response.crc32, "2745614147");
    ck_assert_str_eq(response.encoding, "gzip");
    ck_assert_str_eq(response.date, "Mon, 01 Jan 2026 00:00:00 GMT");
    ddb_response_reset(&response);
    ck_assert_str_eq(response.crc32, "");
    bytes = STR(OK "x-amz-crc32: 27456141470000000000000000000000000000\r\n\r\n");
    (void)ddb_response_take(&response, bytes);
    ck_assert_str_eq(response.crc32, "?");
    ddb_response_free(&response);
}
END_TEST

/* Parts that may be repeated: what goes on for ever is broken at some time, and held back before.
 */
static const struct {
    const char *says;
    struct str first;
    struct str again;
} endless[] = {
    {"lines", STR_INIT(OK), STR_INIT("X: y\r\n")},
    {"one line", STR_INIT(OK "X: "), STR_INIT("y")},
    {"interim replies", STR_INIT(""), STR_INIT("HTTP/1.1 100 X\r\n\r\n")},
    {"a chunk's line", STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n1;"), STR_INIT("x")},
    {"a trailer", STR_INIT(OK "Transfer-Encoding: chunked\r\n\r\n0\r\n"), STR_INIT("X: y\r\n")},
};

START_TEST(nothing_goes_on_for_ever)
{
    enum { TIMES = 100000, HELD_MAX = 64 * 1024 };
    struct ddb_response response = {.body_max = 100};
    (void)ddb_response_take(&response, endless[_i].first);
    for (int i = 0; i < TIMES && !ddb_response_is_over(&response); i++) {
        (void)ddb_response_take(&response, endless[_i].again);
    }
    ck_assert_msg(response.state == DDB_RESPONSE_BROKEN, "%s", endless[_i].says);
    ck_assert_uint_le(response.line.capacity, HELD_MAX);
    ddb_response_free(&response);
}
END_TEST

START_TEST(replies_are_read_alike_however_they_come)
{
    property_check("replies are read alike", rule_replies_are_read_alike_however_they_come);
}
END_TEST

int main(void)
{
    TCase *response = tcase_create("response");
    int whole_count = (int)(sizeof wholes / sizeof wholes[0]);
    tcase_add_loop_test(response, a_reply_is_read, 0, whole_count);
    tcase_add_loop_test(response, a_reply_that_ends_early_is_broken, 0, whole_count);
    tcase_add_loop_test(response, what_is_doubtful_is_broken, 0,
                        (int)(sizeof broken / sizeof broken[0]));
    tcase_add_test(response, values_are_kept);
    tcase_add_loop_test(response, nothing_goes_on_for_ever, 0,
                        (int)(sizeof endless / sizeof endless[0]));
    tcase_add_test(response, replies_are_read_alike_however_they_come);
    Suite *suite = suite_create("engine/store/dynamodb/client/ddb_response");
    suite_add_tcase(suite, response);
    return suite_run(suite);
}
