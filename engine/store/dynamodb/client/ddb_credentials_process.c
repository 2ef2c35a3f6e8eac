#include "engine/base/buffer.h"
#include "engine/store/dynamodb/client/ddb_credentials_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, OUTPUT_MAX = 64 * 1024 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether a sign opens or closes a quotation: then it is not part of the word. */
static bool turns_quote(char c, char *quote)
{
    if (*quote == '\0' && (c == '"' || c == '\'')) {
        *quote = c;
        return true;
    }
    if (*quote != '\0' && c == *quote) {
        *quote = '\0';
        return true;
    }
    return false;
}

/* One word of a command line, its quotes and backslashes taken away; *out is behind its NUL
 * afterwards. Returns where it ended; NULL: a quote stays open. */
static const char *read_word(const char *at, const char *end, char **out)
{
    char quote = '\0';
    for (; at < end && (quote != '\0' || !is_blank(*at)); at++) {
        if (turns_quote(*at, &quote)) {
            continue;
        }
        if (*at == '\\' && quote != '\'' && at + 1 < end) {
            at++;
        }
        *(*out)++ = *at;
    }
    *(*out)++ = '\0';
    return quote == '\0' ? at : NULL;
}

/* Splits as a shell would, but runs none. False: no word, too many, or a quote stays open. */
static bool split(struct str command, struct arena *arena, char *words[WORDS_MAX + 1])
{
    char *out = arena_bytes(arena, 2 * command.len + 1);
    const char *at = command.ptr;
    const char *end = at + command.len;
    size_t count = 0;
    while (at != NULL && at < end) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        if (count == WORDS_MAX) {
            return false;
        }
        words[count++] = out;
        at = read_word(at, end, &out);
    }
    words[count] = NULL;
    return at != NULL && count > 0;
}

/* libcurl's connections would stay open in whatever the command leaves behind. */
static bool start(char *const words[], int output, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    bool ok = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
              posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1) == 0 &&
              posix_spawnp(child, words[0], &actions, NULL, words, environ) == 0;
    (void)posix_spawn_file_actions_destroy(&actions);
    return ok;
}

static void read_all(int input, struct buffer *out)
{
    for (;;) {
        ssize_t got = read(input, buffer_reserve(out, 4096), 4096);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0 || out->len > OUTPUT_MAX) {
            return;
        }
        out->len += (size_t)got;
    }
}

static bool ended_well(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* What the command prints; false: it could not be run or failed. */
static bool run(char *const words[], struct buffer *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t child = 0;
    bool started = start(words, ends[1], &child);
    (void)close(ends[1]);
    if (started) {
        read_all(ends[0], out);
    }
    (void)close(ends[0]);
    return started && ended_well(child);
}

bool ddb_credentials_process(const struct ddb_credentials_ask *ask, struct str command,
                             struct ddb_credentials *out, struct error *err)
{
    char *words[WORDS_MAX + 1];
    if (!split(command, ask->arena, words)) {
        return error_set(err, ERROR_STORE,
                         "credential_process is not a command: a quote stays open");
    }
    struct buffer printed = {0};
    bool ok = run(words, &printed);
    struct str text = arena_copy(ask->arena, buffer_str(&printed));
    if (printed.len > 0) {
        explicit_bzero(printed.bytes, printed.len);
    }
    buffer_free(&printed);
    if (!ok) {
        return error_set(err, ERROR_STORE, "credential_process %s could not be run or failed",
                         words[0]);
    }
    struct ddb_credentials read = {0};
    if (!ddb_credentials_read_json(text, ask->arena, &read)) {
        return error_set(err, ERROR_STORE, "credential_process %s printed no credentials",
                         words[0]);
    }
    read.source = "credential_process";
    *out = read;
    return true;
}
