#include "migrate/ledger/import_state.h"

#include "migrate/ledger/ledger.h"
#include "migrate/ledger/ledger_json.h"

#include <stddef.h>
#include <string.h>

#define IMPORT_NAME "import"

/* Members that are texts. */
static const struct {
    const char *name;
    size_t offset;
} texts[] = {
    {"map", offsetof(struct import_record, map)},
    {"source", offsetof(struct import_record, source)},
    {"snapshot", offsetof(struct import_record, snapshot)},
    {"snapshot_time", offsetof(struct import_record, snapshot_time)},
    {"started", offsetof(struct import_record, started)},
    {"ended", offsetof(struct import_record, ended)},
    {"who", offsetof(struct import_record, who)},
};

static cJSON *record_to_json(const struct import_record *record)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "state", record->loading ? STR("loading") : STR("done"));
    (void)cJSON_AddBoolToObject(object, "created", record->created);
    (void)cJSON_AddBoolToObject(object, "was_empty", record->was_empty);
    (void)cJSON_AddNumberToObject(object, "pass", (double)record->pass);
    (void)cJSON_AddNumberToObject(object, "rows", (double)record->rows);
    (void)cJSON_AddNumberToObject(object, "items", (double)record->items);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct str text;
        memcpy(&text, (const char *)record + texts[i].offset, sizeof text);
        ledger_json_add_text(object, texts[i].name, text);
    }
    return object;
}

static bool texts_from_json(const cJSON *object, struct arena *arena, struct import_record *out,
                            struct error *err)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct str text;
        if (!ledger_json_text(object, texts[i].name, arena, &text, err)) {
            return false;
        }
        memcpy((char *)out + texts[i].offset, &text, sizeof text);
    }
    return true;
}

static bool record_from_json(const cJSON *object, struct arena *arena, struct import_record *out,
                             struct error *err)
{
    struct str state;
    if (!ledger_json_text(object, "state", arena, &state, err) ||
        !texts_from_json(object, arena, out, err)) {
        return false;
    }
    out->loading = str_equal(state, STR("loading"));
    return ledger_json_bool(object, "created", &out->created, err) &&
           ledger_json_bool(object, "was_empty", &out->was_empty, err) &&
           ledger_json_number(object, "pass", &out->pass, err) &&
           ledger_json_number(object, "rows", &out->rows, err) &&
           ledger_json_number(object, "items", &out->items, err);
}

bool import_state_read(struct store_reader *reader, struct arena *arena, struct import_record *out,
                       bool *found, struct error *err)
{
    struct str text;
    cJSON *object = NULL;
    if (!store_control_get(reader, STR(IMPORT_NAME), arena, &text, err)) {
        return false;
    }
    *found = text.ptr != NULL;
    *out = (struct import_record){0};
    if (!*found) {
        return true;
    }
    bool ok = ledger_json_parse(text, STR(IMPORT_NAME), &object, err) &&
              record_from_json(object, arena, out, err);
    cJSON_Delete(object);
    return ok;
}

bool import_state_write(struct store *store, const struct import_record *record, struct error *err)
{
    struct arena *arena = arena_new();
    struct control control = {.name = STR(IMPORT_NAME),
                              .value = ledger_json_print(record_to_json(record), arena)};
    bool ok = ledger_commit(store, &control, 1, err);
    arena_free(arena);
    return ok || error_wrap(err, "writing the import's record");
}

bool import_state_forget(struct store *store, struct error *err)
{
    struct control control = {.name = STR(IMPORT_NAME)};
    return ledger_commit(store, &control, 1, err);
}

bool import_is_unfinished(struct store_reader *reader, struct arena *arena, bool *unfinished,
                          struct str *detail, struct error *err)
{
    struct import_record record;
    bool found = false;
    if (!import_state_read(reader, arena, &record, &found, err)) {
        return false;
    }
    *unfinished = found && record.loading;
    if (*unfinished) {
        *detail =
            arena_format(arena,
                         "an import from %.*s, begun %.*s by %.*s, was not finished\n"
                         "hint: run the same import again",
                         STR_ARG(record.source), STR_ARG(record.started), STR_ARG(record.who));
    }
    return true;
}
