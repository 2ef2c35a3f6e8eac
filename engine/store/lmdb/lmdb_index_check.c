#include "engine/store/lmdb/lmdb_internal.h"

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

/* Amazon DynamoDB Developer Guide, "Naming rules": 3 to 255 of a-z A-Z 0-9 _ - . */
static bool check_name(struct str name, struct error *err)
{
    bool ok = name.len >= INDEX_NAME_MIN && name.len <= INDEX_NAME_MAX;
    for (size_t i = 0; i < name.len && ok; i++) {
        ok = is_name_char(name.ptr[i]);
    }
    return ok || error_set(err, ERROR_PLAN,
                           "index name '%.*s': 3 to 255 of a-z, A-Z, 0-9, '_', '-' and '.'",
                           STR_ARG(name));
}

static bool check_attribute(const struct key_schema *declared,
                            const struct key_attribute *attribute, struct error *err)
{
    const struct key_attribute *other = key_schema_find(declared, attribute->name);
    if (other != NULL && other->type != attribute->type) {
        return error_set(err, ERROR_PLAN, "attribute %.*s is declared %s, and %s elsewhere",
                         STR_ARG(attribute->name), value_type_name(attribute->type),
                         value_type_name(other->type));
    }
    return true;
}

/* An attribute has one declared type in the whole table. */
static bool check_types(const struct key_schema *declared, const struct key_schema *keys,
                        struct error *err)
{
    for (size_t i = 0; i < keys->partition_count; i++) {
        if (!check_attribute(declared, &keys->partition[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < keys->sort_count; i++) {
        if (!check_attribute(declared, &keys->sort[i], err)) {
            return false;
        }
    }
    return true;
}

bool index_check(struct lmdb_schema *schema, const struct index_desc *index, struct error *err)
{
    if (!check_name(index->name, err) || !check_types(&schema->keys, &index->keys, err) ||
        !check_types(&index->keys, &index->keys, err)) {
        return false;
    }
    if (schema_index(schema, index->name) != NULL) {
        return error_set(err, ERROR_PLAN, "index %.*s is there already", STR_ARG(index->name));
    }
    if (schema->index_count == INDEXES_MAX) {
        return error_set(err, ERROR_PLAN, "a table has at most %d indexes", INDEXES_MAX);
    }
    for (size_t i = 0; i < schema->index_count; i++) {
        if (!check_types(&schema->indexes[i].desc.keys, &index->keys, err)) {
            return error_wrap(err, "index %.*s", STR_ARG(index->name));
        }
    }
    return true;
}
