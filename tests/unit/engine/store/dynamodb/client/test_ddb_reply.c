#include "engine/store/dynamodb/client/ddb_body_internal.h"
#include "engine/store/dynamodb/client/ddb_reply_internal.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct {
    const char *says;
    struct str body;
    enum ddb_scope scope;
    struct str reason;
} reasons[] = {
    {"no reasons", STR_INIT("{\"__type\":\"a#X\"}"), DDB_SCOPE_SIDE, STR_INIT("")},
    {"a key range",
     STR_INIT("{\"ThrottlingReasons\":[{\"reason\":\"TableWriteKeyRangeThroughputExceeded\","
              "\"resource\":\"arn\"}]}"),
     DDB_SCOPE_LANE, STR_INIT("TableWriteKeyRangeThroughputExceeded arn")},
    {"the widest of several",
     STR_INIT("{\"ThrottlingReasons\":["
              "{\"reason\":\"IndexWriteKeyRangeThroughputExceeded\",\"resource\":\"i\"},"
              "{\"reason\":\"TableWriteAccountLimitExceeded\",\"resource\":\"t\"},"
              "{\"reason\":\"IndexWriteProvisionedThroughputExceeded\",\"resource\":\"i\"}]}"),
     DDB_SCOPE_ALL, STR_INIT("TableWriteAccountLimitExceeded t")},
    {"a body that is no JSON", STR_INIT("<html>"), DDB_SCOPE_SIDE, STR_INIT("")},
    {"a body that is no object", STR_INIT("[]"), DDB_SCOPE_SIDE, STR_INIT("")},
    {"reasons of a wrong kind", STR_INIT("{\"ThrottlingReasons\":[1,{\"reason\":2}]}"),
     DDB_SCOPE_SIDE, STR_INIT("")},
};

START_TEST(a_failure_names_what_throttles)
{
    struct arena *arena = arena_new();
    struct ddb_failure failure;
    ddb_failure_read(reasons[_i].body, arena, &failure);
    ck_assert_msg(failure.scope == reasons[_i].scope, "%s", reasons[_i].says);
    ck_assert_msg(str_equal(failure.reason, reasons[_i].reason), "%s: '%.*s'", reasons[_i].says,
                  STR_ARG(failure.reason));
    arena_free(arena);
}
END_TEST

/* crc32 of "{}" is 2745614147. */
static const struct {
    const char *says;
    struct ddb_body body;
    bool ok;
} bodies[] = {
    {"no checksum", {STR_INIT("{}"), STR_INIT(""), STR_INIT("")}, true},
    {"the right one", {STR_INIT("{}"), STR_INIT("2745614147"), STR_INIT("")}, true},
    {"a wrong one", {STR_INIT("{}"), STR_INIT("2745614146"), STR_INIT("")}, false},
    {"one that is no number",
     {STR_INIT("{}"), STR_INIT("99999999999999999999"), STR_INIT("")},
     false},
    {"white space around", {STR_INIT(" {}\n"), STR_INIT(""), STR_INIT("identity")}, true},
    {"nothing", {STR_INIT(""), STR_INIT(""), STR_INIT("")}, false},
    {"a half", {STR_INIT("{\"a\":"), STR_INIT(""), STR_INIT("")}, false},
    {"one brace", {STR_INIT("{"), STR_INIT(""), STR_INIT("")}, false},
    {"not gzip", {STR_INIT("{}"), STR_INIT(""), STR_INIT("gzip")}, false},
    {"another encoding", {STR_INIT("{}"), STR_INIT(""), STR_INIT("br")}, false},
};

START_TEST(a_body_is_proved)
{
    struct arena *arena = arena_new();
    struct str out = STR("as it was");
    bool ok = ddb_body_read(&bodies[_i].body, 1000, arena, &out);
    ck_assert_msg(ok == bodies[_i].ok, "%s", bodies[_i].says);
    ck_assert(str_equal(out, ok ? bodies[_i].body.raw : STR("as it was")));
    arena_free(arena);
}
END_TEST

/* {"a":"11…1"}, 1008 bytes in 36. */
static const char zipped[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\x54\xb2\x52\x32"
                             "\x1c\x05\xa3\x60\x14\x0c\x7b"
                             "\xa0\x54\x0b\x00\xfd\x8b\xca\x5f\xf0\x03\x00\x00";

START_TEST(a_compressed_body_is_inflated_whole_or_not_at_all)
{
    struct arena *arena = arena_new();
    struct str out = STR("as it was");
    struct str raw = {zipped, sizeof zipped - 1};
    for (size_t len = 0; len < raw.len; len++) {
        struct ddb_body cut = {{raw.ptr, len}, STR(""), STR("gzip")};
        ck_assert(!ddb_body_read(&cut, 2000, arena, &out));
    }
    struct ddb_body whole = {raw, STR(""), STR("gzip")};
    struct ddb_body wrong = {raw, STR("1"), STR("gzip")};
    ck_assert(!ddb_body_read(&whole, 1000, arena, &out));
    ck_assert(!ddb_body_read(&wrong, 2000, arena, &out));
    ck_assert(str_equal(out, STR("as it was")));
    ck_assert(ddb_body_read(&whole, 2000, arena, &out));
    ck_assert_uint_eq(out.len, 1008);
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *reply = tcase_create("reply");
    tcase_add_loop_test(reply, a_failure_names_what_throttles, 0,
                        (int)(sizeof reasons / sizeof reasons[0]));
    tcase_add_loop_test(reply, a_body_is_proved, 0, (int)(sizeof bodies / sizeof bodies[0]));
    tcase_add_test(reply, a_compressed_body_is_inflated_whole_or_not_at_all);
    Suite *suite = suite_create("engine/store/dynamodb/client/ddb_reply");
    suite_add_tcase(suite, reply);
    return suite_run(suite);
}
