#include "migrate/run/runner_compile.h"

#include <string.h>

const struct index_desc *table_index(const struct table_desc *table, struct str name)
{
    for (size_t i = 0; i < table->index_count; i++) {
        if (str_equal(table->indexes[i].name, name)) {
            return &table->indexes[i];
        }
    }
    return NULL;
}

static bool was_changed(const struct ledger_record *record, struct str name)
{
    for (size_t i = 0; record != NULL && i < record->change_count; i++) {
        if (str_equal(record->changes[i].index.name, name)) {
            return true;
        }
    }
    return false;
}

/* The table without the index of that name, with room for one more. */
static struct index_desc *copy_without(struct table_desc *table, struct str name,
                                       struct arena *arena)
{
    struct index_desc *indexes = arena_alloc(arena, (table->index_count + 1) * sizeof *indexes);
    size_t kept = 0;
    for (size_t i = 0; i < table->index_count; i++) {
        if (!str_equal(table->indexes[i].name, name)) {
            indexes[kept++] = table->indexes[i];
        }
    }
    table->indexes = indexes;
    table->index_count = kept;
    return indexes;
}

void runner_compile_step(const struct stage *stage, struct table_desc *table, struct arena *arena)
{
    struct index_desc *indexes = copy_without(table, stage->index.name, arena);
    if (stage->kind == STAGE_CREATE_INDEX) {
        indexes[table->index_count++] = stage->index;
    }
}

static bool check_step(const struct stage *stage, const struct ledger_record *record,
                       const struct table_desc *table, struct error *err)
{
    struct str name = stage->index.name;
    bool stands = table_index(table, name) != NULL;
    if (was_changed(record, name)) {
        return true;
    }
    if (stage->kind == STAGE_DROP_INDEX) {
        return stands || place_error(&stage->place, stage->offset, err, "there is no index %.*s",
                                     STR_ARG(name));
    }
    if (stands) {
        return place_error(&stage->place, stage->offset, err, "index %.*s is there already",
                           STR_ARG(name));
    }
    size_t most = table->server == NULL ? INDEXES_MAX : INDEXES_KNOWN_MAX; /* it has its own */
    return table->index_count < most ||
           place_error(&stage->place, stage->offset, err, "a table has at most %zu indexes", most);
}

static bool compile_stage(struct compile_target *target, const struct pass_table *keys,
                          struct arena *arena, struct compiled_stage *stage, struct error *err)
{
    if (stage->stage->kind != STAGE_PASS) {
        if (!check_step(stage->stage, target->record, &target->table, err)) {
            return false;
        }
        runner_compile_step(stage->stage, &target->table, arena);
        return true;
    }
    if (!pass_compile(stage->stage, keys, arena, &stage->pass, err)) {
        return false;
    }
    stage->facts = pass_facts(stage->pass);
    return true;
}

bool runner_compile(const struct stage_list *stages, struct compile_target *target,
                    struct arena *arena, struct compiled_stages *out, struct error *err)
{
    struct pass_table *keys = arena_alloc(arena, sizeof *keys);
    struct table_desc *before = arena_alloc(arena, sizeof *before);
    *before = target->table;
    struct compiled_stage *list = arena_zero(arena, (stages->count + 1) * sizeof *list);
    size_t steps = 0;
    if (!pass_table_init(before, stages, arena, keys, err)) {
        return false;
    }
    for (size_t i = 0; i < stages->count; i++) {
        list[i] = (struct compiled_stage){.stage = &stages->stages[i], .first_step = steps};
        if (!compile_stage(target, keys, arena, &list[i], err)) {
            return false;
        }
        steps += stages->stages[i].step_count;
    }
    *out = (struct compiled_stages){list, stages->count, steps};
    return true;
}
