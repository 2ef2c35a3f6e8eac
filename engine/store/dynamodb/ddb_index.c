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

/* A table changes one index at a time. */
bool ddb_index_create(struct store *base, const struct index_desc *index, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_place place = ddb_place_of(store);
    if (!lease_check(store, err) || !ddb_table_wait(&place, err) || !refresh(store, err)) {
        return false;
    }
    if (ddb_table_index(&store->table, index->name) != NULL) {
        return error_set(err, ERROR_PLAN, "%.*s has an index %.*s already",
                         STR_ARG(store->target.table), STR_ARG(index->name));
    }
    if (!ddb_table_add_index(&place, index, err) || !refresh(store, err)) {
        return false;
    }
    return ddb_table_index(&store->table, index->name) != NULL ||
           error_set(err, ERROR_STORE,
                     "the server agreed to make index %.*s and did not: it seems to know no "
                     "indexes but those that a table is made with",
                     STR_ARG(index->name));
}

/* Every item that belongs into the index is there: a filling leaves items out without a word. */
static bool check_entries(struct ddb_store *store, struct str name, struct error *err)
{
    const struct index_desc *index = ddb_table_index(&store->table, name);
    struct index_counts counts = {0};
    if (index == NULL) {
        return error_set(err, ERROR_STORE, "%.*s has lost index %.*s", STR_ARG(store->target.table),
                         STR_ARG(name));
    }
    for (unsigned tries = 0; tries < COMPARE_TRIES; tries++) {
        if (!count_index(store, index, &counts, err)) {
            return false;
        }
        if (counts.entries >= counts.eligible) {
            return true;
        }
        ddb_sleep_ms(COMPARE_MS);
    }
    return error_set(err, ERROR_STORE,
                     "index %.*s has %" PRIu64 " entries, and %" PRIu64 " items belong into it",
                     STR_ARG(name), counts.entries, counts.eligible);
}

bool ddb_index_finish(struct store *base, struct str name, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_place place = ddb_place_of(store);
    return ddb_table_wait(&place, err) && refresh(store, err) && check_entries(store, name, err);
}

bool ddb_index_drop(struct store *base, struct str name, struct error *err)
{
    struct ddb_store *store = ddb_of(base);
    struct ddb_place place = ddb_place_of(store);
    return lease_check(store, err) && ddb_table_wait(&place, err) &&
           ddb_table_drop_index(&place, name, err) && ddb_table_wait(&place, err) &&
           refresh(store, err);
}
