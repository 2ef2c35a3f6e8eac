#include "tests/rules/item_edit.h"

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/edit.h"
#include "engine/item/path.h"
#include "engine/item/value.h"
#include "tests/rules/item_value.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { EDITS_MAX = 5, STEPS_MAX = 4 };

static const struct value missing = {NULL, 0};

static struct str member_name(struct value map, size_t place)
{
    struct value_iter iter = value_members(map);
    struct attribute member = {.name = STR("new")};
    for (size_t i = 0; i <= place; i++) {
        if (!value_next(&iter, &member)) {
            return STR("new");
        }
    }
    return member.name;
}

/* A step to a member that is there, or to the one behind the last. */
static struct path_step draw_step(struct draw *draw, struct value container)
{
    size_t place = draw_below(draw, (uint32_t)value_count(container) + 1);
    if (value_type(container) == VALUE_L) {
        return (struct path_step){.is_place = true, .place = place};
    }
    return (struct path_step){.name = member_name(container, place)};
}

/* Mostly leads to something; now and then its parent is none. */
static struct path draw_path(struct draw *draw, struct arena *arena, struct value item)
{
    struct path_step *steps = arena_alloc(arena, STEPS_MAX * sizeof *steps);
    struct path path = {steps, 0};
    struct value here = item;
    do {
        steps[path.count++] = draw_step(draw, here);
        here = path_value((struct path){&steps[path.count - 1], 1}, here);
    } while (path.count < STEPS_MAX && value_type(here) >= VALUE_L && draw_below(draw, 3) > 0);
    if (path.count < STEPS_MAX && draw_below(draw, 16) == 0) {
        steps[path.count++] = (struct path_step){.name = STR("deeper")};
    }
    return path;
}

static size_t draw_edits(struct draw *draw, struct arena *arena, struct value item,
                         struct edit *edits)
{
    size_t count = 0;
    for (size_t i = 0; i < EDITS_MAX; i++) {
        struct edit edit = {draw_path(draw, arena, item), missing};
        edit.value = draw_below(draw, 2) == 1 ? draw_value(draw, arena, 1) : missing;
        bool apart = true;
        for (size_t other = 0; other < count; other++) {
            apart = apart && !path_overlaps(edits[other].path, edit.path);
        }
        if (apart) {
            edits[count++] = edit;
        }
    }
    return count;
}

/* Places from the last to the first, so that none moves before its turn. */
static int later_place_first(const void *a, const void *b)
{
    struct path left = ((const struct edit *)a)->path;
    struct path right = ((const struct edit *)b)->path;
    for (size_t i = 0; i < left.count && i < right.count; i++) {
        size_t left_place = left.steps[i].is_place ? left.steps[i].place : 0;
        size_t right_place = right.steps[i].is_place ? right.steps[i].place : 0;
        if (left_place != right_place) {
            return left_place > right_place ? -1 : 1;
        }
        int order = str_compare(left.steps[i].name, right.steps[i].name);
        if (order != 0) {
            return order;
        }
    }
    return 0;
}

static bool apply_in_turn(struct value item, const struct edits *edits, struct arena *arena,
                          struct value *out)
{
    struct error err = {0};
    qsort(edits->list, edits->count, sizeof *edits->list, later_place_first);
    for (size_t i = 0; i < edits->count; i++) {
        struct edits one = {&edits->list[i], 1};
        if (!edit_apply(item, &one, arena, &item, &err)) {
            return false;
        }
    }
    *out = item;
    return true;
}

bool rule_edits_at_once_are_edits_in_turn(struct draw *draw)
{
    struct arena *arena = arena_new();
    struct value item = draw_item(draw, arena);
    struct edit list[EDITS_MAX];
    struct edits edits = {list, draw_edits(draw, arena, item, list)};
    struct value at_once = missing;
    struct value in_turn = missing;
    struct error err = {0};
    bool done = edit_apply(item, &edits, arena, &at_once, &err);
    bool holds =
        done ? value_check(at_once, &err) : err.code == ERROR_ITEM && value_is_missing(at_once);
    if (holds) {
        bool same = apply_in_turn(item, &edits, arena, &in_turn);
        holds = done == same && value_equal(at_once, in_turn);
    }
    arena_free(arena);
    return holds;
}
