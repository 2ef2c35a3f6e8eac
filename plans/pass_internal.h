/* pass_internal — a compiled pass, and what is known of its steps. */
#ifndef PLANS_PASS_INTERNAL_H
#define PLANS_PASS_INTERNAL_H

#include "engine/base/arena.h"
#include "engine/base/error.h"
#include "engine/expr/expr.h"
#include "engine/item/edit.h"
#include "engine/item/key.h"
#include "engine/item/path.h"
#include "plans/pass.h"
#include "plans/step_internal.h"

#include <stdbool.h>
#include <stddef.h>

/* Attributes of an item, by their places in pass.names. */
struct attribute_set {
    const size_t *list;
    size_t count;
};

/* A step whose templates know the types of the table's keys; its lookups' keys stand in the order
 * of the key schema. */
struct compiled_step {
    struct step step;
    bool looks_up_first;       /* its where reads a lookup */
    const struct path *writes; /* what it sets, renames, removes or rekeys */
    size_t write_count;
    struct attribute_set decides; /* whether it matches */
    struct attribute_set makes;   /* what it makes of an item that matches, read or written */
};

struct pass {
    struct pass_facts facts;
    const struct pass_table *table;
    const struct compiled_step *steps;
    size_t step_count;
    const struct str *names; /* of all attributes that the steps read or write */
    size_t name_count;
    const bool *checks_index; /* by the table's indexes: the pass writes attributes of its key */
    bool item_proved;         /* convergence of the item itself; puts are always tried */
};

/* The attribute of a key: partition parts, then sort parts; NULL behind the last. */
static inline const struct key_attribute *schema_part(const struct key_schema *schema, size_t part)
{
    if (part < schema->partition_count) {
        return &schema->partition[part];
    }
    part -= schema->partition_count;
    return part < schema->sort_count ? &schema->sort[part] : NULL;
}

/* True if a path that the step writes begins with the attribute. */
bool step_writes(const struct compiled_step *step, struct str attribute);

/* Calls visit for every path that the values read. */
void assignments_reads(const struct assignments *assignments, expr_visit *visit, void *context);

/* Calls visit for every path that the step reads: where, lookups and values. */
void step_reads(const struct compiled_step *compiled, expr_visit *visit, void *context);

/* Lists what each step reads and writes, in pass->names and the steps. */
void pass_list_reads(struct pass *pass, struct compiled_step *steps, struct arena *arena);

/* How the step's writes are sent, and why so. */
enum step_class pass_classify(const struct pass *pass, const struct compiled_step *compiled,
                              struct arena *arena, struct str *why);

/* What the pass needs of the table, from what is known of it already. */
struct page_use pass_use(const struct pass *pass, struct arena *arena);

/* For each step, whether the text alone shows that it leaves alone what the pass has made of an
 * item; shown of all, the pass converges but for what it puts. */
const bool *pass_prove(const struct pass *pass, struct arena *arena);

/* Whether the text shows that `writer` changes neither an item that the lookup may find nor, if it
 * may, the attributes read through it; else *what says what it does ("writes"). */
struct looker {
    const struct key_schema *keys;
    const struct compiled_step *step;
    size_t lookup; /* of the step */
    struct arena *arena;
};
bool lookup_is_safe(const struct looker *looker, const struct compiled_step *writer,
                    const char **what);

/* --- what conditions and templates require of an attribute --- */

/* A conjunct `path OP constant`, or a call f(path, constant), taken apart. */
struct claim {
    struct path path;
    struct str name;       /* "=", "begins_with", …; "not exists" in whatever way it is written */
    struct value constant; /* missing: the claim has none */
    size_t conjunct;       /* its place in the condition */
};

enum { CONJUNCTS_MAX = 32 }; /* those behind only make the answer less sharp */

/* All conjuncts of a condition, NULL taken as none; *out lives in the arena. */
size_t claims_of(const struct expr *where, struct arena *arena, struct claim **out);

/* What a value is known to be. */
struct pattern {
    struct value exact; /* missing: only the prefix is known */
    struct str prefix;  /* of an S; empty: nothing is known */
};
struct pattern pattern_of_template(const struct template *template);
struct pattern pattern_of_claims(const struct claim *claims, size_t count, struct str attribute);
bool pattern_disjoint(const struct pattern *a, const struct pattern *b);

#endif
