/* pass — the item steps of one pass, compiled against a table, and what they make of an item.
 * Pure and reentrant: a compiled pass is shared by threads, each applying with its own arena. */
#ifndef PLANS_PASS_H
#define PLANS_PASS_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/base/str.h"
#include "engine/item/key.h"
#include "engine/item/value.h"
#include "engine/store/store.h"
#include "plans/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct pass;

/* What a pass must know of its table. */
struct pass_table {
    const struct key_schema *keys;
    const struct key_schema *indexes; /* the table's first, then those that the plan creates */
    size_t index_count;
};

/* Collects the keys of the table's indexes and of every create_index in `stages`.
 *   table  borrowed by *out, as are the names in `stages`
 * ERROR_PLAN: one attribute is declared with two types (an attribute has one declared type in the
 * whole table). */
MUST_CHECK bool pass_table_init(const struct table_desc *table, const struct stage_list *stages,
                                struct arena *arena, struct pass_table *out, struct error *err);

/* Compiles a STAGE_PASS.
 *   stage, table  borrowed by *out
 * ERROR_PLAN: set, rename or remove of a key attribute; a put, rekey or lookup whose key attributes
 * are not the table's; a key of a constant wrong type; a lookup that is not shown to be safe. */
MUST_CHECK bool pass_compile(const struct stage *stage, const struct pass_table *table,
                             struct arena *arena, const struct pass **out, struct error *err);

/* How a step's writes are sent to a table behind the DynamoDB API. */
enum step_class {
    CLASS_SERVER_ONLY, /* an update under the step's own where: no reading in between can be stale
                        */
    CLASS_COMPUTED,    /* an update under the condition that what it was made from stands */
    CLASS_MOVE,
    CLASS_PUT,
    CLASS_DELETE
};

/* "server-only", … */
const char *step_class_name(enum step_class class);

struct pass_step {
    enum step_class class;
    struct str why;   /* a clause: "Upper is made from Name" */
    struct str label; /* for reports: its name, or "steps[2]" */
    bool rekeys, puts, deletes, looks_up;
    bool proved;              /* shown to leave alone what the pass has made; else it is tried */
    enum collision collision; /* where it rekeys or puts */
    struct str newer;         /* COLLISION_KEEP_NEWER: the attribute */
};

struct pass_facts {
    const struct pass_step *steps;
    size_t step_count;
    bool rekeys, puts, deletes, looks_up; /* any of its steps does */
    bool needs_probe;                     /* has rekey or put */
    bool proved;                          /* all of its steps are */
    /* Items that no step can match; and, where all that can come of an item is an update, the
     * attributes that the steps read or write, with the whole of the index keys that they touch.
     * The size of an item that is not read as a whole is left to the store. */
    struct page_use use;
};
const struct pass_facts *pass_facts(const struct pass *pass);

/* What of an item its update was made from: what the conditions of all steps read, and what the
 * values of those that matched read or write. Of a server-only step: its where, and what it writes.
 *   outcomes  by step, of the item's result
 *   arena     owns the array; the pass owns the names */
struct basis pass_basis(const struct pass *pass, const unsigned char *outcomes,
                        struct arena *arena);

/* The item under a key, or missing; *out lives in `arena`. */
typedef bool pass_lookup(void *context, const struct key *key, struct arena *arena,
                         struct value *out, struct error *err);

struct pass_input {
    struct value item;
    pass_lookup *lookup; /* NULL where the pass has none */
    void *context;
    /* By step, NULL for none: the verdict on_collision leaves out its rekey or put. */
    const bool *skip;
};

enum pass_fate {
    PASS_UNCHANGED, /* puts apart, nothing is to be written */
    PASS_UPDATE,
    PASS_DELETE,
    PASS_MOVE,
    PASS_FAILED /* an item error: the item stays exactly as it was, and puts nothing */
};

/* Of one step for one item; all but NOT_MATCHED make up `matched`. */
enum step_outcome {
    STEP_NOT_MATCHED,
    STEP_WRITTEN, /* of a put: unless the store finds an equal item there (then UNCHANGED) */
    STEP_UNCHANGED,
    STEP_SKIPPED,
    STEP_FAILED
};

struct pass_put {
    size_t step;
    struct key key;
    struct value item;
    bool left_out; /* by the verdict; never in a result */
};

struct pass_result {
    enum pass_fate fate;
    struct value item; /* UPDATE, MOVE: the whole new item */
    struct key key;    /* MOVE: its new key */
    size_t rekey_step; /* MOVE: the last step that moved it; its collision rules */
    const struct pass_put *puts;
    size_t put_count;
    const unsigned char *outcomes; /* enum step_outcome by step; FAILED: only of the failed step */
    size_t failed_step;            /* FAILED */
    struct str reason;             /* FAILED: a sentence */
};

/* Puts an item through the pass.
 *   arena  owns what *out points to, besides the input's own item
 * Returns false only for what is no item error: what `lookup` returned. */
MUST_CHECK bool pass_apply(const struct pass *pass, const struct pass_input *input,
                           struct arena *arena, struct pass_result *out, struct error *err);

#endif
