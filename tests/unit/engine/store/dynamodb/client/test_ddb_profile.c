#include "engine/store/dynamodb/client/ddb_credentials_internal.h"
#include "engine/store/dynamodb/client/ddb_profile_internal.h"
#include "tests/support/suite.h"

#include <check.h>

static const struct {
    const char *says;
    struct str config, credentials, profile;
    const char *name;
    struct str value;
} settings[] = {
    {"a profile of the config file", STR_INIT("[profile a]\nregion = eu-west-1\n"), STR_INIT(""),
     STR_INIT("a"), "region", STR_INIT("eu-west-1")},
    {"the default has no prefix", STR_INIT("[default]\nregion=x\n"), STR_INIT(""),
     STR_INIT("default"), "region", STR_INIT("x")},
    {"a profile of the credentials file", STR_INIT(""), STR_INIT("[a]\nregion=x"), STR_INIT("a"),
     "region", STR_INIT("x")},
    {"the credentials file comes first", STR_INIT("[profile a]\nregion=x\n"),
     STR_INIT("[a]\nregion=y\n"), STR_INIT("a"), "region", STR_INIT("y")},
    {"what one file lacks the other has", STR_INIT("[profile a]\nregion=x\n"),
     STR_INIT("[a]\nother=y\n"), STR_INIT("a"), "region", STR_INIT("x")},
    {"another profile's", STR_INIT("[profile b]\nregion=x\n"), STR_INIT(""), STR_INIT("a"),
     "region", STR_INIT("")},
    {"a longer name", STR_INIT("[profile ab]\nregion=x\n"), STR_INIT(""), STR_INIT("a"), "region",
     STR_INIT("")},
    {"a session is no profile", STR_INIT("[sso-session a]\nregion=x\n"), STR_INIT(""),
     STR_INIT("a"), "region", STR_INIT("")},
    {"lines end as on Windows", STR_INIT("[profile a]\r\nregion = x\r\n"), STR_INIT(""),
     STR_INIT("a"), "region", STR_INIT("x")},
    {"comments", STR_INIT("# [profile a]\n[profile a] ; x\n#region=y\nregion=x # y\n"),
     STR_INIT(""), STR_INIT("a"), "region", STR_INIT("x")},
    {"a value may hold signs", STR_INIT("[profile a]\nregion=a=b#c;d\n"), STR_INIT(""),
     STR_INIT("a"), "region", STR_INIT("a=b#c;d")},
    {"lines that are set in belong above", STR_INIT("[profile a]\ns3 =\n  region=x\n"),
     STR_INIT(""), STR_INIT("a"), "region", STR_INIT("")},
    {"a section that never closes", STR_INIT("[profile a\nregion=x\n"), STR_INIT(""), STR_INIT("a"),
     "region", STR_INIT("")},
    {"nothing at all", STR_INIT(""), STR_INIT(""), STR_INIT("a"), "region", STR_INIT("")},
};

START_TEST(a_setting_is_found_as_the_table_says)
{
    struct ddb_shared_files files = {settings[_i].config, settings[_i].credentials};
    struct str value = ddb_profile_get(&files, settings[_i].profile, settings[_i].name);
    ck_assert_msg(str_equal(value, settings[_i].value), "%s: '%.*s'", settings[_i].says,
                  STR_ARG(value));
}
END_TEST

START_TEST(a_profile_stands_where_it_has_a_section)
{
    struct ddb_shared_files files = {STR("[profile a]\n"), STR("[b]\n")};
    ck_assert(ddb_profile_stands(&files, STR("a")));
    ck_assert(ddb_profile_stands(&files, STR("b")));
    ck_assert(!ddb_profile_stands(&files, STR("c")));
}
END_TEST

static const struct {
    const char *says;
    struct str text;
    bool ok;
    int64_t expires_s;
} answers[] = {
    {"a permanent key", STR_INIT("{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"S\"}"), true, 0},
    {"one that expires",
     STR_INIT("{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"S\",\"SessionToken\":\"T\","
              "\"Expiration\":\"2015-08-30T12:36:00Z\"}"),
     true, 1440938160},
    {"with fractions of a second",
     STR_INIT("{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"S\",\"Token\":\"T\","
              "\"Expiration\":\"2015-08-30T12:36:00.123Z\"}"),
     true, 1440938160},
    {"no secret", STR_INIT("{\"AccessKeyId\":\"A\"}"), false, 0},
    {"a line end in the token",
     STR_INIT("{\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"S\",\"Token\":\"T\\r\\nX: y\"}"), false,
     0},
    {"no JSON", STR_INIT("Unauthorized"), false, 0},
    {"an array", STR_INIT("[]"), false, 0},
};

START_TEST(an_answer_with_a_key_is_read_as_the_table_says)
{
    struct arena *arena = arena_new();
    struct ddb_credentials out = {0};
    bool ok = ddb_credentials_read_json(answers[_i].text, arena, &out);
    ck_assert_msg(ok == answers[_i].ok, "%s", answers[_i].says);
    ck_assert_msg(out.expires_s == answers[_i].expires_s, "%s", answers[_i].says);
    ck_assert(str_equal(out.key_id, ok ? STR("A") : STR("")));
    arena_free(arena);
}
END_TEST

int main(void)
{
    TCase *profile = tcase_create("profile");
    tcase_add_loop_test(profile, a_setting_is_found_as_the_table_says, 0,
                        (int)(sizeof settings / sizeof settings[0]));
    tcase_add_test(profile, a_profile_stands_where_it_has_a_section);
    tcase_add_loop_test(profile, an_answer_with_a_key_is_read_as_the_table_says, 0,
                        (int)(sizeof answers / sizeof answers[0]));
    Suite *suite = suite_create("engine/store/dynamodb/client/ddb_profile");
    suite_add_tcase(suite, profile);
    return suite_run(suite);
}
