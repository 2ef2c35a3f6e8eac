#include "migrate/probe_groups.h"

#include "engine/base/buffer.h"

#include <stdlib.h>
#include <string.h>

enum member_kind { MEMBER_MOVES, MEMBER_PUTS, MEMBER_HOLDS };

struct member {
    unsigned char source[PROBE_DIGEST_BYTES];
    uint32_t step;
    uint32_t group;
    unsigned char kind; /* enum member_kind */
    bool wins;
};

struct group {
    enum collision policy;
    bool failed;
    bool held;
    bool has_winner;
    uint32_t step; /* the winner's, else that of the first claim */
    struct str reason;
};

struct probe_groups {
    const struct pass_facts *facts;
    const struct key_schema *schema;
    struct arena *arena;   /* reasons */
    struct arena *current; /* keys of the target at hand */
    struct buffer members; /* of struct member: those that collide, then those at hand */
    struct buffer groups;  /* of struct group */
    size_t first;          /* member of the target at hand */
    uint64_t *merged;      /* by step */
    /* of the target at hand */
    struct key names[2]; /* sources, for the sentence */
    size_t name_count;
    size_t winner; /* member, and what it won by */
    struct key winner_key;
    struct value winner_newer;
    uint64_t digest; /* of the first claim */
    bool equal_puts; /* all claims are puts of one item */
    bool mixed;      /* claims under different rules, or values that do not compare */
};

struct probe_groups *probe_groups_new(const struct pass_facts *facts,
                                      const struct key_schema *schema)
{
    struct probe_groups *groups = heap_alloc(sizeof *groups);
    groups->facts = facts;
    groups->schema = schema;
    groups->arena = arena_new();
    groups->current = arena_new();
    groups->merged = heap_alloc((facts->step_count + 1) * sizeof *groups->merged);
    return groups;
}

void probe_groups_free(struct probe_groups *groups)
{
    if (groups != NULL) {
        arena_free(groups->arena);
        arena_free(groups->current);
        buffer_free(&groups->members);
        buffer_free(&groups->groups);
        heap_free(groups->merged);
        heap_free(groups);
    }
}

static struct member *member_at(const struct probe_groups *groups, size_t index)
{
    return (struct member *)(void *)groups->members.bytes + index;
}

static size_t member_count(const struct probe_groups *groups)
{
    return groups->members.len / sizeof(struct member);
}

static struct group *group_at(const struct probe_groups *groups, size_t index)
{
    return (struct group *)(void *)groups->groups.bytes + index;
}

static size_t group_count(const struct probe_groups *groups)
{
    return groups->groups.len / sizeof(struct group);
}

static const struct pass_step *step_of(const struct probe_groups *groups, uint32_t step)
{
    return &groups->facts->steps[step];
}

/* ---------------------------------------------------------------- gathering one target */

static int compare_keys(const struct key *a, const struct key *b)
{
    int order = 0;
    for (size_t i = 0; order == 0 && i < a->count; i++) {
        order = value_compare(a->parts[i], b->parts[i]);
    }
    return order;
}

static bool is_ordered(enum value_type type)
{
    return type == VALUE_S || type == VALUE_N || type == VALUE_B;
}

/* True if values of the attribute that keep_newer names say which item is newer. */
static bool comparable(struct value a, struct value b)
{
    return value_is_missing(a) || value_is_missing(b) ||
           (value_type(a) == value_type(b) && is_ordered(value_type(a)));
}

/* <0, 0, >0; missing is the oldest. */
static int compare_newer(struct value a, struct value b)
{
    if (value_is_missing(a) || value_is_missing(b)) {
        return (value_is_missing(b) ? 1 : 0) - (value_is_missing(a) ? 1 : 0);
    }
    return value_compare(a, b);
}

static bool beats_winner(const struct probe_groups *groups, const struct probe_claim *claim)
{
    int order = 0;
    if (step_of(groups, claim->step)->collision == COLLISION_KEEP_NEWER && !groups->mixed) {
        order = compare_newer(claim->newer, groups->winner_newer);
    }
    return (order != 0 ? order : compare_keys(&claim->source, &groups->winner_key)) > 0;
}

static void add_member(struct probe_groups *groups, const struct key *source, uint32_t step,
                       enum member_kind kind)
{
    struct member member = {.step = step, .kind = (unsigned char)kind};
    probe_digest(source, member.source);
    buffer_add(&groups->members, (struct str){(const char *)&member, sizeof member});
}

static bool same_rule(const struct pass_step *a, const struct pass_step *b)
{
    return a->collision == b->collision &&
           (a->collision != COLLISION_KEEP_NEWER || str_equal(a->newer, b->newer));
}

static void compare_with_others(struct probe_groups *groups, const struct probe_claim *claim)
{
    const struct pass_step *first = step_of(groups, member_at(groups, groups->first)->step);
    const struct pass_step *own = step_of(groups, claim->step);
    if (!same_rule(first, own) || (own->collision == COLLISION_KEEP_NEWER &&
                                   !comparable(claim->newer, groups->winner_newer))) {
        groups->mixed = true;
    }
    groups->equal_puts = groups->equal_puts && claim->puts && claim->digest == groups->digest;
}

void probe_groups_claim(struct probe_groups *groups, const struct probe_claim *claim)
{
    size_t index = member_count(groups);
    bool first = index == groups->first;
    if (first) {
        groups->digest = claim->digest;
        groups->equal_puts = claim->puts;
    } else {
        compare_with_others(groups, claim);
    }
    if (first || beats_winner(groups, claim)) {
        groups->winner = index;
        groups->winner_key = key_copy(&claim->source, groups->current);
        groups->winner_newer = value_is_missing(claim->newer)
                                   ? claim->newer
                                   : value_copy(groups->current, claim->newer);
    }
    if (groups->name_count < 2) {
        groups->names[groups->name_count++] = key_copy(&claim->source, groups->current);
    }
    add_member(groups, &claim->source, claim->step, claim->puts ? MEMBER_PUTS : MEMBER_MOVES);
}

/* ---------------------------------------------------------------- the end of one target */

static struct str describe(const struct probe_groups *groups, const struct key *target,
                           const struct probe_holder *holder, size_t claims)
{
    struct arena *arena = groups->arena;
    struct str key = key_print(groups->schema, target, groups->current);
    struct str first = key_print(groups->schema, &groups->names[0], groups->current);
    struct str second = STR("");
    if (groups->name_count > 1) {
        struct str name = key_print(groups->schema, &groups->names[1], groups->current);
        second = claims > 2 ? arena_format(groups->current, ", %.*s and %zu more", STR_ARG(name),
                                           claims - 2)
                            : arena_format(groups->current, " and %.*s", STR_ARG(name));
    }
    const char *rest = "";
    if (groups->mixed) {
        rest = "; their on_collision rules do not agree, or do not compare";
    } else if (holder != NULL && !holder->settled) {
        rest = "; the item that stands there moves or puts items in the same pass";
    } else if (holder != NULL) {
        rest = "; an item stands there";
    }
    return arena_format(arena, "key %.*s is wanted by %.*s%.*s%s", STR_ARG(key), STR_ARG(first),
                        STR_ARG(second), rest);
}

static bool same_source(const struct member *a, const struct member *b)
{
    return memcmp(a->source, b->source, PROBE_DIGEST_BYTES) == 0;
}

/* One item that wants the key twice, by a move and a put or by two puts. Neighbours, as the claims
 * of equal targets come in any order but an item's own come from one worker, one after another. */
static bool wants_twice(const struct probe_groups *groups)
{
    for (size_t i = groups->first + 1; i < member_count(groups); i++) {
        if (same_source(member_at(groups, i - 1), member_at(groups, i))) {
            return true;
        }
    }
    return false;
}

static bool decides(enum collision policy)
{
    return policy == COLLISION_OVERWRITE || policy == COLLISION_KEEP_NEWER;
}

/* Nothing collides: one claim on a free key, or puts of one and the same item. */
static bool is_quiet(struct probe_groups *groups, const struct probe_holder *holder)
{
    size_t claims = member_count(groups) - groups->first;
    if (holder == NULL && claims == 1) {
        return true;
    }
    bool held_equal = holder != NULL && holder->unchanged && holder->digest == groups->digest;
    if (!groups->equal_puts || (holder != NULL && !held_equal)) {
        return false;
    }
    for (size_t i = groups->first + (holder == NULL ? 1 : 0); i < member_count(groups); i++) {
        groups->merged[member_at(groups, i)->step]++;
    }
    return true;
}

/* What keep_newer compares of the standing item. */
static struct value holder_newer(const struct probe_groups *groups,
                                 const struct probe_holder *holder)
{
    const struct member *winner = member_at(groups, groups->winner);
    return value_member(holder->item, step_of(groups, winner->step)->newer);
}

/* keep_newer: the standing item keeps the key. */
static bool holder_is_newer(const struct probe_groups *groups, const struct probe_holder *holder)
{
    int order = compare_newer(holder_newer(groups, holder), groups->winner_newer);
    return (order != 0 ? order : compare_keys(&holder->key, &groups->winner_key)) > 0;
}

static bool someone_wins(const struct probe_groups *groups, enum collision policy,
                         const struct probe_holder *holder)
{
    switch (policy) {
    case COLLISION_SKIP:
        return holder == NULL;
    case COLLISION_OVERWRITE:
        return true;
    case COLLISION_KEEP_NEWER:
        return holder == NULL || !holder_is_newer(groups, holder);
    case COLLISION_FAIL:
        break;
    }
    return false;
}

/* What the group is ruled by: on_collision of its claims, or FAIL where that decides nothing. */
static enum collision policy_of(struct probe_groups *groups, const struct probe_holder *holder)
{
    const struct member *winner = member_at(groups, groups->winner);
    enum collision policy = step_of(groups, winner->step)->collision;
    if (policy == COLLISION_KEEP_NEWER && holder != NULL &&
        !comparable(holder_newer(groups, holder), groups->winner_newer)) {
        groups->mixed = true;
    }
    bool unsettled = holder != NULL && !holder->settled && decides(policy);
    return groups->mixed || unsettled || wants_twice(groups) ? COLLISION_FAIL : policy;
}

static void close_group(struct probe_groups *groups, const struct key *target,
                        const struct probe_holder *holder)
{
    size_t claims = member_count(groups) - groups->first;
    enum collision policy = policy_of(groups, holder);
    struct group group = {.policy = policy,
                          .failed = policy == COLLISION_FAIL,
                          .held = holder != NULL,
                          .has_winner = someone_wins(groups, policy, holder),
                          .step = member_at(groups, groups->winner)->step,
                          .reason = describe(groups, target, holder, claims)};
    member_at(groups, groups->winner)->wins = group.has_winner;
    if (holder != NULL) {
        add_member(groups, &holder->key, group.step, MEMBER_HOLDS);
    }
    for (size_t i = groups->first; i < member_count(groups); i++) {
        member_at(groups, i)->group = (uint32_t)group_count(groups);
    }
    buffer_add(&groups->groups, (struct str){(const char *)&group, sizeof group});
}

void probe_groups_end(struct probe_groups *groups, const struct key *target,
                      const struct probe_holder *holder)
{
    if (is_quiet(groups, holder)) {
        groups->members.len = groups->first * sizeof(struct member);
    } else {
        close_group(groups, target, holder);
    }
    groups->first = member_count(groups);
    groups->name_count = 0;
    groups->mixed = false;
    arena_reset(groups->current);
}

/* ---------------------------------------------------------------- ruling */

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

/* True if the item fails by one of its claims, or would decide one group and be lost by another. */
static bool run_fails(const struct probe_groups *groups, size_t first, size_t end)
{
    bool lost = false;
    bool decided = false;
    for (size_t i = first; i < end; i++) {
        const struct member *member = member_at(groups, i);
        const struct group *group = group_at(groups, member->group);
        if (group->failed) {
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

/* False where the member needs no verdict. */
static bool rule_member(const struct probe_groups *groups, const struct member *member,
                        struct probe_verdict *out)
{
    const struct group *group = group_at(groups, member->group);
    *out = (struct probe_verdict){.step = member->step};
    memcpy(out->source, member->source, PROBE_DIGEST_BYTES);
    if (group->failed) {
        out->ruling = PROBE_FAIL;
        out->reason = group->reason;
    } else if (member->kind == MEMBER_HOLDS) {
        out->ruling = PROBE_STAND;
        out->step = group->step;
        return decides(group->policy) && group->has_winner;
    } else if (member->wins) {
        out->ruling = PROBE_OVERWRITE;
        return group->held;
    } else if (loses(groups, member)) {
        out->ruling = PROBE_LOSE;
        out->step = group->step;
    } else {
        out->ruling = PROBE_SKIP;
    }
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
        group_at(groups, i)->reason = arena_copy(arena, group_at(groups, i)->reason);
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
