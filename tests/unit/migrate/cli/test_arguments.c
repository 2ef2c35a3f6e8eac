#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "migrate/cli/arguments.h"
#include "migrate/cli/command.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 8, OPERANDS_MAX = 3 };

static const struct option look_options[] = {
    {"limit", "N", "no more than N"},
    {"plans", "DIR", "folder of plans"},
    {"all", NULL, "everything"},
};

static const struct command look = {
    .name = "look",
    .synopsis = "TABLE [WORD]",
    .options = look_options,
    .option_count = sizeof look_options / sizeof *look_options,
    .operands_min = 1,
    .operands_max = 2,
    .takes_table = true,
};
static const struct command weigh = {.name = "weigh",
                                     .synopsis = "[TABLE]",
                                     .operands_max = 1,
                                     .takes_table = true,
                                     .table_optional = true};
static const struct command help = {
    .name = "help", .synopsis = "[COMMAND]", .operands_max = 1, .needs_no_config = true};
static const struct command version = {.name = "version", .synopsis = "", .needs_no_config = true};

static const struct command *const commands[] = {&look, &weigh, &help, &version};

/* Two variables of the environment; refold.json is that of the working directory. */
static char *environment(const char *name)
{
    static char plans[] = "environment-plans";
    static char json[] = "json";
    if (strcmp(name, "REFOLD_PLANS") == 0) {
        return plans;
    }
    return strcmp(name, "REFOLD_FORMAT") == 0 ? json : NULL;
}

static char *no_environment(const char *name)
{
    (void)name;
    return NULL;
}

static const char config_text[] =
    "{\"targets\": {\"shop\": \"data/shop.refold\"}, \"table\": \"shop\", \"plans\": \"said\"}";

/* Runs in a folder of its own, with or without a refold.json there. */
static bool parse(const char *const words[WORDS_MAX], bool with_config,
                  char *(*variables)(const char *), struct invocation *out, struct error *err)
{
    char folder[] = "/tmp/refold-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    if (with_config) {
        FILE *file = fopen("refold.json", "w");
        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(config_text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
    }
    struct arguments arguments = {.commands = commands,
                                  .command_count = sizeof commands / sizeof *commands,
                                  .words = words,
                                  .environment = variables};
    while (arguments.word_count < WORDS_MAX && words[arguments.word_count] != NULL) {
        arguments.word_count++;
    }
    bool ok = arguments_parse(&arguments, out, err);
    (void)unlink("refold.json");
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    return ok;
}

static const struct {
    const char *says;
    const char *words[WORDS_MAX];
    bool with_config;
    const struct command *command;
    const char *table;
    const char *operands[OPERANDS_MAX];
    const char *limit;
    bool all, json;
} good[] = {
    {"a target is the table", {"look", "a.refold"}, false, &look, "a.refold", {0}, 0, 0, 0},
    {"a scheme makes one too", {"look", "file:a"}, false, &look, "file:a", {0}, 0, 0, 0},
    {"a name of refold.json", {"look", "shop"}, true, &look, "data/shop.refold", {0}, 0, 0, 0},
    {"its default", {"look"}, true, &look, "data/shop.refold", {0}, 0, 0, 0},
    {"the default, then a word", {"look", "w"}, true, &look, "data/shop.refold", {"w"}, 0, 0, 0},
    {"options anywhere",
     {"--format", "json", "look", "--all", "a.refold", "--limit", "3", "w"},
     false,
     &look,
     "a.refold",
     {"w"},
     "3",
     true,
     true},
    {"a value behind =",
     {"look", "a.refold", "--limit=3"},
     false,
     &look,
     "a.refold",
     {0},
     "3",
     0,
     0},
    {"an empty value behind =",
     {"look", "a.refold", "--limit="},
     false,
     &look,
     "a.refold",
     {0},
     "",
     0,
     0},
    {"a value may be -",
     {"look", "a.refold", "--limit", "-"},
     false,
     &look,
     "a.refold",
     {0},
     "-",
     0,
     0},
    {"-- ends options",
     {"look", "a.refold", "--", "--all"},
     false,
     &look,
     "a.refold",
     {"--all"},
     0,
     0,
     0},
    {"no table where it is optional", {"weigh"}, false, &weigh, NULL, {0}, 0, 0, 0},
    {"--help is help of the command", {"look", "--help"}, false, &help, NULL, {"look"}, 0, 0, 0},
    {"-h alone is help", {"-h"}, false, &help, NULL, {0}, 0, 0, 0},
    {"--version wherever", {"look", "--version"}, false, &version, NULL, {0}, 0, 0, 0},
};

START_TEST(arguments_parse_reads_what_is_right)
{
    struct error err = {0};
    struct invocation invocation = {.arena = arena_new()};
    const char *says = good[_i].says;
    bool ok = parse(good[_i].words, good[_i].with_config, no_environment, &invocation, &err);
    ck_assert_msg(ok, "%s: %s", says, err.text);
    ck_assert_msg(invocation.command == good[_i].command, "%s: %s", says, invocation.command->name);
    ck_assert_pstr_eq(invocation.table, good[_i].table);
    size_t count = 0;
    while (count < OPERANDS_MAX && good[_i].operands[count] != NULL) {
        count++;
    }
    ck_assert_uint_eq(invocation.operand_count, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(invocation.operands[i], good[_i].operands[i]);
    }
    if (invocation.command == &look) {
        ck_assert_pstr_eq(invocation_text(&invocation, "limit"), good[_i].limit);
        ck_assert_msg(invocation_flag(&invocation, "all") == good[_i].all, "%s", says);
    }
    ck_assert_msg(invocation.json == good[_i].json, "%s", says);
    arena_free(invocation.arena);
}
END_TEST

static const struct {
    const char *says;
    const char *words[WORDS_MAX];
    bool with_config;
    const char *text; /* in the message */
} bad[] = {
    {"no command", {NULL}, false, "no command"},
    {"an unknown command", {"peer"}, false, "unknown command 'peer'"},
    {"nearly a command", {"lokk"}, false, "did you mean 'look'?"},
    {"an unknown option", {"look", "--zzz"}, false, "refold help look"},
    {"nearly an option", {"look", "--limt", "3"}, false, "did you mean --limit?"},
    {"nearly an option of all", {"look", "--fromat=json"}, false, "did you mean --format?"},
    {"short options", {"look", "-x"}, false, "unknown option -x"},
    {"an option before its command", {"--limit", "3", "look"}, false, "unknown option --limit"},
    {"an option twice", {"look", "a.refold", "--all", "--all"}, false, "given twice"},
    {"a flag with a value", {"look", "a.refold", "--all=yes"}, false, "takes no value"},
    {"no value", {"look", "a.refold", "--limit"}, false, "--limit N"},
    {"an option for a value", {"look", "a.refold", "--limit", "--all"}, false, "needs a value"},
    {"another format", {"look", "a.refold", "--format=xml"}, false, "found 'xml'"},
    {"no table", {"look"}, false, "no TABLE"},
    {"a server's table in the hint", {"look"}, false, "dynamodb:TABLE?region=REGION, or a name"},
    {"the default in the hint", {"look"}, false, "refold.json's \"table\" is used"},
    {"a word that is no table", {"look", "shop"}, false, "'shop' is no table"},
    {"too many words", {"look", "a.refold", "b", "c"}, false, "unexpected argument 'c'"},
    {"too many after the default", {"look", "b", "c"}, true, "unexpected argument 'c'"},
    {"words for version", {"version", "a"}, false, "unexpected argument 'a'"},
    {"a configuration that is not there", {"look", "--config", "no.json"}, false, "no.json"},
};

START_TEST(arguments_parse_refuses_what_is_wrong)
{
    struct error err = {0};
    struct invocation invocation = {.arena = arena_new()};
    bool ok = parse(bad[_i].words, bad[_i].with_config, no_environment, &invocation, &err);
    ck_assert_msg(!ok, "%s", bad[_i].says);
    ck_assert_msg(err.code == ERROR_USAGE, "%s: %s", bad[_i].says, err.text);
    ck_assert_msg(strstr(err.text, bad[_i].text) != NULL, "%s: %s", bad[_i].says, err.text);
    arena_free(invocation.arena);
}
END_TEST

static const struct {
    const char *says;
    const char *words[WORDS_MAX];
    bool with_config;
    char *(*variables)(const char *);
    const char *plans;
    bool json;
} orders[] = {
    {"nothing is said", {"look", "a.refold"}, false, no_environment, "plans", false},
    {"refold.json says", {"look"}, true, no_environment, "said", false},
    {"the environment wins", {"look"}, true, environment, "environment-plans", true},
    {"options win", {"look", "--plans=p", "--format=text"}, true, environment, "p", false},
};

START_TEST(arguments_parse_lets_options_win_over_environment_over_file)
{
    struct error err = {0};
    struct invocation invocation = {.arena = arena_new()};
    bool ok =
        parse(orders[_i].words, orders[_i].with_config, orders[_i].variables, &invocation, &err);
    ck_assert_msg(ok, "%s: %s", orders[_i].says, err.text);
    ck_assert_str_eq(invocation.plans_dir, orders[_i].plans);
    ck_assert_msg(invocation.json == orders[_i].json, "%s", orders[_i].says);
    arena_free(invocation.arena);
}
END_TEST

static const struct {
    const char *says;
    const char *text;
    bool ok;
    uint64_t number;
} numbers[] = {
    {"not given", NULL, true, 7},
    {"the least", "1", true, 1},
    {"the greatest", "100", true, 100},
    {"below", "0", false, 7},
    {"above", "101", false, 7},
    {"empty", "", false, 7},
    {"negative", "-1", false, 7},
    {"signed", "+5", false, 7},
    {"with a blank", " 5", false, 7},
    {"with a unit", "5k", false, 7},
    {"beyond 64 bits", "18446744073709551617", false, 7},
};

START_TEST(invocation_number_takes_whole_numbers_within_limits)
{
    const char *values[] = {numbers[_i].text, NULL, NULL};
    struct invocation invocation = {.command = &look, .values = values};
    struct error err = {0};
    uint64_t number = 7;
    bool ok = invocation_number(&invocation, "limit", (struct number_range){1, 100}, &number, &err);
    ck_assert_msg(ok == numbers[_i].ok, "%s: %s", numbers[_i].says, err.text);
    ck_assert_uint_eq(number, numbers[_i].number);
    ck_assert_msg(ok || err.code == ERROR_USAGE, "%s", numbers[_i].says);
}
END_TEST

int main(void)
{
    TCase *parsing = tcase_create("parse");
    tcase_add_loop_test(parsing, arguments_parse_reads_what_is_right, 0, ROWS(good));
    tcase_add_loop_test(parsing, arguments_parse_refuses_what_is_wrong, 0, ROWS(bad));
    tcase_add_loop_test(parsing, arguments_parse_lets_options_win_over_environment_over_file, 0,
                        ROWS(orders));
    tcase_add_loop_test(parsing, invocation_number_takes_whole_numbers_within_limits, 0,
                        ROWS(numbers));
    Suite *suite = suite_create("migrate/cli/arguments");
    suite_add_tcase(suite, parsing);
    return suite_run(suite);
}
