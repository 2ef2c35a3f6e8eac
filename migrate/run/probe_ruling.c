#include "migrate/run/probe_groups.h"
#include "migrate/run/probe_groups_internal.h"

#include <stdlib.h>

static int compare_members(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;
    int order = memcmp(left->source, right->source, PROBE_DIGEST_BYTES);
    return order != 0 ? order : (left->step > right->step) - (left->step < right->step);
}

/* The end of the run of one item's members. */
static size_t run_end(const struct probe_groups *groups, size_t first)
{
    size_t end = first + 1;
    while (end < member_count(groups) &&
           same_source(member_at(groups, first), member_at(groups, end))) {
        end++;
    }
    return end;
}

static bool loses(const struct probe_groups *groups, const struct member *member)
{
    return member->kind == MEMBER_MOVES && !member->wins &&
           decides(group_at(groups, member->group)->policy);
}

/* It would keep its key, but then later steps would not do what others were ruled by. */
static bool falters(const struct member *member)
{
    return member->unsteady && !member->wins;
}

/* True if the item fails by one of its claims, or would decide one group and be lost by another. */
static bool run_fails(const struct probe_groups *groups, size_t first, size_t end)
{
    bool lost = false;
    bool decided = false;
    for (size_t i = first; i < end; i++) {
        const struct member *member = member_at(groups, i);
        const struct group *group = group_at(groups, member->group);
        if (group->failed || falters(member)) {
            return true;
        }
        lost = lost || loses(groups, member);
        decided = decided || (member->wins && decides(group->policy));
    }
    return lost && decided;
}

/* Fails the groups that a failing item would have decided; true if that is new. */
static bool fail_groups(struct probe_groups *groups, size_t first, size_t end)
{
    bool changed = false;
    for (size_t i = first; i < end; i++) {
        struct group *group = group_at(groups, member_at(groups, i)->group);
        if (!group->failed && decides(group->policy)) {
            group->failed = true;
            changed = true;
        }
    }
    return changed;
}

/* True if a group failed that had not before. */
static bool spread_once(struct probe_groups *groups)
{
    bool changed = false;
    for (size_t first = 0, end = 0; first < member_count(groups); first = end) {
        end = run_end(groups, first);
        if (run_fails(groups, first, end)) {
            changed = fail_groups(groups, first, end) || changed;
        }
    }
    return changed;
}

static void spread_failures(struct probe_groups *groups)
{
    bool changed = true;
    while (changed) {
        changed = spread_once(groups);
    }
}

/* It loses its key to the group's winner, or to what stands there. */
static void rule_loser(const struct group *group, struct probe_verdict *out)
{
    out->ruling = PROBE_LOSE;
    out->step = group->step;
    out->winner = group->winner;
    if (group->has_winner) {
        memcpy(out->standing, group->won, PROBE_DIGEST_BYTES);
    } else if (group->steady) {
        memcpy(out->standing, group->standing, PROBE_DIGEST_BYTES);
    }
}

/* False where the member needs no verdict. */
static bool rule_sound(const struct probe_groups *groups, const struct member *member,
                       struct probe_verdict *out)
{
    const struct group *group = group_at(groups, member->group);
    if (member->kind == MEMBER_HOLDS) {
        out->ruling = PROBE_STAND;
        out->step = group->step;
        return decides(group->policy) && group->has_winner;
    }
    if (member->wins) {
        out->ruling = PROBE_OVERWRITE;
        memcpy(out->standing, group->standing, PROBE_DIGEST_BYTES);
        return group->held;
    }
    if (loses(groups, member)) {
        rule_loser(group, out);
    } else {
        out->ruling = PROBE_SKIP;
    }
    return !member->equal || group->has_winner;
}

static bool rule_member(const struct probe_groups *groups, const struct member *member,
                        struct probe_verdict *out)
{
    const struct group *group = group_at(groups, member->group);
    *out = (struct probe_verdict){.step = member->step};
    memcpy(out->source, member->source, PROBE_DIGEST_BYTES);
    memcpy(out->wanted, member->wanted, PROBE_DIGEST_BYTES);
    if (!group->failed && !falters(member)) {
        return rule_sound(groups, member, out);
    }
    out->ruling = PROBE_FAIL;
    out->reason = group->failed ? group->reason
                                : STR("it would keep its key, but later steps of the pass go by "
                                      "the new one");
    return true;
}

/* Rulings that speak of the whole item leave no room for others. */
static bool is_whole(enum probe_ruling ruling)
{
    return ruling == PROBE_FAIL || ruling == PROBE_LOSE || ruling == PROBE_STAND;
}

static void rule_item(const struct probe_groups *groups, size_t first, size_t end,
                      struct probe_verdicts *out)
{
    size_t begun = out->count;
    for (size_t i = first; i < end; i++) {
        struct probe_verdict verdict;
        if (!rule_member(groups, member_at(groups, i), &verdict)) {
            continue;
        }
        bool taken = out->count > begun && is_whole(out->list[begun].ruling);
        if (is_whole(verdict.ruling) && (!taken || verdict.ruling < out->list[begun].ruling)) {
            out->list[begun] = verdict;
            out->count = begun + 1;
        } else if (!taken) {
            out->list[out->count++] = verdict;
        }
    }
}

void probe_groups_rule(struct probe_groups *groups, struct arena *arena, struct probe_verdicts *out)
{
    if (member_count(groups) > 0) {
        qsort(groups->members.bytes, member_count(groups), sizeof(struct member), compare_members);
    }
    spread_failures(groups);
    for (size_t i = 0; i < group_count(groups); i++) {
        struct group *group = group_at(groups, i);
        group->reason = arena_copy(arena, group->reason);
        group->winner = arena_copy(arena, group->winner);
    }
    size_t steps = groups->facts->step_count;
    *out = (struct probe_verdicts){
        .list = arena_alloc(arena, (member_count(groups) + 1) * sizeof *out->list),
        .merged = arena_alloc(arena, (steps + 1) * sizeof *out->merged),
        .step_count = steps};
    memcpy(out->merged, groups->merged, steps * sizeof *out->merged);
    for (size_t first = 0, end = 0; first < member_count(groups); first = end) {
        end = run_end(groups, first);
        rule_item(groups, first, end, out);
    }
    probe_verdicts_sort(out);
}
