/* What a pass needs of the table. */
#include "plans/pass_internal.h"

/* --- items --- */

/* The where of each step: an item that none of them holds for comes through the pass as it was. */
static void list_wheres(const struct pass *pass, struct arena *arena, struct page_use *out)
{
    const struct expr **wheres = arena_alloc(arena, pass->step_count * sizeof *wheres);
    for (size_t i = 0; i < pass->step_count; i++) {
        wheres[i] = pass->steps[i].step.where;
        if (wheres[i] == NULL || !expr_is_pushable(wheres[i])) {
            return;
        }
    }
    out->any_of = wheres;
    out->any_of_count = pass->step_count;
}

/* --- attributes --- */

struct name_list {
    struct str *list;
    size_t count;
};

static void add_name(struct name_list *names, struct str name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (str_equal(names->list[i], name)) {
            return;
        }
    }
    names->list[names->count++] = name;
}

static void add_index(struct name_list *names, const struct key_schema *index)
{
    const struct key_attribute *attribute = NULL;
    for (size_t i = 0; (attribute = schema_part(index, i)) != NULL; i++) {
        add_name(names, attribute->name);
    }
}

static void list_names(const struct pass *pass, struct arena *arena, struct page_use *out)
{
    const struct pass_table *table = pass->table;
    size_t most = pass->name_count + table->index_count * 2 * KEY_PARTS_MAX;
    struct name_list names = {arena_alloc(arena, (most + 1) * sizeof *names.list), 0};
    for (size_t i = 0; i < pass->name_count; i++) {
        add_name(&names, pass->names[i]);
    }
    for (size_t i = 0; i < table->index_count; i++) {
        if (pass->checks_index[i]) {
            add_index(&names, &table->indexes[i]);
        }
    }
    out->names = names.list;
    out->name_count = names.count;
}

struct page_use pass_use(const struct pass *pass, struct arena *arena)
{
    const struct pass_facts *facts = &pass->facts;
    struct page_use use = {.any_of_count = 0};
    list_wheres(pass, arena, &use);
    if (!facts->rekeys && !facts->puts && !facts->deletes) {
        list_names(pass, arena, &use);
    }
    return use;
}
