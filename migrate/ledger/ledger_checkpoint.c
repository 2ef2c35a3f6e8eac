#include "migrate/ledger/ledger_checkpoint.h"

#include "engine/base/buffer.h"
#include "engine/item/item_json.h"
#include "migrate/ledger/ledger_json.h"

#include <inttypes.h>

/* What the names of all of a plan's begin with. */
static struct str checkpoint_prefix(uint32_t version, struct arena *arena)
{
    return arena_format(arena, "checkpoint/%010" PRIu32 "/", version);
}

/* Greater with each claim, and in each pass greater than in the one before. */
static uint64_t token_of(const struct checkpoint_run *run, const struct checkpoint *checkpoint)
{
    enum { CLAIM_BITS = 20 };
    return run->pass << CLAIM_BITS | checkpoint->claim;
}

static struct str record_name(const struct checkpoint_run *run, uint32_t segment,
                              struct arena *arena)
{
    struct str prefix = checkpoint_prefix(run->version, arena);
    return arena_format(arena, "%.*s%05" PRIu32, STR_ARG(prefix), segment);
}

/* ---------------------------------------------------------------- writing */

static void add_key(cJSON *object, const char *name, struct str key)
{
    struct buffer text = {0};
    base64_write(key, &text);
    ledger_json_add_text(object, name, buffer_str(&text));
    buffer_free(&text);
}

struct control checkpoint_control(const struct checkpoint_run *run,
                                  const struct checkpoint *checkpoint, struct arena *arena)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "hash", run->hash);
    ledger_json_add_text(object, "table", run->table);
    (void)cJSON_AddNumberToObject(object, "stage", run->stage);
    (void)cJSON_AddNumberToObject(object, "pass", (double)run->pass);
    (void)cJSON_AddNumberToObject(object, "segments", run->segments);
    (void)cJSON_AddNumberToObject(object, "segment", checkpoint->segment);
    ledger_json_add_text(object, "owner", checkpoint->owner);
    (void)cJSON_AddNumberToObject(object, "claim", (double)checkpoint->claim);
    add_key(object, "cursor", checkpoint->cursor);
    add_key(object, "until", checkpoint->until);
    (void)cJSON_AddBoolToObject(object, "done", checkpoint->done);
    (void)cJSON_AddNumberToObject(object, "items", (double)checkpoint->items);
    ledger_json_add_usage(object, &checkpoint->used);
    cJSON *steps = cJSON_AddArrayToObject(object, "steps");
    for (size_t i = 0; i < run->step_count; i++) {
        cJSON *step = cJSON_CreateObject();
        step_counts_to_json(&checkpoint->counts[i], step);
        (void)cJSON_AddItemToArray(steps, step);
    }
    fault_list_to_json(&checkpoint->faults, object, "faults");
    fault_list_to_json(&checkpoint->gone, object, "gone");
    return (struct control){.name = record_name(run, checkpoint->segment, arena),
                            .value = ledger_json_print(object, arena),
                            .token = token_of(run, checkpoint)};
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

static bool read_key(const cJSON *object, const char *name, struct arena *arena, struct str *out,
                     struct error *err)
{
    struct str text;
    if (!ledger_json_text(object, name, arena, &text, err)) {
        return false;
    }
    if (!base64_read(text, arena, out, err)) {
        err->code = ERROR_DAMAGED;
        return false;
    }
    return true;
}

static bool read_place(const cJSON *object, struct arena *arena, struct checkpoint *out,
                       struct error *err)
{
    ledger_json_usage(object, &out->used);
    return ledger_json_text(object, "owner", arena, &out->owner, err) &&
           ledger_json_number(object, "claim", &out->claim, err) &&
           ledger_json_bool(object, "done", &out->done, err) &&
           ledger_json_number(object, "items", &out->items, err) &&
           read_key(object, "cursor", arena, &out->cursor, err) &&
           read_key(object, "until", arena, &out->until, err);
}

static bool read_segment(const cJSON *object, const struct checkpoint_run *run,
                         struct checkpoint *out, struct error *err)
{
    uint64_t segment = 0;
    if (!ledger_json_number(object, "segment", &segment, err)) {
        return false;
    }
    if (segment >= run->segments + CHECKPOINT_RANGES_MAX) {
        return error_set(err, ERROR_DAMAGED, "there is no segment %" PRIu64, segment);
    }
    out->segment = (uint32_t)segment;
    return true;
}

static bool read_object(const cJSON *object, const struct checkpoint_run *run, struct arena *arena,
                        struct checkpoint *out, struct error *err)
{
    return check_run(object, run, arena, err) && read_segment(object, run, out, err) &&
           read_place(object, arena, out, err) && read_counts(object, run, arena, out, err) &&
           fault_list_from_json(object, "faults", arena, &out->faults, err) &&
           fault_list_from_json(object, "gone", arena, &out->gone, err);
}

static bool read_control(const struct control *control, const struct checkpoint_run *run,
                         struct arena *arena, struct checkpoint *out, struct error *err)
{
    cJSON *object = NULL;
    *out = (struct checkpoint){.record = control->value};
    if (!ledger_json_parse(control->value, control->name, &object, err)) {
        return false;
    }
    bool ok = read_object(object, run, arena, out, err);
    cJSON_Delete(object);
    return ok || error_wrap(err, "the table's own record '%.*s'", STR_ARG(control->name));
}

/* What a segment begins as. */
static struct checkpoint begin(const struct checkpoint_run *run, uint32_t segment,
                               struct arena *arena)
{
    return (struct checkpoint){
        .segment = segment,
        .owner = STR(""),
        .cursor = STR(""),
        .until = STR(""),
        .counts = arena_zero(arena, (run->step_count + 1) * sizeof(struct step_counts))};
}

bool checkpoint_read(struct store_reader *reader, const struct checkpoint_run *run,
                     struct arena *arena, struct checkpoint *out, struct error *err)
{
    struct control_list controls = {NULL, 0};
    if (!store_control_list(reader, checkpoint_prefix(run->version, arena), arena, &controls,
                            err)) {
        return false;
    }
    for (uint32_t i = 0; i < run->segments + CHECKPOINT_RANGES_MAX; i++) {
        out[i] = begin(run, i, arena);
    }
    for (size_t i = 0; i < controls.count; i++) {
        struct checkpoint read;
        if (!read_control(&controls.list[i], run, arena, &read, err)) {
            return false;
        }
        out[read.segment] = read;
    }
    return true;
}

bool checkpoint_read_again(struct store_reader *reader, const struct checkpoint_run *run,
                           struct arena *arena, struct checkpoint *checkpoint, struct error *err)
{
    struct control control = {.name = record_name(run, checkpoint->segment, arena)};
    struct checkpoint read = begin(run, checkpoint->segment, arena);
    if (!store_control_get(reader, control.name, arena, &control.value, err) ||
        (control.value.ptr != NULL && !read_control(&control, run, arena, &read, err))) {
        return false;
    }
    *checkpoint = read;
    return true;
}

static bool add_up_failed(const cJSON *object, uint64_t *out, struct error *err)
{
    const cJSON *steps = NULL;
    if (!ledger_json_array(object, "steps", &steps, err)) {
        return false;
    }
    uint64_t sum = 0;
    const cJSON *step = NULL;
    cJSON_ArrayForEach(step, steps) {
        struct step_counts counts;
        if (!step_counts_from_json(step, &counts, err)) {
            return false;
        }
        sum += counts.failed;
    }
    *out = sum;
    return true;
}

static bool glance(const struct control *control, struct arena *arena, struct checkpoint *out,
                   struct error *err)
{
    cJSON *object = NULL;
    uint64_t segment = 0;
    if (!ledger_json_parse(control->value, control->name, &object, err)) {
        return false;
    }
    bool ok = ledger_json_number(object, "segment", &segment, err) &&
              read_place(object, arena, out, err) && add_up_failed(object, &out->failed, err);
    out->segment = (uint32_t)segment;
    cJSON_Delete(object);
    return ok || error_wrap(err, "the table's own record '%.*s'", STR_ARG(control->name));
}

bool checkpoint_glance(struct store_reader *reader, uint32_t version, struct arena *arena,
                       struct checkpoint_list *out, struct error *err)
{
    struct control_list controls = {NULL, 0};
    if (!store_control_list(reader, checkpoint_prefix(version, arena), arena, &controls, err)) {
        return false;
    }
    *out = (struct checkpoint_list){arena_zero(arena, (controls.count + 1) * sizeof *out->list),
                                    controls.count};
    for (size_t i = 0; i < controls.count; i++) {
        if (!glance(&controls.list[i], arena, &out->list[i], err)) {
            return false;
        }
    }
    return true;
}
