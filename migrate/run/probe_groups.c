#include "migrate/run/probe_groups.h"

#include "migrate/run/probe_groups_internal.h"

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
        buffer_free(&groups->digests);
        heap_free(groups->merged);
        heap_free(groups);
    }
}

/* ---------------------------------------------------------------- gathering one target */

/* Of the item that the claim, a member of the target at hand, would have there. */
static uint64_t digest_at(const struct probe_groups *groups, size_t member)
{
    return ((const uint64_t *)(const void *)groups->digests.bytes)[member - groups->first];
}

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
    groups->equal_puts =
        groups->equal_puts && claim->puts && claim->digest == digest_at(groups, groups->first);
}

void probe_groups_claim(struct probe_groups *groups, const struct key *target,
                        const struct probe_claim *claim)
{
    size_t index = member_count(groups);
    bool first = index == groups->first;
    if (first) {
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
    member_at(groups, index)->unsteady = claim->unsteady;
    probe_basis(target, claim->newer, member_at(groups, index)->wanted);
    buffer_add(&groups->digests, (struct str){(const char *)&claim->digest, sizeof claim->digest});
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
        rest = "; the item that stands there moves, puts items or fails in the same pass";
    } else if (holder != NULL) {
        rest = "; an item stands there";
    }
    return arena_format(arena, "key %.*s is wanted by %.*s%.*s%s", STR_ARG(key), STR_ARG(first),
                        STR_ARG(second), rest);
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

static bool stands_already(const struct probe_groups *groups, size_t member,
                           const struct probe_holder *holder)
{
    return holder != NULL && holder->unchanged && member_at(groups, member)->kind == MEMBER_PUTS &&
           holder->digest == digest_at(groups, member);
}

/* Puts that are no write: all of what stands already, else all but one of the lowest step. */
static void merge(struct probe_groups *groups, const struct probe_holder *holder)
{
    uint32_t lowest = member_at(groups, groups->first)->step;
    for (size_t i = groups->first; i < member_count(groups); i++) {
        uint32_t step = member_at(groups, i)->step;
        groups->merged[step]++;
        lowest = step < lowest ? step : lowest;
    }
    groups->merged[lowest] -= holder == NULL ? 1 : 0;
}

/* Nothing collides: one claim on a free key, or puts of one and the same item. */
static bool is_quiet(const struct probe_groups *groups, const struct probe_holder *holder)
{
    if (holder == NULL && member_count(groups) - groups->first == 1) {
        return true;
    }
    return groups->equal_puts && (holder == NULL || stands_already(groups, groups->first, holder));
}

static const struct pass_step *rule_of(const struct probe_groups *groups)
{
    return step_of(groups, member_at(groups, groups->winner)->step);
}

/* What keep_newer compares of the standing item. */
static struct value holder_newer(const struct probe_groups *groups,
                                 const struct probe_holder *holder)
{
    return probe_newer(rule_of(groups), holder->item);
}

/* keep_newer: the standing item keeps the key. */
static bool holder_is_newer(const struct probe_groups *groups, const struct probe_holder *holder)
{
    int order = compare_newer(holder_newer(groups, holder), groups->winner_newer);
    if (order != 0) {
        return order > 0;
    }
    return holder->done || compare_keys(&holder->key, &groups->winner_key) > 0;
}

static bool someone_wins(const struct probe_groups *groups, enum collision policy,
                         const struct probe_holder *holder)
{
    switch (policy) {
    case COLLISION_SKIP:
        return holder == NULL;
    case COLLISION_OVERWRITE:
        return holder == NULL || !holder->done ||
               member_at(groups, groups->winner)->kind == MEMBER_MOVES;
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
    enum collision policy = rule_of(groups)->collision;
    if (policy == COLLISION_KEEP_NEWER && holder != NULL &&
        !comparable(holder_newer(groups, holder), groups->winner_newer)) {
        groups->mixed = true;
    }
    bool unsettled = holder != NULL && !holder->settled && decides(policy);
    return groups->mixed || unsettled || wants_twice(groups) ? COLLISION_FAIL : policy;
}

static void note_standing(const struct probe_groups *groups, const struct probe_holder *holder,
                          struct group *out)
{
    struct value now = holder_newer(groups, holder);
    struct value after = probe_newer(rule_of(groups), holder->after);
    out->held = true;
    out->steady = value_equal(now, after);
    probe_basis(&holder->key, now, out->standing);
}

static void note_winner(const struct probe_groups *groups, struct group *out)
{
    struct buffer key = {0};
    key_encode(&groups->winner_key, &key);
    out->has_winner = true;
    out->winner = arena_copy(groups->arena, buffer_str(&key));
    memcpy(out->won, member_at(groups, groups->winner)->wanted, PROBE_DIGEST_BYTES);
    buffer_free(&key);
}

static void close_group(struct probe_groups *groups, const struct key *target,
                        const struct probe_holder *holder)
{
    size_t claims = member_count(groups) - groups->first;
    for (size_t i = groups->first; i < member_count(groups); i++) {
        member_at(groups, i)->equal = stands_already(groups, i, holder);
    }
    struct member *winner = member_at(groups, groups->winner);
    enum collision policy = policy_of(groups, holder);
    winner->wins = !winner->equal && someone_wins(groups, policy, holder);
    struct group group = {.policy = policy,
                          .failed = policy == COLLISION_FAIL,
                          .step = winner->step,
                          .reason = describe(groups, target, holder, claims)};
    if (winner->wins) {
        note_winner(groups, &group);
    }
    if (holder != NULL) {
        note_standing(groups, holder, &group);
        add_member(groups, &holder->key, (uint32_t)groups->facts->step_count, MEMBER_HOLDS);
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
        merge(groups, holder);
        groups->members.len = groups->first * sizeof(struct member);
    } else {
        close_group(groups, target, holder);
    }
    groups->first = member_count(groups);
    groups->digests.len = 0;
    groups->name_count = 0;
    groups->mixed = false;
    arena_reset(groups->current);
}
