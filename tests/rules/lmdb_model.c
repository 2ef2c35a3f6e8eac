#include "tests/rules/lmdb_model.h"

#include "tests/rules/lmdb_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MODEL_MAX = 64, WRITES_MAX = 120, LONG_BYTES = 1000, STREAM_BYTES = 16384 };

struct model {
    struct fixture table;
    struct key_schema keys;
    struct key_schema index;
    struct value items[MODEL_MAX];
    size_t count;
};

/* --- drawing --- */

static struct value draw_partition(struct draw *draw, struct arena *arena)
{
    static const size_t lens[] = {1, 128, 129, 2048};
    size_t len = lens[draw_below(draw, 4)];
    char *text = arena_bytes(arena, len);
    memset(text, 'p', len);
    text[len - 1] = (char)('a' + draw_below(draw, 2));
    return value_string(arena, (struct str){text, len});
}

/* Many share a start of about the length at which sort parts are cut; some hold NULs. */
static struct value draw_sort(struct draw *draw, struct arena *arena)
{
    static const size_t lens[] = {0, 3, 170, 346, 347, 348, 349, 350, 351, LONG_BYTES};
    size_t len = lens[draw_below(draw, 10)];
    char *text = arena_bytes(arena, len + 2);
    memset(text, draw_below(draw, 4) == 0 ? 0 : 's', len);
    text[len] = (char)draw_below(draw, 4);
    text[len + 1] = (char)draw_below(draw, 3);
    return value_binary(arena, (struct str){text, len + 1 + draw_below(draw, 2)});
}

static struct value draw_item(struct model *model, struct draw *draw)
{
    struct arena *arena = model->table.arena;
    struct value item = {NULL, 0};
    char note[] = {(char)('0' + draw_below(draw, 3))};
    struct attribute members[] = {
        {STR("PK"), draw_partition(draw, arena)},
        {STR("SK"), draw_sort(draw, arena)},
        {STR("GPK"), value_string(arena, STR("g"))},
        {STR("GSK"), draw_sort(draw, arena)},
        {STR("Note"), value_string(arena, (struct str){note, sizeof note})},
    };
    if (draw_below(draw, 4) == 0) {
        members[3].value = (struct value){NULL, 0};
    }
    ck_assert(value_map(arena, members, 5, &item, &model->table.err));
    return item;
}

/* --- the array --- */

static struct value part(struct value item, const char *name)
{
    return value_member(item, (struct str){name, strlen(name)});
}

static bool is_same_key(struct value a, struct value b)
{
    return value_equal(part(a, "PK"), part(b, "PK")) && value_equal(part(a, "SK"), part(b, "SK"));
}

static size_t model_find(const struct model *model, struct value item)
{
    size_t i = 0;
    while (i < model->count && !is_same_key(model->items[i], item)) {
        i++;
    }
    return i;
}

static bool model_has(const struct model *model, struct value item)
{
    size_t at = model_find(model, item);
    return at < model->count && value_equal(model->items[at], item);
}

static void model_put(struct model *model, struct value item)
{
    size_t at = model_find(model, item);
    ck_assert_uint_lt(at, MODEL_MAX);
    model->items[at] = item;
    model->count += at == model->count ? 1 : 0;
}

static void model_delete(struct model *model, struct value item)
{
    size_t at = model_find(model, item);
    if (at < model->count) {
        model->items[at] = model->items[--model->count];
    }
}

/* --- writing --- */

static struct write onto(struct model *model, enum write_kind kind, struct value source)
{
    return (struct write){.kind = kind,
                          .key = fixture_key(&model->table, source),
                          .stamp = fixture_get(&model->table, source).stamp,
                          .overwrite = true};
}

static void write_one(struct model *model, struct draw *draw)
{
    struct value item = draw_item(model, draw);
    uint32_t choice = draw_below(draw, 8);
    if (choice < 5 || model->count == 0) {
        if (model->count < MODEL_MAX) {
            (void)fixture_write(&model->table,
                                (struct write){.kind = WRITE_PUT, .overwrite = true, .item = item});
            model_put(model, item);
        }
        return;
    }
    ck_assert(fixture_flush(&model->table));
    struct value source = model->items[draw_below(draw, (uint32_t)model->count)];
    if (choice == 5) {
        struct write write = onto(model, WRITE_DELETE, source);
        ck_assert_int_eq(fixture_write(&model->table, write), OUTCOME_APPLIED);
        model_delete(model, source);
    } else if (!is_same_key(source, item)) {
        struct write write = onto(model, WRITE_MOVE, source);
        write.item = item;
        ck_assert_int_eq(fixture_write(&model->table, write), OUTCOME_APPLIED);
        model_delete(model, source);
        model_put(model, item);
    }
}

/* --- comparing --- */

static bool scan_agrees(struct model *model, struct draw *draw)
{
    struct value *found = NULL;
    uint32_t segments = 1 + draw_below(draw, 5);
    size_t count = fixture_scan(&model->table, segments, 1 + draw_below(draw, 9), &found);
    if (count != model->count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool in_order = i == 0 || !value_equal(part(found[i - 1], "PK"), part(found[i], "PK")) ||
                        value_compare(part(found[i - 1], "SK"), part(found[i], "SK")) < 0;
        if (!model_has(model, found[i]) || !in_order) {
            return false;
        }
    }
    return true;
}

static bool is_in_range(const struct query *query, struct value v)
{
    if (value_is_missing(v)) {
        return false;
    }
    int low = value_is_missing(query->low) ? 1 : value_compare(v, query->low);
    int high = value_is_missing(query->high) ? -1 : value_compare(v, query->high);
    if (query->low_is_prefix) {
        return str_begins(value_bytes(v), value_bytes(query->low));
    }
    return (low > 0 || (low == 0 && !query->low_exclusive)) &&
           (high < 0 || (high == 0 && !query->high_exclusive));
}

static void draw_bounds(struct query *query, struct draw *draw, struct arena *arena)
{
    query->descending = draw_below(draw, 2) == 1;
    query->limits.items = 1 + draw_below(draw, 7);
    if (draw_below(draw, 4) == 0) {
        query->low = draw_sort(draw, arena);
        query->low_is_prefix = true;
        return;
    }
    if (draw_below(draw, 2) == 1) {
        query->low = draw_sort(draw, arena);
        query->low_exclusive = draw_below(draw, 2) == 1;
    }
    if (draw_below(draw, 2) == 1) {
        query->high = draw_sort(draw, arena);
        query->high_exclusive = draw_below(draw, 2) == 1;
    }
}

static bool query_agrees(struct model *model, struct query query, const char *partition,
                         const char *sort)
{
    struct value *found = NULL;
    size_t count = fixture_query(&model->table, query, &found);
    size_t expected = 0;
    for (size_t i = 0; i < model->count; i++) {
        struct value item = model->items[i];
        bool in = value_equal(part(item, partition), query.partition[0]) &&
                  is_in_range(&query, part(item, sort));
        expected += in ? 1 : 0;
    }
    for (size_t i = 0; i < count; i++) {
        int order = i == 0 ? 0 : value_compare(part(found[i - 1], sort), part(found[i], sort));
        if (!model_has(model, found[i]) || !is_in_range(&query, part(found[i], sort)) ||
            (query.descending ? order < 0 : order > 0)) {
            return false;
        }
    }
    return count == expected;
}

static bool queries_agree(struct model *model, struct draw *draw)
{
    for (int i = 0; i < 6; i++) {
        struct query query = {.partition = {draw_partition(draw, model->table.arena)}};
        draw_bounds(&query, draw, model->table.arena);
        if (!query_agrees(model, query, "PK", "SK")) {
            return false;
        }
        query.index = STR("by-g");
        query.partition[0] = value_string(model->table.arena, STR("g"));
        if (!query_agrees(model, query, "GPK", "GSK")) {
            return false;
        }
    }
    return true;
}

/* A case needs more bytes than a draw has: these follow from its first. */
static struct draw widen(struct draw *draw, uint8_t *bytes)
{
    uint32_t state = draw_below(draw, UINT32_MAX) | 1;
    for (size_t i = 0; i < STREAM_BYTES; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes[i] = (uint8_t)(state >> 8);
    }
    return (struct draw){bytes, STREAM_BYTES};
}

bool rule_table_agrees_with_model(struct draw *draw)
{
    uint8_t bytes[STREAM_BYTES];
    struct model model = {.count = 0};
    struct index_desc index = fixture_index("by-g", "GPK:S", "GSK:B");
    fixture_make_indexed(&model.table, "PK:S", "SK:B", &index, 1);
    uint32_t writes = draw_below(draw, WRITES_MAX);
    struct draw stream = widen(draw, bytes);
    for (uint32_t i = 0; i < writes; i++) {
        write_one(&model, &stream);
    }
    ck_assert(fixture_flush(&model.table));
    bool ok = scan_agrees(&model, &stream) && queries_agree(&model, &stream) &&
              fixture_verify(&model.table) == 0;
    fixture_remove(&model.table);
    return ok;
}
