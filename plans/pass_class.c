/* How a step's writes are sent to a server: the cheapest safe way, and the reason. */
#include "plans/pass_internal.h"

const char *step_class_name(enum step_class class)
{
    static const char *const names[] = {[CLASS_SERVER_ONLY] = "server-only",
                                        [CLASS_COMPUTED] = "computed",
                                        [CLASS_MOVE] = "move",
                                        [CLASS_PUT] = "put",
                                        [CLASS_DELETE] = "delete"};
    return names[class];
}

/* --- why an update is computed --- */

/* The first path that a template reads. */
struct first_read {
    struct path path; /* count 0: none yet */
};

static void note_first(void *context, int slot, struct path path)
{
    struct first_read *first = context;
    (void)slot;
    if (first->path.count == 0) {
        first->path = path;
    }
}

/* A value that is not known before the item is, or not stored whole; empty if there is none. */
static struct str find_made(const struct step *step, struct arena *arena)
{
    for (size_t i = 0; i < step->set.count; i++) {
        const struct assignment *set = &step->set.list[i];
        struct first_read first = {{NULL, 0}};
        template_paths(set->template, note_first, &first);
        if (first.path.count > 0) {
            struct str path = path_print(first.path, arena);
            return arena_format(arena, "%.*s is made from %.*s", STR_ARG(set->spelled),
                                STR_ARG(path));
        }
        if (set->path.count > 1) {
            return arena_format(arena, "%.*s lies within an attribute", STR_ARG(set->spelled));
        }
    }
    return STR("");
}

static bool removes_within(const struct step *step)
{
    for (size_t i = 0; i < step->removal_count; i++) {
        if (step->removals[i].path.count > 1) {
            return true;
        }
    }
    return false;
}

/* Why the server cannot do the update alone; empty if it can. */
static struct str find_hindrance(const struct pass *pass, const struct step *step,
                                 struct arena *arena)
{
    struct str made = find_made(step, arena);
    if (step->renaming_count > 0) {
        return STR("it renames");
    }
    if (step->lookup_count > 0) {
        return STR("it looks up other items");
    }
    if (made.len > 0) {
        return made;
    }
    if (removes_within(step)) {
        return STR("it removes what lies within an attribute");
    }
    if (pass->step_count > 1) {
        return STR("it shares its pass with other steps");
    }
    if (step->where != NULL && !expr_is_pushable(step->where)) {
        return STR("its where is more than servers evaluate alike");
    }
    return STR("");
}

enum step_class pass_classify(const struct pass *pass, const struct compiled_step *compiled,
                              struct arena *arena, struct str *why)
{
    const struct step *step = &compiled->step;
    if (step->deletes) {
        *why = STR("if the item is as it was read");
        return CLASS_DELETE;
    }
    if (step->put.count > 0) {
        *why = STR("if its key is free, or as on_collision says");
        return CLASS_PUT;
    }
    if (step->rekey.count > 0) {
        *why = STR("its key changes (a transaction)");
        return CLASS_MOVE;
    }
    *why = find_hindrance(pass, step, arena);
    if (why->len > 0) {
        return CLASS_COMPUTED;
    }
    const char *what = step->set.count > 0 ? "constants" : "removals";
    *why = arena_format(arena, "%s%s", what, step->where == NULL ? "" : " under its own where");
    return CLASS_SERVER_ONLY;
}
