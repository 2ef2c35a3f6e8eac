/* pass_flow_internal — one item on its way through a pass. */
#ifndef PLANS_PASS_FLOW_INTERNAL_H
#define PLANS_PASS_FLOW_INTERNAL_H

#include "plans/pass_internal.h"

struct flow {
    const struct pass *pass;
    const struct pass_input *input; /* where lookups go */
    const bool *skip;               /* the verdict; NULL for none */
    struct arena *arena;
    struct error *err;
    struct value item;       /* as the steps so far have left it */
    struct expr_scope scope; /* what the step at hand sees */
    unsigned char *outcomes;
    struct pass_put *puts;
    size_t put_count;
    size_t step;       /* at hand; after a failure the one that failed */
    size_t write_step; /* the last that changed the item */
    size_t rekey_step; /* the last that moved it */
    bool rekeyed, deleted;
    bool broken; /* a lookup failed: no item error */
};

/* Puts the flow's item through the steps. False: an item error in flow->step, or `broken`. */
bool flow_run(struct flow *flow);

/* The step at hand: edits the item (set, rename, remove, rekey). False: an item error. */
bool flow_edit(struct flow *flow, const struct compiled_step *compiled);

/* The step at hand: adds what it puts. False: an item error. */
bool flow_put(struct flow *flow, const struct compiled_step *compiled);

/* Checks an item that comes out: size, key, index keys. */
bool flow_check(const struct flow *flow, struct value item, bool is_put, struct key *key);

/* What came out of the pass comes out of it again as it is; else an item error that names how it
 * differs, in flow->step, or `broken`. */
bool flow_converges(struct flow *flow);

#endif
