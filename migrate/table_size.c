#include "migrate/table_size.h"

#include "engine/base/buffer.h"
#include "engine/item/item.h"
#include "migrate/table_walk.h"

struct measuring {
    const struct table_desc *table;
    struct key_schema partition; /* the table's key without its sort key */
    struct table_size *sizes;
    struct size_sum collection; /* the one at hand: a store reads each as a whole */
    struct buffer collection_key;
    struct buffer key;               /* of the item at hand, its partition */
    struct buffer largest_key;       /* printed */
    struct buffer largest_partition; /* printed */
    struct arena *scratch;           /* of one item */
};

static void add(struct size_sum *sum, uint64_t bytes)
{
    sum->items++;
    sum->bytes += bytes;
}

static void keep(struct buffer *text, struct str printed)
{
    text->len = 0;
    buffer_add(text, printed);
}

/* ---------------------------------------------------------------- indexes */

static bool is_projected(const struct measuring *measuring, const struct index_desc *index,
                         struct str name)
{
    bool is_in = key_schema_find(&index->keys, name) != NULL ||
                 key_schema_find(&measuring->table->keys, name) != NULL;
    for (size_t i = 0; !is_in && i < index->include_count; i++) {
        is_in = str_equal(index->include[i], name);
    }
    return is_in;
}

static uint64_t projected_bytes(const struct measuring *measuring, const struct index_desc *index,
                                struct value item)
{
    uint64_t bytes = 0;
    struct attribute member;
    for (struct value_iter iter = value_members(item); value_next(&iter, &member);) {
        bytes += is_projected(measuring, index, member.name) ? item_attribute_bytes(&member) : 0;
    }
    return bytes;
}

/* What violates an index stands in the table from before it was made: the index leaves it out. */
static void measure_indexes(struct measuring *measuring, struct value item, uint64_t bytes)
{
    for (size_t i = 0; i < measuring->table->index_count; i++) {
        const struct index_desc *index = &measuring->table->indexes[i];
        struct key key;
        struct error violation = {0};
        bool is_present = false;
        if (key_of_index(&index->keys, item, &key, &is_present, &violation) && is_present) {
            add(&measuring->sizes->indexes[i],
                index->projection == PROJECT_ALL ? bytes : projected_bytes(measuring, index, item));
        }
    }
}

/* ---------------------------------------------------------------- collections */

static bool end_collection(struct measuring *measuring, struct error *err)
{
    struct size_sum *largest = &measuring->sizes->largest_collection;
    if (measuring->collection.bytes > largest->bytes) {
        struct key key;
        if (!key_decode(buffer_str(&measuring->collection_key),
                        measuring->partition.partition_count, &key, err)) {
            return false;
        }
        *largest = measuring->collection;
        keep(&measuring->largest_partition,
             key_print(&measuring->partition, &key, measuring->scratch));
    }
    measuring->collection = (struct size_sum){.items = 0};
    return true;
}

static bool measure_collection(struct measuring *measuring, struct value item, uint64_t bytes,
                               struct error *err)
{
    struct key key;
    if (!key_of_item(&measuring->partition, item, &key, err)) {
        return false;
    }
    measuring->key.len = 0;
    key_encode(&key, &measuring->key);
    if (!str_equal(buffer_str(&measuring->key), buffer_str(&measuring->collection_key))) {
        if (!end_collection(measuring, err)) {
            return false;
        }
        keep(&measuring->collection_key, buffer_str(&measuring->key));
    }
    add(&measuring->collection, bytes);
    return true;
}

/* ---------------------------------------------------------------- items */

static bool measure_item(struct measuring *measuring, struct value item, struct error *err)
{
    struct table_size *sizes = measuring->sizes;
    uint64_t bytes = item_size_bytes(item);
    add(&sizes->table, bytes);
    if (bytes > sizes->largest_item.bytes) {
        struct key key;
        if (!key_of_item(&measuring->table->keys, item, &key, err)) {
            return false;
        }
        sizes->largest_item = (struct size_sum){1, bytes};
        keep(&measuring->largest_key, key_print(&measuring->table->keys, &key, measuring->scratch));
    }
    measure_indexes(measuring, item, bytes);
    bool ok = measure_collection(measuring, item, bytes, err);
    arena_reset(measuring->scratch);
    return ok;
}

static bool measure_page(void *context, const struct page *page, struct error *err)
{
    struct measuring *measuring = context;
    for (size_t i = 0; i < page->count; i++) {
        if (!measure_item(measuring, page->items[i].item, err)) {
            return false;
        }
    }
    return true;
}

bool table_size_measure(struct invocation *invocation, struct store_reader *reader,
                        const struct table_desc *table, struct table_size *out, struct error *err)
{
    struct table_size sizes = {
        .indexes = arena_zero(invocation->arena, (table->index_count + 1) * sizeof *sizes.indexes)};
    struct measuring measuring = {
        .table = table, .partition = table->keys, .sizes = &sizes, .scratch = arena_new()};
    measuring.partition.sort_count = 0;
    struct table_walk walk = {.invocation = invocation,
                              .reader = reader,
                              .table = table,
                              .phase = "counting",
                              .page = measure_page,
                              .context = &measuring};
    bool ok = table_walk(&walk, err) && end_collection(&measuring, err);
    if (ok) {
        sizes.largest_key = arena_copy(invocation->arena, buffer_str(&measuring.largest_key));
        sizes.largest_partition =
            arena_copy(invocation->arena, buffer_str(&measuring.largest_partition));
        *out = sizes;
    }
    buffer_free(&measuring.collection_key);
    buffer_free(&measuring.key);
    buffer_free(&measuring.largest_key);
    buffer_free(&measuring.largest_partition);
    arena_free(measuring.scratch);
    return ok;
}
