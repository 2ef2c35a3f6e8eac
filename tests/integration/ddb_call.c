/* Sends requests to a server that speaks DynamoDB's protocol and prints what came of them, a line
 * of JSON each, then one about the run: ddb_call.py gives it servers that misbehave.
 *   ddb_call ENDPOINT REGION [NAME=VALUE ...]    requests on stdin: OPERATION \t LANE \t UNITS \t
 * BODY at_once=N    requests a call (default: all)     repeat=N      send all so many times
 *   max_rcu=N max_wcu=N  timeout_ms=N  profile=X    clock_s=N     the host's clock is that far off
 *   stop_ms=N    interrupt after that long          quiet=1       only the last line
 *   threads=N    each sends them all, with a client of its own */
#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/store/dynamodb/client/ddb_client.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { REQUESTS_MAX = 20000, THREADS_MAX = 16 };

struct settings {
    double at_once, repeat, max_rcu, max_wcu, timeout_ms, clock_s, stop_ms, quiet, threads;
    uint64_t started_us;
    struct str profile;
};

static uint64_t now_us(void *context)
{
    (void)context;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int64_t wall_s(void *context)
{
    const struct settings *settings = context;
    return (int64_t)time(NULL) + (int64_t)settings->clock_s;
}

static uint64_t any_bits(void *context)
{
    return now_us(context) * 0x9e3779b97f4a7c15U;
}

static bool stopped(void *context)
{
    const struct settings *settings = context;
    double elapsed_us = (double)(now_us(context) - settings->started_us);
    return settings->stop_ms > 0 && elapsed_us > settings->stop_ms * 1000;
}

static void read_setting(struct settings *settings, const char *word)
{
    const struct {
        const char *name;
        double *value;
    } numbers[] = {
        {"at_once=", &settings->at_once}, {"repeat=", &settings->repeat},
        {"max_rcu=", &settings->max_rcu}, {"max_wcu=", &settings->max_wcu},
        {"quiet=", &settings->quiet},     {"timeout_ms=", &settings->timeout_ms},
        {"clock_s=", &settings->clock_s}, {"stop_ms=", &settings->stop_ms},
        {"threads=", &settings->threads},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        size_t len = strlen(numbers[i].name);
        if (strncmp(word, numbers[i].name, len) == 0) {
            *numbers[i].value = strtod(word + len, NULL);
        }
    }
    if (strncmp(word, "profile=", 8) == 0) {
        settings->profile = (struct str){word + 8, strlen(word + 8)};
    }
}

static size_t read_requests(struct arena *arena, struct ddb_request *out)
{
    char *line = NULL;
    size_t room = 0;
    size_t count = 0;
    for (ssize_t len = getline(&line, &room, stdin); len > 0 && count < REQUESTS_MAX;
         len = getline(&line, &room, stdin)) {
        struct str text = arena_copy(arena, (struct str){line, (size_t)len - 1});
        struct str fields[4] = {{NULL, 0}};
        for (size_t i = 0; i < 4; i++) {
            const char *tab = i == 3 ? NULL : memchr(text.ptr, '\t', text.len);
            size_t used = tab == NULL ? text.len : (size_t)(tab - text.ptr);
            fields[i] = arena_copy(arena, (struct str){text.ptr, used});
            text = tab == NULL ? STR("") : (struct str){tab + 1, text.len - used - 1};
        }
        out[count++] = (struct ddb_request){.operation = fields[0].ptr,
                                            .lane = strtoull(fields[1].ptr, NULL, 10),
                                            .units = strtod(fields[2].ptr, NULL),
                                            .body = fields[3]};
    }
    free(line);
    return count;
}

static void add_text(struct buffer *out, const char *name, struct str text)
{
    buffer_format(out, ", \"%s\": ", name);
    json_write_string(out, text);
}

static void print_request(struct ddb_account *account, const struct ddb_request *request)
{
    static const char *const names[] = {"none", "ok", "condition", "cancelled", "error"};
    struct buffer out = {0};
    struct error err = {0};
    buffer_format(&out, "{\"reply\": \"%s\", \"status\": %d, \"unsure\": %s, \"attempts\": %u",
                  names[request->reply], request->status, request->unsure ? "true" : "false",
                  request->attempts);
    buffer_format(&out, ", \"consumed\": %g", request->consumed);
    add_text(&out, "type", request->type);
    add_text(&out, "message", request->message);
    add_text(&out, "content", request->content);
    if (request->reply > DDB_OK) {
        (void)ddb_request_error(account, request, &err);
    }
    add_text(&out, "error", (struct str){err.text, strlen(err.text)});
    (void)printf("%.*s}\n", (int)out.len, out.bytes);
    buffer_free(&out);
}

static double cpu_us(void)
{
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void print_end(struct ddb_account *account, const struct error *err, double spent_us)
{
    struct arena *arena = arena_new();
    struct buffer out = {0};
    struct ddb_stats stats = {0};
    struct str place = STR("");
    if (account != NULL) {
        ddb_account_stats(account, &stats);
        place = ddb_account_describe(account, arena);
    }
    buffer_format(&out, "{\"requests\": %" PRIu64 ", \"attempts\": %" PRIu64, stats.requests,
                  stats.attempts);
    buffer_format(&out, ", \"throttled\": %" PRIu64 ", \"read_units\": %g, \"write_units\": %g",
                  stats.throttled, stats.read_units, stats.write_units);
    buffer_format(&out, ", \"skew_s\": %" PRId64 ", \"cpu_us\": %.0f, \"code\": %d", stats.skew_s,
                  spent_us, (int)err->code);
    add_text(&out, "throttled_by", (struct str){stats.throttled_by, strlen(stats.throttled_by)});
    add_text(&out, "place", place);
    add_text(&out, "error", (struct str){err->text, strlen(err->text)});
    (void)printf("%.*s}\n", (int)out.len, out.bytes);
    buffer_free(&out);
    arena_free(arena);
}

/* One thread's share: all requests, in a copy of its own. */
struct sender {
    struct ddb_account *account;
    const struct settings *settings;
    struct ddb_request *requests;
    size_t count;
    bool ok;
    struct error err;
};

static void send_round(struct sender *sender, struct ddb_client *client, struct arena *replies)
{
    double wanted = sender->settings->at_once;
    size_t step = wanted > 0 ? (size_t)wanted : sender->count;
    for (size_t at = 0; at < sender->count; at += step) {
        size_t here = sender->count - at < step ? sender->count - at : step;
        struct error why = {0};
        arena_reset(replies);
        if (!ddb_calls(client, sender->requests + at, here, replies, &why) && sender->ok) {
            sender->ok = false;
            sender->err = why;
        }
        for (size_t i = at; sender->settings->quiet <= 0 && i < at + here; i++) {
            print_request(sender->account, &sender->requests[i]);
        }
    }
}

static void *send_all(void *argument)
{
    struct sender *sender = argument;
    struct ddb_client *client = NULL;
    sender->ok = ddb_client_open(sender->account, &client, &sender->err);
    struct arena *replies = arena_new();
    for (double round = 0; client != NULL && round < sender->settings->repeat; round++) {
        send_round(sender, client, replies);
    }
    arena_free(replies);
    ddb_client_close(client);
    return NULL;
}

static bool run(struct ddb_account *account, const struct settings *settings, struct error *err)
{
    struct arena *arena = arena_new();
    struct ddb_request *requests = arena_zero(arena, REQUESTS_MAX * sizeof *requests);
    size_t count = read_requests(arena, requests);
    pthread_t threads[THREADS_MAX];
    struct sender senders[THREADS_MAX];
    size_t wanted = settings->threads > 0 ? (size_t)settings->threads : 1;
    size_t started = 0;
    for (; started < wanted && started < THREADS_MAX; started++) {
        struct ddb_request *copy = arena_zero(arena, (count + 1) * sizeof *copy);
        memcpy(copy, requests, count * sizeof *copy);
        senders[started] = (struct sender){account, settings, copy, count, false, {0}};
        if (pthread_create(&threads[started], NULL, send_all, &senders[started]) != 0) {
            break;
        }
    }
    bool ok = started == wanted;
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
        if (ok && !senders[i].ok) {
            ok = false;
            *err = senders[i].err;
        }
    }
    arena_free(arena);
    return ok;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return EXIT_FAILURE;
    }
    struct settings settings = {.repeat = 1, .started_us = now_us(NULL), .profile = STR_INIT("")};
    for (int i = 3; i < argc; i++) {
        read_setting(&settings, argv[i]);
    }
    struct ddb_world world = {.context = &settings,
                              .now_us = now_us,
                              .wall_s = wall_s,
                              .random = any_bits,
                              .stopped = stopped};
    struct ddb_options options = {
        .endpoint = {argv[1], strlen(argv[1])},
        .region = {argv[2], strlen(argv[2])},
        .profile = settings.profile,
        .max_rcu = settings.max_rcu,
        .max_wcu = settings.max_wcu,
        .timeout_ms = (unsigned)settings.timeout_ms,
        .world = &world,
    };
    struct error err = {0};
    struct ddb_account *account = NULL;
    double before_us = cpu_us();
    bool ok = ddb_account_open(&options, &account, &err) && run(account, &settings, &err);
    print_end(account, &err, cpu_us() - before_us);
    ddb_account_close(account);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
