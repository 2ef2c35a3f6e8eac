#include "engine/store/dynamodb/ddb_internal.h"

static bool is_text(enum value_type type)
{
    return type == VALUE_S || type == VALUE_B;
}

bool home_find(struct ddb_store *store, struct error *err)
{
    const struct key_schema *keys = &store->table.desc.keys;
    struct ddb_place place = ddb_place_of(store);
    struct ddb_table table;
    bool missing = false;
    bool fits =
        is_text(keys->partition[0].type) && keys->sort_count == 1 && is_text(keys->sort[0].type);
    if (fits) {
        store->home = (struct ddb_home){store->target.table, *keys, false, true};
        return true;
    }
    store->home = (struct ddb_home){
        .table = store->target.control_table,
        .keys = {.partition = {{STR_INIT("PK"), VALUE_S}},
                 .partition_count = 1,
                 .sort = {{STR_INIT("SK"), VALUE_S}},
                 .sort_count = 1},
        .is_apart = true,
    };
    place.table = store->home.table;
    if (!ddb_table_read(&place, store->arena, &table, &missing, err)) {
        return false;
    }
    store->home.stands = !missing;
    return true;
}

/* By another process that has just begun. */
static bool is_made(struct ddb_store *store, const struct ddb_place *place)
{
    struct ddb_table table;
    struct error ignored;
    bool missing = false;
    return ddb_table_read(place, store->arena, &table, &missing, &ignored) && !missing &&
           ddb_table_wait(place, &(struct ddb_change){.kind = CHANGE_NONE}, NULL, &ignored);
}

bool home_make(struct ddb_store *store, struct error *err)
{
    if (store->home.stands) {
        return true;
    }
    struct ddb_place place = ddb_place_of(store);
    struct table_desc wanted = {.name = store->home.table, .keys = store->home.keys};
    place.table = store->home.table;
    store->home.stands = ddb_table_create(&place, &wanted, err) || is_made(store, &place);
    return store->home.stands;
}
