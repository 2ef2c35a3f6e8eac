#include "migrate/run/kept_manifest.h"

#include "engine/base/buffer.h"
#include "engine/base/hash.h"
#include "engine/item/item_json.h"
#include "migrate/ledger/ledger_json.h"

#include <inttypes.h>

/* Before the checksum of what follows the line, in 16 digits. */
#define MAGIC         "refold reading "
#define MAGIC_FORMAT  MAGIC "1 "
#define CHECKSUM_FORM "%016" PRIx64 "\n"
enum { CHECKSUM_BYTES = 17, SEGMENTS_MOST = 1 << 20 };

/* ---------------------------------------------------------------- printing */

static void add_place(cJSON *list, uint32_t segment, const struct kept_place *place)
{
    struct buffer cursor = {0};
    base64_write(place->cursor, &cursor);
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(object, "segment", segment);
    ledger_json_add_text(object, "cursor", buffer_str(&cursor));
    (void)cJSON_AddBoolToObject(object, "done", place->done);
    (void)cJSON_AddItemToArray(list, object);
    buffer_free(&cursor);
}

static struct str print_object(const struct kept_manifest *manifest, struct arena *arena)
{
    cJSON *object = cJSON_CreateObject();
    ledger_json_add_text(object, "id", manifest->id);
    ledger_json_add_text(object, "host", manifest->host);
    ledger_json_add_text(object, "table", manifest->table);
    ledger_json_add_text(object, "hash", manifest->hash);
    (void)cJSON_AddNumberToObject(object, "plan", manifest->version);
    (void)cJSON_AddNumberToObject(object, "stage", manifest->stage);
    (void)cJSON_AddNumberToObject(object, "pass", (double)manifest->pass);
    (void)cJSON_AddNumberToObject(object, "items", (double)manifest->items);
    (void)cJSON_AddNumberToObject(object, "segments", manifest->segments);
    cJSON *places = cJSON_AddArrayToObject(object, "places");
    for (uint32_t i = 0; i < manifest->segments; i++) {
        const struct kept_place *place = &manifest->places[i];
        if (place->done || place->cursor.len > 0) {
            add_place(places, i, place);
        }
    }
    (void)cJSON_AddItemReferenceToObject(object, "part", manifest->part);
    return ledger_json_print(object, arena);
}

struct str kept_manifest_print(const struct kept_manifest *manifest, struct arena *arena)
{
    struct str object = print_object(manifest, arena);
    return arena_format(arena, MAGIC_FORMAT CHECKSUM_FORM "%.*s", hash_64(object), STR_ARG(object));
}

/* ---------------------------------------------------------------- reading */

static bool damaged(struct error *err)
{
    return error_set(err, ERROR_DAMAGED, "it is damaged");
}

/* Cuts the line off that says what the rest must be. */
static bool check_line(struct str text, struct arena *arena, struct str *rest, struct error *err)
{
    size_t head = sizeof MAGIC_FORMAT - 1 + CHECKSUM_BYTES;
    if (str_begins(text, STR(MAGIC)) && !str_begins(text, STR(MAGIC_FORMAT))) {
        return error_set(err, ERROR_STORE, "another version of refold wrote it");
    }
    if (text.len < head) {
        return damaged(err);
    }
    *rest = (struct str){text.ptr + head, text.len - head};
    struct str line = arena_format(arena, MAGIC_FORMAT CHECKSUM_FORM, hash_64(*rest));
    return str_begins(text, line) || damaged(err);
}

static bool read_number(const cJSON *object, const char *name, uint32_t *out, struct error *err)
{
    uint64_t number = 0;
    if (!ledger_json_number(object, name, &number, err)) {
        return false;
    }
    *out = (uint32_t)number;
    return number <= UINT32_MAX || damaged(err);
}

static bool read_place(const cJSON *object, struct arena *arena, struct kept_manifest *out,
                       struct error *err)
{
    uint32_t segment = 0;
    struct str cursor;
    if (!read_number(object, "segment", &segment, err) ||
        !ledger_json_text(object, "cursor", arena, &cursor, err)) {
        return false;
    }
    if (segment >= out->segments) {
        return damaged(err);
    }
    struct kept_place *place = &out->places[segment];
    return base64_read(cursor, arena, &place->cursor, err) &&
           ledger_json_bool(object, "done", &place->done, err);
}

static bool read_places(const cJSON *object, struct arena *arena, struct kept_manifest *out,
                        struct error *err)
{
    const cJSON *list = NULL;
    if (!read_number(object, "segments", &out->segments, err) ||
        !ledger_json_array(object, "places", &list, err)) {
        return false;
    }
    if (out->segments == 0 || out->segments > SEGMENTS_MOST) {
        return damaged(err);
    }
    out->places = arena_zero(arena, out->segments * sizeof *out->places);
    const cJSON *place = NULL;
    cJSON_ArrayForEach(place, list) {
        if (!read_place(place, arena, out, err)) {
            return false;
        }
    }
    return true;
}

static bool read_object(const cJSON *object, struct arena *arena, struct kept_manifest *out,
                        struct error *err)
{
    return ledger_json_text(object, "id", arena, &out->id, err) &&
           ledger_json_text(object, "host", arena, &out->host, err) &&
           ledger_json_text(object, "table", arena, &out->table, err) &&
           ledger_json_text(object, "hash", arena, &out->hash, err) &&
           read_number(object, "plan", &out->version, err) &&
           read_number(object, "stage", &out->stage, err) &&
           ledger_json_number(object, "pass", &out->pass, err) &&
           ledger_json_number(object, "items", &out->items, err) &&
           read_places(object, arena, out, err);
}

bool kept_manifest_parse(struct str text, struct arena *arena, struct kept_manifest *out,
                         struct error *err)
{
    struct kept_manifest read = {.part = NULL};
    struct error ignored;
    struct str rest;
    cJSON *object = NULL;
    if (!check_line(text, arena, &rest, err)) {
        return false;
    }
    bool ok = ledger_json_parse(rest, STR("reading"), &object, &ignored) &&
              read_object(object, arena, &read, &ignored);
    if (ok) {
        read.part = cJSON_DetachItemFromObjectCaseSensitive(object, "part");
        ok = cJSON_IsObject(read.part);
    }
    cJSON_Delete(object);
    if (!ok) {
        cJSON_Delete(read.part);
        return damaged(err);
    }
    *out = read;
    return true;
}
