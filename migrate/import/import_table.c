#include "migrate/import/import_table.h"

#include "migrate/cli/target.h"
#include "migrate/import/import_leftovers.h"
#include "migrate/ledger/ledger.h"

#include <string.h>

/* The keys that the command line gives; without a sort key if only --partition is there. */
static bool keys_of_options(const struct import_wish *wish, struct key_schema *out,
                            struct error *err)
{
    const char *partition = wish->partition == NULL ? "PK:S" : wish->partition;
    const char *sort = wish->sort == NULL && wish->partition == NULL ? "SK:S" : wish->sort;
    *out = (struct key_schema){.partition_count = 1, .sort_count = sort == NULL ? 0 : 1};
    if (!key_attribute_parse((struct str){partition, strlen(partition)}, &out->partition[0], err)) {
        err->code = ERROR_USAGE;
        return error_wrap(err, "--partition");
    }
    if (sort != NULL &&
        !key_attribute_parse((struct str){sort, strlen(sort)}, &out->sort[0], err)) {
        err->code = ERROR_USAGE;
        return error_wrap(err, "--sort");
    }
    return true;
}

static bool wishes_keys(const struct import_wish *wish)
{
    return wish->partition != NULL || wish->sort != NULL;
}

static bool describe_new(const struct import_wish *wish, struct table_desc *out, struct error *err)
{
    if (wish->map == NULL || !wish->map->has_table) {
        return keys_of_options(wish, &out->keys, err);
    }
    if (wishes_keys(wish)) {
        return error_set(err, ERROR_USAGE,
                         "the map names the table's keys: leave out --partition "
                         "and --sort");
    }
    out->keys = wish->map->keys;
    out->indexes = wish->map->indexes;
    out->index_count = wish->map->index_count;
    return true;
}

static bool check_index(const struct table_desc *desc, const struct index_desc *index,
                        struct error *err)
{
    for (size_t i = 0; i < desc->index_count; i++) {
        if (str_equal(desc->indexes[i].name, index->name)) {
            return key_schema_equal(&desc->indexes[i].keys, &index->keys) ||
                   error_set(err, ERROR_PLAN, "index %.*s of the table has other keys than the map",
                             STR_ARG(index->name));
        }
    }
    return error_set(err, ERROR_PLAN,
                     "the table has no index %.*s\n"
                     "hint: a plan with create_index makes it",
                     STR_ARG(index->name));
}

static bool check_standing(const struct table_desc *desc, const struct import_wish *wish,
                           struct error *err)
{
    struct key_schema keys;
    if (wishes_keys(wish)) {
        if (!keys_of_options(wish, &keys, err)) {
            return false;
        }
        if (!key_schema_equal(&keys, &desc->keys)) {
            return error_set(err, ERROR_USAGE,
                             "the table has other keys than --partition and "
                             "--sort say");
        }
    }
    if (wish->map == NULL || !wish->map->has_table) {
        return true;
    }
    if (!key_schema_equal(&wish->map->keys, &desc->keys)) {
        return error_set(err, ERROR_PLAN, "the table has other keys than the map");
    }
    for (size_t i = 0; i < wish->map->index_count; i++) {
        if (!check_index(desc, &wish->map->indexes[i], err)) {
            return false;
        }
    }
    return true;
}

static void close_handles(struct import_table *table)
{
    if (table->reader != NULL) {
        store_reader_close(table->reader);
    }
    store_close(table->store);
    table->reader = NULL;
    table->store = NULL;
}

/* Counts may be estimates: what tells is whether there is an item. */
static bool look_for_items(struct import_table *table, struct error *err)
{
    struct page page = {.last = false};
    struct page_limits limits = {.items = 0};
    struct arena *arena = arena_new();
    struct str cursor = STR("");
    bool ok = true;
    while (ok && page.count == 0 && !page.last) {
        ok = store_read_page(table->reader,
                             &(struct page_place){(struct segment){0, 1}, cursor, &limits}, &page,
                             err);
        if (ok) {
            cursor = arena_copy(arena, page.cursor);
            store_release(table->reader);
        }
    }
    table->is_empty = page.count == 0;
    arena_free(arena);
    return ok;
}

static bool open_standing(struct invocation *invocation, bool writes, struct import_table *table,
                          struct error *err)
{
    table->making = index_progress_new(invocation);
    struct store_options options = {.mode = writes ? STORE_WRITE : STORE_READ,
                                    .voice = index_progress_voice(table->making),
                                    .stop = invocation->stop};
    return target_open(invocation->table, &options, &table->store, err) &&
           (!writes || store_lease_take(table->store, ledger_who(invocation->arena).ptr, err)) &&
           store_reader_open(table->store, &table->reader, err) &&
           store_describe(table->store, invocation->arena, &table->desc, err) &&
           look_for_items(table, err) &&
           import_state_read(table->reader, invocation->arena, &table->last, &table->has_last, err);
}

/* Where none may be made, opening it says what is missing. */
static bool find_table(const struct invocation *invocation, const struct import_wish *wish,
                       bool *exists, struct error *err)
{
    *exists = true;
    bool may_make = wish->create || target_is_file(invocation->table);
    return !may_make || target_exists(invocation->table, exists, err);
}

/* A file that an import made and did not fill holds nothing that anybody relies on: it is made
 * anew. A table on a server stays. */
static void drop_unfinished(const struct invocation *invocation, bool writes,
                            struct import_table *table)
{
    bool is_file = target_is_file(invocation->table);
    if (is_file && table->last.loading && table->last.created) {
        if (writes) {
            target_remove_file(invocation->table);
        }
        close_handles(table);
        *table = (struct import_table){.is_empty = true};
    }
}

bool import_table_open(struct invocation *invocation, const struct import_wish *wish, bool writes,
                       struct import_table *out, struct error *err)
{
    struct import_table table = {.is_empty = true};
    bool ok = find_table(invocation, wish, &table.exists, err) &&
              (!table.exists || open_standing(invocation, writes, &table, err));
    if (ok) {
        drop_unfinished(invocation, writes, &table);
        ok = table.exists ? check_standing(&table.desc, wish, err)
                          : describe_new(wish, &table.desc, err);
    }
    if (!ok) {
        close_handles(&table);
        return false;
    }
    table.resumes = table.last.loading && !table.last.was_empty;
    *out = table;
    return true;
}

static bool create(struct invocation *invocation, struct import_table *table,
                   const struct import_make_options *options, struct error *err)
{
    table->making = index_progress_new(invocation);
    struct store_options store = {.mode = STORE_CREATE,
                                  .create = &table->desc,
                                  .temp_dir = options->temp_dir,
                                  .memory_bytes = options->memory_bytes,
                                  .voice = index_progress_voice(table->making),
                                  .stop = invocation->stop};
    return target_open(invocation->table, &store, &table->store, err) &&
           store_lease_take(table->store, ledger_who(invocation->arena).ptr, err) &&
           store_reader_open(table->store, &table->reader, err) &&
           store_describe(table->store, invocation->arena, &table->desc, err);
}

/* Where others write too, only what the import wrote goes. */
static bool take_back(struct import_table *table, struct error *err)
{
    return store_keeps_pass(table->store)
               ? store_load_abort(table->store, err)
               : import_take_back(table->store, table->reader, &table->desc.keys, err);
}

bool import_table_make(struct invocation *invocation, struct import_table *table,
                       const struct import_make_options *options, struct error *err)
{
    if (!table->exists) {
        return create(invocation, table, options, err);
    }
    if (!table->last.loading || !table->last.was_empty) {
        return true;
    }
    table->last = (struct import_record){.loading = false};
    table->has_last = false;
    return take_back(table, err) && import_state_forget(table->store, err) &&
           store_describe(table->store, invocation->arena, &table->desc, err) &&
           look_for_items(table, err);
}

void import_table_close(struct invocation *invocation, struct import_table *table, bool undo)
{
    bool made = table->store != NULL && !table->exists;
    if (undo && made) {
        target_remove_file(invocation->table);
    }
    close_handles(table);
}
