#include "migrate/cli/control_file.h"

#include "engine/base/arena.h"
#include "engine/base/ticker.h"
#include "migrate/cli/files.h"
#include "migrate/cli/report.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX_BYTES = 1 << 16, LOOK_MS = 500 };

struct control_file {
    struct control_watch watch;
    const char *path;
    struct control_settings settings; /* that hold */
    struct stat seen;                 /* of the file that was read last; all zero: it was absent */
    struct ticker *ticker;
};

/* ---------------------------------------------------------------- the text */

/* Cuts *rest behind the next '\n'; what stood before it is returned. */
static struct str next_line(struct str *rest)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->ptr);
    size_t taken = end == NULL ? len : len + 1;
    struct str line = {rest->ptr, len};
    *rest = (struct str){rest->ptr + taken, rest->len - taken};
    return line;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Without its comment, and white space at both ends. */
static struct str bare(struct str line)
{
    const char *comment = memchr(line.ptr, '#', line.len);
    line.len = comment == NULL ? line.len : (size_t)(comment - line.ptr);
    while (line.len > 0 && is_blank(line.ptr[line.len - 1])) {
        line.len--;
    }
    while (line.len > 0 && is_blank(line.ptr[0])) {
        line = (struct str){line.ptr + 1, line.len - 1};
    }
    return line;
}

/* Cuts *rest behind the next word. */
static struct str next_word(struct str *rest)
{
    size_t len = 0;
    while (len < rest->len && !is_blank(rest->ptr[len])) {
        len++;
    }
    struct str word = {rest->ptr, len};
    *rest = bare((struct str){rest->ptr + len, rest->len - len});
    return word;
}

static bool read_switch(const char *name, struct str value, bool *out, struct error *err)
{
    if (value.len > 0 || *out) {
        return error_set(err, ERROR_USAGE, value.len > 0 ? "'%s' takes no value" : "'%s' twice",
                         name);
    }
    *out = true;
    return true;
}

static bool read_limit(const char *name, struct str value, struct store_limit *out,
                       struct error *err)
{
    if (out->units > 0) {
        return error_set(err, ERROR_USAGE, "'%s' twice", name);
    }
    return store_limit_parse(name, value, out, err);
}

static bool read_setting(struct str line, struct control_settings *out, struct error *err)
{
    struct str value = line;
    struct str name = next_word(&value);
    if (str_equal(name, STR("max-rcu"))) {
        return read_limit("max-rcu", value, &out->limits.read, err);
    }
    if (str_equal(name, STR("max-wcu"))) {
        return read_limit("max-wcu", value, &out->limits.write, err);
    }
    if (str_equal(name, STR("pause"))) {
        return read_switch("pause", value, &out->pauses, err);
    }
    if (str_equal(name, STR("abort"))) {
        return read_switch("abort", value, &out->aborts, err);
    }
    return error_set(err, ERROR_USAGE,
                     "'%.*s' is no setting: expected max-rcu N, max-wcu N, pause or abort",
                     STR_ARG(name));
}

bool control_settings_parse(struct str text, struct control_settings *out, struct error *err)
{
    struct control_settings settings = {.pauses = false};
    for (size_t number = 1; text.len > 0; number++) {
        struct str line = bare(next_line(&text));
        if (line.len > 0 && !read_setting(line, &settings, err)) {
            return error_wrap(err, "line %zu", number);
        }
    }
    *out = settings;
    return true;
}

static bool read_option(const struct invocation *invocation, const char *name,
                        struct store_limit *out, struct error *err)
{
    const char *text = invocation_text(invocation, name);
    if (text == NULL) {
        return true;
    }
    return store_limit_parse(name, (struct str){text, strlen(text)}, out, err) ||
           error_wrap(err, "--%s", name);
}

bool control_limits_read(const struct invocation *invocation, struct store_limits *out,
                         struct error *err)
{
    struct store_limits limits = {.read = {.units = 0}};
    if (!read_option(invocation, "max-rcu", &limits.read, err) ||
        !read_option(invocation, "max-wcu", &limits.write, err)) {
        return false;
    }
    *out = limits;
    return true;
}

/* ---------------------------------------------------------------- what it does */

static struct store_limit first_set(struct store_limit limit, struct store_limit otherwise)
{
    return limit.units > 0 ? limit : otherwise;
}

static bool limits_equal(const struct store_limits *a, const struct store_limits *b)
{
    return a->read.units == b->read.units && a->read.is_percent == b->read.is_percent &&
           a->write.units == b->write.units && a->write.is_percent == b->write.is_percent;
}

static bool set_limits(const struct control_file *file, const struct store_limits *limits,
                       struct error *err)
{
    const struct store_limits *usual = &file->watch.limits;
    struct store_limits merged = {first_set(limits->read, usual->read),
                                  first_set(limits->write, usual->write)};
    return store_set_limits(file->watch.store, &merged, err);
}

static struct str limit_text(struct store_limit limit, struct arena *arena)
{
    return limit.units > 0 ? arena_format(arena, "%g%s", limit.units, limit.is_percent ? "%" : "")
                           : STR("as the options say");
}

static void tell_limits(const struct control_file *file, const struct store_limits *limits,
                        struct arena *arena)
{
    report_message(file->watch.invocation, "%s: max-rcu %.*s, max-wcu %.*s", file->path,
                   STR_ARG(limit_text(limits->read, arena)),
                   STR_ARG(limit_text(limits->write, arena)));
}

static bool apply(struct control_file *file, const struct control_settings *wanted,
                  struct arena *arena, struct error *err)
{
    const struct control_settings *held = &file->settings;
    const struct invocation *invocation = file->watch.invocation;
    if (!limits_equal(&wanted->limits, &held->limits)) {
        if (!set_limits(file, &wanted->limits, err)) {
            return false;
        }
        tell_limits(file, &wanted->limits, arena);
    }
    if (wanted->pauses != held->pauses) {
        atomic_store(invocation->paused, wanted->pauses);
        report_message(invocation, "%s: %s", file->path,
                       wanted->pauses ? "paused, until the line is taken out" : "going on");
    }
    if (wanted->aborts && !held->aborts) {
        atomic_store(invocation->stop, true);
        report_message(invocation, "%s: aborted; the line has to go before the run can go on",
                       file->path);
    }
    file->settings = *wanted;
    return true;
}

/* ---------------------------------------------------------------- looking at it */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool read_file(struct control_file *file, bool is_there, struct arena *arena,
                      struct error *err)
{
    struct str text = STR("");
    struct control_settings settings;
    return (!is_there || file_read(file->path, FILE_MAX_BYTES, arena, &text, err)) &&
           (control_settings_parse(text, &settings, err) || error_wrap(err, "%s", file->path)) &&
           apply(file, &settings, arena, err);
}

static void look(void *context)
{
    struct control_file *file = context;
    struct stat now;
    bool is_there = stat(file->path, &now) == 0;
    if (!is_there) {
        now = (struct stat){.st_size = 0};
    }
    if (is_same_file(&now, &file->seen)) {
        return;
    }
    file->seen = now;
    struct arena *arena = arena_new();
    struct error err = {0};
    if (!read_file(file, is_there, arena, &err)) {
        report_message(file->watch.invocation, "%s; what held before goes on to hold", err.text);
    }
    arena_free(arena);
}

/* ---------------------------------------------------------------- opening */

static const char *choose_path(const struct control_watch *watch)
{
    return watch->path != NULL
               ? watch->path
               : arena_format(watch->invocation->arena, "%scontrol", watch->store->run_files).ptr;
}

bool control_file_open(const struct control_watch *watch, struct control_file **out,
                       struct error *err)
{
    assert(watch->invocation->stop != NULL && watch->invocation->paused != NULL);
    if (!store_set_limits(watch->store, &watch->limits, err)) {
        return false;
    }
    struct control_file *file = heap_alloc(sizeof *file);
    *file = (struct control_file){.watch = *watch, .path = choose_path(watch)};
    look(file);
    if (!ticker_start(LOOK_MS, look, file, &file->ticker, err)) {
        heap_free(file);
        return false;
    }
    *out = file;
    return true;
}

void control_file_close(struct control_file *file)
{
    if (file != NULL) {
        ticker_stop(file->ticker);
        heap_free(file);
    }
}
