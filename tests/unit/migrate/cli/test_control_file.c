#include "migrate/cli/control_file.h"
#include "tests/support/suite.h"

#include <string.h>

static const struct {
    const char *says;
    const char *text;
    const char *error; /* what it names; NULL: the text is fine */
    double read, write;
    bool write_is_percent, pauses, aborts;
} files[] = {
    {"an empty file", "", NULL, 0, 0, false, false, false},
    {"comments and blank lines", "# max-rcu 5\n\n   \n\t# pause\n", NULL, 0, 0, false, false,
     false},
    {"limits", "max-rcu 500\nmax-wcu 25%\n", NULL, 500, 25, true, false, false},
    {"white space and a comment behind", "  max-wcu \t 7  # for now\r\n", NULL, 0, 7, false, false,
     false},
    {"no last line feed", "pause", NULL, 0, 0, false, true, false},
    {"all of it", "abort\npause\nmax-rcu 1\nmax-wcu 2\n", NULL, 1, 2, false, true, true},
    {"an unknown word", "pause\nstop\n", "line 2: 'stop'", 0, 0, false, false, false},
    {"a word with a tail", "paused\n", "line 1: 'paused'", 0, 0, false, false, false},
    {"a switch with a value", "pause on\n", "line 1: 'pause' takes no value", 0, 0, false, false,
     false},
    {"a doubled switch", "abort\nabort\n", "line 2: 'abort' twice", 0, 0, false, false, false},
    {"a doubled limit", "max-rcu 1\nmax-rcu 1\n", "line 2: 'max-rcu' twice", 0, 0, false, false,
     false},
    {"a limit without a number", "max-rcu\n", "line 1: max-rcu", 0, 0, false, false, false},
    {"a limit of nothing", "\nmax-wcu 0\n", "line 2: max-wcu", 0, 0, false, false, false},
};

START_TEST(control_settings_parse_follows_the_table)
{
    struct control_settings settings = {.aborts = true};
    struct error err = {0};
    struct str text = {files[_i].text, strlen(files[_i].text)};
    bool ok = control_settings_parse(text, &settings, &err);
    ck_assert_msg(ok == (files[_i].error == NULL), "%s: %s", files[_i].says, err.text);
    if (!ok) {
        ck_assert_int_eq(err.code, ERROR_USAGE);
        ck_assert_msg(strstr(err.text, files[_i].error) != NULL, "%s: %s", files[_i].says,
                      err.text);
        ck_assert(settings.aborts); /* as it was */
        return;
    }
    ck_assert_msg(settings.limits.read.units == files[_i].read &&
                      settings.limits.write.units == files[_i].write &&
                      settings.limits.write.is_percent == files[_i].write_is_percent &&
                      !settings.limits.read.is_percent && settings.pauses == files[_i].pauses &&
                      settings.aborts == files[_i].aborts,
                  "%s", files[_i].says);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("migrate/cli/control_file");
    TCase *parse = tcase_create("parse");
    tcase_add_loop_test(parse, control_settings_parse_follows_the_table, 0, ROWS(files));
    suite_add_tcase(suite, parse);
    return suite_run(suite);
}
