#include "plans/pass.h"

#include "plans/pass_internal.h"

#include <assert.h>

/* --- the table --- */

static enum value_type type_in(const struct key_schema *schema, struct str name)
{
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(schema, i)) != NULL; i++) {
        if (str_equal(attribute->name, name)) {
            return attribute->type;
        }
    }
    return VALUE_MISSING;
}

/* The declared type of a key or index-key attribute; VALUE_MISSING: it is none. */
static enum value_type key_type(const struct pass_table *table, struct str name)
{
    enum value_type type = type_in(table->keys, name);
    for (size_t i = 0; type == VALUE_MISSING && i < table->index_count; i++) {
        type = type_in(&table->indexes[i], name);
    }
    return type;
}

static bool check_types(const struct pass_table *table, const struct key_schema *index,
                        struct str index_name, struct error *err)
{
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(index, i)) != NULL; i++) {
        enum value_type declared = key_type(table, attribute->name);
        if (declared != VALUE_MISSING && declared != attribute->type) {
            return error_set(err, ERROR_PLAN,
                             "index %.*s: expected %.*s:%s as it is declared elsewhere, found %s",
                             STR_ARG(index_name), STR_ARG(attribute->name),
                             value_type_name(declared), value_type_name(attribute->type));
        }
    }
    return true;
}

static bool add_index(struct pass_table *table, struct key_schema *indexes,
                      const struct index_desc *index, struct error *err)
{
    if (!check_types(table, &index->keys, index->name, err)) {
        return false;
    }
    indexes[table->index_count++] = index->keys;
    return true;
}

bool pass_table_init(const struct table_desc *table, const struct stage_list *stages,
                     struct arena *arena, struct pass_table *out, struct error *err)
{
    size_t most = table->index_count + stages->count;
    struct key_schema *indexes = arena_alloc(arena, most * sizeof *indexes);
    struct pass_table found = {.keys = &table->keys, .indexes = indexes};
    for (size_t i = 0; i < table->index_count; i++) {
        if (!add_index(&found, indexes, &table->indexes[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < stages->count; i++) {
        const struct stage *stage = &stages->stages[i];
        if (stage->kind == STAGE_CREATE_INDEX && !add_index(&found, indexes, &stage->index, err)) {
            return place_wrap(&stage->place, stage->offset, err);
        }
    }
    *out = found;
    return true;
}

/* --- templates of key attributes --- */

struct compile {
    const struct pass_table *table;
    struct arena *arena;
    struct error *err;
    const struct step *step; /* the one at hand */
};

static struct place place_of(const struct compile *compile, const char *member)
{
    struct str name = {member, strlen(member)};
    return place_member(compile->step->place, name, compile->arena);
}

/* What can never be a key of the type is refused before any item is met. */
static bool check_key_template(const struct compile *compile, const struct place *place,
                               const struct assignment *assignment, enum value_type type)
{
    static const struct expr_scope nothing = {0};
    const struct template *template = assignment->template;
    struct value v;
    if (!value_is_missing(template_constant(template))) {
        return template_eval(template, &nothing, compile->arena, &v, compile->err) ||
               place_wrap(place, assignment->offset, compile->err);
    }
    enum value_type found = template_type(template);
    if (found != VALUE_MISSING && found != type) {
        return place_error(place, assignment->offset, compile->err,
                           "expected %s for a key attribute, found %s", value_type_name(type),
                           value_type_name(found));
    }
    return true;
}

/* The same assignments, those of key and index-key attributes made for their types. */
static bool type_assignments(const struct compile *compile, const char *member,
                             struct assignments *assignments)
{
    struct place place = place_of(compile, member);
    struct assignment *list = arena_alloc(compile->arena, assignments->count * sizeof *list);
    for (size_t i = 0; i < assignments->count; i++) {
        list[i] = assignments->list[i];
        enum value_type type = key_type(compile->table, list[i].path.steps[0].name);
        if (list[i].path.count > 1 || type == VALUE_MISSING) {
            continue;
        }
        list[i].template = template_for_key(list[i].template, type, compile->arena);
        struct place inner = place_member(place, list[i].spelled, compile->arena);
        if (!check_key_template(compile, &inner, &list[i], type)) {
            return false;
        }
    }
    assignments->list = list;
    return true;
}

static const struct assignment *find_name(const struct assignments *assignments, struct str name)
{
    for (size_t i = 0; i < assignments->count; i++) {
        if (str_equal(assignments->list[i].path.steps[0].name, name)) {
            return &assignments->list[i];
        }
    }
    return NULL;
}

static bool refuse_lack(const struct compile *compile, const struct place *place, size_t offset,
                        struct str attribute)
{
    return place_error(place, offset, compile->err,
                       "expected the table's key attribute %.*s, found none", STR_ARG(attribute));
}

static bool expect_only_keys(const struct compile *compile, const struct place *place,
                             const struct assignments *assignments)
{
    for (size_t i = 0; i < assignments->count; i++) {
        const struct assignment *assignment = &assignments->list[i];
        if (type_in(compile->table->keys, assignment->path.steps[0].name) == VALUE_MISSING) {
            return place_error(place, assignment->offset, compile->err,
                               "expected a key attribute of the table, found %.*s",
                               STR_ARG(assignment->spelled));
        }
    }
    return true;
}

/* --- the members of a step --- */

static bool refuse_key(const struct compile *compile, const char *member, struct path path,
                       size_t offset)
{
    if (type_in(compile->table->keys, path.steps[0].name) == VALUE_MISSING) {
        return true;
    }
    struct place place = place_of(compile, member);
    return place_error(&place, offset, compile->err,
                       "expected an attribute that is no key of the table, found %.*s\n"
                       "hint: rekey changes keys",
                       STR_ARG(path.steps[0].name));
}

static bool compile_edits(const struct compile *compile, struct step *step)
{
    for (size_t i = 0; i < step->set.count; i++) {
        const struct assignment *set = &step->set.list[i];
        if (!refuse_key(compile, "set", set->path, set->offset)) {
            return false;
        }
    }
    for (size_t i = 0; i < step->removal_count; i++) {
        const struct removal *removal = &step->removals[i];
        if (!refuse_key(compile, "remove", removal->path, removal->offset)) {
            return false;
        }
    }
    for (size_t i = 0; i < step->renaming_count; i++) {
        const struct renaming *renaming = &step->renamings[i];
        if (!refuse_key(compile, "rename", renaming->from, renaming->offset) ||
            !refuse_key(compile, "rename", renaming->to, renaming->offset)) {
            return false;
        }
    }
    return type_assignments(compile, "set", &step->set);
}

static bool compile_rekey(const struct compile *compile, struct step *step)
{
    struct place place = place_of(compile, "rekey");
    return expect_only_keys(compile, &place, &step->rekey) &&
           type_assignments(compile, "rekey", &step->rekey);
}

static bool compile_put(const struct compile *compile, struct step *step)
{
    struct place place = place_of(compile, "put");
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(compile->table->keys, i)) != NULL; i++) {
        if (step->put.count > 0 && find_name(&step->put, attribute->name) == NULL) {
            return refuse_lack(compile, &place, step->offset, attribute->name);
        }
    }
    return type_assignments(compile, "put", &step->put);
}

/* Its key attributes come to stand in the order of the schema. */
static bool compile_lookup(const struct compile *compile, const struct place *place,
                           struct lookup *lookup)
{
    if (!expect_only_keys(compile, place, &lookup->key)) {
        return false;
    }
    struct assignment *sorted = arena_alloc(compile->arena, lookup->key.count * sizeof *sorted);
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(compile->table->keys, i)) != NULL; i++) {
        const struct assignment *found = find_name(&lookup->key, attribute->name);
        if (found == NULL) {
            return refuse_lack(compile, place, lookup->offset, attribute->name);
        }
        sorted[i] = *found;
        sorted[i].template = template_for_key(found->template, attribute->type, compile->arena);
        struct place inner = place_member(*place, attribute->name, compile->arena);
        if (!check_key_template(compile, &inner, &sorted[i], attribute->type)) {
            return false;
        }
    }
    lookup->key.list = sorted;
    return true;
}

static bool compile_lookups(const struct compile *compile, struct step *step)
{
    struct place place = place_of(compile, "lookup");
    struct lookup *lookups = arena_alloc(compile->arena, step->lookup_count * sizeof *lookups);
    for (size_t i = 0; i < step->lookup_count; i++) {
        lookups[i] = step->lookups[i];
        struct place inner = place_member(place, lookups[i].alias, compile->arena);
        if (!compile_lookup(compile, &inner, &lookups[i])) {
            return false;
        }
    }
    step->lookups = lookups;
    return true;
}

static void list_writes(const struct step *step, struct arena *arena, struct compiled_step *out)
{
    size_t most =
        step->set.count + step->removal_count + 2 * step->renaming_count + step->rekey.count;
    struct path *writes = arena_alloc(arena, most * sizeof *writes);
    size_t count = 0;
    for (size_t i = 0; i < step->set.count; i++) {
        writes[count++] = step->set.list[i].path;
    }
    for (size_t i = 0; i < step->removal_count; i++) {
        writes[count++] = step->removals[i].path;
    }
    for (size_t i = 0; i < step->renaming_count; i++) {
        writes[count++] = step->renamings[i].from;
        writes[count++] = step->renamings[i].to;
    }
    for (size_t i = 0; i < step->rekey.count; i++) {
        writes[count++] = step->rekey.list[i].path;
    }
    out->writes = writes;
    out->write_count = count;
}

static void note_lookup(void *context, int slot, struct path path)
{
    (void)path;
    bool *reads = context;
    *reads = *reads || slot != EXPR_ITEM;
}

static bool compile_step(struct compile *compile, const struct step *step,
                         struct compiled_step *out)
{
    *out = (struct compiled_step){.step = *step};
    compile->step = step;
    if (!compile_edits(compile, &out->step) || !compile_rekey(compile, &out->step) ||
        !compile_put(compile, &out->step) || !compile_lookups(compile, &out->step)) {
        return false;
    }
    if (step->where != NULL) {
        expr_paths(step->where, note_lookup, &out->looks_up_first);
    }
    list_writes(&out->step, compile->arena, out);
    return true;
}

/* --- what the steps are to each other --- */

static bool check_lookup(const struct pass *pass, const struct looker *looker, struct error *err)
{
    const struct step *step = &looker->step->step;
    const struct lookup *lookup = &step->lookups[looker->lookup];
    for (size_t i = 0; i < pass->step_count; i++) {
        const char *what = NULL;
        if (lookup_is_safe(looker, &pass->steps[i], &what)) {
            continue;
        }
        const char *hint = &pass->steps[i] == looker->step
                               ? "add a where that tells the keys of its items from those it looks "
                                 "up"
                               : "put {\"pass\": \"why\"} between the two steps, or a where that "
                                 "tells their keys apart";
        struct place place = place_member(step->place, STR("lookup"), looker->arena);
        place = place_member(place, lookup->alias, looker->arena);
        return place_error(&place, lookup->offset, err,
                           "expected items that this pass leaves as they are, found that %.*s %s "
                           "them\nhint: %s",
                           STR_ARG(pass->steps[i].step.place.path), what, hint);
    }
    return true;
}

static bool check_lookups(const struct pass *pass, const struct compiled_step *step,
                          struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < step->step.lookup_count; i++) {
        struct looker looker = {pass->table->keys, step, i, arena};
        if (!check_lookup(pass, &looker, err)) {
            return false;
        }
    }
    return true;
}

static bool writes_key(const struct compiled_step *step, const struct key_schema *index)
{
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(index, i)) != NULL; i++) {
        if (step_writes(step, attribute->name)) {
            return true;
        }
    }
    return false;
}

/* What an update leaves as it was is not refused: an index may have been made over items that it
 * must leave out. */
static const bool *list_checked(const struct pass *pass, struct arena *arena)
{
    const struct pass_table *table = pass->table;
    bool *checks = arena_zero(arena, table->index_count * sizeof *checks);
    for (size_t i = 0; i < table->index_count; i++) {
        for (size_t j = 0; j < pass->step_count; j++) {
            checks[i] = checks[i] || writes_key(&pass->steps[j], &table->indexes[i]);
        }
    }
    return checks;
}

static void list_facts(struct pass *pass, struct arena *arena)
{
    struct pass_step *steps = arena_alloc(arena, pass->step_count * sizeof *steps);
    struct pass_facts *facts = &pass->facts;
    const bool *proved = pass_prove(pass, arena);
    pass->item_proved = true;
    for (size_t i = 0; i < pass->step_count; i++) {
        const struct step *step = &pass->steps[i].step;
        steps[i] = (struct pass_step){
            .label = step->name.len > 0 ? step->name : step->place.path,
            .rekeys = step->rekey.count > 0,
            .puts = step->put.count > 0,
            .deletes = step->deletes,
            .looks_up = step->lookup_count > 0,
            .proved = proved[i] && step->put.count == 0,
            .collision = step->collision,
            .newer = step->newer,
        };
        steps[i].class = pass_classify(pass, &pass->steps[i], arena, &steps[i].why);
        pass->item_proved = pass->item_proved && proved[i];
        facts->rekeys = facts->rekeys || steps[i].rekeys;
        facts->puts = facts->puts || steps[i].puts;
        facts->deletes = facts->deletes || steps[i].deletes;
        facts->looks_up = facts->looks_up || steps[i].looks_up;
    }
    facts->steps = steps;
    facts->step_count = pass->step_count;
    facts->needs_probe = facts->rekeys || facts->puts;
    facts->proved = pass->item_proved && !facts->puts;
}

bool pass_compile(const struct stage *stage, const struct pass_table *table, struct arena *arena,
                  const struct pass **out, struct error *err)
{
    assert(stage->kind == STAGE_PASS);
    struct compiled_step *steps = arena_alloc(arena, stage->step_count * sizeof *steps);
    struct compile compile = {.table = table, .arena = arena, .err = err};
    for (size_t i = 0; i < stage->step_count; i++) {
        if (!compile_step(&compile, &stage->steps[i], &steps[i])) {
            return false;
        }
    }
    struct pass *pass = arena_zero(arena, sizeof *pass);
    pass->table = table;
    pass->steps = steps;
    pass->step_count = stage->step_count;
    for (size_t i = 0; i < pass->step_count; i++) {
        if (!check_lookups(pass, &steps[i], arena, err)) {
            return false;
        }
    }
    pass_list_reads(pass, steps, arena);
    pass->checks_index = list_checked(pass, arena);
    list_facts(pass, arena);
    pass->facts.use = pass_use(pass, arena);
    *out = pass;
    return true;
}

const struct pass_facts *pass_facts(const struct pass *pass)
{
    return &pass->facts;
}
