#include "migrate/man_page.h"

#include "migrate/cli/arguments.h"

#include <string.h>

static const char beginning[] =
    ".SH NAME\n"
    "refold \\- fold relational data into one DynamoDB-style table, and refold it by plans\n"
    ".SH SYNOPSIS\n"
    ".B refold\n"
    ".I COMMAND\n"
    "[\\fITABLE\\fR] [options]\n"
    ".SH DESCRIPTION\n"
    "TABLE is \\fINAME\\fR.refold or file:\\fIPATH\\fR for an embedded table, "
    "dynamodb:\\fINAME\\fR?region=\\fIREGION\\fR for one on a server, or a name in refold.json; "
    "it can be left out where refold.json has a default.\n"
    "Behind a server's name may stand region, endpoint, profile, control\\-table, max\\-rcu and "
    "max\\-wcu, joined by '&'.\n"
    "Options may stand anywhere; a value follows as the next word or behind '=';\n"
    "\\-\\- ends them. Results go to standard output, messages and progress to standard error.\n";

static const char ending[] =
    ".SH CONFIGURATION\n"
    "refold.json in the working directory:\n"
    ".PP\n"
    ".nf\n"
    "{ \"targets\": { \"shop\": \"shop.refold\" }, \"table\": \"shop\", \"plans\": \"plans\" }\n"
    ".fi\n"
    ".SH ENVIRONMENT\n"
    "Options win over the environment, the environment over refold.json.\n"
    ".TP\n"
    ".BR REFOLD_PLANS \", \" REFOLD_FORMAT \", \" REFOLD_CONFIG\n"
    "stand for \\-\\-plans, \\-\\-format and \\-\\-config.\n"
    ".TP\n"
    ".B NO_COLOR\n"
    "if set, nothing is printed in color.\n"
    ".TP\n"
    ".BR AWS_REGION \", \" AWS_PROFILE \", \" AWS_ENDPOINT_URL_DYNAMODB \" ...\"\n"
    "as the AWS tools read them, and their files in ~/.aws.\n"
    ".TP\n"
    ".BR PGHOST \", \" PGUSER \", \" PGPASSWORD \" ...\"\n"
    "as libpq reads them, for what \\-\\-from does not say of a database.\n"
    ".TP\n"
    ".B TMPDIR\n"
    "the folder for temporary sort files, where \\-\\-temp names none.\n"
    ".SH FILES\n"
    ".TP\n"
    ".I refold.json\n"
    "the configuration.\n"
    ".TP\n"
    ".I NAME.refold\n"
    "an embedded table.\n"
    ".TP\n"
    ".IR NAME.refold\\-lock \", \" NAME.refold\\-run\n"
    "who reads it, and who writes it; they hold no data.\n"
    ".TP\n"
    ".I NAME.refold\\-control\n"
    "written by you to pause, abort or limit the run that is under way.\n"
    ".TP\n"
    ".I .refold\\-state/TABLE/\n"
    "of a table on a server: the undo files that a rollback needs, how far a search for\n"
    "collisions has come, and the control file.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\ndone, or nothing to do\n"
    ".TP\n.B 1\n"
    "failed: store, network, memory, a held lease, an unfinished import, a closed pipe\n"
    ".TP\n.B 2\n"
    "usage; a wrong, changed or out-of-order plan; a wrong map; nothing was touched\n"
    ".TP\n.B 3\n"
    "item errors, rejects, findings, differences; a failed plan in status \\-\\-exit\\-code\n"
    ".TP\n.B 4\ndry run or status \\-\\-exit\\-code: changes are pending, no problems\n"
    ".TP\n.B 5\ninterrupted by a signal; the same command goes on\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "refold scaffold \\-\\-from postgresql:///shop > map.json\n"
    "refold import shop.refold \\-\\-from postgresql:///shop \\-\\-map map.json\n"
    "refold apply shop.refold \\-\\-dry\\-run\n"
    "refold apply shop.refold\n"
    "refold query shop.refold \"PK = \\(aqCUSTOMER#7\\(aq AND begins_with(SK, \\(aqORDER#\\(aq)\"\n"
    "refold rollback shop.refold\n"
    ".fi\n"
    ".SH SEE ALSO\n"
    ".BR psql (1)\n"
    ".PP\n"
    "The source has the language of plans and maps in docs/language.md, tables on a server in\n"
    "docs/dynamodb.md, and an example to run in examples/shop.\n";

/* Hyphens are kept as such, backslashes doubled, and no line begins with a control character. */
static void print_text(const char *text, FILE *out)
{
    bool line_begins = true;
    for (const char *c = text; *c != '\0'; c++) {
        if (line_begins && (*c == '.' || *c == '\'')) {
            (void)fputs("\\&", out);
        }
        if (*c == '-') {
            (void)fputs("\\-", out);
        } else if (*c == '\\') {
            (void)fputs("\\e", out);
        } else {
            (void)fputc(*c, out);
        }
        line_begins = *c == '\n';
    }
}

static void print_options(const struct option *options, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        (void)fputs(".TP\n\\fB\\-\\-", out);
        print_text(options[i].name, out);
        (void)fputs("\\fR", out);
        if (options[i].value != NULL) {
            (void)fputs(" \\fI", out);
            print_text(options[i].value, out);
            (void)fputs("\\fR", out);
        }
        (void)fputc('\n', out);
        print_text(options[i].summary, out);
        (void)fputc('\n', out);
    }
}

/* Details are paragraphs divided by empty lines; indented lines are examples, as they stand. */
static void print_details(const char *details, FILE *out)
{
    (void)fputs(".PP\n", out);
    bool is_example = false;
    for (const char *line = details; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        if ((line[0] == ' ') != is_example) {
            is_example = !is_example;
            (void)fputs(is_example ? ".nf\n" : ".fi\n", out);
        }
        if (len == 0) {
            (void)fputs(".PP\n", out);
        } else {
            char text[256];
            (void)snprintf(text, sizeof text, "%.*s", (int)len, line);
            print_text(text, out);
            (void)fputc('\n', out);
        }
        line += len + (line[len] == '\n' ? 1 : 0);
    }
    (void)fputs(is_example ? ".fi\n" : "", out);
}

static void print_command(const struct command *command, FILE *out)
{
    (void)fputs(".SS refold ", out);
    print_text(command->name, out);
    (void)fputs(command->synopsis[0] == '\0' ? "" : " ", out);
    print_text(command->synopsis, out);
    (void)fputc('\n', out);
    print_text(command->summary, out);
    (void)fputc('\n', out);
    if (command->details != NULL) {
        print_details(command->details, out);
    }
    print_options(command->options, command->option_count, out);
}

void man_page_print(const struct command *const *commands, size_t count, FILE *out)
{
    (void)fprintf(out, ".TH REFOLD 1 \"\" \"refold %s\" \"User Commands\"\n%s", REFOLD_VERSION,
                  beginning);
    (void)fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; i < count; i++) {
        print_command(commands[i], out);
    }
    (void)fputs(".SH OPTIONS\nEvery command takes these too.\n", out);
    size_t shared_count = 0;
    const struct option *shared = arguments_shared_options(&shared_count);
    print_options(shared, shared_count, out);
    (void)fputs(ending, out);
}
