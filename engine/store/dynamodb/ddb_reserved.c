#include "engine/store/dynamodb/ddb_internal.h"

/* Every control record has it, and nothing else should. */
#define MARK "refold_value"

struct scan_mark reserved_mark(const struct ddb_store *store, struct arena *arena)
{
    enum value_type type = store->table.desc.keys.partition[0].type;
    struct scan_mark mark = {.name = STR(MARK)};
    if (!store->home.is_apart && type != VALUE_N) {
        mark.partition = value_from_member(arena, type, STR(DDB_RESERVED));
    }
    return mark;
}

static bool begins_reserved(struct value partition)
{
    enum value_type type = value_type(partition);
    return (type == VALUE_S || type == VALUE_B) &&
           str_begins(value_bytes(partition), STR(DDB_RESERVED));
}

bool reserved_key(const struct ddb_store *store, const struct key *key)
{
    return !store->home.is_apart && begins_reserved(key->parts[0]);
}

bool reserved_look(const struct ddb_store *store, struct value item, bool *is_ours,
                   struct error *err)
{
    struct str name = store->table.desc.keys.partition[0].name;
    struct value partition = value_member(item, name);
    *is_ours = begins_reserved(partition) && !store->home.is_apart;
    if (*is_ours && value_type(value_member(item, STR(MARK))) != VALUE_B) {
        struct str text = value_bytes(partition);
        return error_set(err, ERROR_STORE,
                         "%.*s holds an item with %.*s '%.*s': keys that begin with '" DDB_RESERVED
                         "' are refold's own\n"
                         "hint: move that item to another key",
                         STR_ARG(store->target.table), STR_ARG(name), STR_ARG(text));
    }
    return true;
}
