#include "migrate/ledger/ledger_record.h"

#include "migrate/ledger/ledger_json.h"

#include <string.h>

static const char *const state_names[] = {
    [RUN_RUNNING] = "running",           [RUN_APPLIED] = "applied",         [RUN_FAILED] = "failed",
    [RUN_ROLLING_BACK] = "rolling back", [RUN_ROLLED_BACK] = "rolled back", NULL};

static const char *const projection_names[] = {
    [PROJECT_ALL] = "ALL", [PROJECT_KEYS_ONLY] = "KEYS_ONLY", [PROJECT_INCLUDE] = "INCLUDE", NULL};

const char *run_state_name(enum run_state state)
{
    return state_names[state];
}

bool ledger_steps_failed(const struct ledger_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (steps[i].counts.failed > 0) {
            return true;
        }
    }
    return false;
}

/* ---------------------------------------------------------------- writing */

static cJSON *keys_to_json(const struct key_attribute *keys, size_t count)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *key = cJSON_CreateObject();
        ledger_json_add_text(key, "name", keys[i].name);
        (void)cJSON_AddStringToObject(key, "type", value_type_name(keys[i].type));
        (void)cJSON_AddItemToArray(list, key);
    }
    return list;
}

static cJSON *change_to_json(const struct index_change *change)
{
    const struct index_desc *index = &change->index;
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddBoolToObject(object, "created", change->created);
    ledger_json_add_text(object, "index", index->name);
    (void)cJSON_AddItemToObject(object, "partition",
                                keys_to_json(index->keys.partition, index->keys.partition_count));
    (void)cJSON_AddItemToObject(object, "sort",
                                keys_to_json(index->keys.sort, index->keys.sort_count));
    (void)cJSON_AddStringToObject(object, "projection", projection_names[index->projection]);
    struct store_usage capacity = {(double)index->read_units, (double)index->write_units};
    ledger_json_add_usage(object, &capacity);
    cJSON *include = cJSON_AddArrayToObject(object, "include");
    for (size_t i = 0; i < index->include_count; i++) {
        cJSON *name = cJSON_CreateObject();
        ledger_json_add_text(name, "name", index->include[i]);
        (void)cJSON_AddItemToArray(include, name);
    }
    return object;
}

static cJSON *step_to_json(const struct ledger_step *step)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "label", step->label);
    step_counts_to_json(&step->counts, object);
    (void)cJSON_AddNumberToObject(object, "earlier", (double)step->earlier);
    return object;
}

cJSON *ledger_record_to_json(const struct ledger_record *record)
{
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "version", record->version);
    ledger_json_add_text(object, "name", record->name);
    ledger_json_add_text(object, "hash", record->hash);
    (void)cJSON_AddStringToObject(object, "state", run_state_name(record->state));
    (void)cJSON_AddNumberToObject(object, "stage", record->stage);
    (void)cJSON_AddNumberToObject(object, "pass", (double)record->pass);
    (void)cJSON_AddNumberToObject(object, "segments", record->segments);
    (void)cJSON_AddNumberToObject(object, "attempts", record->attempts);
    ledger_json_add_usage(object, &record->used);
    ledger_json_add_text(object, "started", record->started);
    ledger_json_add_text(object, "ended", record->ended);
    ledger_json_add_text(object, "who", record->who);
    cJSON *steps = cJSON_AddArrayToObject(object, "steps");
    for (size_t i = 0; i < record->step_count; i++) {
        (void)cJSON_AddItemToArray(steps, step_to_json(&record->steps[i]));
    }
    fault_list_to_json(&record->faults, object, "faults");
    fault_list_to_json(&record->gone, object, "gone");
    (void)cJSON_AddNumberToObject(object, "violating", (double)record->violating);
    cJSON *changes = cJSON_AddArrayToObject(object, "changes");
    for (size_t i = 0; i < record->change_count; i++) {
        (void)cJSON_AddItemToArray(changes, change_to_json(&record->changes[i]));
    }
    (void)cJSON_AddBoolToObject(object, "has_rollback", record->has_rollback);
    (void)cJSON_AddNumberToObject(object, "undo_before", (double)record->undo_before);
    (void)cJSON_AddNumberToObject(object, "undo_skip", (double)record->undo_skip);
    (void)cJSON_AddNumberToObject(object, "undone", (double)record->undone);
    (void)cJSON_AddNumberToObject(object, "left", (double)record->left);
    return object;
}

/* ---------------------------------------------------------------- reading */

/* One of `names`, which end with NULL, by its place. */
static bool read_named(const cJSON *object, const char *name, const char *const *names, size_t *out,
                       struct error *err)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    for (size_t i = 0; cJSON_IsString(member) && names[i] != NULL; i++) {
        if (strcmp(member->valuestring, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return error_set(err, ERROR_DAMAGED, "member '%s' is missing or unknown", name);
}

static bool read_attributes(const cJSON *list, struct arena *arena, struct key_attribute *keys,
                            size_t *count, struct error *err)
{
    size_t n = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        struct str type;
        if (n == KEY_PARTS_MAX) {
            return error_set(err, ERROR_DAMAGED, "member '%s' is too long", list->string);
        }
        if (!ledger_json_text(member, "name", arena, &keys[n].name, err) ||
            !ledger_json_text(member, "type", arena, &type, err)) {
            return false;
        }
        keys[n].type = value_type_named(type);
        n++;
    }
    *count = n;
    return true;
}

static bool read_keys(const cJSON *object, struct arena *arena, struct key_schema *out,
                      struct error *err)
{
    const cJSON *partition = NULL;
    const cJSON *sort = NULL;
    return ledger_json_array(object, "partition", &partition, err) &&
           read_attributes(partition, arena, out->partition, &out->partition_count, err) &&
           ledger_json_array(object, "sort", &sort, err) &&
           read_attributes(sort, arena, out->sort, &out->sort_count, err);
}

static bool read_include(const cJSON *object, struct arena *arena, struct index_desc *index,
                         struct error *err)
{
    const cJSON *list = NULL;
    if (!ledger_json_array(object, "include", &list, err)) {
        return false;
    }
    struct str *names = arena_alloc(arena, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *names);
    size_t n = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        if (!ledger_json_text(member, "name", arena, &names[n], err)) {
            return false;
        }
        n++;
    }
    index->include = names;
    index->include_count = n;
    return true;
}

static bool read_change(const cJSON *object, struct arena *arena, struct index_change *out,
                        struct error *err)
{
    size_t projection = 0;
    *out = (struct index_change){.created = false};
    struct index_desc *index = &out->index;
    if (!ledger_json_bool(object, "created", &out->created, err) ||
        !ledger_json_text(object, "index", arena, &index->name, err) ||
        !read_keys(object, arena, &index->keys, err) ||
        !read_named(object, "projection", projection_names, &projection, err) ||
        !read_include(object, arena, index, err)) {
        return false;
    }
    index->projection = (enum projection)projection;
    struct store_usage capacity;
    ledger_json_usage(object, &capacity);
    index->read_units = (uint64_t)capacity.read_units;
    index->write_units = (uint64_t)capacity.write_units;
    return true;
}

static bool read_changes(const cJSON *object, struct arena *arena, struct ledger_record *out,
                         struct error *err)
{
    const cJSON *list = NULL;
    if (!ledger_json_array(object, "changes", &list, err)) {
        return false;
    }
    size_t count = (size_t)cJSON_GetArraySize(list);
    out->changes = arena_alloc(arena, (count + 1) * sizeof *out->changes);
    out->change_count = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        if (!read_change(member, arena, &out->changes[out->change_count], err)) {
            return false;
        }
        out->change_count++;
    }
    return true;
}

static bool read_steps(const cJSON *object, struct arena *arena, struct ledger_record *out,
                       struct error *err)
{
    const cJSON *list = NULL;
    if (!ledger_json_array(object, "steps", &list, err)) {
        return false;
    }
    size_t count = (size_t)cJSON_GetArraySize(list);
    out->steps = arena_alloc(arena, (count + 1) * sizeof *out->steps);
    out->step_count = 0;
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, list) {
        struct ledger_step *step = &out->steps[out->step_count];
        if (!ledger_json_text(member, "label", arena, &step->label, err) ||
            !step_counts_from_json(member, &step->counts, err) ||
            !ledger_json_number(member, "earlier", &step->earlier, err)) {
            return false;
        }
        out->step_count++;
    }
    return true;
}

static bool read_number_32(const cJSON *object, const char *name, uint32_t *out, struct error *err)
{
    uint64_t n = 0;
    if (!ledger_json_number(object, name, &n, err)) {
        return false;
    }
    if (n > UINT32_MAX) {
        return error_set(err, ERROR_DAMAGED, "member '%s' is too large", name);
    }
    *out = (uint32_t)n;
    return true;
}

static bool read_state(const cJSON *object, struct arena *arena, struct ledger_record *out,
                       struct error *err)
{
    size_t state = 0;
    if (!read_number_32(object, "version", &out->version, err) ||
        !ledger_json_text(object, "name", arena, &out->name, err) ||
        !ledger_json_text(object, "hash", arena, &out->hash, err) ||
        !read_named(object, "state", state_names, &state, err)) {
        return false;
    }
    out->state = (enum run_state)state;
    return ledger_json_text(object, "started", arena, &out->started, err) &&
           ledger_json_text(object, "ended", arena, &out->ended, err) &&
           ledger_json_text(object, "who", arena, &out->who, err);
}

static bool read_place(const cJSON *object, struct ledger_record *out, struct error *err)
{
    ledger_json_usage(object, &out->used);
    return read_number_32(object, "stage", &out->stage, err) &&
           ledger_json_number(object, "pass", &out->pass, err) &&
           read_number_32(object, "segments", &out->segments, err) &&
           read_number_32(object, "attempts", &out->attempts, err) &&
           ledger_json_number(object, "violating", &out->violating, err) &&
           ledger_json_bool(object, "has_rollback", &out->has_rollback, err) &&
           ledger_json_number(object, "undo_before", &out->undo_before, err) &&
           ledger_json_number(object, "undo_skip", &out->undo_skip, err) &&
           ledger_json_number(object, "undone", &out->undone, err) &&
           ledger_json_number(object, "left", &out->left, err);
}

static bool read_record(const cJSON *object, struct arena *arena, struct ledger_record *out,
                        struct error *err)
{
    return read_state(object, arena, out, err) && read_place(object, out, err) &&
           read_steps(object, arena, out, err) &&
           fault_list_from_json(object, "faults", arena, &out->faults, err) &&
           fault_list_from_json(object, "gone", arena, &out->gone, err) &&
           read_changes(object, arena, out, err);
}

bool ledger_record_parse(struct str text, struct str name, struct arena *arena,
                         struct ledger_record *out, struct error *err)
{
    cJSON *object = NULL;
    struct ledger_record record = {.version = 0};
    if (!ledger_json_parse(text, name, &object, err)) {
        return false;
    }
    bool ok = read_record(object, arena, &record, err);
    cJSON_Delete(object);
    if (!ok) {
        return error_wrap(err, "the table's own record '%.*s' is damaged", STR_ARG(name));
    }
    *out = record;
    return true;
}
