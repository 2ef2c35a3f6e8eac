/* probe_groups_internal — the groups as they are gathered, and then ruled. */
#ifndef MIGRATE_RUN_PROBE_GROUPS_INTERNAL_H
#define MIGRATE_RUN_PROBE_GROUPS_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "migrate/run/probe_verdicts.h"
#include "plans/pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum member_kind { MEMBER_MOVES, MEMBER_PUTS, MEMBER_HOLDS };

struct member {
    unsigned char source[PROBE_DIGEST_BYTES];
    unsigned char wanted[PROBE_DIGEST_BYTES]; /* probe_basis() of the claim */
    uint32_t step;
    uint32_t group;
    unsigned char kind; /* enum member_kind */
    bool wins;
    bool equal;    /* it puts what stands there */
    bool unsteady; /* as in struct probe_claim */
};

struct group {
    enum collision policy;
    bool failed;
    bool held;
    bool has_winner;
    unsigned char standing[PROBE_DIGEST_BYTES]; /* probe_basis() of what holds the key */
    bool steady;                                /* and it is the same after the pass */
    unsigned char won[PROBE_DIGEST_BYTES];      /* probe_basis() of the winner */
    struct str winner;                          /* its source, encoded; in the groups' arena */
    uint32_t step;                              /* the winner's, else that of the first claim */
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
    struct buffer digests; /* of what its claims would have there, uint64_t each */
    struct key names[2];   /* sources, for the sentence */
    size_t name_count;
    size_t winner; /* member, and what it won by */
    struct key winner_key;
    struct value winner_newer;
    bool equal_puts; /* all claims are puts of one item */
    bool mixed;      /* claims under different rules, or values that do not compare */
};

static inline struct member *member_at(const struct probe_groups *groups, size_t index)
{
    return (struct member *)(void *)groups->members.bytes + index;
}

static inline size_t member_count(const struct probe_groups *groups)
{
    return groups->members.len / sizeof(struct member);
}

static inline struct group *group_at(const struct probe_groups *groups, size_t index)
{
    return (struct group *)(void *)groups->groups.bytes + index;
}

static inline size_t group_count(const struct probe_groups *groups)
{
    return groups->groups.len / sizeof(struct group);
}

static inline const struct pass_step *step_of(const struct probe_groups *groups, uint32_t step)
{
    return &groups->facts->steps[step];
}

static inline bool same_source(const struct member *a, const struct member *b)
{
    return memcmp(a->source, b->source, PROBE_DIGEST_BYTES) == 0;
}

static inline bool decides(enum collision policy)
{
    return policy == COLLISION_OVERWRITE || policy == COLLISION_KEEP_NEWER;
}

#endif
