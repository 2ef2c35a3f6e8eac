/* probe_groups — from who wants which key to verdicts: groups of items that want one key, or a key
 * that a standing item holds, ruled by on_collision. Pure: the probe feeds it, target by target.
 * What stays in memory is 44 bytes for each member of a group that collides, and of each group a
 * sentence and the winner's key. */
#ifndef MIGRATE_RUN_PROBE_GROUPS_H
#define MIGRATE_RUN_PROBE_GROUPS_H

#include "engine/base/arena.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "migrate/run/probe_verdicts.h"
#include "plans/pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One item that wants the target, by a step's rekey or put. */
struct probe_claim {
    struct key source; /* its key before the pass */
    uint32_t step;
    bool puts;          /* else it moves there itself */
    bool unsteady;      /* if it kept its key by on_collision, its other claims would not stand */
    uint64_t digest;    /* of the item that would stand there */
    struct value newer; /* of the attribute that keep_newer names, in that item */
};

/* The item that stands under the target before the pass. */
struct probe_holder {
    struct key key;
    uint64_t digest;
    struct value item;
    struct value after; /* what the pass makes of it where it keeps its key */
    bool unchanged;     /* the pass leaves it as it is */
    bool settled; /* the pass neither moves it nor lets it put items, and it is no item error */
    bool done;    /* an earlier attempt at the pass wrote it: it has beaten puts that come again */
};

struct probe_groups;

/* `facts` and `schema` are borrowed. */
struct probe_groups *probe_groups_new(const struct pass_facts *facts,
                                      const struct key_schema *schema);
void probe_groups_free(struct probe_groups *groups);

/* All claims on one target, then its end. `holder` is NULL where the target is free. */
void probe_groups_claim(struct probe_groups *groups, const struct key *target,
                        const struct probe_claim *claim);
void probe_groups_end(struct probe_groups *groups, const struct key *target,
                      const struct probe_holder *holder);

/* The verdicts, in the arena, when all targets are through. An item that fails by one of its claims
 * fails whole, and so do the groups that it would have decided. What is merged is right if no
 * verdict leaves a put out. */
void probe_groups_rule(struct probe_groups *groups, struct arena *arena,
                       struct probe_verdicts *out);

#endif
