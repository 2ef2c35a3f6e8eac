#include "tests/rules/undo_record.h"

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/number.h"
#include "engine/item/value.h"
#include "engine/undo/undo.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const struct key_schema schema = {.partition = {{STR_INIT("PK"), VALUE_S}},
                                         .partition_count = 1,
                                         .sort = {{STR_INIT("SK"), VALUE_N}},
                                         .sort_count = 1};
static const struct str names[] = {STR_INIT("A"),    STR_INIT("Name"), STR_INIT("PKX"),
                                   STR_INIT("SKey"), STR_INIT("Z"),    STR_INIT("")};
enum { NAMES = sizeof names / sizeof *names, LIMIT = 1 << 20 };

static const struct value missing = {NULL, 0};

static struct value draw_number(struct draw *draw, struct arena *arena)
{
    struct number n = number_from_int((int64_t)draw_below(draw, 3));
    return value_from_number(arena, &n);
}

static struct value draw_value(struct draw *draw, struct arena *arena)
{
    struct value members[2];
    switch (draw_below(draw, 6)) {
    case 0:
        return missing;
    case 1:
        return value_null();
    case 2:
        return value_from_bool(draw_below(draw, 2) == 1);
    case 3:
        return draw_number(draw, arena);
    case 4:
        members[0] = draw_number(draw, arena);
        members[1] = value_null();
        return value_list(arena, members, draw_below(draw, 3));
    default:
        return value_string(arena, names[draw_below(draw, NAMES)]);
    }
}

static struct value draw_item(struct draw *draw, struct arena *arena)
{
    struct attribute members[NAMES + 2] = {
        {STR("PK"), value_string(arena, names[draw_below(draw, 2)])},
        {STR("SK"), draw_number(draw, arena)}};
    for (size_t i = 0; i < NAMES; i++) {
        members[i + 2] = (struct attribute){names[i], draw_value(draw, arena)};
    }
    struct value item;
    struct error err = {0};
    return value_map(arena, members, NAMES + 2, &item, &err) ? item : missing;
}

/* One write, its record in bytes and as it is read again. */
struct undone {
    struct value before;
    struct value after;
    struct undo_record record;
};

static bool draw_write(struct draw *draw, struct arena *arena, struct undone *out)
{
    out->before = draw_below(draw, 4) == 0 ? missing : draw_item(draw, arena);
    bool is_delete = !value_is_missing(out->before) && draw_below(draw, 4) == 0;
    out->after = is_delete ? missing : draw_item(draw, arena);

    struct buffer bytes = {0};
    undo_append(&schema, out->before, out->after, &bytes);
    struct str copy = arena_copy(arena, buffer_str(&bytes));
    buffer_free(&bytes);
    struct error err = {0};
    return undo_read(&schema, copy, arena, &out->record, &err) && out->record.len == copy.len;
}

/* What stands once the decision is carried out. */
static struct value carry_out(const struct undo_decision *decision, struct value current)
{
    switch (decision->action) {
    case UNDO_NOTHING:
        return current;
    case UNDO_DELETE_ITEM:
        return missing;
    default:
        return decision->item;
    }
}

bool rule_undo_restores_the_item(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct undone undone;
    struct undo_decision decision;
    struct value restored;
    bool holds = draw_write(draw, arena, &undone);
    if (holds) {
        undo_decide(&undone.record, undone.after, missing, arena, &decision);
        restored = carry_out(&decision, undone.after);
        holds =
            decision.left == 0 && decision.reason.len == 0 && value_equal(restored, undone.before);
    }
    if (holds) {
        bool moved = undone.record.kind == UNDO_MOVE;
        undo_decide(&undone.record, moved ? missing : restored, moved ? restored : missing, arena,
                    &decision);
        holds = decision.action == UNDO_NOTHING && decision.left == 0;
    }
    arena_free(arena);
    return holds;
}

/* `item` with one attribute of another value. */
static struct value with_changed(struct value item, struct str name, struct value value,
                                 struct arena *arena)
{
    struct attribute members[NAMES + 3];
    size_t count = 0;
    struct value_iter iter = value_members(item);
    while (value_next(&iter, &members[count])) {
        count += str_equal(members[count].name, name) ? 0 : 1;
    }
    members[count++] = (struct attribute){name, value};
    struct value changed;
    struct error err = {0};
    return value_map(arena, members, count, &changed, &err) ? changed : missing;
}

bool rule_undo_leaves_what_was_changed_since(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct undone undone;
    bool holds = draw_write(draw, arena, &undone);
    if (holds && !value_is_missing(undone.before) && !value_is_missing(undone.after)) {
        struct str name = names[draw_below(draw, NAMES)];
        struct value theirs = value_string(arena, STR("theirs"));
        struct value was = value_member(undone.before, name);
        bool ours = !value_equal(was, value_member(undone.after, name));
        struct value current = with_changed(undone.after, name, theirs, arena);
        struct value wanted = with_changed(undone.before, name, theirs, arena);
        struct undo_decision decision;
        undo_decide(&undone.record, current, missing, arena, &decision);
        holds = value_equal(carry_out(&decision, current), wanted) &&
                decision.left == (ours ? 1 : 0) && (decision.reason.len > 0) == ours;
    }
    arena_free(arena);
    return holds;
}

static bool unpacks_to(struct str frame, struct str records, struct arena *arena)
{
    struct str out;
    struct error err = {0};
    return undo_unpack(frame, records.len, arena, &out, &err) && str_equal(out, records);
}

static bool is_refused(struct str frame, size_t limit, struct arena *arena)
{
    struct str out;
    struct error err = {0};
    return !undo_unpack(frame, limit, arena, &out, &err) && err.code == ERROR_DAMAGED;
}

bool rule_undo_frames_keep_their_records(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct buffer records = {0}, frame = {0};
    uint32_t writes = draw_below(draw, 4);
    for (uint32_t i = 0; i < writes; i++) {
        undo_append(&schema, missing, draw_item(draw, arena), &records);
    }
    undo_pack(buffer_str(&records), &frame);
    bool holds = unpacks_to(buffer_str(&frame), buffer_str(&records), arena) &&
                 (records.len == 0 || is_refused(buffer_str(&frame), records.len - 1, arena));
    size_t at = draw_below(draw, (uint32_t)frame.len);
    frame.bytes[at] = (char)(frame.bytes[at] ^ (1 << draw_below(draw, 8)));
    holds = holds && is_refused(buffer_str(&frame), LIMIT, arena);
    buffer_free(&records);
    buffer_free(&frame);
    arena_free(arena);
    return holds;
}

/* The bytes lie alone on the heap, so that a sanitizer sees a read past them. */
static bool is_read_or_refused(struct str bytes, struct arena *arena)
{
    struct buffer alone = {0};
    buffer_add(&alone, bytes);
    alone.bytes = heap_resize(alone.bytes, bytes.len);
    struct str copy = {alone.bytes, bytes.len};
    struct undo_record record;
    struct error err = {0};
    bool holds = true;
    if (undo_read(&schema, copy, arena, &record, &err)) {
        struct undo_decision decision;
        undo_decide(&record, missing, missing, arena, &decision);
        undo_decide(&record, record.image, missing, arena, &decision);
        holds = record.len <= bytes.len;
    } else {
        holds = err.code == ERROR_DAMAGED;
    }
    struct str records;
    holds = holds && (undo_unpack(copy, LIMIT, arena, &records, &err) || err.code == ERROR_DAMAGED);
    heap_free(alone.bytes);
    return holds;
}

bool rule_undo_reads_any_bytes(struct draw *draw)
{
    struct arena *arena = arena_new();
    bool holds = is_read_or_refused((struct str){(const char *)draw->next, draw->left}, arena);

    struct buffer bytes = {0};
    uint32_t byte = draw_below(draw, 256);
    uint32_t place = draw_below(draw, UINT32_MAX);
    undo_append(&schema, draw_item(draw, arena), draw_item(draw, arena), &bytes);
    bytes.bytes[place % bytes.len] = (char)byte;
    holds = holds && is_read_or_refused(buffer_str(&bytes), arena);
    buffer_free(&bytes);
    arena_free(arena);
    return holds;
}
