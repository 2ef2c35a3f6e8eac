#include "migrate/cli/arguments.h"

#include "migrate/cli/config.h"
#include "migrate/cli/suggest.h"
#include "migrate/cli/target.h"

#include <string.h>
#include <unistd.h>

enum { GLOBAL_FORMAT, GLOBAL_CONFIG, GLOBAL_QUIET, GLOBAL_HELP, GLOBAL_VERSION, GLOBAL_COUNT };

static const struct option globals[] = {
    [GLOBAL_FORMAT] = {"format", "text|json", "how results are printed (default text)"},
    [GLOBAL_CONFIG] = {"config", "FILE", "read this file instead of refold.json"},
    [GLOBAL_QUIET] = {"quiet", NULL, "show no progress"},
    [GLOBAL_HELP] = {"help", NULL, "explain the command"},
    [GLOBAL_VERSION] = {"version", NULL, "print the program's version"},
};

static const char config_file[] = "refold.json";
static const char plans_folder[] = "plans";

const struct option *arguments_shared_options(size_t *count)
{
    *count = GLOBAL_COUNT;
    return globals;
}

/* What has been read of the words so far. */
struct reading {
    const struct arguments *arguments;
    struct invocation *invocation;
    const char *globals[GLOBAL_COUNT];
    const char **operands;
    size_t operand_count;
    size_t next; /* word */
};

const struct command *arguments_command(const struct command *const *commands, size_t count,
                                        const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

static bool unknown_command(const struct reading *reading, const char *word, struct error *err)
{
    const struct arguments *arguments = reading->arguments;
    const char **names =
        arena_alloc(reading->invocation->arena, arguments->command_count * sizeof *names);
    for (size_t i = 0; i < arguments->command_count; i++) {
        names[i] = arguments->commands[i]->name;
    }
    const char *nearest = suggest_nearest(word, names, arguments->command_count);
    if (nearest != NULL) {
        return error_set(err, ERROR_USAGE, "unknown command '%s'\nhint: did you mean '%s'?", word,
                         nearest);
    }
    return error_set(err, ERROR_USAGE, "unknown command '%s'\nhint: refold --help lists them",
                     word);
}

static bool take_command(struct reading *reading, const char *word, struct error *err)
{
    struct invocation *invocation = reading->invocation;
    invocation->command =
        arguments_command(reading->arguments->commands, reading->arguments->command_count, word);
    if (invocation->command == NULL) {
        return unknown_command(reading, word, err);
    }
    invocation->values = arena_zero(invocation->arena, (invocation->command->option_count + 1) *
                                                           sizeof *invocation->values);
    return true;
}

static const struct option *find_option(const struct option *options, size_t count, struct str name,
                                        size_t *place)
{
    for (size_t i = 0; i < count; i++) {
        if (str_equal(name, (struct str){options[i].name, strlen(options[i].name)})) {
            *place = i;
            return &options[i];
        }
    }
    return NULL;
}

static bool unknown_option(const struct reading *reading, const char *name, struct error *err)
{
    const struct command *command = reading->invocation->command;
    size_t own = command == NULL ? 0 : command->option_count;
    const char **names =
        arena_alloc(reading->invocation->arena, (own + GLOBAL_COUNT) * sizeof *names);
    for (size_t i = 0; i < own; i++) {
        names[i] = command->options[i].name;
    }
    for (size_t i = 0; i < GLOBAL_COUNT; i++) {
        names[own + i] = globals[i].name;
    }
    const char *nearest = suggest_nearest(name, names, own + GLOBAL_COUNT);
    if (nearest != NULL) {
        return error_set(err, ERROR_USAGE, "unknown option --%s\nhint: did you mean --%s?", name,
                         nearest);
    }
    return error_set(err, ERROR_USAGE, "unknown option --%s\nhint: refold help%s%s lists them",
                     name, command == NULL ? "" : " ", command == NULL ? "" : command->name);
}

/* The value behind '=', or else the next word, which must not look like another option. */
static bool take_value(struct reading *reading, const struct option *option, const char *equals,
                       const char **out, struct error *err)
{
    if (option->value == NULL) {
        *out = "";
        return equals == NULL || error_set(err, ERROR_USAGE, "--%s takes no value", option->name);
    }
    if (equals != NULL) {
        *out = equals + 1;
        return true;
    }
    if (reading->next == reading->arguments->word_count ||
        strncmp(reading->arguments->words[reading->next], "--", 2) == 0) {
        return error_set(err, ERROR_USAGE, "--%s needs a value: --%s %s", option->name,
                         option->name, option->value);
    }
    *out = reading->arguments->words[reading->next];
    reading->next++;
    return true;
}

/* `word` is "--name" or "--name=value". */
static bool take_option(struct reading *reading, const char *word, struct error *err)
{
    const struct command *command = reading->invocation->command;
    const char *start = word + 2;
    struct str name = {start, strcspn(start, "=")};
    size_t place = 0;
    const char **values = reading->globals;
    const struct option *option = find_option(globals, GLOBAL_COUNT, name, &place);
    if (option == NULL && command != NULL) {
        values = reading->invocation->values;
        option = find_option(command->options, command->option_count, name, &place);
    }
    if (option == NULL) {
        return unknown_option(reading, arena_copy(reading->invocation->arena, name).ptr, err);
    }
    if (values[place] != NULL) {
        return error_set(err, ERROR_USAGE, "--%s is given twice", option->name);
    }
    const char *equals = start[name.len] == '=' ? start + name.len : NULL;
    return take_value(reading, option, equals, &values[place], err);
}

static bool take_word(struct reading *reading, const char *word, bool options_ended,
                      struct error *err)
{
    if (!options_ended && strcmp(word, "-h") == 0) {
        reading->globals[GLOBAL_HELP] = "";
        return true;
    }
    if (!options_ended && strncmp(word, "--", 2) == 0) {
        return take_option(reading, word, err);
    }
    if (!options_ended && word[0] == '-' && word[1] != '\0') {
        return error_set(err, ERROR_USAGE,
                         "unknown option %s\nhint: options are written --name; a word that begins "
                         "with '-' goes after --",
                         word);
    }
    if (reading->invocation->command == NULL) {
        return take_command(reading, word, err);
    }
    reading->operands[reading->operand_count] = word;
    reading->operand_count++;
    return true;
}

static bool take_words(struct reading *reading, struct error *err)
{
    bool options_ended = false;
    while (reading->next < reading->arguments->word_count) {
        const char *word = reading->arguments->words[reading->next];
        reading->next++;
        if (!options_ended && strcmp(word, "--") == 0) {
            options_ended = true;
        } else if (!take_word(reading, word, options_ended, err)) {
            return false;
        }
    }
    return true;
}

/* --help and --version are the commands of that name, whatever else was said. */
static bool replace_command(struct reading *reading, struct error *err)
{
    const struct command *asked = reading->invocation->command;
    bool wants_help = reading->globals[GLOBAL_HELP] != NULL;
    if (wants_help || reading->globals[GLOBAL_VERSION] != NULL) {
        reading->operand_count = 0;
        if (wants_help && asked != NULL) {
            reading->operands[0] = asked->name;
            reading->operand_count = 1;
        }
        return take_command(reading, wants_help ? "help" : "version", err);
    }
    return asked != NULL || error_set(err, ERROR_USAGE, "no command\nhint: refold --help");
}

/* An option's value, or what the environment has for it; an empty variable is as none. */
static const char *given_or(const struct reading *reading, const char *given, const char *variable)
{
    if (given != NULL) {
        return given;
    }
    const char *value = reading->arguments->environment(variable);
    return value == NULL || value[0] == '\0' ? NULL : value;
}

static bool choose_format(struct reading *reading, struct error *err)
{
    const char *format = given_or(reading, reading->globals[GLOBAL_FORMAT], "REFOLD_FORMAT");
    bool json = format != NULL && strcmp(format, "json") == 0;
    if (format != NULL && !json && strcmp(format, "text") != 0) {
        return error_set(err, ERROR_USAGE, "--format: expected text or json, found '%s'", format);
    }
    reading->invocation->json = json;
    reading->invocation->quiet = reading->globals[GLOBAL_QUIET] != NULL;
    return true;
}

/* refold.json need not be there; a file that was asked for must. */
static bool read_config(struct reading *reading, struct config *config, struct error *err)
{
    if (reading->invocation->command->needs_no_config) {
        return true;
    }
    const char *path = given_or(reading, reading->globals[GLOBAL_CONFIG], "REFOLD_CONFIG");
    if (path == NULL && access(config_file, F_OK) != 0) {
        return true;
    }
    return config_read(path == NULL ? config_file : path, reading->invocation->arena, config, err);
}

static void choose_plans_dir(struct reading *reading, const struct config *config)
{
    const struct command *command = reading->invocation->command;
    size_t place = 0;
    const struct option *option =
        find_option(command->options, command->option_count, STR("plans"), &place);
    const char *plans = given_or(
        reading, option == NULL ? NULL : reading->invocation->values[place], "REFOLD_PLANS");
    if (plans == NULL) {
        plans = config->plans == NULL ? plans_folder : config->plans;
    }
    reading->invocation->plans_dir = plans;
}

static bool missing_table(const struct reading *reading, struct error *err)
{
    const char *forms = target_forms();
    if (reading->operand_count == 0) {
        return error_set(err, ERROR_USAGE,
                         "no TABLE is given\nhint: a table is %s, or a name in refold.json; "
                         "without one, refold.json's \"table\" is used",
                         forms);
    }
    return error_set(err, ERROR_USAGE,
                     "'%s' is no table\nhint: a table is %s, or a name in refold.json",
                     reading->operands[0], forms);
}

/* The first operand is the TABLE if it looks like one or refold.json has the name. */
static bool take_table(struct reading *reading, const struct config *config, struct error *err)
{
    struct invocation *invocation = reading->invocation;
    if (!invocation->command->takes_table) {
        return true;
    }
    invocation->table = config->table;
    if (reading->operand_count > 0) {
        const char *first = reading->operands[0];
        const char *target = config_target(config, first);
        if (target != NULL || target_is(first)) {
            invocation->table = target == NULL ? first : target;
            reading->operands++;
            reading->operand_count--;
        }
    }
    return invocation->table != NULL || invocation->command->table_optional ||
           missing_table(reading, err);
}

static bool check_operands(const struct reading *reading, struct error *err)
{
    const struct command *command = reading->invocation->command;
    size_t before = reading->invocation->table == NULL ? 0 : 1;
    if (before + reading->operand_count > command->operands_max) {
        return error_set(err, ERROR_USAGE, "unexpected argument '%s'\nhint: refold %s %s",
                         reading->operands[command->operands_max - before], command->name,
                         command->synopsis);
    }
    if (before + reading->operand_count < command->operands_min) {
        return error_set(err, ERROR_USAGE, "an argument is missing\nhint: refold %s %s",
                         command->name, command->synopsis);
    }
    return true;
}

bool arguments_parse(const struct arguments *arguments, struct invocation *out, struct error *err)
{
    struct reading reading = {.arguments = arguments,
                              .invocation = out,
                              .operands = arena_alloc(out->arena, (arguments->word_count + 1) *
                                                                      sizeof *reading.operands)};
    struct config config = {0};
    bool ok = take_words(&reading, err) && replace_command(&reading, err) &&
              choose_format(&reading, err) && read_config(&reading, &config, err) &&
              take_table(&reading, &config, err) && check_operands(&reading, err);
    if (!ok) {
        return false;
    }
    choose_plans_dir(&reading, &config);
    out->operands = reading.operands;
    out->operand_count = reading.operand_count;
    return true;
}
