/* What of an item decides what the pass makes of it. */
#include "plans/pass_internal.h"

/* Attributes under way to an attribute_set. */
struct listing {
    struct str *names; /* of the pass so far */
    size_t name_count;
    size_t *list; /* of the set at hand */
    size_t count;
    size_t paths; /* met so far; nothing is noted while there is no list */
};

static size_t place_of_name(struct listing *listing, struct str name)
{
    size_t place = 0;
    while (place < listing->name_count && !str_equal(listing->names[place], name)) {
        place++;
    }
    if (place == listing->name_count) {
        listing->names[listing->name_count++] = name;
    }
    return place;
}

static void note_name(struct listing *listing, struct str name)
{
    size_t place = place_of_name(listing, name);
    for (size_t i = 0; i < listing->count; i++) {
        if (listing->list[i] == place) {
            return;
        }
    }
    listing->list[listing->count++] = place;
}

static void note_read(void *context, int slot, struct path path)
{
    struct listing *listing = context;
    if (slot != EXPR_ITEM) {
        return;
    }
    listing->paths++;
    if (listing->list != NULL) {
        note_name(listing, path.steps[0].name);
    }
}

static void read_decisions(const struct compiled_step *compiled, struct listing *listing)
{
    const struct step *step = &compiled->step;
    if (step->where != NULL) {
        expr_paths(step->where, note_read, listing);
    }
    for (size_t i = 0; compiled->looks_up_first && i < step->lookup_count; i++) {
        assignments_reads(&step->lookups[i].key, note_read, listing);
    }
}

static void read_values(const struct compiled_step *compiled, struct listing *listing)
{
    const struct step *step = &compiled->step;
    for (size_t i = 0; i < step->lookup_count; i++) {
        assignments_reads(&step->lookups[i].key, note_read, listing);
    }
    assignments_reads(&step->set, note_read, listing);
    assignments_reads(&step->rekey, note_read, listing);
    assignments_reads(&step->put, note_read, listing);
    for (size_t i = 0; i < compiled->write_count; i++) {
        note_read(listing, EXPR_ITEM, compiled->writes[i]);
    }
}

static struct attribute_set end_set(struct listing *listing, size_t most, struct arena *arena)
{
    struct attribute_set set = {listing->list, listing->count};
    listing->list = arena_alloc(arena, (most + 1) * sizeof *listing->list);
    listing->count = 0;
    return set;
}

void pass_list_reads(struct pass *pass, struct compiled_step *steps, struct arena *arena)
{
    struct listing listing = {.count = 0};
    for (size_t i = 0; i < pass->step_count; i++) {
        read_decisions(&steps[i], &listing);
        read_values(&steps[i], &listing);
    }
    size_t most = listing.paths;
    listing.names = arena_alloc(arena, (most + 1) * sizeof *listing.names);
    (void)end_set(&listing, most, arena);
    for (size_t i = 0; i < pass->step_count; i++) {
        read_decisions(&steps[i], &listing);
        steps[i].decides = end_set(&listing, most, arena);
        read_values(&steps[i], &listing);
        steps[i].makes = end_set(&listing, most, arena);
    }
    pass->names = listing.names;
    pass->name_count = listing.name_count;
}

/* --- of one item --- */

struct gathering {
    const struct pass *pass;
    bool *taken; /* by name */
    struct str *names;
    size_t count;
};

static void take(struct gathering *gathering, struct attribute_set set)
{
    for (size_t i = 0; i < set.count; i++) {
        if (!gathering->taken[set.list[i]]) {
            gathering->taken[set.list[i]] = true;
            gathering->names[gathering->count++] = gathering->pass->names[set.list[i]];
        }
    }
}

struct basis pass_basis(const struct pass *pass, const unsigned char *outcomes, struct arena *arena)
{
    struct gathering gathering = {.pass = pass};
    gathering.taken = arena_zero(arena, pass->name_count + 1);
    gathering.names = arena_alloc(arena, (pass->name_count + 1) * sizeof *gathering.names);
    const struct expr *condition = NULL;
    for (size_t i = 0; i < pass->step_count; i++) {
        if (pass->facts.steps[i].class == CLASS_SERVER_ONLY) {
            condition = pass->steps[i].step.where;
        } else {
            take(&gathering, pass->steps[i].decides);
        }
        if (outcomes[i] != STEP_NOT_MATCHED) {
            take(&gathering, pass->steps[i].makes);
        }
    }
    size_t count = gathering.count;
    for (size_t i = 0; condition != NULL && i < pass->step_count; i++) {
        take(&gathering, pass->steps[i].decides);
    }
    return (struct basis){condition, gathering.names, count, gathering.count};
}
