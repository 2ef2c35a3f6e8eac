#include "migrate/ledger/ledger.h"

#include "engine/base/buffer.h"
#include "migrate/ledger/ledger_json.h"

#include <inttypes.h>
#include <pwd.h>
#include <time.h>
#include <unistd.h>

#define PLAN_PREFIX "plan/"
#define PASS_NAME   "pass"

bool ledger_read(struct store_reader *reader, struct arena *arena, struct ledger *out,
                 struct error *err)
{
    struct control_list controls = {NULL, 0};
    if (!store_control_list(reader, STR(PLAN_PREFIX), arena, &controls, err)) {
        return false;
    }
    struct ledger_record *records = arena_alloc(arena, (controls.count + 1) * sizeof *records);
    for (size_t i = 0; i < controls.count; i++) {
        const struct control *control = &controls.list[i];
        if (!ledger_record_parse(control->value, control->name, arena, &records[i], err)) {
            return false;
        }
    }
    *out = (struct ledger){records, controls.count};
    return true;
}

struct ledger_record *ledger_find(const struct ledger *ledger, uint32_t version)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->records[i].version == version) {
            return &ledger->records[i];
        }
    }
    return NULL;
}

bool ledger_stands(const struct ledger_record *record)
{
    return record->state != RUN_ROLLED_BACK;
}

struct ledger_record *ledger_standing(const struct ledger *ledger, uint32_t version)
{
    struct ledger_record *record = ledger_find(ledger, version);
    return record != NULL && ledger_stands(record) ? record : NULL;
}

struct ledger_record *ledger_newest(const struct ledger *ledger)
{
    for (size_t i = ledger->count; i > 0; i--) {
        if (ledger_stands(&ledger->records[i - 1])) {
            return &ledger->records[i - 1];
        }
    }
    return NULL;
}

struct control ledger_control(const struct ledger_record *record, struct arena *arena)
{
    return (struct control){
        .name = arena_format(arena, PLAN_PREFIX "%010" PRIu32, record->version),
        .value = ledger_json_print(ledger_record_to_json(record), arena),
    };
}

bool ledger_commit(struct store *store, const struct control *controls, size_t count,
                   struct error *err)
{
    struct arena *arena = arena_new();
    struct batch batch = {.controls = controls, .control_count = count, .arena = arena};
    bool ok = store_commit(store, &batch, err) && store_flush(store, err);
    arena_free(arena);
    return ok;
}

bool ledger_write(struct store *store, const struct ledger_record *record, struct error *err)
{
    struct arena *arena = arena_new();
    struct control control = ledger_control(record, arena);
    bool ok = ledger_commit(store, &control, 1, err);
    arena_free(arena);
    return ok || error_wrap(err, "writing the ledger");
}

/* No record yet is pass 0. */
static bool read_pass(struct str text, uint64_t *out, struct error *err)
{
    uint64_t pass = 0;
    if (text.ptr == NULL) {
        *out = 0;
        return true;
    }
    bool good = text.len > 0;
    for (size_t i = 0; good && i < text.len; i++) {
        good = text.ptr[i] >= '0' && text.ptr[i] <= '9' && pass < LEDGER_NUMBER_MAX / 10;
        pass = pass * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    if (!good) {
        return error_set(err, ERROR_DAMAGED, "the table's own record '" PASS_NAME "' is damaged");
    }
    *out = pass;
    return true;
}

static bool advance_pass(struct store *store, struct store_reader *reader, struct arena *arena,
                         uint64_t *out, struct error *err)
{
    struct str text;
    uint64_t pass = 0;
    if (!store_control_get(reader, STR(PASS_NAME), arena, &text, err) ||
        !read_pass(text, &pass, err)) {
        return false;
    }
    struct control control = {.name = STR(PASS_NAME),
                              .value = arena_format(arena, "%" PRIu64, pass + 1)};
    if (!ledger_commit(store, &control, 1, err)) {
        return false;
    }
    *out = pass + 1;
    return true;
}

bool ledger_next_pass(struct store *store, struct store_reader *reader, uint64_t *out,
                      struct error *err)
{
    struct arena *arena = arena_new();
    bool ok = advance_pass(store, reader, arena, out, err);
    arena_free(arena);
    return ok;
}

struct collecting {
    struct store_reader *reader;
    struct arena *arena;
    struct buffer controls; /* of struct control, which delete */
};

/* What begins with the prefix, but for one record. */
static bool collect(struct collecting *to, struct str prefix, struct str but, struct error *err)
{
    struct control_list found = {NULL, 0};
    if (!store_control_list(to->reader, prefix, to->arena, &found, err)) {
        return false;
    }
    for (size_t i = 0; i < found.count; i++) {
        struct control gone = {.name = found.list[i].name};
        if (!str_equal(gone.name, but)) {
            buffer_add(&to->controls, (struct str){(const char *)&gone, sizeof gone});
        }
    }
    return true;
}

static bool commit_all(struct store *store, const struct buffer *controls, struct error *err)
{
    return ledger_commit(store, (const struct control *)(const void *)controls->bytes,
                         controls->len / sizeof(struct control), err);
}

bool ledger_forget(struct store *store, struct store_reader *reader, struct str prefix,
                   struct error *err)
{
    struct collecting all = {reader, arena_new(), {NULL, 0, 0}};
    bool ok = collect(&all, prefix, STR(""), err) && commit_all(store, &all.controls, err);
    buffer_free(&all.controls);
    arena_free(all.arena);
    return ok;
}

struct str ledger_reading_name(uint32_t version, uint32_t stage, struct arena *arena)
{
    return arena_format(arena, "probe/%010" PRIu32 "/%05" PRIu32 "-reading", version, stage);
}

bool ledger_settle(struct store *store, struct store_reader *reader,
                   const struct ledger_record *record, struct error *err)
{
    struct arena *arena = arena_new();
    struct collecting all = {reader, arena, {NULL, 0, 0}};
    struct control own = ledger_control(record, arena);
    struct str checkpoints = arena_format(arena, "checkpoint/%010" PRIu32 "/", record->version);
    struct str verdicts = arena_format(arena, "probe/%010" PRIu32 "/", record->version);
    bool goes_on = record->state == RUN_RUNNING;
    struct str reading =
        goes_on ? ledger_reading_name(record->version, record->stage, arena) : STR("");
    buffer_add(&all.controls, (struct str){(const char *)&own, sizeof own});
    bool ok = collect(&all, checkpoints, STR(""), err) && collect(&all, verdicts, reading, err) &&
              commit_all(store, &all.controls, err);
    buffer_free(&all.controls);
    arena_free(arena);
    return ok || error_wrap(err, "writing the ledger");
}

struct str ledger_now(struct arena *arena)
{
    time_t now = time(NULL);
    struct tm utc;
    char text[sizeof "2026-04-18T03:04:05Z" + 16];
    if (gmtime_r(&now, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
        return STR("");
    }
    return arena_copy(arena, (struct str){text, strlen(text)});
}

struct str ledger_host(struct arena *arena)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0) {
        host[0] = '\0';
    }
    return arena_copy(arena, (struct str){host, strlen(host)});
}

struct str ledger_who(struct arena *arena)
{
    const struct passwd *user = getpwuid(geteuid());
    struct str host = ledger_host(arena);
    return arena_format(arena, "%s@%.*s, process %ld", user != NULL ? user->pw_name : "?",
                        STR_ARG(host), (long)getpid());
}
