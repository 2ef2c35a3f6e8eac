#include "engine/undo/undo.h"
#include "engine/undo/undo_bytes_internal.h"

#include <assert.h>

static void leave(struct undo_decision *out, struct str reason)
{
    *out = (struct undo_decision){.action = UNDO_NOTHING, .left = 1, .reason = reason};
}

static void decide_put(const struct undo_record *record, struct value current,
                       struct undo_decision *out)
{
    if (value_is_missing(current)) {
        return;
    }
    if (undo_digest(current) == record->after_digest) {
        out->action = UNDO_DELETE_ITEM;
    } else {
        leave(out, STR("the item was changed since"));
    }
}

static void decide_delete(const struct undo_record *record, struct value standing,
                          struct undo_decision *out)
{
    if (value_is_missing(standing)) {
        out->action = UNDO_PUT_ITEM;
        out->item = record->image;
    } else if (!value_equal(standing, record->image)) {
        leave(out, STR("another item was put there since"));
    }
}

/* What becomes of `current`, attribute by attribute. */
struct restoration {
    struct attribute *attributes;
    size_t count;
    size_t restored;
    size_t left;
    struct str first_left;
};

static void keep(struct restoration *to, struct str name, struct value value)
{
    if (!value_is_missing(value)) {
        to->attributes[to->count++] = (struct attribute){name, value};
    }
}

static void restore(struct restoration *to, const struct undo_attribute *change,
                    struct value current)
{
    bool is_ours = undo_digest(current) == change->after_digest;
    bool is_back = value_equal(current, change->before);
    if (!is_ours && !is_back && to->left++ == 0) {
        to->first_left = change->name;
    }
    to->restored += is_ours ? 1 : 0;
    keep(to, change->name, is_ours ? change->before : current);
}

/* Changes from `first` on whose names stand before `name` (NULL: all) are of attributes that are
 * not there; returns how many. */
static size_t restore_gone(const struct undo_record *record, size_t first, const struct str *name,
                           struct restoration *to)
{
    size_t count = 0;
    for (size_t i = first; i < record->attribute_count; i++, count++) {
        if (name != NULL && str_compare(record->attributes[i].name, *name) >= 0) {
            break;
        }
        restore(to, &record->attributes[i], (struct value){NULL, 0});
    }
    return count;
}

/* Both sequences are sorted by name. */
static struct restoration restore_all(const struct undo_record *record, struct value current,
                                      struct arena *arena)
{
    size_t most = value_count(current) + record->attribute_count;
    struct restoration to = {.attributes = arena_alloc(arena, most * sizeof *to.attributes)};
    const struct undo_attribute *changes = record->attributes;
    size_t next = 0;
    struct value_iter iter = value_members(current);
    struct attribute at;
    while (value_next(&iter, &at)) {
        next += restore_gone(record, next, &at.name, &to);
        if (next < record->attribute_count && str_equal(changes[next].name, at.name)) {
            restore(&to, &changes[next++], at.value);
        } else {
            keep(&to, at.name, at.value);
        }
    }
    (void)restore_gone(record, next, NULL, &to);
    return to;
}

static struct str left_reason(const struct restoration *to, struct arena *arena)
{
    if (to->left == 0) {
        return STR("");
    }
    if (to->left == 1) {
        return arena_format(arena, "%.*s was changed since", STR_ARG(to->first_left));
    }
    return arena_format(arena, "%.*s and %zu more were changed since", STR_ARG(to->first_left),
                        to->left - 1);
}

static void decide_change(const struct undo_record *record, struct value current,
                          struct arena *arena, struct undo_decision *out)
{
    if (value_is_missing(current)) {
        leave(out, STR("the item was deleted since"));
        return;
    }
    struct restoration to = restore_all(record, current, arena);
    out->left = to.left;
    out->reason = left_reason(&to, arena);
    if (to.restored == 0) {
        return;
    }
    struct error err = {0};
    bool ok = value_map(arena, to.attributes, to.count, &out->item, &err);
    assert(ok); /* names come from two sorted sequences, each once */
    (void)ok;
    out->action = record->kind == UNDO_MOVE ? UNDO_MOVE_BACK : UNDO_PUT_ITEM;
}

static void decide_move(const struct undo_record *record, struct value current,
                        struct value occupant, struct arena *arena, struct undo_decision *out)
{
    bool is_back = !value_is_missing(occupant) && value_equal(occupant, record->image);
    bool is_ours = !value_is_missing(current) && undo_digest(current) == record->after_digest;
    if (value_is_missing(occupant)) {
        decide_change(record, current, arena, out);
    } else if (is_back && is_ours) {
        /* The move was broken off half way, or somebody has put the old item again. */
        out->action = UNDO_DELETE_ITEM;
    } else if (!value_is_missing(current) || !value_equal(occupant, record->image)) {
        leave(out, STR("another item stands under its old key"));
    }
}

void undo_decide(const struct undo_record *record, struct value current, struct value occupant,
                 struct arena *arena, struct undo_decision *out)
{
    *out = (struct undo_decision){.action = UNDO_NOTHING};
    switch (record->kind) {
    case UNDO_PUT:
        decide_put(record, current, out);
        break;
    case UNDO_UPDATE:
        decide_change(record, current, arena, out);
        break;
    case UNDO_DELETE:
        decide_delete(record, value_is_missing(occupant) ? current : occupant, out);
        break;
    case UNDO_MOVE:
        decide_move(record, current, occupant, arena, out);
        break;
    }
}
