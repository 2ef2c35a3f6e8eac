#include "engine/item/edit.h"

#include "engine/base/str.h"
#include "engine/base/varint.h"

#include <stdlib.h>
#include <string.h>

/* Edits in the order of their paths, so that those of one container stand together. */
struct sorted_edits {
    const struct edit *sorted;
    size_t count;
    size_t depth; /* the step that names a member of the container at hand */
};

/* A container as it comes out. Its members are written where they end up; its header before them,
 * once its size is known. */
struct draft {
    struct sorted_edits edits; /* those still to do */
    unsigned char *members;
    unsigned char *at; /* behind the last of them */
    size_t count;
    struct arena *arena;
    struct error *err;
};

/* The tag and two varints stand before the members. */
enum { HEADER_MAX = 1 + 2 * VARINT_MAX_BYTES };

static int compare_steps(const struct path_step *a, const struct path_step *b)
{
    if (a->is_place != b->is_place) {
        return a->is_place ? 1 : -1;
    }
    if (a->is_place) {
        return a->place < b->place ? -1 : a->place > b->place ? 1 : 0;
    }
    return str_compare(a->name, b->name);
}

static int compare_edits(const void *a, const void *b)
{
    struct path left = ((const struct edit *)a)->path;
    struct path right = ((const struct edit *)b)->path;
    for (size_t i = 0; i < left.count && i < right.count; i++) {
        int order = compare_steps(&left.steps[i], &right.steps[i]);
        if (order != 0) {
            return order;
        }
    }
    return left.count < right.count ? -1 : 1;
}

static const struct path_step *step_of(const struct sorted_edits *edits, size_t index)
{
    return &edits->sorted[index].path.steps[edits->depth];
}

/* The edits that share their step with the first. */
static struct sorted_edits first_group(const struct sorted_edits *edits)
{
    size_t count = 1;
    while (count < edits->count && compare_steps(step_of(edits, 0), step_of(edits, count)) == 0) {
        count++;
    }
    return (struct sorted_edits){edits->sorted, count, edits->depth + 1};
}

/* At most what the edits can add to a container. */
static size_t growth(const struct sorted_edits *edits)
{
    size_t size = HEADER_MAX;
    for (size_t i = 0; i < edits->count; i++) {
        const struct edit *edit = &edits->sorted[i];
        size_t last = edit->path.steps[edit->path.count - 1].name.len;
        size += VARINT_MAX_BYTES + last + edit->value.len + edit->path.count * HEADER_MAX;
    }
    return size;
}

static void put(struct draft *draft, const void *bytes, size_t len)
{
    memcpy(draft->at, bytes, len);
    draft->at += len;
}

static void put_member(struct draft *draft, const struct path_step *step, struct value v)
{
    if (!step->is_place) {
        draft->at += varint_put(draft->at, step->name.len);
        if (step->name.len > 0) {
            put(draft, step->name.ptr, step->name.len);
        }
    }
    put(draft, v.bytes, v.len);
    draft->count++;
}

static struct value finish(enum value_type type, const struct draft *draft)
{
    size_t body = varint_size(draft->count) + (size_t)(draft->at - draft->members);
    unsigned char *start = draft->members - varint_size(draft->count) - varint_size(body) - 1;
    start[0] = (unsigned char)type;
    size_t used = 1 + varint_put(start + 1, body);
    (void)varint_put(start + used, draft->count);
    return (struct value){start, (size_t)(draft->at - start)};
}

static bool edit_container(struct value v, struct sorted_edits edits, struct arena *arena,
                           struct value *out, struct error *err);

/* That `v` is the kind of container that the paths want; names sort before places. */
static bool check_parent(struct value v, const struct sorted_edits *group, struct arena *arena,
                         struct error *err)
{
    const struct edit *first = &group->sorted[0];
    bool names = !step_of(group, 0)->is_place;
    bool places = step_of(group, group->count - 1)->is_place;
    if ((!names || value_type(v) == VALUE_M) && (!places || value_type(v) == VALUE_L)) {
        return true;
    }
    struct str name = path_print((struct path){first->path.steps, group->depth}, arena);
    enum value_type wanted = names && value_type(v) != VALUE_M ? VALUE_M : VALUE_L;
    return error_set(err, ERROR_ITEM, "%.*s: expected %s, found %s", STR_ARG(name),
                     value_type_name(wanted), value_type_name(value_type(v)));
}

/* What becomes of one member (missing: it is not there), whose edits are `group`. */
static bool edit_member(struct value v, const struct sorted_edits *group, struct arena *arena,
                        struct value *out, struct error *err)
{
    const struct edit *first = &group->sorted[0];
    if (first->path.count == group->depth) {
        *out = first->value;
        return true;
    }
    return check_parent(v, group, arena, err) && edit_container(v, *group, arena, out, err);
}

/* <0, 0, >0: where the next edit stands against a member, NULL for the end; >0 if none is left. */
static int compare_next(const struct draft *draft, const struct attribute *member, size_t place)
{
    if (draft->edits.count == 0) {
        return 1;
    }
    if (member == NULL) {
        return -1;
    }
    const struct path_step *next = step_of(&draft->edits, 0);
    struct path_step here = {.is_place = next->is_place, .name = member->name, .place = place};
    return compare_steps(next, &here);
}

/* Applies the next group to `v` and takes it off. */
static bool edit_group(struct draft *draft, struct value v)
{
    struct sorted_edits group = first_group(&draft->edits);
    struct value after = {NULL, 0};
    if (!edit_member(v, &group, draft->arena, &after, draft->err)) {
        return false;
    }
    if (!value_is_missing(after)) {
        put_member(draft, step_of(&draft->edits, 0), after);
    }
    draft->edits.sorted += group.count;
    draft->edits.count -= group.count;
    return true;
}

/* Applies the groups whose members are not there and would stand before `member`; NULL: all. */
static bool edit_new(struct draft *draft, const struct attribute *member, size_t place)
{
    while (compare_next(draft, member, place) < 0) {
        if (!edit_group(draft, (struct value){NULL, 0})) {
            return false;
        }
    }
    return true;
}

static bool edit_container(struct value v, struct sorted_edits edits, struct arena *arena,
                           struct value *out, struct error *err)
{
    size_t size_max = HEADER_MAX + v.len + growth(&edits);
    unsigned char *members = (unsigned char *)arena_bytes(arena, size_max) + HEADER_MAX;
    struct draft draft = {edits, members, members, 0, arena, err};
    struct attribute member;
    struct value_iter iter = value_members(v);
    const unsigned char *start = iter.next;
    for (size_t place = 0; value_next(&iter, &member); place++, start = iter.next) {
        if (!edit_new(&draft, &member, place)) {
            return false;
        }
        if (compare_next(&draft, &member, place) != 0) {
            put(&draft, start, (size_t)(iter.next - start));
            draft.count++;
        } else if (!edit_group(&draft, member.value)) {
            return false;
        }
    }
    if (!edit_new(&draft, NULL, 0)) {
        return false;
    }
    *out = finish(value_type(v), &draft);
    return true;
}

bool edit_apply(struct value item, const struct edits *edits, struct arena *arena,
                struct value *out, struct error *err)
{
    size_t count = edits->count;
    struct edit *sorted = arena_alloc(arena, count * sizeof *sorted);
    if (count > 0) {
        memcpy(sorted, edits->list, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare_edits);
    }
    struct value after;
    if (!edit_container(item, (struct sorted_edits){sorted, count, 0}, arena, &after, err)) {
        return false;
    }
    *out = after;
    return true;
}
