#include "engine/store/dynamodb/ddb_internal.h"
#include "engine/store/dynamodb/ddb_lease_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWNER  "refold_value" /* the mark of all our records; here it tells who holds the lease */
#define HOLDER "refold_holder"
#define TOKEN  "refold_token"
#define BEAT   "refold_beat"

/* ---------------------------------------------------------------- holders */

enum { FILE_TEXT_MAX = 1024 };

/* The first line of a small file; empty where it cannot be read. */
static struct str first_line(const char *path, char text[FILE_TEXT_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, text, FILE_TEXT_MAX - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[len > 0 ? len : 0] = '\0';
    return (struct str){text, strcspn(text, "\n")};
}

/* When the process began, in the kernel's ticks; 0: there is no such process, or it has ended and
 * its parent was not told yet. It tells apart two that had the same number. proc(5),
 * /proc/pid/stat, fields 3 and 22. */
static unsigned long long process_start(long pid)
{
    enum { FIELDS_BEFORE = 20 }; /* after the name, which ends with the last ')' */
    char path[64];
    char text[FILE_TEXT_MAX];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    struct str line = first_line(path, text);
    const char *at = line.len == 0 ? NULL : strrchr(line.ptr, ')');
    if (at != NULL && strncmp(at, ") Z", 3) == 0) {
        return 0;
    }
    for (int field = 0; at != NULL && field < FIELDS_BEFORE; field++) {
        at = strchr(at + 1, ' ');
    }
    return at == NULL ? 0 : strtoull(at, NULL, 10);
}

/* That of another user may run and not be seen. proc(5), hidepid. */
static bool is_hidden(long pid)
{
    return process_start(pid) == 0 && kill((pid_t)pid, 0) != 0 && errno == EPERM;
}

/* What a process number means something in: host, boot, and the kernel's space of processes. */
static struct str process_space(struct arena *arena)
{
    char host[256] = "";
    char boot[FILE_TEXT_MAX];
    char space[64] = "";
    if (gethostname(host, sizeof host - 1) != 0) {
        host[0] = '\0';
    }
    struct str id = first_line("/proc/sys/kernel/random/boot_id", boot);
    ssize_t len = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    space[len > 0 ? len : 0] = '\0';
    return arena_format(arena, "%s/%.*s/%s", host, STR_ARG(id), space);
}

struct str lease_holder_self(struct arena *arena)
{
    long pid = (long)getpid();
    struct str space = process_space(arena);
    return arena_format(arena, "%.*s/%ld/%llu", STR_ARG(space), pid, process_start(pid));
}

bool lease_holder_is_dead(struct str holder)
{
    struct arena *arena = arena_new();
    struct str space = process_space(arena);
    const char *text = arena_copy(arena, holder).ptr;
    bool dead = false;
    if (str_begins(holder, space) && text[space.len] == '/') {
        char *end = NULL;
        long pid = strtol(text + space.len + 1, &end, 10);
        unsigned long long start = *end == '/' ? strtoull(end + 1, NULL, 10) : 0;
        dead = pid > 0 && start > 0 && process_start(pid) != start && !is_hidden(pid);
    }
    arena_free(arena);
    return dead;
}

/* ---------------------------------------------------------------- the record */

static uint64_t number_of(struct value item, struct str name)
{
    struct value value = value_member(item, name);
    int64_t n = 0;
    if (value_type(value) == VALUE_N) {
        struct number number = value_number(value);
        (void)number_to_int(&number, &n);
    }
    return n > 0 ? (uint64_t)n : 0;
}

static struct str text_of(struct value item, struct str name)
{
    struct value value = value_member(item, name);
    enum value_type type = value_type(value);
    return type == VALUE_S || type == VALUE_B ? value_bytes(value) : STR("");
}

bool lease_record_read(const struct ddb_asking *asking, struct str name, struct lease_record *out,
                       struct error *err)
{
    struct value item;
    if (!control_item(asking, name, &item, err)) {
        return false;
    }
    *out = (struct lease_record){.name = name, .owner = STR("")};
    if (!value_is_missing(item)) {
        out->owner = text_of(item, STR(OWNER));
        out->holder = text_of(item, STR(HOLDER));
        out->token = number_of(item, STR(TOKEN));
        out->beat = number_of(item, STR(BEAT));
    }
    return true;
}

/* ---------------------------------------------------------------- changing it */

static bool begin_change(struct composer *composer, const struct ddb_asking *asking,
                         struct str name, struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct key key;
    if (!control_key(&store->home, name, asking->arena, &key, err)) {
        return false;
    }
    compose_begin(composer, store->home.table);
    compose_key(composer, "Key", &store->home.keys, &key);
    return true;
}

/* That the record is still the owner's own. */
static void compose_own(struct composer *composer, const struct lease_record *own,
                        struct arena *arena)
{
    unsigned token_name = compose_name(composer, STR(TOKEN));
    unsigned token = compose_value(composer, control_number(own->token, arena));
    unsigned holder_name = compose_name(composer, STR(HOLDER));
    unsigned holder = compose_value(composer, value_string(arena, own->holder));
    buffer_format(&composer->condition, "#%u=:%u AND #%u=:%u", token_name, token, holder_name,
                  holder);
}

/* *done is false where the condition failed. */
static bool send(const struct ddb_asking *asking, struct ddb_request *request, bool *done,
                 struct error *err)
{
    if (!answer_calls(asking, request, 1, err)) {
        return false;
    }
    *done = request->reply == DDB_OK;
    return *done || request->reply == DDB_CONDITION ||
           ddb_request_error(asking->store->account, request, err);
}

bool lease_record_beat(const struct ddb_asking *asking, const struct lease_record *own, bool *held,
                       struct error *err)
{
    struct arena *arena = asking->arena;
    struct composer composer = {.name_count = 0};
    bool ok = begin_change(&composer, asking, own->name, err);
    if (ok) {
        compose_own(&composer, own, arena);
        unsigned name = compose_name(&composer, STR(BEAT));
        unsigned one = compose_value(&composer, control_number(1, arena));
        buffer_format(&composer.set, "#%u=#%u+:%u", name, name, one);
        compose_expressions(&composer);
        struct ddb_request request = {
            .operation = "UpdateItem", .body = compose_end(&composer, arena), .urgent = true};
        ok = send(asking, &request, held, err);
    }
    composer_free(&composer);
    return ok;
}

bool lease_record_free(const struct ddb_asking *asking, const struct lease_record *own,
                       struct error *err)
{
    struct composer composer = {.name_count = 0};
    bool stays = str_equal(own->name, STR(LEASE_NAME));
    bool held = false;
    bool ok = begin_change(&composer, asking, own->name, err);
    if (ok) {
        compose_own(&composer, own, asking->arena);
        if (stays) {
            unsigned name = compose_name(&composer, STR(HOLDER));
            buffer_format(&composer.remove, "#%u", name);
        }
        compose_expressions(&composer);
        struct ddb_request request = {.operation = stays ? "UpdateItem" : "DeleteItem",
                                      .body = compose_end(&composer, asking->arena)};
        ok = send(asking, &request, &held, err);
    }
    composer_free(&composer);
    return ok;
}

static bool record_item(const struct ddb_store *store, const struct lease_record *record,
                        struct arena *arena, struct value *out, struct error *err)
{
    const struct key_schema *keys = &store->home.keys;
    struct key key;
    if (!control_key(&store->home, record->name, arena, &key, err)) {
        return false;
    }
    struct attribute members[] = {
        {keys->partition[0].name, key.parts[0]},
        {keys->sort[0].name, key.parts[1]},
        {STR(OWNER), value_binary(arena, record->owner)},
        {STR(HOLDER), value_string(arena, record->holder)},
        {STR(TOKEN), control_number(record->token, arena)},
        {STR(BEAT), control_number(0, arena)},
    };
    return value_map(arena, members, sizeof members / sizeof *members, out, err);
}

static void compose_standing(struct composer *composer, const struct ddb_store *store,
                             const struct lease_record *standing, struct arena *arena)
{
    if (standing->token == 0) {
        compose_exists(composer, &store->home.keys, false);
        return;
    }
    unsigned token_name = compose_name(composer, STR(TOKEN));
    unsigned token = compose_value(composer, control_number(standing->token, arena));
    unsigned beat_name = compose_name(composer, STR(BEAT));
    unsigned beat = compose_value(composer, control_number(standing->beat, arena));
    buffer_format(&composer->condition, "#%u=:%u AND #%u=:%u", token_name, token, beat_name, beat);
}

bool lease_record_bury(const struct ddb_asking *asking, const struct lease_record *standing,
                       bool *gone, struct error *err)
{
    struct arena *arena = asking->arena;
    struct composer composer = {.name_count = 0};
    bool ok = begin_change(&composer, asking, standing->name, err);
    if (ok) {
        compose_standing(&composer, asking->store, standing, arena);
        compose_expressions(&composer);
        struct ddb_request request = {.operation = "DeleteItem",
                                      .body = compose_end(&composer, arena)};
        ok = send(asking, &request, gone, err);
    }
    composer_free(&composer);
    return ok;
}

static bool put_record(const struct ddb_asking *asking, const struct lease_record *standing,
                       const struct lease_record *wanted, struct ddb_request *out,
                       struct error *err)
{
    const struct ddb_store *store = asking->store;
    struct arena *arena = asking->arena;
    struct composer composer = {.name_count = 0};
    struct value item;
    bool done = false;
    if (!record_item(store, wanted, arena, &item, err)) {
        return false;
    }
    compose_begin(&composer, store->home.table);
    compose_item(&composer, "Item", item);
    compose_standing(&composer, store, standing, arena);
    compose_expressions(&composer);
    *out = (struct ddb_request){.operation = "PutItem", .body = compose_end(&composer, arena)};
    composer_free(&composer);
    return send(asking, out, &done, err);
}

/* After a lost reply, a failed condition may be our own doing. */
bool lease_record_take(const struct ddb_asking *asking, const struct lease_record *standing,
                       const struct lease_record *wanted, bool *taken, struct error *err)
{
    struct ddb_request request;
    struct lease_record now = {.token = 0};
    bool ok = put_record(asking, standing, wanted, &request, err);
    *taken = ok && request.reply == DDB_OK;
    if (ok && !*taken && request.unsure) {
        ok = lease_record_read(asking, wanted->name, &now, err);
        *taken = ok && now.token == wanted->token && str_equal(now.holder, wanted->holder);
    }
    return ok;
}
