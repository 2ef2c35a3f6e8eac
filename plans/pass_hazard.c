#include "plans/pass_internal.h"

bool step_writes(const struct compiled_step *step, struct str attribute)
{
    for (size_t i = 0; i < step->write_count; i++) {
        if (str_equal(step->writes[i].steps[0].name, attribute)) {
            return true;
        }
    }
    return false;
}

void assignments_reads(const struct assignments *assignments, expr_visit *visit, void *context)
{
    for (size_t i = 0; i < assignments->count; i++) {
        template_paths(assignments->list[i].template, visit, context);
    }
}

void step_reads(const struct compiled_step *compiled, expr_visit *visit, void *context)
{
    const struct step *step = &compiled->step;
    if (step->where != NULL) {
        expr_paths(step->where, visit, context);
    }
    for (size_t i = 0; i < step->lookup_count; i++) {
        assignments_reads(&step->lookups[i].key, visit, context);
    }
    assignments_reads(&step->set, visit, context);
    assignments_reads(&step->rekey, visit, context);
    assignments_reads(&step->put, visit, context);
}

/* --- which keys a step touches, and which a lookup reads --- */

struct match {
    const struct looker *looker;
    const struct claim *claims; /* of the writer's where */
    size_t claim_count;
};

static struct pattern lookup_pattern(const struct looker *looker, size_t part)
{
    const struct lookup *lookup = &looker->step->step.lookups[looker->lookup];
    return pattern_of_template(lookup->key.list[part].template);
}

static struct pattern met_pattern(const struct match *match, struct str attribute)
{
    return pattern_of_claims(match->claims, match->claim_count, attribute);
}

/* The items that the writer meets have other keys than those that are looked up. */
static bool meets_others(const struct match *match)
{
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(match->looker->keys, i)) != NULL; i++) {
        struct pattern wanted = lookup_pattern(match->looker, i);
        struct pattern met = met_pattern(match, attribute->name);
        if (pattern_disjoint(&wanted, &met)) {
            return true;
        }
    }
    return false;
}

static struct pattern made_pattern(const struct match *match, const struct assignments *assignments,
                                   struct str attribute)
{
    for (size_t i = 0; i < assignments->count; i++) {
        if (str_equal(assignments->list[i].path.steps[0].name, attribute)) {
            return pattern_of_template(assignments->list[i].template);
        }
    }
    return met_pattern(match, attribute);
}

/* The keys that `assignments` (of a put or rekey) make are others than those that are looked up;
 * what a rekey does not name stays as it was met. */
static bool makes_others(const struct match *match, const struct assignments *assignments)
{
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(match->looker->keys, i)) != NULL; i++) {
        struct pattern wanted = lookup_pattern(match->looker, i);
        struct pattern made = made_pattern(match, assignments, attribute->name);
        if (pattern_disjoint(&wanted, &made)) {
            return true;
        }
    }
    return false;
}

/* --- the attributes that are read through a lookup --- */

struct read_through {
    const struct compiled_step *writer;
    int slot;
    bool hit;
};

static void find_read(void *context, int slot, struct path path)
{
    struct read_through *read = context;
    if (slot == read->slot) {
        bool whole = path.count == 1;
        read->hit = read->hit || (whole ? read->writer->write_count > 0
                                        : step_writes(read->writer, path.steps[1].name));
    }
}

bool lookup_is_safe(const struct looker *looker, const struct compiled_step *writer,
                    const char **what)
{
    struct claim *claims = NULL;
    struct match match = {looker, NULL, 0};
    match.claim_count = claims_of(writer->step.where, looker->arena, &claims);
    match.claims = claims;
    struct read_through read = {writer, (int)looker->lookup, false};
    step_reads(looker->step, find_read, &read);
    const struct assignments *rekey = &writer->step.rekey;
    const struct assignments *put = &writer->step.put;
    if (put->count > 0) {
        *what = "puts";
        return makes_others(&match, put);
    }
    *what = writer->step.deletes ? "deletes" : rekey->count > 0 ? "rekeys" : "writes";
    if (writer->step.deletes || rekey->count > 0) {
        return meets_others(&match) && (rekey->count == 0 || makes_others(&match, rekey));
    }
    return !read.hit || meets_others(&match);
}
