#include "engine/base/buffer.h"
#include "engine/item/item.h"
#include "engine/store/lmdb/lmdb_internal.h"
#include "engine/store/lmdb/lmdb_record_internal.h"

#include <string.h>

/* A query under way: the range [low, high) of one partition of one tree. */
struct range {
    const struct query *query;
    const struct lmdb_index *index; /* NULL: the table itself */
    struct tree tree;
    struct tree items;
    MDB_cursor *cursor;
    struct entry_key low;
    struct entry_key high;
    bool open_high; /* to the end of the partition */
    struct arena *arena;
};

/* --- what is asked --- */

static bool check_value(const struct key_attribute *attribute, struct value v, size_t limit,
                        struct error *err)
{
    if (value_type(v) != attribute->type) {
        return error_set(err, ERROR_USAGE, "%.*s is of type %s, not %s", STR_ARG(attribute->name),
                         value_type_name(attribute->type), value_type_name(value_type(v)));
    }
    if (value_bytes(v).len > limit) {
        return error_set(err, ERROR_USAGE, "%.*s: a value has at most %zu bytes",
                         STR_ARG(attribute->name), limit);
    }
    return true;
}

static bool check_bound(const struct key_schema *keys, const struct query *query, struct value v,
                        struct error *err)
{
    if (value_is_missing(v)) {
        return true;
    }
    if (query->sort_equal_count >= keys->sort_count) {
        return error_set(err, ERROR_USAGE, "there is no sort attribute for this condition");
    }
    return check_value(&keys->sort[query->sort_equal_count], v, SORT_KEY_MAX_BYTES, err);
}

static bool check_query(const struct key_schema *keys, const struct query *query, struct error *err)
{
    for (size_t i = 0; i < keys->partition_count; i++) {
        if (!check_value(&keys->partition[i], query->partition[i], PARTITION_KEY_MAX_BYTES, err)) {
            return false;
        }
    }
    if (query->sort_equal_count > keys->sort_count) {
        return error_set(err, ERROR_USAGE, "there are only %zu sort attributes", keys->sort_count);
    }
    for (size_t i = 0; i < query->sort_equal_count; i++) {
        if (!check_value(&keys->sort[i], query->sort_equal[i], SORT_KEY_MAX_BYTES, err)) {
            return false;
        }
    }
    if (query->low_is_prefix && value_type(query->low) == VALUE_N) {
        return error_set(err, ERROR_USAGE, "begins_with() is for S and B");
    }
    return check_bound(keys, query, query->low, err) && check_bound(keys, query, query->high, err);
}

static bool choose_tree(struct lmdb_reader *reader, struct range *range, struct error *err)
{
    struct lmdb_store *store = lmdb_of(reader->base.store);
    range->items = items_tree(store, &reader->schema);
    range->tree = range->items;
    range->index = NULL;
    if (range->query->index.len == 0) {
        return check_query(&reader->schema.keys, range->query, err);
    }
    range->index = schema_index(&reader->schema, range->query->index);
    if (range->index == NULL) {
        return error_set(err, ERROR_USAGE, "%s has no index %.*s", store->path,
                         STR_ARG(range->query->index));
    }
    if (range->index->desc.state == INDEX_CREATING) {
        return error_set(err, ERROR_USAGE, "index %.*s of %s is not filled yet",
                         STR_ARG(range->query->index), store->path);
    }
    range->tree = index_tree(&reader->schema, range->index);
    return check_query(&range->index->desc.keys, range->query, err);
}

/* --- the range --- */

static void set_range(struct range *range)
{
    const struct query *query = range->query;
    const struct key_schema *keys = range->index == NULL ? range->tree.table : range->tree.index;
    entry_key_head(&range->low, query->partition, keys->partition_count);
    for (size_t i = 0; i < query->sort_equal_count; i++) {
        entry_key_add_sort(&range->low, query->sort_equal[i]);
    }
    range->high = range->low;
    if (query->low_is_prefix) {
        entry_key_add_prefix(&range->low, query->low);
        range->high = range->low;
    } else if (!value_is_missing(query->low)) {
        entry_key_add_sort(&range->low, query->low);
        /* What begins with the value's end is equal in this attribute: past it is greater. */
        if (query->low_exclusive) {
            (void)entry_key_past_prefix(&range->low);
        }
    }
    if (!value_is_missing(query->high)) {
        entry_key_add_sort(&range->high, query->high);
        range->open_high = !query->high_exclusive && entry_key_past_prefix(&range->high);
    } else {
        range->open_high = entry_key_past_prefix(&range->high);
    }
}

/* Where the page before ended becomes this page's low end, or its high end. */
static bool apply_cursor(struct range *range, struct error *err)
{
    const struct query *query = range->query;
    struct entry_key *bound = query->descending ? &range->high : &range->low;
    if (query->cursor.len == 0) {
        return true;
    }
    if (!entry_key_of_cursor(bound, &range->tree, query->cursor, err)) {
        return false;
    }
    if (query->descending) {
        range->open_high = false;
    } else {
        entry_key_after(bound);
    }
    return true;
}

/* The last record that stands before the range's high end. */
static int seek_last(struct range *range, MDB_val *key, MDB_val *record)
{
    struct entry_key end = range->high;
    if (range->open_high) {
        /* No label is all 0xff: this is past every record of the partition. */
        end.sort_len = SORT_INLINE_MAX;
        end.tail_len = LABEL_BYTES;
        memset(end.bytes + end.head_len, 0xff, SORT_INLINE_MAX + LABEL_BYTES);
    }
    int rc = entry_seek(range->cursor, &range->tree, &end, key, record);
    if (rc != 0 && rc != MDB_NOTFOUND) {
        return rc;
    }
    return mdb_cursor_get(range->cursor, key, record, rc == 0 ? MDB_PREV : MDB_LAST);
}

static int seek_first(struct range *range, MDB_val *key, MDB_val *record)
{
    return range->query->descending
               ? seek_last(range, key, record)
               : entry_seek(range->cursor, &range->tree, &range->low, key, record);
}

/* Whether a record that the walk came to is still in the range. */
static int is_in_range(const struct range *range, MDB_val key, MDB_val record, bool *in)
{
    int order = 0;
    *in = entry_in_partition(&range->low, key);
    if (!*in || (range->open_high && !range->query->descending)) {
        return 0;
    }
    const struct entry_key *bound = range->query->descending ? &range->low : &range->high;
    int rc = entry_compare(&range->tree, bound, key, record, &order);
    *in = range->query->descending ? order >= 0 : order < 0;
    return rc;
}

/* --- the items --- */

static bool is_projected(const struct range *range, struct str name)
{
    const struct index_desc *index = &range->index->desc;
    if (key_schema_find(range->items.table, name) != NULL ||
        key_schema_find(&index->keys, name) != NULL) {
        return true;
    }
    for (size_t i = 0; i < index->include_count; i++) {
        if (str_equal(index->include[i], name)) {
            return true;
        }
    }
    return false;
}

static struct value project(const struct range *range, struct value item)
{
    if (range->index == NULL || range->index->desc.projection == PROJECT_ALL) {
        return item;
    }
    size_t count = 0;
    struct attribute *members = arena_alloc(range->arena, value_count(item) * sizeof *members);
    for (struct value_iter iter = value_members(item); value_next(&iter, &members[count]);) {
        count += is_projected(range, members[count].name) ? 1 : 0;
    }
    struct value out = item;
    struct error impossible;
    return value_map(range->arena, members, count, &out, &impossible) ? out : item;
}

/* The item that an entry leads to; MDB_NOTFOUND. */
static int follow_entry(struct lmdb_reader *reader, const struct range *range, MDB_val entry,
                        struct stored_item *out)
{
    struct error ignored;
    struct key key;
    struct str table_key = entry_table_key(&range->tree, entry);
    size_t parts = range->items.table->partition_count + range->items.table->sort_count;
    if (table_key.ptr == NULL || !key_decode(table_key, parts, &key, &ignored)) {
        return MDB_CORRUPTED;
    }
    *out = (struct stored_item){0};
    return find_item(&range->items, reader->page_items, &key, &reader->key, out);
}

/* Where the B-tree holds a digest of the partition, the item must be of the one asked for. */
static bool is_of_partition(const struct range *range, struct value item)
{
    const struct key_schema *keys = range->index == NULL ? range->tree.table : range->tree.index;
    for (size_t i = 0; i < keys->partition_count && entry_key_is_digest(&range->low); i++) {
        if (!value_equal(value_member(item, keys->partition[i].name), range->query->partition[i])) {
            return false;
        }
    }
    return true;
}

/* The item of a record; MDB_NOTFOUND: an entry of an index that is behind, whose item is gone. */
static int read_record(struct lmdb_reader *reader, const struct range *range, MDB_val record,
                       struct stored_item *out)
{
    bool behind = range->index != NULL && range->index->desc.state == INDEX_BEHIND;
    int rc = 0;
    if (range->index != NULL) {
        rc = follow_entry(reader, range, record, out);
    } else if (!record_read(record, out)) {
        rc = MDB_CORRUPTED;
    }
    if (behind || (rc == 0 && is_of_partition(range, out->item))) {
        return rc;
    }
    return rc == 0 || rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
}

/* The values that were asked for, encoded. */
static void add_partition(const struct range *range, struct buffer *out)
{
    for (size_t i = 0; i < range->tree.index->partition_count; i++) {
        struct value part = range->query->partition[i];
        buffer_add(out, (struct str){(const char *)part.bytes, part.len});
    }
}

/* The cursor is where the last record stands, which in an index that is behind need not be where
 * its item would stand now. */
static int set_cursor(struct lmdb_reader *reader, const struct range *range, MDB_val key,
                      MDB_val record, struct str *out)
{
    struct buffer *cursor = &reader->cursor;
    struct error ignored;
    struct stored_item item;
    struct key table_key;
    int rc = 0;
    cursor->len = 0;
    if (range->index != NULL) {
        add_partition(range, cursor);
        rc = entry_index_sort(&range->tree, range->low.head_len, key, record, cursor);
        buffer_add(cursor, entry_table_key(&range->tree, record));
    } else if (record_peek(record, &item) &&
               key_of_item(range->tree.table, item.item, &table_key, &ignored)) {
        key_encode(&table_key, cursor);
    } else {
        rc = MDB_CORRUPTED;
    }
    *out = buffer_str(cursor);
    return rc;
}

/* A walk through a range: where it is, the last record that it took, and how much. */
struct range_walk {
    MDB_val key;
    MDB_val record;
    MDB_val last_key;
    MDB_val last_record;
    size_t bytes;
    bool in; /* the record is still in the range */
};

/* Takes the record into the page, unless its item is gone. */
static int take(struct lmdb_reader *reader, const struct range *range, struct range_walk *walk,
                struct page *out)
{
    struct stored_item *slot = page_slot(reader, out->count);
    int rc = read_record(reader, range, walk->record, slot);
    if (rc == 0) {
        slot->item = project(range, slot->item);
        walk->bytes += slot->item.len;
        walk->last_key = walk->key;
        walk->last_record = walk->record;
        out->count++;
    }
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int fill(struct lmdb_reader *reader, struct range *range, struct page *out,
                struct range_walk *walk)
{
    struct page_limits limits = page_limits_or_default(&range->query->limits);
    MDB_cursor_op step = range->query->descending ? MDB_PREV : MDB_NEXT;
    int rc = seek_first(range, &walk->key, &walk->record);
    while (rc == 0) {
        rc = is_in_range(range, walk->key, walk->record, &walk->in);
        if (rc != 0 || !walk->in || out->count == limits.items || walk->bytes >= limits.bytes) {
            break;
        }
        rc = take(reader, range, walk, out);
        if (rc == 0) {
            rc = mdb_cursor_get(range->cursor, &walk->key, &walk->record, step);
        }
    }
    out->items = reader->items;
    out->last = rc == MDB_NOTFOUND || !walk->in;
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int run(struct lmdb_reader *reader, struct range *range, struct page *page)
{
    struct range_walk walk = {.in = true};
    int rc = mdb_cursor_open(reader->page_txn, range->tree.dbi, &range->cursor);
    rc = rc == 0 ? fill(reader, range, page, &walk) : rc;
    mdb_cursor_close(range->cursor);
    if (rc == 0 && page->count > 0) {
        rc = set_cursor(reader, range, walk.last_key, walk.last_record, &page->cursor);
    }
    return rc;
}

/* A snapshot, and the schema that holds in it. */
static bool begin(struct lmdb_reader *reader, struct error *err)
{
    struct lmdb_store *store = lmdb_of(reader->base.store);
    for (;;) {
        bool current = false;
        if (!page_begin(reader, err) || !schema_is_current(reader, &current, err)) {
            return false;
        }
        if (current) {
            return true;
        }
        lmdb_release(&reader->base);
        if (!schema_load(store, &reader->schema, err)) {
            return false;
        }
    }
}

bool lmdb_query(struct store_reader *base, const struct query *query, struct page *out,
                struct error *err)
{
    struct lmdb_reader *reader = lmdb_reader_of(base);
    struct page page = {.cursor = query->cursor};
    if (!begin(reader, err)) {
        lmdb_release(base);
        return false;
    }
    arena_reset(reader->arena);
    struct range *range = arena_zero(reader->arena, sizeof *range);
    range->query = query;
    range->arena = reader->arena;
    if (!choose_tree(reader, range, err)) {
        lmdb_release(base);
        return false;
    }
    set_range(range);
    bool ok = apply_cursor(range, err);
    int rc = ok ? run(reader, range, &page) : 0;
    if (!ok || rc != 0) {
        lmdb_release(base);
        return ok ? lmdb_error(lmdb_of(base->store), rc, "reading", err) : false;
    }
    if (!page_keep(reader, &page, err)) {
        lmdb_release(base);
        return false;
    }
    *out = page;
    return true;
}
