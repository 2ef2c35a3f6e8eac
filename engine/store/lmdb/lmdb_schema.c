#include "engine/base/buffer.h"
#include "engine/base/json.h"
#include "engine/store/lmdb/lmdb_internal.h"

#include <inttypes.h>
#include <string.h>

static void write_attributes(struct buffer *out, const char *name,
                             const struct key_attribute *attributes, size_t count)
{
    buffer_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        struct buffer text = {0};
        buffer_format(&text, "%.*s:%s", STR_ARG(attributes[i].name),
                      value_type_name(attributes[i].type));
        buffer_add(out, i > 0 ? STR(",") : STR(""));
        json_write_string(out, buffer_str(&text));
        buffer_free(&text);
    }
    buffer_add_char(out, ']');
}

static void write_keys(struct buffer *out, const struct key_schema *keys)
{
    write_attributes(out, "partition", keys->partition, keys->partition_count);
    write_attributes(out, "sort", keys->sort, keys->sort_count);
}

static void write_projection(struct buffer *out, const struct index_desc *index)
{
    if (index->projection != PROJECT_INCLUDE) {
        buffer_format(out, ",\"projection\":\"%s\"",
                      index->projection == PROJECT_ALL ? "ALL" : "KEYS_ONLY");
        return;
    }
    buffer_add(out, STR(",\"projection\":["));
    for (size_t i = 0; i < index->include_count; i++) {
        buffer_add(out, i > 0 ? STR(",") : STR(""));
        json_write_string(out, index->include[i]);
    }
    buffer_add_char(out, ']');
}

static const char *const state_names[] = {
    [INDEX_CREATING] = "creating", [INDEX_ACTIVE] = "active", [INDEX_BEHIND] = "behind"};

static void write_index(struct buffer *out, const struct lmdb_index *index)
{
    buffer_add(out, STR("{\"name\":"));
    json_write_string(out, index->desc.name);
    buffer_format(out, ",\"generation\":%" PRIu64 ",\"state\":\"%s\"", index->generation,
                  state_names[index->desc.state]);
    write_keys(out, &index->desc.keys);
    write_projection(out, &index->desc);
    buffer_add_char(out, '}');
}

static void write_schema(struct buffer *out, const struct lmdb_schema *schema)
{
    buffer_add(out, STR("{\"name\":"));
    json_write_string(out, schema->name);
    buffer_add(out, STR(",\"identity\":"));
    json_write_string(out, schema->identity);
    write_keys(out, &schema->keys);
    buffer_add(out, STR(",\"indexes\":["));
    for (size_t i = 0; i < schema->index_count; i++) {
        buffer_add(out, i > 0 ? STR(",") : STR(""));
        write_index(out, &schema->indexes[i]);
    }
    buffer_add(out, STR("]}"));
}

int schema_put(struct lmdb_store *store, MDB_txn *txn, const struct lmdb_schema *schema)
{
    struct buffer text = {0};
    write_schema(&text, schema);
    MDB_val name = val_of(STR("schema"));
    MDB_val value = val_of(buffer_str(&text));
    int rc = mdb_put(txn, store->meta, &name, &value, 0);
    buffer_free(&text);
    return rc;
}

/* --- reading: a schema that does not have this form is damaged --- */

static bool read_attributes(const struct json *object, const char *name, struct key_attribute *out,
                            size_t *count)
{
    struct error ignored;
    const struct json *list = json_member(object, name);
    if (list == NULL || list->kind != JSON_ARRAY || list->count > KEY_PARTS_MAX) {
        return false;
    }
    *count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != JSON_STRING ||
            !key_attribute_parse(list->items[i].text, &out[i], &ignored)) {
            return false;
        }
    }
    return true;
}

static bool read_keys(const struct json *object, struct key_schema *out)
{
    return read_attributes(object, "partition", out->partition, &out->partition_count) &&
           read_attributes(object, "sort", out->sort, &out->sort_count) && out->partition_count > 0;
}

static bool read_text(const struct json *object, const char *name, struct str *out)
{
    const struct json *member = json_member(object, name);
    if (member == NULL || member->kind != JSON_STRING) {
        return false;
    }
    *out = member->text;
    return true;
}

static bool read_projection(const struct json *object, struct arena *arena, struct index_desc *out)
{
    const struct json *projection = json_member(object, "projection");
    if (projection == NULL) {
        return false;
    }
    if (projection->kind == JSON_STRING) {
        out->projection = str_equal(projection->text, STR("ALL")) ? PROJECT_ALL : PROJECT_KEYS_ONLY;
        return true;
    }
    if (projection->kind != JSON_ARRAY || projection->count > INDEX_INCLUDE_MAX) {
        return false;
    }
    struct str *include = arena_alloc(arena, (projection->count + 1) * sizeof *include);
    for (size_t i = 0; i < projection->count; i++) {
        include[i] = projection->items[i].text;
    }
    out->projection = PROJECT_INCLUDE;
    out->include = include;
    out->include_count = projection->count;
    return true;
}

static bool read_generation(const struct json *object, uint64_t *out)
{
    const struct json *number = json_member(object, "generation");
    if (number == NULL || number->kind != JSON_NUMBER || number->text.len > 18) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < number->text.len; i++) {
        *out = *out * 10 + (uint64_t)(number->text.ptr[i] - '0');
    }
    return true;
}

static bool read_state(const struct json *object, enum index_state *out)
{
    struct str name;
    if (!read_text(object, "state", &name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof state_names / sizeof *state_names; i++) {
        if (str_equal(name, (struct str){state_names[i], strlen(state_names[i])})) {
            *out = (enum index_state)i;
            return true;
        }
    }
    return false;
}

static bool read_index(const struct json *object, struct arena *arena, struct lmdb_index *out)
{
    *out = (struct lmdb_index){0};
    return object->kind == JSON_OBJECT && read_text(object, "name", &out->desc.name) &&
           read_generation(object, &out->generation) && read_state(object, &out->desc.state) &&
           read_keys(object, &out->desc.keys) && read_projection(object, arena, &out->desc);
}

static bool read_indexes(const struct json *object, struct lmdb_schema *out)
{
    const struct json *indexes = json_member(object, "indexes");
    if (indexes == NULL || indexes->kind != JSON_ARRAY || indexes->count > INDEXES_MAX) {
        return false;
    }
    out->index_count = indexes->count;
    for (size_t i = 0; i < indexes->count; i++) {
        if (!read_index(&indexes->items[i], out->arena, &out->indexes[i])) {
            return false;
        }
    }
    return true;
}

static bool read_schema(struct lmdb_schema *out)
{
    struct error ignored;
    struct json *root = NULL;
    struct json_options options = {.file = "schema"};
    return json_parse(out->text, &options, out->arena, &root, &ignored) &&
           root->kind == JSON_OBJECT && read_text(root, "name", &out->name) &&
           read_text(root, "identity", &out->identity) && read_keys(root, &out->keys) &&
           read_indexes(root, out);
}

/* --- the records in "meta" --- */

static bool check_format(const struct lmdb_store *store, MDB_txn *txn, struct error *err)
{
    MDB_val name = val_of(STR("format"));
    MDB_val value;
    int rc = mdb_get(txn, store->meta, &name, &value);
    if (rc == MDB_NOTFOUND || (rc == 0 && value.mv_size != HASH_BYTES)) {
        return error_set(err, ERROR_STORE, "%s is not a refold table", store->path);
    }
    if (rc != 0) {
        return lmdb_error(store, rc, "reading its format", err);
    }
    uint64_t format = get_u64(value.mv_data);
    if (format != LMDB_FORMAT) {
        return error_set(err, ERROR_STORE,
                         "%s has format %" PRIu64 ", this refold reads format %d\n"
                         "hint: use a newer refold",
                         store->path, format, LMDB_FORMAT);
    }
    return true;
}

const char *schema_index_dbi(const struct lmdb_index *index, struct arena *arena)
{
    return arena_format(arena, "index:%.*s:%" PRIu64, STR_ARG(index->desc.name), index->generation)
        .ptr;
}

static int open_trees(struct lmdb_store *store, MDB_txn *txn, struct lmdb_schema *schema)
{
    int rc = mdb_dbi_open(txn, "items", 0, &store->items);
    rc = rc == 0 ? mdb_dbi_open(txn, "control", 0, &store->control) : rc;
    rc = rc == 0 ? mdb_dbi_open(txn, "undo", 0, &store->undo) : rc;
    for (size_t i = 0; i < schema->index_count && rc == 0; i++) {
        struct lmdb_index *index = &schema->indexes[i];
        rc = mdb_dbi_open(txn, schema_index_dbi(index, schema->arena), 0, &index->dbi);
    }
    return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
}

static bool load_in(struct lmdb_store *store, MDB_txn *txn, struct lmdb_schema *out,
                    struct error *err)
{
    int rc = mdb_dbi_open(txn, "meta", 0, &store->meta);
    if (rc == MDB_NOTFOUND) {
        return error_set(err, ERROR_STORE, "%s is not a refold table", store->path);
    }
    if (rc != 0) {
        return lmdb_error(store, rc, "opening it", err);
    }
    if (!check_format(store, txn, err)) {
        return false;
    }
    MDB_val name = val_of(STR("schema"));
    MDB_val text;
    rc = mdb_get(txn, store->meta, &name, &text);
    if (rc == 0) {
        out->text = arena_copy(out->arena, str_of(text));
        rc = read_schema(out) ? open_trees(store, txn, out) : MDB_CORRUPTED;
    }
    return rc == 0 ||
           lmdb_error(store, rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc, "reading its schema", err);
}

bool schema_load(struct lmdb_store *store, struct lmdb_schema *out, struct error *err)
{
    if (out->arena == NULL) {
        out->arena = arena_new();
    }
    arena_reset(out->arena);
    MDB_txn *txn = NULL;
    (void)pthread_mutex_lock(&store->dbi_mutex);
    int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    bool ok = rc == 0 ? load_in(store, txn, out, err) : lmdb_error(store, rc, "reading it", err);
    /* Committing is what keeps the handles. */
    if (ok) {
        (void)mdb_txn_commit(txn);
    } else {
        mdb_txn_abort(txn);
    }
    (void)pthread_mutex_unlock(&store->dbi_mutex);
    return ok;
}

void schema_free(struct lmdb_schema *schema)
{
    arena_free(schema->arena);
    schema->arena = NULL;
}

struct lmdb_index *schema_index(struct lmdb_schema *schema, struct str name)
{
    for (size_t i = 0; i < schema->index_count; i++) {
        if (str_equal(schema->indexes[i].desc.name, name)) {
            return &schema->indexes[i];
        }
    }
    return NULL;
}
