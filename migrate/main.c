#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "migrate/cli/arguments.h"
#include "migrate/cli/command.h"
#include "migrate/cli/crash.h"
#include "migrate/cli/secret.h"
#include "migrate/cli/stop.h"
#include "migrate/commands.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A closed pipe or a full disk may show only now. */
static bool close_output(FILE *out, struct error *err)
{
    bool ok = fflush(out) == 0 && ferror(out) == 0;
    int reason = errno;
    ok = fclose(out) == 0 && ok;
    return ok || error_set(err, ERROR_STORE, "the results cannot be written: %s", strerror(reason));
}

static bool run(const struct arguments *arguments, struct invocation *invocation, struct error *err)
{
    return arguments_parse(arguments, invocation, err) && invocation->command->run(invocation, err);
}

static void print_error(const struct error *err, FILE *messages, struct arena *arena)
{
    struct str text = secret_hide((struct str){err->text, strlen(err->text)}, arena);
    (void)fprintf(messages, "refold: %.*s\n", STR_ARG(text));
}

int main(int argc, char **argv)
{
    /* They last as long as the process: threads that watch signals and files set them. */
    static atomic_bool stop;
    static atomic_bool paused;
    struct error err = {0};
    struct invocation invocation = {
        .arena = arena_new(),
        .out = stdout,
        .messages = stderr,
        .color = isatty(STDERR_FILENO) == 1 && getenv("NO_COLOR") == NULL,
        .stop = &stop,
        .paused = &paused,
    };
    const char **words = arena_alloc(invocation.arena, (size_t)argc * sizeof *words + 1);
    for (int i = 1; i < argc; i++) {
        words[i - 1] = argv[i];
    }
    struct arguments arguments = {
        .words = words, .word_count = argc > 0 ? (size_t)argc - 1 : 0, .environment = getenv};
    arguments.commands = commands_all(&arguments.command_count);
    bool ok = crash_watch(&err) && stop_watch(&stop, &err) && run(&arguments, &invocation, &err);
    struct error output = {0};
    if (!close_output(invocation.out, &output) && ok) {
        ok = false;
        err = output;
    }
    if (!ok) {
        print_error(&err, invocation.messages, invocation.arena);
    }
    arena_free(invocation.arena);
    return ok ? invocation.exit_status : error_exit_status(err.code);
}
