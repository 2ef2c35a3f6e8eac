#include "engine/store/dynamodb/ddb_internal.h"

#include <inttypes.h>

/* An index follows its table by a moment: counts are compared so often before they are believed. */
enum { COMPARE_TRIES = 5, COMPARE_MS = 1000 };

/* Others hold on to names of the description before: it stays. */
static bool refresh(struct ddb_store *store, struct error *err)
{
    struct ddb_place place = ddb_place_of(store);
    return ddb_table_read(&place, store->arena, &store->table, NULL, err);
}

static bool wait_for(struct ddb_store *store, const struct ddb_change *change,
                     const struct ddb_watch *watch, struct error *err)
{
    struct ddb_place place = ddb_place_of(store);
    return ddb_table_wait(&place, change, watch, err) && refresh(store, err);
}

static const struct ddb_change no_change = {.kind = CHANGE_NONE};

/* A table changes one index at a time. */
bool ddb_index_create(struct store *base, const struct index_desc *index, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_place place = ddb_place_of(store);
    if (!lease_check(store, err) || !wait_for(store, &no_change, NULL, err)) {
        return false;
    }
    if (ddb_table_index(&store->table, index->name) != NULL) {
        return error_set(err, ERROR_PLAN, "%.*s has an index %.*s already",
                         STR_ARG(store->target.table), STR_ARG(index->name));
    }
    if (!ddb_table_add_index(&place, index, store->arena, &store->table, err)) {
        return false;
    }
    return ddb_table_index(&store->table, index->name) != NULL ||
           error_set(err, ERROR_STORE,
                     "the server agreed to make index %.*s and did not: it seems to know no "
                     "indexes but those that a table is made with",
                     STR_ARG(index->name));
}

struct growth {
    const struct ddb_store *store;
    struct str name;
};

static void tell_growth(void *context, const struct ddb_table *table)
{
    const struct growth *growth = context;
    const struct store_voice *voice = &growth->store->voice;
    const struct index_desc *index = ddb_table_index(table, growth->name);
    if (index != NULL && voice->index_grows != NULL) {
        struct index_growth grown = {.done = index->entry_count};
        voice->index_grows(voice->context, &grown);
    }
}

static bool find_index(const struct ddb_store *store, struct str name,
                       const struct index_desc **out, struct error *err)
{
    *out = ddb_table_index(&store->table, name);
    return *out != NULL || error_set(err, ERROR_STORE, "%.*s has lost index %.*s",
                                     STR_ARG(store->target.table), STR_ARG(name));
}

/* Every item that belongs into the index is there: a filling leaves items out without a word. Where
 * items come and go between the counts, the index has too few only if it had so before the items
 * were counted, and has after it. */
static bool check_entries(const struct ddb_store *store, struct str name, struct error *err)
{
    struct ddb_place place = ddb_place_of(store);
    const struct index_desc *index = NULL;
    struct index_counts counts = {0};
    if (!find_index(store, name, &index, err)) {
        return false;
    }
    for (unsigned tries = 0; tries < COMPARE_TRIES; tries++) {
        uint64_t before = counts.entries;
        if (!ddb_place_rest(&place, tries == 0 ? 0 : COMPARE_MS, err) ||
            !count_index(store, index, &counts, err)) {
            return false;
        }
        if (counts.entries >= counts.eligible || before >= counts.eligible) {
            return true;
        }
    }
    return error_set(err, ERROR_STORE,
                     "it has %" PRIu64 " entries, and %" PRIu64 " items belong into it\n"
                     "hint: the same command counts again; if that stays, delete the index on the "
                     "server, and it is made anew",
                     counts.entries, counts.eligible);
}

bool ddb_index_finish(struct store *base, struct str name, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct growth growth = {store, name};
    struct ddb_watch watch = {tell_growth, &growth};
    struct ddb_change made = {CHANGE_INDEX_MADE, name};
    return wait_for(store, &made, &watch, err) && check_entries(store, name, err);
}

/* An earlier attempt may have been broken off while the server was at it. */
bool ddb_index_drop(struct store *base, struct str name, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_place place = ddb_place_of(store);
    struct ddb_change dropped = {CHANGE_INDEX_DROPPED, name};
    if (!lease_check(store, err) || !wait_for(store, &no_change, NULL, err)) {
        return false;
    }
    return ddb_table_index(&store->table, name) == NULL ||
           (ddb_table_drop_index(&place, name, err) && wait_for(store, &dropped, NULL, err));
}
