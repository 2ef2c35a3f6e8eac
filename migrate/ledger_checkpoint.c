#include "migrate/ledger_checkpoint.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "migrate/ledger_json.h"

#include <inttypes.h>

struct str checkpoint_prefix(uint32_t version, struct arena *arena)
{
    return arena_format(arena, "checkpoint/%010" PRIu32 "/", version);
}

/* ---------------------------------------------------------------- writing */

static void add_cursor(cJSON *object, struct str cursor)
{
    struct buffer text = {0};
    base64_write(cursor, &text);
    ledger_json_add_text(object, "cursor", buffer_str(&text));
    buffer_free(&text);
}

struct control checkpoint_control(const struct checkpoint_run *run, uint32_t segment,
                                  const struct checkpoint *checkpoint, struct arena *arena)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "hash", run->hash);
    ledger_json_add_text(object, "table", run->table);
    (void)cJSON_AddNumberToObject(object, "stage", run->stage);
    (void)cJSON_AddNumberToObject(object, "pass", (double)run->pass);
    (void)cJSON_AddNumberToObject(object, "segments", run->segments);
    (void)cJSON_AddNumberToObject(object, "segment", segment);
    add_cursor(object, checkpoint->cursor);
    (void)cJSON_AddBoolToObject(object, "done", checkpoint->done);
    (void)cJSON_AddNumberToObject(object, "items", (double)checkpoint->items);
    cJSON *steps = cJSON_AddArrayToObject(object, "steps");
    for (size_t i = 0; i < run->step_count; i++) {
        cJSON *step = cJSON_CreateObject();
        step_counts_to_json(&checkpoint->counts[i], step);
        (void)cJSON_AddItemToArray(steps, step);
    }
    (void)cJSON_AddItemToObject(object, "faults",
                                item_faults_to_json(checkpoint->faults, checkpoint->fault_count));
    struct str prefix = checkpoint_prefix(run->version, arena);
    return (struct control){
        .name = arena_format(arena, "%.*s%05" PRIu32, STR_ARG(prefix), segment),
        .value = ledger_json_print(object, arena),
    };
}

/* ---------------------------------------------------------------- reading */

static bool differs(const char *what, struct error *err)
{
    return error_set(err, ERROR_STORE,
                     "it was written for another %s\n"
                     "hint: 'refold rollback TABLE' takes back what the run did; then apply again",
                     what);
}

/* What the record was written for. */
static bool read_run(const cJSON *object, struct arena *arena, struct checkpoint_run *out,
                     struct error *err)
{
    uint64_t stage = 0;
    uint64_t segments = 0;
    if (!ledger_json_text(object, "hash", arena, &out->hash, err) ||
        !ledger_json_text(object, "table", arena, &out->table, err) ||
        !ledger_json_number(object, "stage", &stage, err) ||
        !ledger_json_number(object, "pass", &out->pass, err) ||
        !ledger_json_number(object, "segments", &segments, err)) {
        return false;
    }
    out->stage = (uint32_t)stage;
    out->segments = (uint32_t)segments;
    return true;
}

static bool check_run(const cJSON *object, const struct checkpoint_run *run, struct arena *arena,
                      struct error *err)
{
    struct checkpoint_run found = {.version = run->version};
    if (!read_run(object, arena, &found, err)) {
        return false;
    }
    if (!str_equal(found.hash, run->hash)) {
        return differs("text of the plan", err);
    }
    if (!str_equal(found.table, run->table)) {
        return differs("table", err);
    }
    if (found.segments != run->segments) {
        return differs("number of segments", err);
    }
    return (found.stage == run->stage && found.pass == run->pass) || differs("pass", err);
}

static bool read_counts(const cJSON *object, const struct checkpoint_run *run, struct arena *arena,
                        struct checkpoint *out, struct error *err)
{
    const cJSON *steps = NULL;
    if (!ledger_json_array(object, "steps", &steps, err)) {
        return false;
    }
    if ((size_t)cJSON_GetArraySize(steps) != run->step_count) {
        return error_set(err, ERROR_DAMAGED, "member 'steps' has another length than the pass");
    }
    out->counts = arena_zero(arena, (run->step_count + 1) * sizeof *out->counts);
    struct step_counts *counts = out->counts;
    const cJSON *step = NULL;
    cJSON_ArrayForEach(step, steps) {
        if (!step_counts_from_json(step, counts++, err)) {
            return false;
        }
    }
    return true;
}

static bool read_place(const cJSON *object, struct arena *arena, struct checkpoint *out,
                       struct error *err)
{
    struct str cursor;
    if (!ledger_json_text(object, "cursor", arena, &cursor, err) ||
        !ledger_json_bool(object, "done", &out->done, err) ||
        !ledger_json_number(object, "items", &out->items, err)) {
        return false;
    }
    if (!base64_read(cursor, arena, &out->cursor, err)) {
        err->code = ERROR_DAMAGED;
        return false;
    }
    return true;
}

static bool read_object(const cJSON *object, const struct checkpoint_run *run, struct arena *arena,
                        struct checkpoint *list, struct error *err)
{
    const cJSON *faults = NULL;
    uint64_t segment = 0;
    struct checkpoint read = {.done = false};
    if (!check_run(object, run, arena, err) ||
        !ledger_json_number(object, "segment", &segment, err)) {
        return false;
    }
    if (segment >= run->segments) {
        return error_set(err, ERROR_DAMAGED, "there is no segment %" PRIu64, segment);
    }
    if (!read_place(object, arena, &read, err) || !read_counts(object, run, arena, &read, err) ||
        !ledger_json_array(object, "faults", &faults, err) ||
        !item_faults_from_json(faults, arena, &read.faults, &read.fault_count, err)) {
        return false;
    }
    list[segment] = read;
    return true;
}

static bool read_one(const struct control *control, const struct checkpoint_run *run,
                     struct arena *arena, struct checkpoint *list, struct error *err)
{
    cJSON *object = NULL;
    if (!ledger_json_parse(control->value, control->name, &object, err)) {
        return false;
    }
    bool ok = read_object(object, run, arena, list, err);
    cJSON_Delete(object);
    return ok || error_wrap(err, "the table's own record '%.*s'", STR_ARG(control->name));
}

bool checkpoint_read(struct store_reader *reader, const struct checkpoint_run *run,
                     struct arena *arena, struct checkpoint *out, struct error *err)
{
    struct control_list controls = {NULL, 0};
    if (!store_control_list(reader, checkpoint_prefix(run->version, arena), arena, &controls,
                            err)) {
        return false;
    }
    for (uint32_t i = 0; i < run->segments; i++) {
        out[i] = (struct checkpoint){
            .cursor = STR(""),
            .counts = arena_zero(arena, (run->step_count + 1) * sizeof *out[i].counts)};
    }
    for (size_t i = 0; i < controls.count; i++) {
        if (!read_one(&controls.list[i], run, arena, out, err)) {
            return false;
        }
    }
    return true;
}

static bool add_progress(const struct control *control, struct arena *arena, uint64_t *items,
                         uint32_t *done, struct error *err)
{
    cJSON *object = NULL;
    struct checkpoint read = {.done = false};
    if (!ledger_json_parse(control->value, control->name, &object, err)) {
        return false;
    }
    bool ok = read_place(object, arena, &read, err);
    cJSON_Delete(object);
    *items += read.items;
    *done += read.done ? 1 : 0;
    return ok || error_wrap(err, "the table's own record '%.*s'", STR_ARG(control->name));
}

bool checkpoint_progress(struct store_reader *reader, uint32_t version, uint64_t *items,
                         uint32_t *done, struct error *err)
{
    struct arena *arena = arena_new();
    struct control_list controls = {NULL, 0};
    bool ok = store_control_list(reader, checkpoint_prefix(version, arena), arena, &controls, err);
    *items = 0;
    *done = 0;
    for (size_t i = 0; ok && i < controls.count; i++) {
        ok = add_progress(&controls.list[i], arena, items, done, err);
    }
    arena_free(arena);
    return ok;
}
